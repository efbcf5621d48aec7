//! `sequential URL`: for each number on a line of its input, makes so many calls one after another and prints the median
//! in microseconds. What a call costs in Rust, for the benches of other faces to compare theirs with in the same run.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use verifi::{Run, RunOptions, Slot};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("sequential: {what}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let url = std::env::args().nth(1).ok_or("a URL is missing")?;
    let manifest = json!({"runId": "bench", "slotFills": {"kali": url}}).to_string();
    let run = Run::open(&manifest, RunOptions::default()).map_err(|error| error.to_string())?;
    let slot = run.mcp("kali").map_err(|error| error.to_string())?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let count: usize = line.trim().parse().map_err(|_| format!("{line}: not a number"))?;
        let mut times = (0..count).map(|_| timed(&slot)).collect::<Result<Vec<_>, _>>()?;
        times.sort_unstable();
        println!("{}", times.get(count / 2).unwrap_or(&Duration::ZERO).as_secs_f64() * 1e6);
    }
    Ok(())
}

fn timed(slot: &Slot) -> Result<Duration, String> {
    let arguments = json!({"n": 1});
    let start = Instant::now();
    let result = slot.call("any", arguments);
    let took = start.elapsed();
    if result.ok { Ok(took) } else { Err(result.error.unwrap_or_default()) }
}
