//! Listening to a run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::event::{Event, EventKind};
use super::{Shared, State};

/// The events of a run as they happen, in order, each once.
///
/// It is a place in the run's own list and holds up nobody. A reader that falls more than 10 000 events behind loses
/// the oldest, which shows as a gap in [`Event::seq`]. After `run_finished` it has ended.
///
/// Every method works from any thread. Threads that read one subscription share its place: each event goes to one of
/// them. As an iterator it blocks between events.
pub struct Subscription {
    reader: Reader,
}

/// What a subscription has for its reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The next event.
    Event(Arc<Event>),
    /// Nothing has happened yet.
    NotYet,
    /// Nothing will: the run has finished, or the subscription was closed.
    Ended,
}

#[derive(Clone)]
struct Reader {
    shared: Arc<Shared>,
    place: Arc<Place>,
}

/// Changed under the lock of the timeline only; the atomics are for sharing, not for order.
struct Place {
    next: AtomicU64,
    ended: AtomicBool,
}

impl Subscription {
    pub(super) fn new(shared: Arc<Shared>, seq: u64) -> Subscription {
        let place = Arc::new(Place { next: AtomicU64::new(seq), ended: AtomicBool::new(false) });
        Subscription { reader: Reader { shared, place } }
    }

    /// Waits for the next event; `None` at the end.
    pub fn wait(&self) -> Option<Arc<Event>> {
        match self.reader.wait_until(None) {
            Next::Event(event) => Some(event),
            Next::NotYet | Next::Ended => None,
        }
    }

    /// Waits for the next event, but no longer than `timeout`.
    pub fn next_timeout(&self, timeout: Duration) -> Next {
        // A time that is too far off to be named will not come.
        self.reader.wait_until(Instant::now().checked_add(timeout))
    }

    /// The next event if it is there already.
    pub fn try_next(&self) -> Next {
        self.reader.take(&self.reader.shared.lock())
    }

    /// The next event, for an executor of whatever kind; `None` at the end. The future belongs to no borrow. One that
    /// is dropped has taken no event.
    pub fn next_event(&self) -> NextEvent {
        NextEvent { reader: self.reader.clone(), waker: None }
    }

    /// Ends the subscription, also for those that wait for an event at this moment.
    pub fn close(&self) {
        let state = self.reader.shared.lock();
        self.reader.place.ended.store(true, Relaxed);
        self.reader.shared.announce(state);
    }
}

impl Iterator for Subscription {
    type Item = Arc<Event>;

    fn next(&mut self) -> Option<Arc<Event>> {
        self.wait()
    }
}

impl Iterator for &Subscription {
    type Item = Arc<Event>;

    fn next(&mut self) -> Option<Arc<Event>> {
        self.wait()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("next", &self.reader.place.next).finish_non_exhaustive()
    }
}

impl Reader {
    /// What there is at the reader's place; an event moves it on.
    fn take(&self, state: &State) -> Next {
        if self.place.ended.load(Relaxed) {
            return Next::Ended;
        }
        match state.event_from(self.place.next.load(Relaxed)) {
            Some(event) => {
                self.place.next.store(event.seq + 1, Relaxed);
                let is_last = event.kind == EventKind::RunFinished && event.seq >= state.first;
                self.place.ended.store(is_last, Relaxed);
                Next::Event(Arc::clone(event))
            }
            None if state.finished => Next::Ended,
            None => Next::NotYet,
        }
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Next {
        let mut state = self.shared.lock();
        loop {
            let next = self.take(&state);
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if next != Next::NotYet || left.is_some_and(|left| left.is_zero()) {
                return next;
            }
            state.waiting += 1;
            state = self.sleep(state, left);
            state.waiting -= 1;
        }
    }

    fn sleep<'s>(&'s self, state: MutexGuard<'s, State>, left: Option<Duration>) -> MutexGuard<'s, State> {
        let changed = &self.shared.changed;
        match left {
            None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(left) => changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
        }
    }
}

/// The future of [`Subscription::next_event`].
#[must_use = "futures do nothing unless awaited"]
pub struct NextEvent {
    reader: Reader,
    /// Under which number the timeline holds this future's waker, if it does.
    waker: Option<u64>,
}

impl Future for NextEvent {
    type Output = Option<Arc<Event>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        // Wakers are foreign code, to clone and to drop as well: all that is done without the lock.
        let waker = context.waker().clone();
        let reader = self.reader.clone();
        let mut state = reader.shared.lock();
        let next = reader.take(&state);
        let old = self.waker.take().and_then(|number| state.wakers.remove(&number));
        if next == Next::NotYet {
            self.waker = Some(state.add_waker(waker));
        }
        drop(state);
        drop(old);
        match next {
            Next::Event(event) => Poll::Ready(Some(event)),
            Next::NotYet => Poll::Pending,
            Next::Ended => Poll::Ready(None),
        }
    }
}

impl Drop for NextEvent {
    fn drop(&mut self) {
        let Some(number) = self.waker.take() else { return };
        let waker = self.reader.shared.lock().wakers.remove(&number);
        drop(waker);
    }
}

impl fmt::Debug for NextEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextEvent").finish_non_exhaustive()
    }
}

impl State {
    fn add_waker(&mut self, waker: Waker) -> u64 {
        let number = self.next_waker;
        self.next_waker += 1;
        self.wakers.insert(number, waker);
        number
    }
}
