//! The way of what has ended into an event loop.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::exit;

/// Brings what verifi's threads have done to one event loop.
///
/// The loop empties it for as long as it finds something each time. Only a thread that comes while the loop does not
/// look asks for the interpreter, and wakes it: with many calls under way the loop has the interpreter to itself.
#[pyclass(frozen, weakref, module = "verifi._verifi")]
pub(crate) struct Outlet {
    event_loop: Py<PyAny>,
    drain: Py<PyAny>,
    queue: Arc<Mutex<Queue>>,
    process: u32,
}

/// Locked for moments only, and never while a thread waits for the interpreter. A child after a fork may find it locked
/// for ever, and leaves it alone.
#[derive(Default)]
struct Queue {
    ended: Vec<Ended>,
    /// The loop will look without being woken.
    is_watched: bool,
}

struct Ended {
    waiter: Waiter,
    outcome: Outcome,
}

type Outcome = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// What is set at last: the future, its value and its exception, one of which is None.
type Settled = (Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>);

/// Whoever awaits something: a future, and the outlet of its loop.
#[derive(FromPyObject)]
pub(crate) struct Waiter(Py<Outlet>, Py<PyAny>);

impl Waiter {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Waiter {
        Waiter(self.0.clone_ref(py), self.1.clone_ref(py))
    }

    /// Sets the future, from any thread, to what `outcome` makes in the loop. Unless the interpreter is about to end,
    /// or the loop is closed.
    pub(crate) fn tell(self, outcome: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static) {
        let Some(queue) = self.0.get().own_queue().cloned() else { return };
        let ended = Ended { waiter: self, outcome: Box::new(outcome) };
        let Some(ended) = locked(&queue).add(ended) else { return };
        let Some(_pass) = exit::pass() else { return };
        Python::attach(|py| {
            let outlet = ended.waiter.0.clone_ref(py);
            locked(&queue).ended.push(ended);
            wake(outlet.bind(py));
        });
    }
}

impl Outlet {
    /// None in a child after a fork.
    fn own_queue(&self) -> Option<&Arc<Mutex<Queue>>> {
        (self.process == process::id()).then_some(&self.queue)
    }
}

impl Queue {
    /// Gives it back if the loop must be woken for it.
    fn add(&mut self, ended: Ended) -> Option<Ended> {
        if !mem::replace(&mut self.is_watched, true) {
            return Some(ended);
        }
        self.ended.push(ended);
        None
    }
}

fn wake(outlet: &Bound<'_, Outlet>) {
    let py = outlet.py();
    let Outlet { event_loop, drain, queue, .. } = outlet.get();
    let Err(error) = event_loop.call_method1(py, intern!(py, "call_soon_threadsafe"), (drain, event_loop, outlet))
    else {
        return;
    };
    // What is dropped here may run Python's code: not under the lock.
    let left = mem::take(&mut *locked(queue));
    drop(left);
    // The loop is closed: nobody waits any more.
    if !error.is_instance_of::<PyRuntimeError>(py) {
        error.write_unraisable(py, Some(event_loop.bind(py)));
    }
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Outlet {
    /// `drain(event_loop, outlet)` is called in the loop, and again by itself while there is something to take.
    #[new]
    fn new(event_loop: Py<PyAny>, drain: Py<PyAny>) -> Outlet {
        Outlet { event_loop, drain, queue: Arc::default(), process: process::id() }
    }

    /// What has ended. After an empty list the loop is woken for what comes next.
    fn take(&self, py: Python<'_>) -> Vec<Settled> {
        let Some(queue) = self.own_queue() else { return Vec::new() };
        let ended = {
            let mut queue = locked(queue);
            queue.is_watched = !queue.ended.is_empty();
            mem::take(&mut queue.ended)
        };
        let settled = |Ended { waiter, outcome }: Ended| match outcome(py) {
            Ok(value) => (waiter.1, Some(value), None),
            Err(error) => (waiter.1, None, Some(error.into_value(py).into_any())),
        };
        ended.into_iter().map(settled).collect()
    }

    /// A loop that is closed under its tasks leaves a circle: the queue has futures, which have tasks, which have calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        visit.call(&self.drain)?;
        // What is not visited, or comes in the meantime, counts as held from elsewhere, and is kept.
        let Ok(queue) = self.queue.try_lock() else { return Ok(()) };
        queue.ended.iter().try_for_each(|ended| {
            visit.call(&ended.waiter.0)?;
            visit.call(&ended.waiter.1)
        })
    }

    fn __clear__(&self) {
        if let Some(queue) = self.own_queue() {
            let left = mem::take(&mut *locked(queue));
            drop(left);
        }
    }
}
