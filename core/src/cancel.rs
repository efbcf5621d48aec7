//! How a call is stopped: by its deadline, by the caller, or by the end of the run.
//!
//! Nothing polls. A call blocks in one place at a time and registers there what wakes it (shutting down its socket,
//! say); whoever stops the call runs that.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::lock::Lock;

/// Cancels calls from another thread. One token may be used for any number of calls, at once and one after another; a
/// call that starts with a cancelled token is not sent at all.
///
/// Clones are the same token. Usable from any thread.
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: Arc<TokenShared>,
}

#[derive(Default)]
struct TokenShared {
    state: Mutex<TokenState>,
    idle: Condvar,
}

#[derive(Default)]
struct TokenState {
    stop: Option<Stop>,
    /// A slab: an ended call leaves its place to the next.
    scopes: Vec<Weak<Scope>>,
    free: Vec<usize>,
    /// Somebody waits for `idle`: without, telling is a system call saved.
    is_awaited: bool,
}

impl CancelToken {
    /// A token that nothing has cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels every call that uses this token, now and later. Each returns within 200 ms with the outcome
    /// `cancelled`. Does not block; a second call does nothing.
    pub fn cancel(&self) {
        self.stop_all(Stop::Cancelled);
    }

    /// Whether [`cancel`](Self::cancel) has been called.
    pub fn is_cancelled(&self) -> bool {
        self.shared.state.locked().stop.is_some()
    }

    pub(crate) fn stop_all(&self, stop: Stop) {
        let scopes = {
            let mut state = self.shared.state.locked();
            if state.stop.is_some() {
                return;
            }
            state.stop = Some(stop);
            state.scopes.clone()
        };
        for scope in scopes.iter().filter_map(Weak::upgrade) {
            scope.stop(stop);
        }
    }

    /// Ties a scope to this token until the attachment is dropped.
    pub(crate) fn attach(&self, scope: &Arc<Scope>) -> Attachment {
        let mut state = self.shared.state.locked();
        let weak = Arc::downgrade(scope);
        let place = match state.free.pop() {
            Some(place) => {
                state.scopes[place] = weak;
                place
            }
            None => {
                state.scopes.push(weak);
                state.scopes.len() - 1
            }
        };
        let stop = state.stop;
        drop(state);
        if let Some(stop) = stop {
            scope.stop(stop);
        }
        Attachment { token: self.clone(), place }
    }

    /// Waits until no scope is attached, `limit` at the most.
    pub(crate) fn wait_idle(&self, limit: Duration) {
        let mut state = self.shared.state.locked();
        state.is_awaited = true;
        let busy = |state: &mut TokenState| state.scopes.len() > state.free.len();
        // A poisoned wait only ends it early.
        let _ = self.shared.idle.wait_timeout_while(state, limit, busy);
    }
}

impl std::fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

pub(crate) struct Attachment {
    token: CancelToken,
    place: usize,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut state = self.token.shared.state.locked();
        state.scopes[self.place] = Weak::new();
        state.free.push(self.place);
        if state.is_awaited && state.free.len() == state.scopes.len() {
            self.token.shared.idle.notify_all();
        }
    }
}

/// Why a call must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The caller cancelled it.
    Cancelled,
    /// The run was closed.
    Closed,
    /// Its time is over.
    Deadline,
}

/// What wakes a blocked call. It may run on any thread, and also when the call is no longer blocked.
pub(crate) trait Interrupt: Send + Sync {
    fn interrupt(&self);
}

/// One attempt at one server: how long it may take, and what stops it.
pub(crate) struct Scope {
    started: Instant,
    timeout: Duration,
    state: Mutex<ScopeState>,
}

#[derive(Default)]
struct ScopeState {
    stop: Option<Stop>,
    interrupt: Option<Arc<dyn Interrupt>>,
}

impl Scope {
    pub(crate) fn new(timeout: Duration) -> Arc<Scope> {
        Arc::new(Scope { started: Instant::now(), timeout, state: Mutex::default() })
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What is left of the time, never zero.
    pub(crate) fn remaining(&self) -> Result<Duration, Stop> {
        self.remaining_at(Instant::now())
    }

    /// The same, where the time is known.
    pub(crate) fn remaining_at(&self, now: Instant) -> Result<Duration, Stop> {
        if let Some(stop) = self.stopped() {
            return Err(stop);
        }
        match self.timeout.checked_sub(now.duration_since(self.started)) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(Stop::Deadline),
        }
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.state.locked().stop
    }

    /// Stops the attempt. The first reason stands.
    pub(crate) fn stop(&self, stop: Stop) {
        let interrupt = {
            let mut state = self.state.locked();
            if state.stop.is_some() {
                return;
            }
            state.stop = Some(stop);
            state.interrupt.clone()
        };
        if let Some(interrupt) = interrupt {
            interrupt.interrupt();
        }
    }

    /// Registers what wakes the attempt while it blocks, until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, interrupt: Arc<dyn Interrupt>) -> Result<Entered, Stop> {
        let mut state = self.state.locked();
        if let Some(stop) = state.stop {
            return Err(stop);
        }
        let before = state.interrupt.replace(interrupt);
        drop(state);
        Ok(Entered { scope: self.clone(), before })
    }

    /// Waits, unless the attempt is stopped or its time ends first.
    pub(crate) fn sleep(self: &Arc<Self>, duration: Duration) -> Result<(), Stop> {
        self.wait(&Arc::default(), duration)
    }

    /// Waits for the bell, `limit` at the most, unless the attempt is stopped or its time ends first.
    pub(crate) fn wait(self: &Arc<Self>, bell: &Arc<Bell>, limit: Duration) -> Result<(), Stop> {
        let _entered = self.enter(bell.clone())?;
        let left = self.remaining()?;
        bell.wait(limit.min(left));
        self.remaining().map(|_| ())
    }
}

/// While it lives, stopping the scope runs the interrupt; then the one before it is in place again.
pub(crate) struct Entered {
    scope: Arc<Scope>,
    before: Option<Arc<dyn Interrupt>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.scope.state.locked().interrupt = self.before.take();
    }
}

/// Wakes the one who waits for it; once rung, it wakes at once.
#[derive(Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn wait(&self, limit: Duration) {
        let rung = self.rung.locked();
        // A poisoned wait only ends it early: the caller looks at the scope in any case.
        let _ = self.changed.wait_timeout_while(rung, limit, |rung| !*rung);
    }
}

impl Interrupt for Bell {
    fn interrupt(&self) {
        *self.rung.locked() = true;
        self.changed.notify_all();
    }
}
