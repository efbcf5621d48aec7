//! What a call costs, in figures that do not depend on how busy the machine is. Each has a ceiling a little above what it
//! was when it was set. `cargo run --release --example counters`: without optimization they would say nothing.

use std::io::ErrorKind;
use std::process::{Command, ExitCode};

use serde_json::json;
use verifi::{Arguments, Run, RunOptions, Slot};
use verifi_tests::Server;

/// A small call.
struct Small {
    name: &'static str,
    script: &'static str,
    allocations: f64,
    bytes: f64,
    instructions: f64,
}

const SMALL: [Small; 2] = [
    Small {
        name: "a small call",
        script: r#"{"prebuilt":{"bytes":64}}"#,
        allocations: 42.9,
        bytes: 5_500.0,
        instructions: 53_000.0,
    },
    Small {
        name: "a small call over SSE",
        script: r#"{"sse":true,"prebuilt":{"bytes":64}}"#,
        allocations: 45.9,
        bytes: 6_800.0,
        instructions: 57_500.0,
    },
];

/// The most memory that a large call takes: its text is made and scrubbed where its body was read.
const LARGE: f64 = 1.2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [url, calls] = arguments.as_slice() {
        let (_run, slot) = open(url, Vec::new());
        call_often(&slot, calls.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    let mut checks = Checks::default();
    for small in &SMALL {
        allocations(small, &mut checks);
        instructions(small, &mut checks);
    }
    memory(&mut checks);
    println!("counters: {} passed, {} failed", checks.passed, checks.failed);
    if checks.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Checks {
    passed: u32,
    failed: u32,
}

impl Checks {
    fn hold(&mut self, name: &str, what: &str, counted: f64, ceiling: f64) {
        let (count, word) = match counted <= ceiling {
            true => (&mut self.passed, "ok"),
            false => (&mut self.failed, "FAILED"),
        };
        *count += 1;
        println!("{name}: {counted:.1} {what}, of {ceiling} at the most ... {word}");
    }
}

fn open(url: &str, secrets: Vec<String>) -> (Run, Slot) {
    let manifest = json!({"runId": "counters", "endpoints": {"kali": url}}).to_string();
    let run = Run::open(&manifest, RunOptions { secrets, ..RunOptions::default() }).expect("a manifest");
    let slot = run.mcp("kali").expect("a slot");
    (run, slot)
}

fn call_often(slot: &Slot, calls: u32) {
    for _ in 0..calls {
        let result = slot.call("echo", Arguments::json(r#"{"n":1}"#));
        assert!(result.ok, "{:?}", result.error);
    }
}

/// Those of the thread that calls: the server's threads are not counted.
fn allocations(small: &Small, checks: &mut Checks) {
    const CALLS: u32 = 1_000;
    let server = Server::from_json(small.script).expect("a script of the server's form");
    let (_run, slot) = open(server.url(), Vec::new());
    call_often(&slot, 1);
    let counted = allocation_counter::measure(|| call_often(&slot, CALLS));
    let per_call = |count: u64| count as f64 / f64::from(CALLS);
    checks.hold(small.name, "allocations", per_call(counted.count_total), small.allocations);
    checks.hold(small.name, "bytes allocated", per_call(counted.bytes_total), small.bytes);
}

/// They depend on the kind of processor, so they are held on one.
fn instructions(small: &Small, checks: &mut Checks) {
    const FEW: u32 = 100;
    const MANY: u32 = 1_100;
    let server = Server::from_json(small.script).expect("a script of the server's form");
    if !cfg!(target_arch = "x86_64") {
        println!("SKIPPED: instructions are counted on x86-64 alone");
    } else if let (Some(few), Some(many)) = (executed(server.url(), FEW), executed(server.url(), MANY)) {
        checks.hold(small.name, "instructions", (many - few) / f64::from(MANY - FEW), small.instructions);
    } else {
        println!("SKIPPED: instructions are NOT counted, since valgrind is not installed");
    }
}

/// How many instructions this program takes for so many calls, counting its allocations included. None without valgrind.
fn executed(url: &str, calls: u32) -> Option<f64> {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args([url, &calls.to_string()]);
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.expect("valgrind starts"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counted = said.split("Collected : ").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Some(counted.unwrap_or_else(|| panic!("no count in: {said}")))
}

/// An output of 16 MiB with a secret in each line, and 20 secrets.
fn memory(checks: &mut Checks) {
    const LINES: usize = 16 << 10;
    let line = format!("{} s3cr3t-07-0123456789 {}\\n", "x".repeat(500), "y".repeat(500));
    let body = json!([
        r#"{"jsonrpc":"2.0","id":{{id}},"result":{"content":[{"type":"text","text":""#,
        {"repeat": line, "times": LINES},
        r#""}]}}"#
    ]);
    let script = json!({"rules": [{"on": {"rpc": "tools/call"}, "do": [{"answer": {"body": body}}]}]});
    let server = Server::from_json(&script.to_string()).expect("a script of the server's form");
    let secrets = (0..20).map(|n| format!("s3cr3t-{n:02}-0123456789")).collect();
    let (_run, slot) = open(server.url(), secrets);
    slot.list_tools().expect("a list");
    let counted = allocation_counter::measure(|| {
        let result = slot.call("scan", ());
        assert_eq!((result.ok, result.redactions), (true, LINES as u64), "{:?}", result.error);
    });
    let times = counted.bytes_max as f64 / (LINES * line.len()) as f64;
    checks.hold("16 MiB of output", "times that in memory", times, LARGE);
}
