//! Harnesses that are killed at a random instant: whatever a server has seen, the journal shows.
//!
//! `CRASH_KILLS` is how often each harness is killed (10 unless set). `CRASH_HARNESSES` names others in place of the Rust
//! one, separated by `;`: commands that take the arguments of `harness.rs`, such as `python3 tests/crash/harness.py`.

#[path = "../rust/journal/common.rs"]
#[allow(dead_code, reason = "shared with the tests of the journal")]
mod common;
mod large;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;
use verifi::{EventKind, Run};
use verifi_tests::{Condition, Match, Server};

use crate::common::{Folder, assert_whole, fold, manifest, server, with_journal};

const RUN: &str = "r1";

/// So often in a row a journal is torn and repaired by the next harness, before a fresh one begins.
const KILLS_OF_ONE_JOURNAL: usize = 5;

// Rules 4.4, 4.5.
#[test]
fn whatever_a_server_has_seen_is_in_the_journal_of_a_harness_that_was_killed() {
    let kills = env::var("CRASH_KILLS").ok().map_or(10, |kills| kills.parse().unwrap());
    let harnesses = env::var("CRASH_HARNESSES").unwrap_or_else(|_| env!("CARGO_BIN_EXE_crash-harness").to_owned());
    for harness in harnesses.split(';') {
        let seed = fastrand::u64(..);
        println!("{kills} times {harness}, seed {seed}");
        fastrand::seed(seed);
        let seen = (0..kills)
            .step_by(KILLS_OF_ONE_JOURNAL)
            .map(|first| kill_in_a_row(harness, first..kills.min(first + KILLS_OF_ONE_JOURNAL)));
        println!("{} calls were seen by the server, and all of them are on the books", seen.sum::<usize>());
    }
}

/// Gives how many calls the server has seen.
fn kill_in_a_row(harness: &str, kills: std::ops::Range<usize>) -> usize {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    for kill in kills.clone() {
        run_and_kill(harness, &server, &path, &format!("call{kill}"));
        // Every other time the next harness finds the journal as it was left.
        if kill % 2 == 0 || kill + 1 == kills.end {
            check(&server, &path);
        }
    }
    calls_seen(&server).len()
}

fn run_and_kill(harness: &str, server: &Server, path: &Path, prefix: &str) {
    let mut process = Command::new("sh")
        .args(["-c", &format!("exec {harness} \"$@\""), "sh"])
        .args([&manifest(RUN, server.url()), path.to_str().unwrap(), prefix])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    // Half of them are sure to be in the middle of calls, the others anywhere, in their opening, too.
    if fastrand::bool() {
        let any = Some(Match { tool: Some(format!("{prefix}-0-0")), ..Match::default() });
        assert!(server.wait(&Condition { request: any, ..Condition::default() }, Duration::from_secs(20)));
    }
    thread::sleep(Duration::from_micros(fastrand::u64(0..60_000)));
    process.kill().unwrap();
    assert_eq!(process.wait().unwrap().signal(), Some(9), "{harness} must call until it is killed");
}

fn calls_seen(server: &Server) -> BTreeSet<String> {
    let calls = server.requests().into_iter().filter(|request| request.rpc() == Some("tools/call"));
    calls.filter_map(|call| call.tool().map(str::to_owned)).collect()
}

/// The journal opens, holds, and has every call, ended once; what was in it before is in it still.
fn check(server: &Server, path: &Path) {
    let before = fs::read(path).unwrap_or_default();
    let whole = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let run = Run::open(&manifest(RUN, server.url()), with_journal(path)).unwrap();
    run.log(&json!("checked").to_string());
    run.close();
    assert!(fs::read(path).unwrap().starts_with(&before[..whole]));
    let events = assert_whole(path);
    let started = events.iter().filter(|event| event.kind == EventKind::CallStarted);
    let started: Vec<String> = started.filter_map(|event| event.tool.as_deref().map(str::to_owned)).collect();
    let booked: BTreeSet<String> = started.iter().cloned().collect();
    assert_eq!(booked.len(), started.len(), "no call is on the books twice");
    let missing: Vec<_> = calls_seen(server).difference(&booked).cloned().collect();
    assert!(missing.is_empty(), "the server has seen {missing:?}, and the journal has not");
    assert_eq!(fold(&events), run.ledger());
    assert_eq!(run.ledger().usage().tool_calls(), started.len() as u64);
}
