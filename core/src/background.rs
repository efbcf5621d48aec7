//! Threads for calls that are awaited, and for what goes on behind a run's back.
//!
//! One pool a process, shared by all runs, made when the first of them needs it and ended with the last: no thread is
//! left when no run is. A forked child makes its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
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

const NO_THREAD: &str = "the system gives no thread";

static POOL: PerProcess<Mutex<Weak<Pool>>> = PerProcess::new();

struct Pool {
    /// Only empty while the pool is dropped.
    runtime: Option<Runtime>,
    watched: Mutex<Watched>,
}

/// Work that may still wait for a thread.
#[derive(Default)]
struct Watched {
    queued: Vec<Weak<Queued>>,
    /// Somebody looks after it.
    is_watched: bool,
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
    // tokio panics when the system gives it no thread.
    let built = catch_unwind(|| {
        Builder::new_multi_thread()
            // It only keeps time.
            .worker_threads(1)
            .enable_time()
            .max_blocking_threads(MOST_THREADS)
            .thread_stack_size(STACK)
            .thread_name("verifi")
            .build()
    });
    let runtime = match built {
        Ok(Ok(runtime)) => runtime,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(NO_THREAD.into()),
    };
    let pool = Arc::new(Pool { runtime: Some(runtime), watched: Mutex::default() });
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
    companions: CancelToken,
    has_ended: AtomicBool,
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
        pool.watch(&queued);
        pool.run(queued, entered);
    }

    /// Does `work` within `limit`, and in any case before the run is closed.
    pub(crate) fn chore(&self, limit: Duration, work: impl FnOnce(&Arc<Scope>) + Send + 'static) {
        self.tied_to(&self.chores, limit, work);
    }

    /// Does `work` within `limit`, until the run is closed or the scope that it gives is stopped.
    pub(crate) fn accompany(&self, limit: Duration, work: impl FnOnce(&Arc<Scope>) + Send + 'static) -> Arc<Scope> {
        self.tied_to(&self.companions, limit, work)
    }

    fn tied_to(
        &self,
        token: &CancelToken,
        limit: Duration,
        work: impl FnOnce(&Arc<Scope>) + Send + 'static,
    ) -> Arc<Scope> {
        let scope = Scope::new(limit);
        let attachment = token.attach(&scope);
        let given = scope.clone();
        self.spawn(&scope.clone(), move |start| {
            if matches!(start, Start::Go) {
                work(&scope);
            }
            drop(attachment);
        });
        given
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
        self.companions.stop_all(Stop::Closed);
        self.chores.wait_idle(limit);
        self.chores.stop_all(Stop::Closed);
        self.has_ended.store(true, Ordering::Relaxed);
        self.pool.locked().take();
    }

    fn pool(&self) -> Result<Arc<Pool>, String> {
        let mut held = self.pool.locked();
        if self.has_ended.load(Ordering::Relaxed) {
            return Err("the run is closed".into());
        }
        match &*held {
            Some(pool) => Ok(pool.clone()),
            None => Ok(held.insert(shared_pool()?).clone()),
        }
    }
}

impl Pool {
    fn run(self: &Arc<Self>, queued: Arc<Queued>, entered: Entered) {
        let Some(runtime) = &self.runtime else { return queued.run(Start::NoThread("the pool has ended".into())) };
        let (work, pool) = (queued.clone(), self.clone());
        let spawned = catch_unwind(AssertUnwindSafe(|| {
            runtime.spawn_blocking(move || {
                drop(entered);
                work.run(Start::Go);
                drop(pool);
            });
        }));
        // tokio panics when it cannot start its first thread.
        if spawned.is_err() {
            queued.run(Start::NoThread(NO_THREAD.into()));
        }
    }

    /// Sees to it that work which gets no thread ends at its deadline all the same: the pool may be full, or the system
    /// may give no more threads. What has not begun after a moment gets a timer.
    fn watch(self: &Arc<Self>, queued: &Arc<Queued>) {
        const MOMENT: Duration = Duration::from_millis(20);
        let Some(runtime) = &self.runtime else { return };
        let mut watched = self.watched.locked();
        watched.queued.push(Arc::downgrade(queued));
        if std::mem::replace(&mut watched.is_watched, true) {
            return;
        }
        let pool = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(MOMENT).await;
                let Some(pool) = pool.upgrade() else { return };
                let mut watched = pool.watched.locked();
                let queued = std::mem::take(&mut watched.queued);
                watched.is_watched = !queued.is_empty();
                if !watched.is_watched {
                    return;
                }
                drop(watched);
                queued.iter().filter_map(Weak::upgrade).filter(|queued| queued.waits()).for_each(end_in_time);
            }
        });
    }
}

fn end_in_time(queued: Arc<Queued>) {
    let left = queued.scope.remaining().unwrap_or_default();
    let queued = Arc::downgrade(&queued);
    tokio::spawn(async move {
        tokio::time::sleep(left).await;
        if let Some(queued) = queued.upgrade() {
            queued.scope.stop(Stop::Deadline);
        }
    });
}

type Work = Box<dyn FnOnce(Start) + Send>;

struct Queued {
    scope: Arc<Scope>,
    work: Mutex<Option<Work>>,
}

impl Queued {
    fn waits(&self) -> bool {
        self.work.locked().is_some()
    }

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
