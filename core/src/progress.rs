//! What a server says of a call that is under way.

use std::sync::Arc;

/// What a server says of a call that is under way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far it is. It grows with each notice.
    pub progress: f64,
    /// Where it will end, if the server knows.
    pub total: Option<f64>,
    /// What it is doing, scrubbed.
    pub message: Option<String>,
}

/// Called for each progress notification, on the thread that makes the call, which waits for it meanwhile.
pub type ProgressFn = Arc<dyn Fn(Progress) + Send + Sync>;
