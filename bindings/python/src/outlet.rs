//! The way of what has ended into an event loop.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pyo3::exceptions::PyRecursionError;
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

    /// What has ended. After nothing the loop is woken for what comes next.
    fn take(&mut self) -> Vec<Ended> {
        self.is_watched = !self.ended.is_empty();
        mem::take(&mut self.ended)
    }

    /// The loop will not look by itself after all: whether it must be woken at once.
    fn unwatch(&mut self) -> bool {
        self.is_watched = !self.ended.is_empty();
        self.is_watched
    }
}

impl Ended {
    fn settle(self, py: Python<'_>) -> PyResult<()> {
        let future = self.waiter.1.bind(py);
        if future.call_method0(intern!(py, "done"))?.is_truthy()? {
            return Ok(());
        }
        match (self.outcome)(py) {
            Ok(value) => future.call_method1(intern!(py, "set_result"), (value,)),
            Err(error) => future.call_method1(intern!(py, "set_exception"), (error.into_value(py),)),
        }
        .map(drop)
    }
}

/// Has the loop empty the outlet.
fn wake(outlet: &Bound<'_, Outlet>) {
    if let Err(error) = call(outlet, "call_soon_threadsafe") {
        wake_elsewhere(outlet, error);
    }
}

fn call(outlet: &Bound<'_, Outlet>, scheduler: &str) -> PyResult<()> {
    let drain = outlet.getattr(intern!(outlet.py(), "drain"))?;
    outlet.get().event_loop.call_method1(outlet.py(), scheduler, (drain,)).map(drop)
}

/// The loop could not be woken. It is closed, and nobody waits any more, or this thread is in no state to do it: its stack
/// has no room, a signal's handler raised.
fn wake_elsewhere(outlet: &Bound<'_, Outlet>, error: PyErr) {
    if is_closed(outlet) {
        return give_up(outlet);
    }
    let unbound = outlet.clone().unbind();
    let begun = thread::Builder::new().name("verifi-wake".into()).spawn(move || {
        let Some(_pass) = exit::pass() else { return };
        Python::attach(|py| {
            let outlet = unbound.bind(py);
            if let Err(error) = call(outlet, "call_soon_threadsafe") {
                report(outlet, error);
                give_up(outlet);
            }
        });
    });
    if begun.is_err() || !error.is_instance_of::<PyRecursionError>(outlet.py()) {
        report(outlet, error);
    }
    if begun.is_err() {
        give_up(outlet);
    }
}

fn is_closed(outlet: &Bound<'_, Outlet>) -> bool {
    let closed = outlet.get().event_loop.call_method0(outlet.py(), intern!(outlet.py(), "is_closed"));
    closed.and_then(|closed| closed.is_truthy(outlet.py())).unwrap_or(false)
}

fn report(outlet: &Bound<'_, Outlet>, error: PyErr) {
    if !is_closed(outlet) {
        error.write_unraisable(outlet.py(), Some(outlet.get().event_loop.bind(outlet.py())));
    }
}

fn give_up(outlet: &Bound<'_, Outlet>) {
    // What is dropped here may run Python's code: not under the lock.
    let left = mem::take(&mut *locked(&outlet.get().queue));
    drop(left);
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Outlet {
    #[new]
    fn new(event_loop: Py<PyAny>) -> Outlet {
        Outlet { event_loop, queue: Arc::default(), process: process::id() }
    }

    /// Runs in the loop: sets what has ended, and runs again after the tasks that it let go on, until it finds nothing.
    ///
    /// No line of Python stands between taking and setting: a signal's handler that raises there would leave all others
    /// to wait for ever. Where one raises all the same, in what asyncio does, the others get theirs first.
    fn drain(slf: &Bound<'_, Self>) -> PyResult<()> {
        let Some(queue) = slf.get().own_queue() else { return Ok(()) };
        let ended = locked(queue).take();
        if ended.is_empty() {
            return Ok(());
        }
        let mut done = Ok(());
        for ended in ended {
            done = done.and(ended.settle(slf.py()));
        }
        let again = call(slf, "call_soon");
        if again.is_err() && locked(queue).unwatch() {
            wake(slf);
        }
        done.and(again)
    }

    /// A loop that is closed under its tasks leaves a circle: the queue has futures, which have tasks, which have calls.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
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
