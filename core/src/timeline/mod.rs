//! The run's events in order, and what stands on them: the ledger, the journal, and whoever listens.

mod event;
mod journal;
mod ledger;
mod subscription;
#[cfg(test)]
mod tests;
mod timestamp;

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

pub(crate) use self::event::Draft;
pub use self::event::{Event, EventKind};
pub(crate) use self::journal::{Journal, Past};
pub use self::journal::{JournalFault, JournalReader, JournalSync, Verification, read_journal, verify_journal};
pub use self::ledger::{Ledger, SlotLedger, Usage};
pub use self::subscription::{Next, NextEvent, Subscription};
pub use self::timestamp::Timestamp;

/// How many events a run keeps in memory.
const KEPT: usize = 10_000;

/// The timeline of one run. Usable from any thread; recording takes one lock, once, and waits for no subscriber.
pub(crate) struct Timeline {
    shared: Arc<Shared>,
}

/// What the run and its subscriptions have in common. A subscription is a place in `recent`, not a queue: it costs a run
/// nothing, however slow it is.
struct Shared {
    state: Mutex<State>,
    /// Told when `state` has something new for those that wait on their own thread.
    changed: Condvar,
}

struct State {
    run_id: Arc<str>,
    /// The latest events, in order, without gaps.
    recent: VecDeque<Arc<Event>>,
    /// The number of the next event.
    next: u64,
    /// The number of this opening's first event. Those before it come from the journal.
    first: u64,
    ledger: Ledger,
    journal: Option<Journal>,
    finished: bool,
    /// How many threads wait for `changed`: without any, telling them is a system call saved.
    waiting: usize,
    /// Of the futures that wait, each under a number of its own.
    wakers: BTreeMap<u64, Waker>,
    next_waker: u64,
}

impl Timeline {
    /// The timeline of a run that is opened: it goes on after what is past, and puts that in order. Each event of the
    /// repair stands for itself, so that what is left to do when the process is killed in between is done the next time.
    pub(crate) fn open(run_id: &Arc<str>, past: Past, journal: Option<Journal>) -> Timeline {
        let Past { ledger, recent, unfinished, repair } = past;
        let timeline = Timeline::new(run_id, ledger, recent, journal);
        timeline.record(Draft::new(EventKind::RunStarted));
        if let Some(repair) = repair {
            timeline.record(Draft::new(EventKind::Log).message(&repair));
        }
        for call in unfinished.values() {
            timeline.record(Draft::end_of_lost(call));
        }
        timeline
    }

    fn new(run_id: &Arc<str>, ledger: Ledger, recent: VecDeque<Arc<Event>>, journal: Option<Journal>) -> Timeline {
        let next = recent.back().map_or(1, |last| last.seq + 1);
        let state = State {
            run_id: Arc::clone(run_id),
            recent,
            next,
            first: next,
            ledger,
            journal,
            finished: false,
            waiting: 0,
            wakers: BTreeMap::new(),
            next_waker: 0,
        };
        Timeline { shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) }
    }

    /// Makes the draft an event: number and time, journal, ledger, list and subscribers, in one step that nobody can see
    /// half done. A call's id is the `seq` of its `call_started`.
    ///
    /// It takes events after `run_finished` as well: a call that ends too late has still been made and must count.
    pub(crate) fn record(&self, draft: Draft) -> Arc<Event> {
        let mut state = self.shared.lock();
        let (event, forgotten) = state.add(draft);
        let mut more_forgotten = Vec::new();
        while let Some(news) = state.journal.as_mut().and_then(Journal::news) {
            more_forgotten.push(state.add(news));
        }
        if event.kind == EventKind::RunFinished
            && let Some(journal) = &mut state.journal
        {
            journal.end();
        }
        self.shared.announce(state);
        drop((forgotten, more_forgotten));
        event
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.shared.lock().ledger.clone()
    }

    /// The latest 10 000 events.
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.shared.lock().recent.iter().cloned().collect()
    }

    /// Every event from now on.
    pub(crate) fn subscribe(&self) -> Subscription {
        let next = self.shared.lock().next;
        self.subscribe_from(next)
    }

    /// The events from that `seq` on, those of the past as far as they are kept.
    pub(crate) fn subscribe_from(&self, seq: u64) -> Subscription {
        Subscription::new(Arc::clone(&self.shared), seq)
    }
}

impl Shared {
    /// No panic of ours leaves the state half changed, and one elsewhere is no reason to stop booking calls.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all who wait, after the lock is gone: a waker is foreign code.
    fn announce(&self, mut state: MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.changed.notify_all();
        }
        for waker in wakers.into_values() {
            // If it panics, that is its subscriber's trouble and not that of the call which is being booked.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

impl State {
    fn stamp(&self, draft: Draft) -> Event {
        let last = self.recent.back().map(|event| event.ts).unwrap_or_default();
        draft.happens(self.next, Timestamp::now().max(last), &self.run_id)
    }

    /// Also gives the event that had to make room, as [`State::publish`] does.
    fn add(&mut self, draft: Draft) -> (Arc<Event>, Option<Arc<Event>>) {
        let event = Arc::new(self.stamp(draft));
        // Nothing of the event can be seen yet: it is in the file before that.
        if let Some(journal) = &mut self.journal {
            journal.append(&self.recent, &event);
        }
        let forgotten = self.publish(&event);
        (event, forgotten)
    }

    /// Puts the event in force. Gives the one that had to make room, which is freed when the lock is gone.
    fn publish(&mut self, event: &Arc<Event>) -> Option<Arc<Event>> {
        self.next += 1;
        self.ledger.fold(event);
        self.finished |= event.kind == EventKind::RunFinished;
        let forgotten = if self.recent.len() == KEPT { self.recent.pop_front() } else { None };
        self.recent.push_back(Arc::clone(event));
        forgotten
    }

    /// The event of that number or, if it is no longer kept, the oldest that is.
    fn event_from(&self, seq: u64) -> Option<&Arc<Event>> {
        let oldest = self.recent.front()?.seq;
        self.recent.get(usize::try_from(seq.saturating_sub(oldest)).ok()?)
    }
}
