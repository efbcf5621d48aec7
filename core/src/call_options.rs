//! What a harness may choose for a single call.

use std::fmt;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::progress::ProgressFn;

/// What a single call may choose.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// The time limit for each server that is tried, in place of the run's.
    pub timeout: Option<Duration>,
    /// Cancels the call.
    pub cancel: Option<CancelToken>,
    /// Called for each progress notification. Without it the request carries no progress token.
    pub on_progress: Option<ProgressFn>,
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("cancel", &self.cancel)
            .field("on_progress", &self.on_progress.is_some())
            .finish()
    }
}

/// What a single list of tools may choose.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// The time limit for each server that is tried, in place of the run's.
    pub timeout: Option<Duration>,
    /// Cancels it.
    pub cancel: Option<CancelToken>,
}
