//! Opening a journal that is there already.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use verifi::{ErrorKind, Next, Run, RunOptions, read_journal, verify_journal};

use crate::common::{Folder, assert_whole, events, fold, kinds, manifest, open, server, text, with_journal};
use crate::sealed::{event, sealed};

fn refused(path: &Path) -> String {
    let error = open(path).expect_err("it must not open");
    assert_eq!(error.kind(), ErrorKind::Journal);
    let (shown, what) = error.message().split_once(": ").unwrap();
    assert_eq!(shown, path.to_str().unwrap());
    what.to_owned()
}

// Rules 4.4, 4.5.
#[test]
fn a_run_goes_on_where_its_journal_ended() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let manifest = manifest("r1", server.url());
    let mut ledgers = Vec::new();
    for round in 1..=3 {
        let run = Run::open(&manifest, with_journal(&path)).unwrap();
        let kali = run.mcp("kali").unwrap();
        assert!(kali.call("nmap", json!({})).ok && kali.call(&format!("tool-{round}"), json!({})).ok);
        run.close();
        assert_eq!(run.ledger().usage().tool_calls(), 2 * round);
        let recorded: Vec<_> = run.events().iter().map(|event| (**event).clone()).collect();
        assert_eq!(recorded, events(&path));
        ledgers.push(run.ledger());
    }
    let events = assert_whole(&path);
    assert_eq!(fold(&events), ledgers[2]);
    let started = events.iter().filter(|event| event.kind.as_str() == "call_started");
    assert!(started.map(|event| event.call_id.unwrap()).is_sorted());
    assert_eq!(kinds(&events)[6..8], ["run_started", "call_started"]);
}

// Rules 4.3, 4.5.
#[test]
fn a_subscription_gives_the_past_and_ends_with_this_opening() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    open(&path).unwrap().log("first");
    let run = open(&path).unwrap();
    let (all, new) = (run.subscribe_from(1), run.subscribe());
    run.log("second");
    run.close();
    assert_eq!(all.map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(new.map(|event| event.seq).collect::<Vec<_>>(), [5, 6]);
    assert_eq!(run.subscribe_from(7).try_next(), Next::Ended);
}

// Rule 4.5.
#[test]
fn a_started_call_without_an_end_is_one_failed_call() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let call = |seq: u64, tool: &str| {
        let more =
            json!({"slot": "kali", "tool": tool, "callId": seq, "server": "primary", "endpoint": "http://k/mcp"});
        event(seq, "call_started", more)
    };
    let end = json!({"slot": "kali", "tool": "b", "callId": 3, "outcome": "ok", "latencyMs": 1.5, "evidenceBytes": 4});
    let past =
        [event(1, "run_started", json!({})), call(2, "a"), call(3, "b"), event(4, "call_finished", end), call(5, "c")];
    fs::write(&path, sealed(&past)).unwrap();
    // Twice, and it is booked once.
    drop(open(&path).unwrap());
    drop(open(&path).unwrap());
    let events = assert_whole(&path);
    let wanted = ["run_started", "call_finished", "call_finished", "run_finished", "run_started", "run_finished"];
    assert_eq!(kinds(&events)[5..], wanted);
    for (lost, tool, id) in [(&events[6], "a", 2), (&events[7], "c", 5)] {
        assert_eq!((lost.tool.as_deref(), lost.call_id), (Some(tool), Some(id)));
        assert_eq!(lost.outcome.unwrap().as_str(), "unreachable");
        assert_eq!(lost.error.as_deref(), Some("the process ended before the call did"));
        assert_eq!((lost.endpoint.as_deref(), lost.latency_ms), (Some("http://k/mcp"), None));
    }
    let usage = fold(&events).usage();
    assert_eq!((usage.tool_calls(), usage.failures(), usage.evidence_bytes()), (3, 2, 4));
}

// Rule 4.5.
#[test]
fn a_journal_of_another_run_is_left_alone() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    fs::write(&path, sealed(&[event(1, "run_started", json!({"runId": "other"}))])).unwrap();
    let before = text(&path);
    assert_eq!(refused(&path), "belongs to run \"other\", not \"r1\"");
    assert_eq!(text(&path), before);
}

// Rule 4.5.
#[test]
fn what_is_no_journal_is_left_alone() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let no_hash = "line 1: it does not end with its hashes";
    for (content, what) in [
        ("\n", no_hash),
        ("{}\n", no_hash),
        ("my notes\n", no_hash),
        ("my notes", "line 1: its end is missing"),
        ("{\"a\":1", "line 1: its end is missing"),
        ("{\"seq\":1} ", "line 1: its end is missing"),
        ("\u{0}\u{1}", "line 1: its end is missing"),
    ] {
        fs::write(&path, content).unwrap();
        assert_eq!(refused(&path), what, "{content:?}");
        assert_eq!(text(&path), content);
    }
    let events = [event(1, "run_started", json!({})), event(3, "log", json!({}))];
    fs::write(&path, sealed(&events)).unwrap();
    assert_eq!(refused(&path), "line 2: event 3 follows event 1");
    fs::write(&path, sealed(&[event(1, "run_begun", json!({}))])).unwrap();
    assert!(refused(&path).starts_with("line 1: it is not an event: unknown variant `run_begun`"));
    fs::write(&path, sealed(&[event(1, "log", json!({})), event(2, "log", json!({"runId": "r2"}))])).unwrap();
    assert_eq!(refused(&path), "line 2: it belongs to run \"r2\", not \"r1\"");
}

// Rule 4.5.
#[test]
fn what_cannot_be_a_journal_is_an_error() {
    let folder = Folder::new();
    let path = folder.path("folder");
    fs::create_dir(&path).unwrap();
    assert_eq!(refused(&path), "is a directory");
    assert_eq!(read_journal(&path).err().unwrap().message(), format!("{}: is a directory", path.display()));
    assert!(refused(&folder.path("none/run.jsonl")).starts_with("No such file or directory"));
    assert_eq!(refused(Path::new("/dev/null")), "is not a regular file");
    assert!(verify_journal(folder.path("none")).is_err_and(|error| error.kind() == ErrorKind::Journal));

    let path = folder.path("read-only");
    drop(open(&path).unwrap());
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    // For the superuser as well, whom the system would let write.
    assert_eq!(refused(&path), "is read-only");
}

// Rule 4.5.
#[test]
fn a_pipe_is_an_error_and_nobody_waits_for_its_other_end() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let message = format!("{}: is not a regular file", path.display());
    assert_eq!(read_journal(&path).unwrap_err().message(), message);
    assert_eq!(verify_journal(&path).unwrap_err().message(), message);
    assert_eq!(open(&path).unwrap_err().message(), message);
}

// Rule 4.5.
#[test]
fn an_error_shows_what_cannot_be_seen_in_a_path() {
    let folder = Folder::new();
    let path = folder.path("nul\0, line\n, café");
    let shown = format!("{}: ", folder.path(r"nul\0, line\n, café").display());
    for error in [read_journal(&path).unwrap_err(), verify_journal(&path).unwrap_err(), open(&path).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.message().strip_prefix(&*shown).is_some_and(|what| what.contains("NUL")), "{error}");
    }
}

// Rule 4.5.
#[test]
fn an_empty_file_becomes_a_journal_and_an_empty_path_is_no_option() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    fs::write(&path, "").unwrap();
    assert!(verify_journal(&path).unwrap().ok);
    drop(open(&path).unwrap());
    assert_eq!(assert_whole(&path).len(), 2);
    let error = RunOptions::from_json(r#"{"journal":""}"#)
        .and_then(|options| Run::open(&manifest("r1", "http://127.0.0.1:1"), options).map(drop));
    assert_eq!(error.unwrap_err().message(), "journal: must not be empty");
}

// Rule 4.5.
#[test]
fn a_journal_is_one_runs_at_a_time() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let run = open(&path).unwrap();
    assert_eq!(refused(&path), "is in use by another run");
    // To read it and to check it is open to all, and takes the lock from nobody.
    assert!(verify_journal(&path).unwrap().ok);
    assert_eq!(refused(&path), "is in use by another run");
    run.close();
    // Closed is enough: the object may live on.
    drop(open(&path).unwrap());
    drop(run);
    assert_whole(&path);
}

// Rules 4.4, 4.5.
#[test]
fn a_reader_follows_a_run_that_goes_on() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let run = open(&path).unwrap();
    let mut reader = read_journal(&path).unwrap();
    assert_eq!(reader.try_next().unwrap().unwrap().kind.as_str(), "run_started");
    for line in ["one", "two"] {
        assert_eq!(reader.try_next(), Ok(None));
        run.log(line);
        assert_eq!(reader.try_next().unwrap().unwrap().message.as_deref(), Some(line));
    }
    run.close();
    assert_eq!(reader.next().unwrap().unwrap().kind.as_str(), "run_finished");
    assert!(reader.next().is_none());
}
