//! Subscriptions: JavaScript takes what is there, and is told when there is more. No thread waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use napi_derive::napi;
use verifi::{Event, Next, NextEvent, Subscription};

use crate::failure::json;
use crate::notice::Notice;
use crate::outlet::Outlet;

/// How many events are taken at once, so that a long timeline does not hold up everything else.
const MOST: usize = 256;

#[napi]
pub struct NativeSubscription {
    subscription: Subscription,
    waker: Waker,
    /// Holds the waker's place in the timeline while there is nothing to take.
    waiting: Mutex<Option<NextEvent>>,
}

impl NativeSubscription {
    pub fn new(subscription: Subscription, number: u32, outlet: Arc<Outlet>) -> NativeSubscription {
        let waker = Waker::from(Arc::new(Bell { number, outlet }));
        NativeSubscription { subscription, waker, waiting: Mutex::default() }
    }

    /// The next event if there is one; if not, the bell rings when there is.
    fn next(&self) -> Next {
        match self.subscription.try_next() {
            Next::NotYet => self.wait(),
            next => next,
        }
    }

    fn wait(&self) -> Next {
        let mut event = self.subscription.next_event();
        match Pin::new(&mut event).poll(&mut Context::from_waker(&self.waker)) {
            Poll::Ready(Some(event)) => Next::Event(event),
            Poll::Ready(None) => Next::Ended,
            Poll::Pending => {
                self.waiting.lock().unwrap_or_else(PoisonError::into_inner).replace(event);
                Next::NotYet
            }
        }
    }
}

#[napi]
impl NativeSubscription {
    /// The next events as a JSON array, empty if there are none yet: then the subscription's number is told when there
    /// are. Null at the end.
    #[napi]
    pub fn take(&self) -> napi::Result<Option<String>> {
        let mut events: Vec<Arc<Event>> = Vec::new();
        while events.len() < MOST {
            match self.next() {
                Next::Event(event) => events.push(event),
                Next::NotYet => break,
                Next::Ended if events.is_empty() => return Ok(None),
                Next::Ended => break,
            }
        }
        json(&events).map(Some)
    }

    #[napi]
    pub fn close(&self) {
        self.subscription.close();
    }
}

/// Rung by the timeline, on whatever thread records the event.
struct Bell {
    number: u32,
    outlet: Arc<Outlet>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.outlet.tell(self.number, Notice::Events);
    }
}
