//! What all callers share and the first of them makes, while the others wait for it: a session, a token.

use std::sync::{Arc, Condvar, Mutex};

use super::failure::Failure;
use crate::cancel::{Interrupt, Scope};
use crate::lock::Lock;

pub(super) struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// What there is, and the attempt that made it.
    made: Option<(u64, Arc<T>)>,
    is_running: bool,
    /// Counts the attempts.
    attempt: u64,
    /// How the latest attempt failed, for those who waited for it.
    failed: Option<(u64, Failure)>,
}

impl<T> Default for Shared<T> {
    fn default() -> Shared<T> {
        let state = State { made: None, is_running: false, attempt: 0, failed: None };
        Shared { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> State<T> {
    /// What came of an attempt, for one who waited for it. Nothing when its caller's own time was over.
    fn outcome(&self, awaited: u64) -> Option<Result<Arc<T>, Failure>> {
        if let Some((_, made)) = self.made.as_ref().filter(|(attempt, _)| *attempt == awaited) {
            return Some(Ok(made.clone()));
        }
        let (_, failure) = self.failed.as_ref().filter(|(attempt, _)| *attempt == awaited)?;
        (!failure.is_stop()).then(|| Err(failure.clone()))
    }
}

impl<T: Send + Sync> Interrupt for Shared<T> {
    fn interrupt(&self) {
        // The lock makes sure that a waiter either sees the stop or is already waiting.
        let _state = self.state.locked();
        self.changed.notify_all();
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// What there is if it will do, else what `make` makes. Callers that come while it is being made share the attempt
    /// and its failure, but not the end of the first caller's own time: then the next of them tries. What there was stays
    /// until there is another.
    pub(super) fn get(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        will_do: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<Arc<T>, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let mut state = self.state.locked();
        loop {
            if let Some((_, made)) = state.made.as_ref().filter(|(_, made)| will_do(made)) {
                return Ok(made.clone());
            }
            if !state.is_running {
                break;
            }
            let awaited = state.attempt;
            drop(state);
            self.wait(scope, awaited)?;
            state = self.state.locked();
            if let Some(outcome) = state.outcome(awaited) {
                return outcome;
            }
        }
        state.is_running = true;
        state.attempt += 1;
        let leading = Leading { shared: self, attempt: state.attempt };
        drop(state);
        leading.finish(make())
    }

    fn wait(self: &Arc<Self>, scope: &Arc<Scope>, attempt: u64) -> Result<(), Failure> {
        let _entered = scope.enter(self.clone()).map_err(Failure::stopped)?;
        let mut state = self.state.locked();
        while state.is_running && state.attempt == attempt {
            let left = scope.remaining().map_err(Failure::stopped)?;
            state = match self.changed.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        Ok(())
    }
}

impl<T> Shared<T> {
    /// What there is.
    pub(super) fn made(&self) -> Option<Arc<T>> {
        self.state.locked().made.as_ref().map(|(_, made)| made.clone())
    }

    /// It is no longer good: the next caller makes another. False when it has already been given up.
    pub(super) fn forget(&self, known: &Arc<T>) -> bool {
        self.state.locked().made.take_if(|(_, made)| Arc::ptr_eq(made, known)).is_some()
    }
}

/// The attempt under way. Whatever ends it, a panic too, the others get to know.
struct Leading<'a, T> {
    shared: &'a Shared<T>,
    attempt: u64,
}

impl<T> Leading<'_, T> {
    fn finish(self, outcome: Result<Arc<T>, Failure>) -> Result<Arc<T>, Failure> {
        let mut state = self.shared.state.locked();
        match &outcome {
            Ok(made) => state.made = Some((self.attempt, made.clone())),
            Err(failure) => state.failed = Some((self.attempt, failure.clone())),
        }
        drop(state);
        outcome
    }
}

impl<T> Drop for Leading<'_, T> {
    fn drop(&mut self) {
        self.shared.state.locked().is_running = false;
        self.shared.changed.notify_all();
    }
}
