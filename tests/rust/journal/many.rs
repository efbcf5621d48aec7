//! Many threads, and more than one process.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fork::Fork;
use serde_json::json;
use verifi::{EventKind, Run, verify_journal};

use crate::common::{Folder, assert_whole, fold, manifest, open, server, with_journal};

// Rules 4.3, 4.4, 4.5.
#[test]
fn four_thousand_calls_of_sixteen_threads_are_four_thousand_pairs() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    thread::scope(|scope| {
        for number in 0..16 {
            let kali = run.mcp("kali").unwrap();
            scope.spawn(move || (0..250).for_each(|_| assert!(kali.call(&format!("tool-{number}"), json!({})).ok)));
        }
    });
    run.close();
    let events = assert_whole(&path);
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count(EventKind::CallStarted), count(EventKind::CallFinished), events.len()), (4000, 4000, 8002));
    assert_eq!(fold(&events), run.ledger());
    assert_eq!(run.ledger().usage().tool_calls(), 4000);
}

// Rule 4.5.
#[test]
fn a_journal_that_is_being_written_holds_at_every_instant() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let run = open(&path).unwrap();
    let line = "x".repeat(7000);
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..3000).for_each(|_| run.log(&line));
            has_ended.store(true, Ordering::Relaxed);
        });
        while !has_ended.load(Ordering::Relaxed) {
            let verification = verify_journal(&path).unwrap();
            assert!(verification.ok, "{verification:?}");
        }
    });
}

/// A process of its own that opens the journal and says how that went.
fn harness(path: &Path) -> (Child, String) {
    let mut harness = Command::new(env!("CARGO_BIN_EXE_journal-shell"))
        .args([&manifest("r1", "http://127.0.0.1:1"), &json!({"journal": path}).to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(harness.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    (harness, said.trim_end().to_owned())
}

// Rule 4.5.
#[test]
fn of_two_processes_one_has_the_journal() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let (mut first, said) = harness(&path);
    assert_eq!(said, "open");
    let (mut second, said) = harness(&path);
    assert_eq!(said, format!("journal: {}: is in use by another run", path.display()));
    assert!(!second.wait().unwrap().success());
    first.stdin.take().unwrap().write_all(b"log here 1\n").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(assert_whole(&path).len(), 3);
    // It has gone, and the next one comes in.
    let (mut third, said) = harness(&path);
    assert_eq!(said, "open");
    drop(third.stdin.take());
    assert!(third.wait().unwrap().success());
    assert_eq!(assert_whole(&path).len(), 5);
}

// Rule 4.5.
#[test]
fn of_many_that_open_at_once_one_has_the_journal() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let harnesses = thread::scope(|scope| {
        let started: Vec<_> = (0..8).map(|_| scope.spawn(|| harness(&path))).collect();
        started.into_iter().map(|started| started.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(harnesses.iter().filter(|(_, said)| said == "open").count(), 1);
    for (mut harness, _) in harnesses {
        drop(harness.stdin.take());
        harness.wait().unwrap();
    }
    assert_eq!(assert_whole(&path).len(), 2);
}

// Rules 4.4, 4.5.
#[test]
fn a_forked_child_writes_to_a_file_of_its_own() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    assert!(kali.call("before", json!({})).ok);
    let child = match fork::fork().unwrap() {
        Fork::Child => {
            // Nothing of the test's may run here: not even a panic is to be seen as its.
            let ok = thread::scope(|scope| {
                let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| kali.call("in_child", json!({})).ok)).collect();
                calls.into_iter().all(|call| call.join().unwrap_or(false))
            });
            run.close();
            std::process::exit(if ok { 0 } else { 1 });
        }
        Fork::Parent(child) => child,
    };
    assert!(kali.call("meanwhile", json!({})).ok);
    assert_eq!(fork::waitpid(child).map(|status| fork::WEXITSTATUS(status)).unwrap(), 0);
    assert!(kali.call("after", json!({})).ok);
    run.close();
    let tools = |path: &Path| {
        let events = assert_whole(path);
        events.iter().filter_map(|event| event.tool.as_deref().map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    assert_eq!(tools(&path), ["after", "before", "meanwhile"].map(str::to_owned).into());
    let beside = folder.path(&format!("run.jsonl.{child}"));
    assert_eq!(tools(&beside), ["in_child".to_owned()].into());
    assert_eq!(verify_journal(&beside).unwrap().events, 10);
}
