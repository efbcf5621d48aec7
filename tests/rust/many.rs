//! A thousand awaited calls at once, in a process of their own: what they cost is read from the process.

use std::fs;
use std::future::Future;
use std::io::{BufRead, BufReader, Write};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use verifi::{Run, RunOptions};

const CALLS: usize = 1_000;
const SECONDS: u64 = 3;

/// Without optimization everything takes more; `make bench` runs this test with it.
const UNOPTIMIZED: f64 = if cfg!(debug_assertions) { 3.0 } else { 1.0 };

/// A server in another process, so that only the client is measured.
struct Server(Child);

impl Server {
    fn start(script: &str) -> (Server, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-server"))
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{script}").expect("the server reads its script");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("the server tells its port");
        let said: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let url = said["url"].as_str().expect("a URL").to_string();
        (Server(child), url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its input ends, and with it the server.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// CPU seconds of this process so far.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let after_name = stat.rsplit(')').next().expect("a name in parentheses");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11..=12].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
    ticks as f64 / 100.0
}

/// The most memory this process ever had, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") / 1024
}

// Rules 2.5, 3.9, 4.1.
#[test]
fn a_thousand_calls_wait_for_next_to_nothing() {
    let (_server, url) = Server::start(&format!(r#"{{"prebuilt":{{"bytes":64,"delayMs":{}}}}}"#, SECONDS * 1000));
    let manifest = format!(r#"{{"runId":"many","endpoints":{{"kali":"{url}"}}}}"#);
    let run = Run::open(&manifest, RunOptions::default()).expect("a manifest");
    let kali = run.mcp("kali").expect("a slot");
    let (before, start) = (cpu(), Instant::now());
    let calls: Vec<_> = (0..CALLS).map(|_| kali.call_async("echo", ())).collect();
    for call in calls {
        let result = block_on(call);
        assert!(result.ok, "{:?}", result.error);
    }
    let (took, used, peak) = (start.elapsed(), cpu() - before, peak());
    println!("{CALLS} calls of {SECONDS} s: {took:.1?}, {used:.2} s of CPU, {peak} MiB at the most");
    assert_eq!(run.ledger().usage().tool_calls(), CALLS as u64);
    assert!(took >= Duration::from_secs(SECONDS), "they did not wait: {took:?}");
    assert!(took < Duration::from_secs(3 * SECONDS), "they waited for each other: {took:?}");
    assert!(used < 0.3 * UNOPTIMIZED, "{used} s of CPU");
    assert!((peak as f64) < 100.0 * UNOPTIMIZED, "{peak} MiB");
}
