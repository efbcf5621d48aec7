//! The end of the interpreter. A thread that asks for it while it is being torn down is ended by Python in the middle of
//! Rust code, or worse. So whoever comes back to Python on a thread other than the main one passes this gate, and at
//! exit it is shut before the interpreter begins to end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

static SHUT: AtomicBool = AtomicBool::new(false);
/// Touched by threads that have Python only, so a fork finds it unlocked.
static OPEN: Mutex<Vec<Weak<verifi::Run>>> = Mutex::new(Vec::new());

static PASSING: AtomicUsize = AtomicUsize::new(0);

/// On the way back to Python. The exit waits until it is dropped.
pub(crate) struct Pass(());

impl Drop for Pass {
    fn drop(&mut self) {
        PASSING.fetch_sub(1, SeqCst);
    }
}

/// Lets the thread go to Python, unless the interpreter is about to end.
pub(crate) fn pass() -> Option<Pass> {
    PASSING.fetch_add(1, SeqCst);
    let pass = Pass(());
    if SHUT.load(SeqCst) { None } else { Some(pass) }
}

/// Lets the thread go to Python, or never anywhere again: only daemon threads are left at exit, and they end with the
/// process.
pub(crate) fn pass_or_stay() -> Pass {
    loop {
        if let Some(pass) = pass() {
            return pass;
        }
        thread::park();
    }
}

/// A run was opened: it is closed at exit if it still is open.
pub(crate) fn opened(run: &Arc<verifi::Run>) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|run| run.strong_count() > 0);
    open.push(Arc::downgrade(run));
}

/// Closes all runs at once. The main thread calls it at exit.
#[pyfunction]
pub(crate) fn close_all(py: Python<'_>) {
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    let runs: Vec<_> = open.iter().filter_map(Weak::upgrade).collect();
    py.detach(|| {
        thread::scope(|scope| {
            for run in &runs {
                // Without a thread for it, it is closed by this one.
                if thread::Builder::new().spawn_scoped(scope, || run.close()).is_err() {
                    run.close();
                }
            }
        });
    });
}

/// Shuts the gate and waits for those who are passing. The main thread calls it at exit.
#[pyfunction]
pub(crate) fn shut(py: Python<'_>) {
    const LIMIT: Duration = Duration::from_secs(1);
    SHUT.store(true, SeqCst);
    py.detach(|| {
        let begin = Instant::now();
        while PASSING.load(SeqCst) > 0 && begin.elapsed() < LIMIT {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Called in a child after a fork: those who were passing have stayed behind in the parent.
#[pyfunction]
pub(crate) fn forked() {
    PASSING.store(0, SeqCst);
}
