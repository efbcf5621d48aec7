//! `verifi blocking|awaited URL SECRETS`: verifi as it is called in Rust. Of the calls that are under way at once each has
//! a thread that waits for it, or one thread awaits all.

mod turns;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Instant;

use serde_json::json;
use turns::{Times, Turn};
use verifi::{CallFuture, Run, RunOptions, Slot, ToolResult};

fn text(result: ToolResult) -> Result<String, String> {
    if result.ok { Ok(result.into_text()) } else { Err(result.error.unwrap_or_default()) }
}

fn calls(slot: &Slot, tool: &str, count: usize) -> Result<Times, String> {
    let mut times = Times::default();
    for _ in 0..count {
        let begin = times.begin();
        let text = text(slot.call(tool, json!({"n": 1})))?;
        times.keep(begin, text);
    }
    Ok(times)
}

fn blocking(slot: &Slot, turn: &Turn) -> Result<Times, String> {
    if turn.width == 1 {
        return calls(slot, &turn.tool, turn.count);
    }
    thread::scope(|scope| {
        let threads: Vec<_> = (0..turn.width).map(|_| scope.spawn(|| calls(slot, &turn.tool, turn.each()))).collect();
        Times::of_all(threads.into_iter().map(|thread| thread.join().expect("nothing panics")))
    })
}

/// Tells which call has come further.
struct Woken {
    at: usize,
    woken: Sender<usize>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // The turn is over when nobody listens.
        let _ = self.woken.send(self.at);
    }
}

/// A call under way, and who hears of it.
struct Started {
    begin: Instant,
    call: CallFuture,
    waker: Waker,
}

fn awaited(slot: &Slot, turn: &Turn) -> Result<Times, String> {
    let (sender, woken) = channel();
    let start = |at, begin| {
        let waker = Waker::from(Arc::new(Woken { at, woken: sender.clone() }));
        let started = Started { begin, call: slot.call_async(&turn.tool, json!({"n": 1})), waker };
        started.waker.wake_by_ref();
        started
    };
    let mut times = Times::default();
    let mut under_way: Vec<Option<Started>> = (0..turn.width).map(|at| Some(start(at, times.begin()))).collect();
    let mut left = turn.count - turn.width;
    while times.each.len() < turn.count {
        let at = woken.recv().map_err(|error| error.to_string())?;
        let Some(started) = &mut under_way[at] else { continue };
        let Poll::Ready(result) = Pin::new(&mut started.call).poll(&mut Context::from_waker(&started.waker)) else {
            continue;
        };
        times.keep(started.begin, text(result)?);
        under_way[at] = (left > 0).then(|| start(at, times.begin()));
        left = left.saturating_sub(1);
    }
    Ok(times)
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let form = arguments.next().ok_or("blocking or awaited is missing")?;
    let turn = if form == "awaited" { awaited } else { blocking };
    let (url, secrets) = turns::place(arguments)?;
    let manifest = json!({"runId": "bench", "slotFills": {"kali": url}}).to_string();
    let run =
        Run::open(&manifest, RunOptions { secrets, ..RunOptions::default() }).map_err(|error| error.to_string())?;
    let slot = run.mcp("kali").map_err(|error| error.to_string())?;
    turns::take(|asked| turn(&slot, asked))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("verifi: {error}");
            ExitCode::FAILURE
        }
    }
}
