//! What a small call costs beside the socket itself: a sequential call of 64 bytes, as the ratio of its median to that of
//! a hand-written client that keeps its connection. Both in one run, in turn, since these figures drift.
//!
//! `cargo bench --bench call`. With `--check` it fails when a ratio is above its ceiling.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_setaffinity};
use verifi::{Arguments, Run, RunOptions, Slot};
use verifi_tests::Server;

/// Calls in a turn, and turns of each client.
const CALLS: usize = 2_000;
const TURNS: usize = 15;

struct Place {
    name: &'static str,
    server: usize,
    client: usize,
    ceiling: f64,
}

const PLACES: [Place; 2] = [
    Place { name: "client and server on one core", server: 0, client: 0, ceiling: 3.5 },
    Place { name: "a core each", server: 1, client: 0, ceiling: 1.3 },
];

/// The client that does nothing but what the wire asks for.
struct Floor {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Floor {
    fn connect(port: u16, tool: &str, arguments: &str) -> Floor {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_nodelay(true).expect("an option of TCP");
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let head = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Floor { stream, request: request.into_bytes(), answer: vec![0; 64 * 1024] }
    }

    fn call(&mut self) -> usize {
        self.stream.write_all(&self.request).expect("the server reads");
        let mut filled = 0;
        loop {
            filled += self.stream.read(&mut self.answer[filled..]).expect("the server answers");
            let text = &self.answer[..filled];
            if let Some(end) = text.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = std::str::from_utf8(&text[..end]).expect("the head is ASCII");
                let length = head.split("content-length:").nth(1).expect("the length is given");
                let length: usize = length.lines().next().and_then(|n| n.trim().parse().ok()).expect("a number");
                if filled >= end + 4 + length {
                    return filled;
                }
            }
        }
    }
}

/// The median of each turn's calls.
fn turn(mut call: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[CALLS / 2]
}

fn pin(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    if let Err(error) = sched_setaffinity(None, &set) {
        eprintln!("this thread stays where it is: {error}");
    }
}

fn measure(place: &Place) -> f64 {
    const ARGUMENTS: &str = r#"{"text":"0123456789012345678901234567890123456789012345678901"}"#;
    pin(place.server);
    let server = Server::from_json(r#"{"prebuilt":{"bytes":64}}"#).expect("a script of the server's form");
    pin(place.client);
    let manifest = format!(r#"{{"runId":"bench","endpoints":{{"kali":"{}"}}}}"#, server.url());
    let run = Run::open(&manifest, RunOptions::default()).expect("a manifest");
    let slot = run.mcp("kali").expect("a slot");
    let mut floor = Floor::connect(server.port(), "echo", ARGUMENTS);
    let call = |slot: &Slot| {
        let result = slot.call("echo", Arguments::json(ARGUMENTS));
        assert!(result.ok, "{:?}", result.error);
    };
    call(&slot);
    let mut ratios = Vec::with_capacity(TURNS);
    let mut medians = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let base = turn(|| {
            floor.call();
        });
        let ours = turn(|| call(&slot));
        ratios.push(ours.as_secs_f64() / base.as_secs_f64());
        medians.0.push(base);
        medians.1.push(ours);
    }
    ratios.sort_by(f64::total_cmp);
    medians.0.sort_unstable();
    medians.1.sort_unstable();
    let ratio = ratios[TURNS / 2];
    println!(
        "{:<32} floor {:>8.2?}  verifi {:>8.2?}  ratio {ratio:.2} (ceiling {})",
        place.name,
        medians.0[TURNS / 2],
        medians.1[TURNS / 2],
        place.ceiling
    );
    ratio
}

fn main() -> ExitCode {
    let checked = std::env::args().any(|argument| argument == "--check");
    // All are measured, whatever the first one shows.
    let ratios: Vec<f64> = PLACES.iter().map(measure).collect();
    let within = PLACES.iter().zip(ratios).all(|(place, ratio)| ratio <= place.ceiling);
    if checked && !within { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
