//! What is in the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use verifi::{JournalSync, Outcome, Run, RunOptions, verify_journal};
use verifi_tests::{Condition, Match, Server};

use crate::common::{Folder, assert_whole, events, manifest, open, server, text, with_journal};
use crate::sealed::{event, sealed};

/// Checks the chain as the documentation of the format says, with nothing of verifi.
fn check_by_hand(text: &str) {
    let mut prev = "0".repeat(64);
    for line in text.lines() {
        let (body, _) = line.rsplit_once(",\"hash\":\"").unwrap();
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["prev"], prev);
        prev = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(entry["hash"], prev);
    }
}

// Rules 4.4, 4.5.
#[test]
fn each_event_is_a_line_that_carries_the_hash_of_the_line_before() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    assert!(kali.call("nmap", json!({"ports": "1-99"})).ok);
    run.log("line\nbreak, \u{2028} and \"quotes\"");
    run.close();
    let text = text(&path);
    check_by_hand(&text);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let recorded = run.events();
    assert_eq!(lines.len(), recorded.len());
    for (mut line, event) in lines.into_iter().zip(recorded) {
        let members = line.as_object_mut().unwrap();
        assert!(members.remove("prev").is_some() && members.remove("hash").is_some());
        assert_eq!(line, serde_json::to_value(&*event).unwrap());
    }
    assert_eq!(verify_journal(&path).unwrap().events, 5);
}

// Rule 4.5.
#[test]
fn a_chain_that_others_made_by_the_same_rule_holds() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let more = json!({"message": "as someone else writes it", "unknown": [1.50]});
    let text = sealed(&[event(1, "run_started", json!({})), event(2, "log", more)]);
    check_by_hand(&text);
    fs::write(&path, &text).unwrap();
    let verification = serde_json::to_value(verify_journal(&path).unwrap()).unwrap();
    let (_, head) = text.rsplit_once("\"hash\":\"").unwrap();
    assert_eq!(verification, json!({"events": 2, "missing": 0, "ok": true, "head": &head[..64]}));
}

// Rule 4.4.
#[test]
fn the_start_of_a_call_is_in_the_file_before_the_request_is_sent() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let script = json!({"rules": [{"on": {"tool": "nmap"}, "do": [{"await": {"gate": "seen"}}, "default"]}]});
    let server = Server::from_json(&script.to_string()).unwrap();
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| kali.call("nmap", json!({})));
        let request = Some(Match { tool: Some("nmap".into()), ..Match::default() });
        let condition = Condition { request, ..Condition::default() };
        assert!(server.wait(&condition, Duration::from_secs(10)));
        let started = events(&path).pop().unwrap();
        assert_eq!((started.kind.as_str(), started.tool.as_deref()), ("call_started", Some("nmap")));
        server.release("seen");
        assert_eq!(call.join().unwrap().outcome, Outcome::Refused);
    });
    let end = events(&path);
    assert_eq!(end[end.len() - 2].call_id, Some(2), "{end:?}");
}

// Rule 4.4.
#[test]
fn a_subscriber_sees_no_event_that_is_not_in_the_file() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let run = open(&path).unwrap();
    let seen = run.subscribe_from(1);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for event in &seen {
                assert!(events(&path).len() as u64 >= event.seq);
            }
        });
        (0..200).for_each(|line| run.log(&line.to_string()));
        run.close();
        reader.join().unwrap();
    });
}

// Rule 4.5.
#[test]
fn the_file_is_for_its_owner_alone() {
    let folder = Folder::new();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = folder.path("new.jsonl");
    drop(open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
    for (before, after) in [(0o666, 0o600), (0o644, 0o600), (0o640, 0o600), (0o600, 0o600), (0o700, 0o700)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
        drop(open(&path).unwrap());
        assert_eq!(mode(&path), after, "{before:o}");
    }
}

// Rule 4.4.
#[test]
fn whatever_is_forced_onto_the_disk_the_file_is_the_same() {
    let folder = Folder::new();
    for sync in JournalSync::ALL {
        let path = folder.path(sync.as_str());
        let options = RunOptions { sync: *sync, ..with_journal(&path) };
        let run = Run::open(&manifest("r1", "http://127.0.0.1:1"), options).unwrap();
        assert!(!run.mcp("kali").unwrap().call("nmap", json!({})).ok);
        run.close();
        let kinds: Vec<_> = assert_whole(&path).iter().map(|event| event.kind.as_str()).collect();
        let wanted = ["run_started", "call_started", "call_finished", "mcp.no_healthy_tool", "tool_error"];
        assert_eq!(kinds, [&wanted[..], &["run_finished"]].concat());
    }
}
