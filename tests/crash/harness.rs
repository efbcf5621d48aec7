//! The Rust harness of the crash test: `crash-harness MANIFEST JOURNAL PREFIX`. Harnesses of other languages do the same.
//!
//! Opens the run of that manifest with that journal. Eight threads call tools on the slot `kali` until the process is
//! killed, each call a tool of another name: `PREFIX-THREAD-NUMBER`.

use std::error::Error;
use std::thread;

use serde_json::json;
use verifi::{Run, RunOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [manifest, journal, prefix] = &arguments[..] else { return Err("MANIFEST JOURNAL PREFIX".into()) };
    let run = Run::open(manifest, RunOptions { journal: Some(journal.into()), ..RunOptions::default() })?;
    let kali = run.mcp("kali")?;
    thread::scope(|scope| {
        for thread in 0..8 {
            let kali = &kali;
            scope.spawn(move || {
                for number in 0.. {
                    // What matters is what is in the journal when the harness is killed.
                    let _ = kali.call(&format!("{prefix}-{thread}-{number}"), json!({}));
                }
            });
        }
    });
    Ok(())
}
