//! Threads for calls that are awaited, and for what goes on behind a run's back.
//!
//! One pool a process, shared by all runs, made when the first of them needs it and ended with the last: no thread is
//! left when no run is. A forked child makes its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::cancel::{CancelToken, Entered, Interrupt, Scope, Stop};
use crate::lock::Lock;
use crate::process::PerProcess;

/// How many awaited calls are under way at once, at the most. The others wait for a place.
const MOST_THREADS: usize = 4096;

/// A call needs a few kilobytes of its stack; the memory of the rest is never touched.
const STACK: usize = 512 * 1024;

static POOL: PerProcess<Mutex<Weak<Pool>>> = PerProcess::new();

struct Pool {
    /// Only empty while the pool is dropped.
    runtime: Option<Runtime>,
    busy: AtomicUsize,
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waits for nothing, so that the last user may be one of the pool's own threads.
            runtime.shutdown_background();
        }
    }
}

/// The process's pool. A start that fails is not kept: the next call tries again.
fn shared_pool() -> Result<Arc<Pool>, String> {
    let mut shared = POOL.get_or_make(Mutex::default).locked();
    if let Some(pool) = shared.upgrade() {
        return Ok(pool);
    }
    let runtime = Builder::new_multi_thread()
        // It only keeps time.
        .worker_threads(1)
        .enable_time()
        .max_blocking_threads(MOST_THREADS)
        .thread_stack_size(STACK)
        .thread_name("verifi")
        .build()
        .map_err(|error| error.to_string())?;
    let pool = Arc::new(Pool { runtime: Some(runtime), busy: AtomicUsize::new(0) });
    *shared = Arc::downgrade(&pool);
    Ok(pool)
}

/// How a piece of work comes to run.
pub(crate) enum Start {
    /// On a thread of the pool.
    Go,
    /// Not at all: it was stopped while it waited for a place.
    Stopped(Stop),
    /// Not at all: there is no thread to be had.
    NoThread(String),
}

/// A run's hold on the pool.
#[derive(Default)]
pub(crate) struct Background {
    pool: Mutex<Option<Arc<Pool>>>,
    chores: CancelToken,
}

impl Background {
    /// Runs `work` exactly once: on a thread of the pool, or, when `scope` is stopped before it has a place, on the
    /// thread that stops it.
    pub(crate) fn spawn(&self, scope: &Arc<Scope>, work: impl FnOnce(Start) + Send + 'static) {
        let pool = match self.pool() {
            Ok(pool) => pool,
            Err(error) => return work(Start::NoThread(error)),
        };
        let queued = Arc::new(Queued { scope: scope.clone(), work: Mutex::new(Some(Box::new(work))) });
        let entered = match scope.enter(queued.clone()) {
            Ok(entered) => entered,
            Err(stop) => return queued.run(Start::Stopped(stop)),
        };
        let place = Place::take(&pool);
        if place.is_crowded {
            pool.end_in_time(&queued);
        }
        pool.run(queued, entered, place);
    }

    /// Does `work` within `limit`, and in any case before the run is closed.
    pub(crate) fn chore(&self, limit: Duration, work: impl FnOnce(&Arc<Scope>) + Send + 'static) {
        let scope = Scope::new(limit);
        let attachment = self.chores.attach(&scope);
        if scope.stopped().is_some() {
            // The run has ended: no pool is started for it again.
            return;
        }
        self.spawn(&scope.clone(), move |start| {
            if matches!(start, Start::Go) {
                work(&scope);
            }
            drop(attachment);
        });
    }

    /// Does `work` on a thread of the pool after `delay`, unless the pool has ended by then.
    pub(crate) fn after(&self, delay: Duration, work: impl FnOnce() + Send + 'static) {
        if let Ok(pool) = self.pool()
            && let Some(runtime) = &pool.runtime
        {
            runtime.spawn(async move {
                tokio::time::sleep(delay).await;
                tokio::task::spawn_blocking(work);
            });
        }
    }

    /// Waits for the chores, stops those that are left, and lets the pool go.
    pub(crate) fn end(&self, limit: Duration) {
        self.chores.wait_idle(limit);
        self.chores.stop_all(Stop::Closed);
        self.pool.locked().take();
    }

    fn pool(&self) -> Result<Arc<Pool>, String> {
        let mut held = self.pool.locked();
        match &*held {
            Some(pool) => Ok(pool.clone()),
            None => Ok(held.insert(shared_pool()?).clone()),
        }
    }
}

impl Pool {
    fn run(&self, queued: Arc<Queued>, entered: Entered, place: Place) {
        let Some(runtime) = &self.runtime else { return queued.run(Start::NoThread("the pool has ended".into())) };
        let work = queued.clone();
        let spawned = catch_unwind(AssertUnwindSafe(|| {
            runtime.spawn_blocking(move || {
                drop(entered);
                work.run(Start::Go);
                drop(place);
            });
        }));
        // tokio panics when it cannot start its first thread.
        if spawned.is_err() {
            queued.run(Start::NoThread("the system gives no thread".into()));
        }
    }

    /// Work that waits for a place ends at its deadline all the same.
    fn end_in_time(&self, queued: &Arc<Queued>) {
        let (Some(runtime), Ok(left)) = (&self.runtime, queued.scope.remaining()) else { return };
        let queued = Arc::downgrade(queued);
        runtime.spawn(async move {
            tokio::time::sleep(left).await;
            if let Some(queued) = queued.upgrade() {
                queued.scope.stop(Stop::Deadline);
            }
        });
    }
}

/// Counts as busy from being queued to being done, and keeps the pool.
struct Place {
    pool: Arc<Pool>,
    is_crowded: bool,
}

impl Place {
    fn take(pool: &Arc<Pool>) -> Place {
        let before = pool.busy.fetch_add(1, Ordering::Relaxed);
        Place { pool: pool.clone(), is_crowded: before >= MOST_THREADS }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.pool.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

type Work = Box<dyn FnOnce(Start) + Send>;

struct Queued {
    scope: Arc<Scope>,
    work: Mutex<Option<Work>>,
}

impl Queued {
    fn run(&self, start: Start) {
        let work = self.work.locked().take();
        if let Some(work) = work {
            work(start);
        }
    }
}

impl Interrupt for Queued {
    fn interrupt(&self) {
        self.run(Start::Stopped(self.scope.stopped().unwrap_or(Stop::Cancelled)));
    }
}
