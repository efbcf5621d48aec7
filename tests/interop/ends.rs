//! Calls that end before their time, and streams that do.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use verifi::{CallOptions, CancelToken, Outcome, ProgressFn};

use crate::setting::Setting;
use crate::target::Target;

/// Does `work` when the first progress comes, and tells when that was.
fn at_first_progress(work: impl Fn() + Send + Sync + 'static) -> (ProgressFn, Arc<Mutex<Option<Instant>>>) {
    let first = Arc::new(Mutex::new(None));
    let at = Arc::clone(&first);
    let on_progress = move |_| {
        let mut at = at.lock().unwrap();
        if at.is_none() {
            *at = Some(Instant::now());
            work();
        }
    };
    (Arc::new(on_progress), first)
}

// Rules 2.6, 3.3. A server of the handshake is told, another sees the connection end.
pub fn cancels_a_long_call(target: Target) {
    let setting = Setting::new(target);
    let cancel = CancelToken::new();
    let for_callback = cancel.clone();
    let (on_progress, first) = at_first_progress(move || for_callback.cancel());
    let options = CallOptions { cancel: Some(cancel), on_progress: Some(on_progress), ..CallOptions::default() };
    let case = target.server.slow(100).labelled(&setting.relay.url());
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    let waited = first.lock().unwrap().unwrap().elapsed();
    assert_eq!(result.outcome, Outcome::Cancelled, "{:?}", result.error);
    assert!(waited < Duration::from_millis(200), "the caller had its answer after {waited:?}");
    assert_told(&setting);
}

// Rules 2.5, 3.3.
pub fn gives_a_long_call_up_at_its_deadline(target: Target) {
    let setting = Setting::new(target);
    setting.assert_succeeds(&target.server.echo("first"));
    let case = target.server.slow(100).labelled(&setting.relay.url());
    let options = CallOptions { timeout: Some(Duration::from_millis(500)), ..CallOptions::default() };
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    assert_eq!(result.outcome, Outcome::TimedOut, "{:?}", result.error);
    assert_told(&setting);
}

/// The server knows that nobody waits for the slow call any more, by its own record if it keeps one.
fn assert_told(setting: &Setting) {
    let target = setting.target;
    if target.is_modern() {
        setting.relay.wait_for_an_end();
    } else {
        setting.relay.wait_for("a cancellation", |sent| sent.rpc() == "notifications/cancelled");
    }
    match target.sees_cancellation() {
        true => setting.assert_succeeds(&target.server.stopped(&setting.relay.url())),
        false => setting.assert_succeeds(&target.server.echo("next")),
    }
    assert_eq!(setting.relay.count("initialize"), target.handshakes());
    assert_eq!(setting.relay.count("notifications/cancelled"), usize::from(!target.is_modern()));
}

// Rule 3.7.
pub fn resumes_a_stream_that_breaks(target: Target) {
    let setting = Arc::new(Setting::new(target));
    let for_callback = Arc::downgrade(&setting);
    let (on_progress, _) = at_first_progress(move || for_callback.upgrade().unwrap().relay.cut());
    let case = target.server.slow_and_resumable();
    let options = CallOptions { on_progress: Some(on_progress), ..CallOptions::default() };
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    assert_eq!((result.outcome, result.text()), (Outcome::Ok, case.text.as_str()), "{:?}", result.error);
    let sent = setting.relay.sent();
    let resumed: Vec<_> = sent.iter().filter(|sent| sent.header("last-event-id").is_some()).collect();
    assert_eq!(resumed.iter().map(|sent| sent.method.as_str()).collect::<Vec<_>>(), ["GET"]);
    assert_eq!(setting.relay.count("tools/call"), 1);
    target.assert_fitting(&sent);
}
