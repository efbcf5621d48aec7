//! What a small call costs, in figures that do not depend on how busy the machine is. Each has a ceiling a little above
//! what it was when it was set. `cargo test --release --test counters`; without optimization they would say nothing.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use verifi::{Arguments, Run, RunOptions};
use verifi_tests::Server;

struct Ceiling {
    script: &'static str,
    allocations: f64,
    bytes: f64,
    instructions: f64,
}

const JSON: Ceiling =
    Ceiling { script: r#"{"prebuilt":{"bytes":64}}"#, allocations: 51.0, bytes: 6_000.0, instructions: 54_500.0 };

const STREAM: Ceiling = Ceiling {
    script: r#"{"sse":true,"prebuilt":{"bytes":64}}"#,
    allocations: 54.0,
    bytes: 14_700.0,
    instructions: 69_000.0,
};

fn server(ceiling: &Ceiling) -> Server {
    Server::from_json(ceiling.script).expect("a script of the server's form")
}

/// Not by the macros, whose output a test keeps to itself.
fn tell(line: &str) {
    writeln!(io::stderr(), "counters: {line}").expect("a terminal, or what stands in its place");
}

fn hold(what: &str, per_call: f64, ceiling: f64) {
    tell(&format!("{per_call:.1} {what} a call (ceiling {ceiling})"));
    assert!(per_call <= ceiling, "{per_call} {what} a call, where {ceiling} were enough");
}

/// Of the thread that calls; the server's are its own.
fn allocations(ceiling: &Ceiling) {
    const CALLS: u32 = 1_000;
    let server = server(ceiling);
    let manifest = format!(r#"{{"runId":"counters","endpoints":{{"kali":"{}"}}}}"#, server.url());
    let run = Run::open(&manifest, RunOptions::default()).expect("a manifest");
    let kali = run.mcp("kali").expect("a slot");
    let call = || {
        let result = kali.call("echo", Arguments::json(r#"{"n":1}"#));
        assert!(result.ok, "{:?}", result.error);
    };
    call();
    let counted = allocation_counter::measure(|| (0..CALLS).for_each(|_| call()));
    hold("allocations", counted.count_total as f64 / f64::from(CALLS), ceiling.allocations);
    hold("bytes allocated", counted.bytes_total as f64 / f64::from(CALLS), ceiling.bytes);
}

#[test]
fn allocations_of_a_call() {
    allocations(&JSON);
}

#[test]
fn allocations_of_a_call_over_sse() {
    allocations(&STREAM);
}

/// How many instructions so many calls take, and all that is around them. None without valgrind.
fn executed(url: &str, calls: u32) -> Option<f64> {
    let started = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", env!("CARGO_BIN_EXE_sequential"), url])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        started => started.expect("valgrind starts"),
    };
    writeln!(child.stdin.take().expect("a pipe"), "{calls}").expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counted = said.split("Collected : ").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Some(counted.unwrap_or_else(|| panic!("no count in: {said}")))
}

/// Instructions depend on the processor, so they are held on one kind.
fn instructions(ceiling: &Ceiling) {
    const FEW: u32 = 100;
    const MANY: u32 = 1_100;
    if !cfg!(target_arch = "x86_64") {
        return tell("SKIPPED: instructions are counted on x86-64 alone");
    }
    let server = server(ceiling);
    let (Some(few), Some(many)) = (executed(server.url(), FEW), executed(server.url(), MANY)) else {
        return tell("SKIPPED: instructions are NOT counted, since valgrind is not installed");
    };
    hold("instructions", (many - few) / f64::from(MANY - FEW), ceiling.instructions);
}

#[test]
fn instructions_of_a_call() {
    instructions(&JSON);
}

#[test]
fn instructions_of_a_call_over_sse() {
    instructions(&STREAM);
}
