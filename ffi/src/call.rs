//! A call that is under way on a thread of verifi's own.

use std::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use verifi_core::{CancelToken, ToolResult};

use crate::boundary;
use crate::result::verifi_result;

/// A call that was submitted. It goes on by itself. Usable from any thread until it is freed with verifi_call_free.
#[derive(Default)]
pub struct verifi_call {
    cancel: CancelToken,
    result: Mutex<Option<Arc<verifi_result>>>,
    done: Condvar,
}

impl verifi_call {
    /// A call that has its result already.
    pub(crate) fn ended(result: verifi_result) -> verifi_call {
        let call = verifi_call::default();
        call.end(result);
        call
    }

    pub(crate) fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    fn end(&self, result: verifi_result) {
        let mut place = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        // The first result stands.
        place.get_or_insert_with(|| Arc::new(result));
        drop(place);
        self.done.notify_all();
    }

    fn wait(&self, limit: Duration) -> Option<Arc<verifi_result>> {
        // A time that is too far off to be named will not come.
        let deadline = Instant::now().checked_add(limit);
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        while result.is_none() {
            result = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return None,
                Some(left) => self.done.wait_timeout(result, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.done.wait(result).unwrap_or_else(PoisonError::into_inner),
            };
        }
        result.clone()
    }
}

/// Brings a call its result, whatever happens: one that is dropped first says that the call was lost.
pub(crate) struct Completion(Arc<verifi_call>);

impl Completion {
    pub(crate) fn of(call: &Arc<verifi_call>) -> Completion {
        Completion(Arc::clone(call))
    }

    pub(crate) fn done(self, result: ToolResult) {
        self.0.end(result.into());
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        let mut result = self.0.result.lock().unwrap_or_else(PoisonError::into_inner);
        if result.is_none() {
            *result = Some(Arc::new(verifi_result::lost("the call was lost by a fault of verifi's own".into())));
            drop(result);
            self.0.done.notify_all();
        }
    }
}

/// Waits for the result, `wait_ms` milliseconds at the most: 0 looks whether it is there, UINT64_MAX waits as long as it
/// takes. NULL when it is not there yet, and for NULL. The caller frees the result. It can be asked for again, by other
/// threads, too; each time there is one to be freed.
///
/// It blocks this thread. When another thread frees the call meanwhile it returns within 200 ms.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_call_wait(call: *const verifi_call, wait_ms: u64) -> *mut verifi_result {
    let waited = || Some(boundary::hold(call, "call").ok()?.wait(Duration::from_millis(wait_ms)));
    match boundary::catch(waited) {
        Ok(Some(Some(result))) => boundary::give_shared(result),
        _ => ptr::null_mut(),
    }
}

/// Cancels the call: within 200 ms it has its result, whose outcome is `cancelled`. A call that has ended keeps the
/// result it has. It does not block. NULL is nothing to cancel.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_call_cancel(call: *const verifi_call) {
    // A panic has nobody to be told to; the call ends at its deadline.
    let _ = boundary::catch(|| boundary::hold(call, "call").map(|call| call.cancel.cancel()));
}

/// Frees the call, and cancels it if it is under way: its result is then on the timeline alone. It does not block. NULL
/// is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_call_free(call: *mut verifi_call) {
    boundary::take(call, |call| call.cancel.cancel());
}
