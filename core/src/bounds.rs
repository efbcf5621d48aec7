//! What bounds a call.

use std::sync::Arc;
use std::time::Duration;

use crate::cancel::{Attachment, CancelToken, Scope};
use crate::state::RunState;

/// What bounds a call: its time, which each server has anew, and all that may stop it.
pub(crate) struct Bounds {
    timeout: Duration,
    tokens: [Option<CancelToken>; 3],
    /// Begins when the call is made, so that it covers the wait for a thread. It is kept to the end of the call: as long
    /// as it is attached, a run that is being closed knows that the call is under way.
    first: Option<Arc<Bounded>>,
    is_begun: bool,
}

/// A scope that is tied to what may stop it.
pub(crate) struct Bounded {
    pub(crate) scope: Arc<Scope>,
    _attachments: [Option<Attachment>; 3],
}

impl Bounds {
    pub(crate) fn new(state: &RunState, timeout: Duration, tokens: [Option<CancelToken>; 2]) -> Bounds {
        let [cancel, dropped] = tokens;
        let tokens = [cancel, dropped, Some(state.calls.clone())];
        let mut bounds = Bounds { timeout, tokens, first: None, is_begun: false };
        bounds.first = Some(Arc::new(bounds.bounded()));
        bounds
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    fn bounded(&self) -> Bounded {
        let scope = Scope::new(self.timeout);
        let attachments = self.tokens.each_ref().map(|token| token.as_ref().map(|token| token.attach(&scope)));
        Bounded { scope, _attachments: attachments }
    }

    /// The bounds of the next server: what the call began with, then the same time again.
    pub(crate) fn next(&mut self) -> Arc<Bounded> {
        match &self.first {
            Some(first) if !std::mem::replace(&mut self.is_begun, true) => first.clone(),
            _ => Arc::new(self.bounded()),
        }
    }

    pub(crate) fn first(&self) -> Option<&Arc<Scope>> {
        self.first.as_ref().map(|first| &first.scope)
    }
}
