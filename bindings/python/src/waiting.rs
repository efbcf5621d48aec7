//! Waiting for the core with the interpreter free for other threads.
//!
//! A thread makes its own call: no hop, least latency. The main thread alone must look up now and then, since Python
//! runs the handlers of signals there and nowhere else, and which thread a signal interrupts is the system's choice. So
//! its calls run on verifi's pool, which costs about 15 µs, while it waits in slices.

use std::cell::Cell;
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use verifi::CancelToken;

use crate::exit;

/// How long the main thread waits before it looks for signals.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// How long a call may take to end once it is cancelled.
const CANCELLED: Duration = Duration::from_millis(150);

thread_local! {
    /// Whether this thread is the main one of the process. A fork makes the thread that forks the main one.
    static IS_MAIN: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// Whether Python runs the handlers of signals on this thread.
pub(crate) fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let process = process::id();
    if let Some((known, is_main)) = IS_MAIN.get()
        && known == process
    {
        return Ok(is_main);
    }
    let threading = py.import(intern!(py, "threading"))?;
    let main: u64 = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?.extract()?;
    let own: u64 = threading.call_method0(intern!(py, "get_ident"))?.extract()?;
    IS_MAIN.set(Some((process, main == own)));
    Ok(main == own)
}

/// Blocks on a thread that is not the main one.
pub(crate) fn block<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (value, pass) = py.detach(|| (work(), exit::pass_or_stay()));
    drop(pass);
    value
}

/// Takes what some other thread brings.
pub(crate) struct Inbox<T>(Arc<Shared<T>>);

struct Shared<T> {
    value: Mutex<Option<T>>,
    arrived: Condvar,
}

impl<T> Clone for Inbox<T> {
    fn clone(&self) -> Inbox<T> {
        Inbox(self.0.clone())
    }
}

impl<T: Send> Inbox<T> {
    pub(crate) fn new() -> Inbox<T> {
        Inbox(Arc::new(Shared { value: Mutex::new(None), arrived: Condvar::new() }))
    }

    pub(crate) fn put(&self, value: T) {
        *self.locked() = Some(value);
        self.0.arrived.notify_one();
    }

    /// Waits on the main thread until the value is there. A signal whose handler raises ends the wait: `cancel` is
    /// cancelled, what it stops has a moment to end and to be booked, and the exception goes on.
    pub(crate) fn wait(&self, py: Python<'_>, cancel: &CancelToken) -> PyResult<T> {
        loop {
            if let Some(value) = py.detach(|| self.take(SLICE)) {
                return Ok(value);
            }
            if let Err(raised) = py.check_signals() {
                py.detach(|| {
                    cancel.cancel();
                    self.take(CANCELLED)
                });
                return Err(raised);
            }
        }
    }

    fn take(&self, limit: Duration) -> Option<T> {
        let waited = self.0.arrived.wait_timeout_while(self.locked(), limit, |value| value.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    fn locked(&self) -> MutexGuard<'_, Option<T>> {
        self.0.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
