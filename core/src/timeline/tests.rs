use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use super::{Draft, Event, EventKind, Ledger, Next, Subscription, Timeline, Timestamp};
use crate::outcome::{Outcome, ServerRole};

const LONG: Duration = Duration::from_secs(60);

fn timeline() -> Timeline {
    let run_id = "r1".into();
    Timeline::new(&run_id, Ledger::new(Arc::clone(&run_id)), VecDeque::new(), None)
}

fn log(line: &str) -> Draft {
    Draft::new(EventKind::Log).message(line)
}

fn finish() -> Draft {
    Draft::new(EventKind::RunFinished)
}

fn started() -> Draft {
    let (slot, tool, endpoint) = ("kali".into(), "nmap".into(), "http://k/mcp".into());
    Draft::new(EventKind::CallStarted).slot(&slot).tool(&tool).server(ServerRole::Primary, &endpoint)
}

fn finished(call: u64) -> Draft {
    let (slot, tool) = ("kali".into(), "nmap".into());
    let draft = Draft::new(EventKind::CallFinished).slot(&slot).tool(&tool).call(call).outcome(Outcome::Ok);
    draft.latency(Duration::from_nanos(1_234_567)).evidence_bytes(10)
}

fn event(next: Next) -> Arc<Event> {
    match next {
        Next::Event(event) => event,
        Next::NotYet | Next::Ended => panic!("{next:?}"),
    }
}

/// Waits until so many threads wait for an event.
fn until_waiting(timeline: &Timeline, count: usize) {
    while timeline.shared.lock().waiting != count {
        thread::yield_now();
    }
}

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

// Rule 4.3.
#[test]
fn events_are_numbered_and_calls_known_by_the_number() {
    let timeline = timeline();
    assert_eq!(timeline.record(Draft::new(EventKind::RunStarted)).seq, 1);
    let call = timeline.record(started());
    assert_eq!((call.seq, call.call_id), (2, Some(2)));
    let mut end = serde_json::to_value(&*timeline.record(finished(2))).expect("JSON");
    let ts = end["ts"].take();
    assert!(ts.as_str().is_some_and(|ts| ts.len() == 24 && ts.ends_with('Z')), "{ts}");
    let wanted = serde_json::json!({"seq": 3, "ts": null, "runId": "r1", "kind": "call_finished", "slot": "kali",
        "tool": "nmap", "callId": 2, "outcome": "ok", "latencyMs": 1.234, "evidenceBytes": 10});
    assert_eq!(end, wanted);
}

// Rules 4.1, 4.2.
#[test]
fn the_ledger_is_the_fold_of_the_events() {
    let timeline = timeline();
    let call = timeline.record(started());
    assert_eq!(timeline.ledger().usage().tool_calls(), 0, "a call counts when it ends");
    timeline.record(finished(call.seq));
    timeline.record(log("a line"));
    timeline.record(finish());
    timeline.record(finished(call.seq));
    let mut ledger = super::Ledger::new("r1");
    timeline.events().iter().for_each(|event| ledger.fold(event));
    assert_eq!(timeline.ledger(), ledger);
    assert_eq!(ledger.usage().tool_calls(), 2, "one that ends too late has been made as well");
}

// Rule 4.3.
#[test]
fn time_does_not_go_back() {
    let timeline = timeline();
    let mut first = (*timeline.record(log("before the clock was set"))).clone();
    first.ts = Timestamp::from_unix_millis(first.ts.unix_millis() + 3_600_000);
    timeline.shared.lock().recent[0] = Arc::new(first.clone());
    assert_eq!(timeline.record(log("after")).ts, first.ts);
}

// Rule 4.3.
#[test]
fn long_texts_are_cut_between_characters() {
    let timeline = timeline();
    let (fits, exceeds) = ("a".repeat(8192), format!("a{}", "ä".repeat(8192)));
    assert_eq!(timeline.record(log(&fits)).message.as_deref(), Some(&*fits));
    let event = timeline.record(Draft::new(EventKind::ToolError).error(&exceeds));
    assert_eq!(event.error, Some(format!("a{}…", "ä".repeat(4095))));
}

// Rule 4.3.
#[test]
fn the_latest_ten_thousand_are_kept() {
    let timeline = timeline();
    let slow = timeline.subscribe();
    (0..10_005).for_each(|_| drop(timeline.record(finished(1))));
    let seqs: Vec<u64> = timeline.events().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (6..=10_005).collect::<Vec<_>>());
    assert_eq!(event(slow.try_next()).seq, 6, "a slow reader misses the oldest");
    assert_eq!(event(slow.try_next()).seq, 7);
    assert_eq!(timeline.ledger().usage().tool_calls(), 10_005, "the ledger misses none");
}

// Rule 4.3.
#[test]
fn sixteen_threads_record_and_every_reader_sees_all_in_order() {
    let timeline = timeline();
    let readers: Vec<Subscription> = (0..4).map(|_| timeline.subscribe_from(1)).collect();
    let seen: Vec<Vec<Arc<Event>>> = thread::scope(|scope| {
        let threads: Vec<_> = readers
            .iter()
            .enumerate()
            .map(|(at, reader)| {
                scope.spawn(move || match at % 3 {
                    0 => reader.collect(),
                    1 => std::iter::from_fn(|| block_on(reader.next_event())).collect::<Vec<_>>(),
                    _ => std::iter::from_fn(|| match reader.next_timeout(LONG) {
                        Next::Event(event) => Some(event),
                        Next::NotYet | Next::Ended => None,
                    })
                    .collect(),
                })
            })
            .collect();
        thread::scope(|writers| {
            for _ in 0..16 {
                writers.spawn(|| {
                    for _ in 0..250 {
                        let call = timeline.record(started());
                        timeline.record(finished(call.seq));
                    }
                });
            }
        });
        timeline.record(finish());
        threads.into_iter().map(|thread| thread.join().expect("reader")).collect()
    });
    for events in seen {
        assert!(events.iter().map(|event| event.seq).eq(1..=8001));
        assert!(events.is_sorted_by_key(|event| event.ts));
        assert_eq!(events, timeline.events());
    }
    let usage = timeline.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures(), usage.evidence_bytes()), (4000, 0, 40_000));
    assert_eq!(usage.latency_ms(), 4936.0);
}

// Rule 4.3.
#[test]
fn threads_that_share_a_subscription_share_its_events() {
    let timeline = timeline();
    let subscription = timeline.subscribe();
    let seen = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (&subscription).for_each(|event| seen.lock().expect("seen").push(event.seq)));
        }
        (0..1000).for_each(|_| drop(timeline.record(log("a line"))));
        timeline.record(finish());
        // Those that did not get `run_finished` themselves end as well.
    });
    let mut seen = seen.into_inner().expect("seen");
    seen.sort_unstable();
    assert!(seen.into_iter().eq(1..=1001));
}

// Rule 4.3.
#[test]
fn a_subscription_begins_where_it_is_told() {
    let timeline = timeline();
    (0..3).for_each(|_| drop(timeline.record(log("a line"))));
    let (now, all, second, later) =
        (timeline.subscribe(), timeline.subscribe_from(0), timeline.subscribe_from(2), timeline.subscribe_from(5));
    assert_eq!(now.try_next(), Next::NotYet);
    assert_eq!(event(all.try_next()).seq, 1);
    assert_eq!(event(second.try_next()).seq, 2);
    timeline.record(log("a line"));
    assert_eq!(event(now.next_timeout(LONG)).seq, 4);
    assert_eq!(later.try_next(), Next::NotYet);
    timeline.record(log("a line"));
    assert_eq!(event(later.next_timeout(Duration::MAX)).seq, 5);
}

// Rule 4.3.
#[test]
fn a_subscription_ends_with_the_run() {
    let timeline = timeline();
    let subscription = timeline.subscribe();
    assert_eq!(subscription.next_timeout(Duration::from_millis(1)), Next::NotYet);
    timeline.record(finish());
    timeline.record(log("too late"));
    assert_eq!(event(subscription.try_next()).kind, EventKind::RunFinished);
    assert_eq!(subscription.next_timeout(LONG), Next::Ended);
    assert_eq!(subscription.wait(), None);
    assert_eq!(block_on(subscription.next_event()), None);
    assert_eq!(timeline.subscribe().wait(), None, "one that comes after the end");
}

// Rule 4.3.
#[test]
fn closing_ends_every_wait_of_that_subscription() {
    let timeline = timeline();
    let (closed, open) = (timeline.subscribe(), timeline.subscribe());
    thread::scope(|scope| {
        let blocked = scope.spawn(|| closed.wait());
        let limited = scope.spawn(|| closed.next_timeout(LONG));
        let other = scope.spawn(|| open.wait());
        let (ended, end) = std::sync::mpsc::channel();
        let future = closed.next_event();
        scope.spawn(move || ended.send(block_on(future)));
        until_waiting(&timeline, 3);
        while timeline.shared.lock().wakers.is_empty() {
            thread::yield_now();
        }
        closed.close();
        assert_eq!(blocked.join().expect("blocked"), None);
        assert_eq!(limited.join().expect("limited"), Next::Ended);
        assert_eq!(end.recv_timeout(LONG), Ok(None));
        timeline.record(log("for the other"));
        assert!(other.join().expect("other").is_some());
    });
    assert_eq!(closed.try_next(), Next::Ended);
    assert_eq!(timeline.shared.lock().waiting, 0);
}

// Rule 4.3.
#[test]
fn a_future_that_is_dropped_leaves_nothing_and_takes_nothing() {
    let timeline = timeline();
    let subscription = timeline.subscribe();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut future = Box::pin(subscription.next_event());
    for _ in 0..3 {
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(timeline.shared.lock().wakers.len(), 1, "one waker however often it is polled");
    }
    drop(future);
    assert_eq!(timeline.shared.lock().wakers.len(), 0);
    timeline.record(log("a line"));
    assert_eq!(count.0.load(SeqCst), 0);
    assert_eq!(Arc::strong_count(&count), 2, "no waker is left behind");
    assert_eq!(event(subscription.try_next()).seq, 1);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        panic!("this panic is part of the test");
    }
}

/// Uses the timeline while it is being woken.
struct Reentrant(Arc<Timeline>, Mutex<Vec<usize>>);

impl Wake for Reentrant {
    fn wake(self: Arc<Self>) {
        self.1.lock().expect("seen").push(self.0.events().len());
    }
}

// Rule 4.3.
#[test]
fn a_subscriber_that_fails_fails_alone() {
    let timeline = Arc::new(timeline());
    let subscription = timeline.subscribe();
    let reentrant = Arc::new(Reentrant(Arc::clone(&timeline), Mutex::default()));
    let wakers = [Waker::from(Arc::new(Panicking)), Waker::from(Arc::clone(&reentrant))];
    let mut futures: Vec<_> = wakers.iter().map(|_| Box::pin(subscription.next_event())).collect();
    for (future, waker) in futures.iter_mut().zip(&wakers) {
        assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    }
    timeline.record(log("a line"));
    assert_eq!(*reentrant.1.lock().expect("seen"), [1], "woken after the one that panics, with the event in the list");

    let poisoner = Arc::clone(&timeline);
    let poisoned = thread::spawn(move || {
        let _guard = poisoner.shared.lock();
        panic!("this panic is part of the test");
    });
    assert!(poisoned.join().is_err());
    assert!(timeline.shared.state.is_poisoned());
    assert_eq!(timeline.record(finished(1)).seq, 2);
    assert_eq!(timeline.ledger().usage().tool_calls(), 1);
    assert_eq!(event(subscription.next_timeout(LONG)).seq, 1);
}

// Rule 4.3.
#[test]
fn every_draft_member_reaches_its_event() {
    let timeline = timeline();
    let (slot, from, to) = ("kali".into(), "http://a/mcp".into(), "http://b/mcp".into());
    let draft = Draft::new(EventKind::FallbackUsed).slot(&slot).server(ServerRole::Primary, &from).fallback(&to);
    let event = timeline.record(draft.error("connection refused"));
    let json = serde_json::to_string(&*event).expect("JSON");
    let rest = json.split_once(r#""kind":"#).expect("kind").1;
    let wanted = r#""mcp.fallback_used","slot":"kali","server":"primary","endpoint":"http://a/mcp","fallback":"http://b/mcp","error":"connection refused"}"#;
    assert_eq!(rest, wanted);
}
