//! A run in a process of its own, for tests that do something to the process: `journal-shell MANIFEST OPTIONS`.
//!
//! It says `open`, or what is wrong. Then each line on standard input is done and answered with one line of JSON: `log
//! TEXT N` (N times), `call TOOL`, `ledger`, `events KIND` (how many there are). At the end of the input the run is
//! closed.

use std::io::{BufRead, stdin};
use std::process::ExitCode;

use serde_json::{Value, json};
use verifi::{Run, RunOptions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [manifest, options] = &arguments[..] else { return ExitCode::FAILURE };
    match RunOptions::from_json(options).and_then(|options| Run::open(manifest, options)) {
        Ok(run) => {
            println!("open");
            for line in stdin().lock().lines().map_while(Result::ok) {
                println!("{}", answer(&run, &line));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{}: {error}", error.kind().as_str());
            ExitCode::FAILURE
        }
    }
}

fn answer(run: &Run, line: &str) -> Value {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["log", text, times] => {
            (0..times.parse().unwrap_or(0)).for_each(|_| run.log(text));
            Value::Null
        }
        ["call", tool] => run.mcp("kali").map_or(Value::Null, |kali| json!(kali.call(tool, json!({})))),
        ["ledger"] => json!(run.ledger()),
        ["events", kind] => json!(run.events().iter().filter(|event| event.kind.as_str() == kind).count()),
        _ => json!({"no such command": line}),
    }
}
