//! Locks that a panic does not poison: every critical section here leaves its data whole at each step.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) trait Lock<T> {
    fn locked(&self) -> MutexGuard<'_, T>;
}

impl<T> Lock<T> for Mutex<T> {
    fn locked(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
