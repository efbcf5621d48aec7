//! State that belongs to one process. A forked child has a copy of its parent's memory but none of its threads: locks
//! may be held by nobody, and sockets are shared with the parent. So it must not touch the parent's state at all.

use std::process;
use std::sync::Arc;

use once_cell::race::OnceBox;

/// One `T` a process, made at first use. A child after `fork` makes its own and never looks at its parent's.
///
/// A list of one entry a process, oldest ancestor first: it is only ever appended to, without a lock.
pub(crate) struct PerProcess<T> {
    first: OnceBox<Entry<T>>,
}

struct Entry<T> {
    process: u32,
    value: Arc<T>,
    next: OnceBox<Entry<T>>,
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess { first: OnceBox::new() }
    }

    /// With this process's value.
    pub(crate) fn with(value: T) -> PerProcess<T> {
        let entry = Entry { process: process::id(), value: Arc::new(value), next: OnceBox::new() };
        PerProcess { first: OnceBox::with_value(Box::new(entry)) }
    }

    /// This process's value, made by `make` if there is none. When two threads make it at once one value is dropped.
    pub(crate) fn get_or_make(&self, make: impl Fn() -> T) -> &Arc<T> {
        let process = process::id();
        let mut place = &self.first;
        loop {
            let entry =
                place.get_or_init(|| Box::new(Entry { process, value: Arc::new(make()), next: OnceBox::new() }));
            if entry.process == process {
                return &entry.value;
            }
            place = &entry.next;
        }
    }

    /// This process's value, if it was made.
    pub(crate) fn get(&self) -> Option<&Arc<T>> {
        let process = process::id();
        let mut place = &self.first;
        while let Some(entry) = place.get() {
            if entry.process == process {
                return Some(&entry.value);
            }
            place = &entry.next;
        }
        None
    }
}

impl<T> Drop for Entry<T> {
    /// A child leaves its parent's value alone: dropping it could wait for a lock that no thread holds, or tell the
    /// parent's servers that a connection has ended. One count too many keeps it.
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.value.clone());
        }
    }
}
