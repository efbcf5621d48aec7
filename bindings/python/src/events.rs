//! A subscription's handle.

use std::process;

use pyo3::prelude::*;
use verifi::Next;

use crate::convert::json;
use crate::waiting::{SLICE, block, is_main_thread};

/// A place in a run's events.
///
/// It belongs to the process that made it: in a child after a fork it has ended.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct Subscription {
    subscription: verifi::Subscription,
    process: u32,
}

impl Subscription {
    pub(crate) fn new(subscription: verifi::Subscription) -> Subscription {
        Subscription { subscription, process: process::id() }
    }

    /// The parent's subscription may be locked by one of the parent's threads, for ever.
    fn is_foreign(&self) -> bool {
        self.process != process::id()
    }
}

#[pymethods]
impl Subscription {
    /// Waits for the next event; None at the end.
    fn wait(&self, py: Python<'_>) -> PyResult<Option<String>> {
        if self.is_foreign() {
            return Ok(None);
        }
        if !is_main_thread(py)? {
            return Ok(block(py, || self.subscription.wait().map(|event| json(&*event))));
        }
        loop {
            match py.detach(|| self.subscription.next_timeout(SLICE)) {
                Next::Event(event) => return Ok(Some(json(&*event))),
                Next::Ended => return Ok(None),
                Next::NotYet => py.check_signals()?,
            }
        }
    }

    /// The next event if it is there already.
    fn take(&self, py: Python<'_>) -> Option<String> {
        if self.is_foreign() {
            return None;
        }
        match py.detach(|| self.subscription.try_next()) {
            Next::Event(event) => Some(json(&*event)),
            Next::NotYet | Next::Ended => None,
        }
    }

    /// Ends it, also for those that wait.
    fn close(&self, py: Python<'_>) {
        if !self.is_foreign() {
            py.detach(|| self.subscription.close());
        }
    }
}
