use super::*;
use crate::call::{Completion, verifi_call, verifi_call_free, verifi_call_wait};
use crate::error::{verifi_error_free, verifi_error_message, verifi_error_status};
use crate::result::{VERIFI_OUTCOME_REJECTED, verifi_result, verifi_result_free, verifi_result_may_have_run};
use crate::result::{verifi_result_error, verifi_result_outcome};
use crate::text::{verifi_text, verifi_text_free};

extern "C" fn panicking_status(error: *mut *mut verifi_error) -> verifi_status {
    status(error, || panic!("number {}", 7))
}

extern "C" fn panicking_call() -> *mut verifi_result {
    object(|| panic!("in the call"), verifi_result::lost)
}

// Rule 7.2.
#[test]
fn a_panic_is_a_status_with_its_message() {
    let mut error = ptr::null_mut();
    assert_eq!(panicking_status(&mut error), VERIFI_PANIC);
    assert_eq!(verifi_error_status(error), VERIFI_PANIC);
    assert_eq!(verifi_error_message(error).read_lossy(), "a fault of verifi's own: number 7");
    verifi_error_free(error);
    assert_eq!(panicking_status(ptr::null_mut()), VERIFI_PANIC);
}

// Rules 2.1, 7.2.
#[test]
fn a_panic_in_a_call_is_a_result() {
    let result = panicking_call();
    assert_eq!(verifi_result_outcome(result), VERIFI_OUTCOME_REJECTED);
    assert!(verifi_result_may_have_run(result));
    assert_eq!(verifi_result_error(result).read_lossy(), "a fault of verifi's own: in the call");
    verifi_result_free(result);
}

// Rules 2.1, 7.2.
#[test]
fn a_submitted_call_whose_thread_panics_has_a_result() {
    let call = Arc::new(verifi_call::default());
    let completion = Completion::of(&call);
    let ended = std::thread::spawn(move || {
        let _completion = completion;
        panic!("in the pool");
    });
    let call = give_shared(call);
    let result = verifi_call_wait(call, u64::MAX);
    assert!(verifi_result_may_have_run(result));
    verifi_result_free(result);
    verifi_call_free(call);
    assert!(ended.join().is_err());
}

// Rule 7.2.
#[test]
fn a_panic_while_something_is_read_or_freed_goes_no_further() {
    let text = give(verifi_text::new("text".into()));
    assert_eq!(peek(text, 3, |_| panic!("while it is read")), 3);
    take(text, |_| panic!("while it is freed"));
    verifi_text_free(give(verifi_text::new("after it".into())));
}
