//! The command `verifi`.

#[path = "../journal/sealed.rs"]
mod sealed;

mod page;
mod text;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::sealed::{event, sealed};

/// A folder of a test's own, for as long as it runs; the command runs in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("verifi-cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env_remove("COLUMNS").env_remove("NO_COLOR").stdin(Stdio::null());
        command
    }

    /// Status, standard output and standard error of `verifi ARGUMENTS`.
    fn verifi(&self, arguments: &str) -> (i32, String, String) {
        said(self.command(VERIFI).args(arguments.split(' ')).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const VERIFI: &str = env!("CARGO_BIN_EXE_verifi");

fn said(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The events of a call: what it was, and how it ended.
fn call(seq: u64, tool: &str, end: Value) -> [Value; 2] {
    let mut more =
        json!({"slot": "kali", "tool": tool, "callId": seq, "server": "primary", "endpoint": "http://k/mcp"});
    let started = event(seq, "call_started", more.clone());
    for (name, value) in end.as_object().unwrap() {
        more[name] = value.clone();
    }
    [started, event(seq + 1, "call_finished", more)]
}

/// A run with all that can happen.
fn journal() -> String {
    let mut events = vec![event(1, "run_started", json!({}))];
    events.extend(call(2, "nmap", json!({"outcome": "ok", "latencyMs": 12.5, "evidenceBytes": 1500})));
    let error = "http://k/mcp: connection refused";
    events.extend(call(4, "nikto", json!({"outcome": "unreachable", "latencyMs": 2.25, "error": error})));
    let switch = json!({"slot": "kali", "server": "fallback", "endpoint": "http://k/mcp", "fallback": "http://f/mcp",
        "error": error});
    events.push(event(6, "mcp.fallback_used", switch));
    events.extend(call(
        7,
        "nikto",
        json!({"outcome": "ok", "latencyMs": 100.0, "evidenceBytes": 20, "server": "fallback"}),
    ));
    events.push(event(9, "log", json!({"message": "the harness's own\nline"})));
    let rejected =
        json!({"slot": "kali", "tool": "nuclei", "outcome": "rejected", "latencyMs": 0.1, "error": "no object"});
    events.push(event(10, "tool_error", rejected));
    events.push(event(11, "run_finished", json!({})));
    sealed(&events)
}

/// A run of so many calls, in turns on these slots.
fn long_journal(calls: u64, slots: &[&str]) -> String {
    let mut events = vec![event(1, "run_started", json!({}))];
    for number in 0..calls {
        let outcome = if number % 50 == 7 { "tool_error" } else { "ok" };
        let end = json!({"outcome": outcome, "latencyMs": 20.0 + (number % 90) as f64, "evidenceBytes": number % 5000});
        let (hour, minute, second) = (1 + number / 36000, number / 600 % 60, number / 10 % 60);
        let at = format!("2026-12-02T{hour:02}:{minute:02}:{second:02}.{}00Z", number % 10);
        for mut event in call(2 + 2 * number, &format!("tool-{}", number % 12), end) {
            event["ts"] = json!(at);
            event["slot"] = json!(slots[number as usize % slots.len()]);
            events.push(event);
        }
    }
    sealed(&events)
}
