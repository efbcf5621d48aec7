//! A journal that cannot be written while the run goes on.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use verifi::{Event, EventKind, Run, verify_journal};

use crate::common::{Folder, assert_whole, events, manifest, open, server, text, with_journal};

/// A run in a process of its own, which the signal of a file that is too large does not kill.
struct Shell {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start(path: &Path, endpoint: &str, before: &str) -> Shell {
        let mut process = Command::new("sh")
            .args(["-c", &format!("trap '' XFSZ; {before} exec \"$@\""), "sh", env!("CARGO_BIN_EXE_journal-shell")])
            .args([&manifest("r1", endpoint), &json!({"journal": path}).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut shell = Shell { process, input, output };
        assert_eq!(shell.line(), "open");
        shell
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn ask(&mut self, command: &str) -> Value {
        writeln!(self.input.as_mut().unwrap(), "{command}").unwrap();
        serde_json::from_str(&self.line()).unwrap()
    }

    /// No file of the process may grow beyond so many bytes: to write more fails as on a full disk.
    fn limit(&self, bytes: &str) {
        let limit = format!("--fsize={bytes}:unlimited");
        let status = Command::new("prlimit").args([format!("--pid={}", self.process.id()), limit]).status();
        assert!(status.unwrap().success());
    }

    fn end(mut self) {
        self.input.take();
        assert!(self.process.wait().unwrap().success());
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

fn late(events: &[Event]) -> String {
    let said = events.iter().filter_map(|event| event.message.clone()).find(|said| said.contains("came late"));
    said.expect("it is said that events came late")
}

// Rules 4.4, 4.6.
#[test]
fn when_there_is_room_again_what_was_missed_is_written() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let mut shell = Shell::start(&path, server.url(), "");
    shell.ask("log before 1");
    // Half a line more has room, and must not stay there.
    let full = size(&path);
    shell.limit(&(full + 100).to_string());
    assert_eq!(shell.ask("events journal_failed"), 0);
    for tool in ["nmap", "nikto", "nuclei"] {
        assert_eq!(shell.ask(&format!("call {tool}"))["ok"], true);
    }
    assert_eq!(shell.ask("events journal_failed"), 1);
    let ledger = shell.ask("ledger");
    assert_eq!(ledger["toolCalls"], 3);
    let error = format!("{}: File too large (os error 27)", path.display());
    assert_eq!(ledger["journalError"], error);
    let during = verify_journal(&path).unwrap();
    assert_eq!(during.events, 2);

    shell.limit("unlimited");
    shell.ask("log after 1");
    assert_eq!(shell.ask("events journal_failed"), 1);
    assert_eq!(shell.ask("ledger")["journalError"], error);
    shell.end();
    let events = assert_whole(&path);
    let failed: Vec<_> = events.iter().filter(|event| event.kind == EventKind::JournalFailed).collect();
    assert_eq!((failed.len(), failed[0].seq, failed[0].error.as_deref()), (1, 4, Some(&*error)));
    assert_eq!(late(&events), "the journal can be written again: events 3 to 10 came late");
}

// Rules 4.5, 4.6.
#[test]
fn what_memory_no_longer_has_is_marked_as_a_gap() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let mut shell = Shell::start(&path, "http://127.0.0.1:1", "");
    shell.limit(&size(&path).to_string());
    shell.ask("log during 12000");
    shell.limit("unlimited");
    shell.ask("log after 1");
    shell.end();
    let verification = verify_journal(&path).unwrap();
    assert!(verification.ok, "{verification:?}");
    // 12 000 lines and `journal_failed`, of which the latest 10 000 were kept.
    assert_eq!(verification.missing, 2001);
    let gaps = text(&path).lines().filter(|line| line.contains("\"missing\":2001,")).count();
    assert_eq!(gaps, 1);
    let before = events(&path);
    assert_eq!(before.windows(2).filter(|pair| pair[1].seq != pair[0].seq + 1).count(), 1);
    // It opens again as it is.
    drop(open(&path).unwrap());
    let after = verify_journal(&path).unwrap();
    assert_eq!((after.events, after.missing), (verification.events + 2, 2001));
}

// Rule 4.6.
#[test]
fn a_run_opens_on_a_full_disk_and_says_so() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let mut shell = Shell::start(&path, "http://127.0.0.1:1", "ulimit -S -f 0;");
    assert_eq!(shell.ask("events journal_failed"), 1);
    assert!(shell.ask("ledger")["journalError"].as_str().is_some_and(|error| error.contains("too large")));
    assert_eq!(size(&path), 0);
    shell.limit("unlimited");
    shell.end();
    assert_eq!(assert_whole(&path)[1].kind, EventKind::JournalFailed);
}

/// A file system of a few kilobytes; `None` where the system allows none.
struct TinyDisk(PathBuf);

impl TinyDisk {
    fn mount(at: PathBuf) -> Option<TinyDisk> {
        fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(TinyDisk(at))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

// Rules 4.4, 4.6.
#[test]
fn a_disk_that_fills_up_costs_no_call() {
    let (folder, server) = (Folder::new(), server());
    let Some(disk) = TinyDisk::mount(folder.path("disk")) else {
        return eprintln!("skipped: no file system can be mounted here; the limit on file sizes was tested");
    };
    let path = disk.0.join("run.jsonl");
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    let room = disk.0.join("others");
    // Fails when the disk is full, which is what it is for.
    let _ = fs::write(&room, [0; 64 << 10]);
    for _ in 0..200 {
        assert!(kali.call("nmap", json!({})).ok);
    }
    let error = run.ledger().journal_error().unwrap().to_owned();
    assert!(error.ends_with("No space left on device (os error 28)"), "{error}");
    let failed = run.events().iter().filter(|event| event.kind == EventKind::JournalFailed).count();
    assert_eq!(failed, 1);
    fs::remove_file(room).unwrap();
    run.close();
    // Of 403 events not all have room: what is there holds, and the run said so.
    assert!(verify_journal(&path).unwrap().ok);
    drop(run);
}

fn failed(run: &Run) -> Vec<String> {
    run.events().iter().filter(|e| e.kind == EventKind::JournalFailed).filter_map(|e| e.error.clone()).collect()
}

// Rule 4.6.
#[test]
fn a_file_that_is_gone_fails_no_call_and_is_told_once() {
    let (folder, server) = (Folder::new(), server());
    let path = folder.path("run.jsonl");
    let run = Run::open(&manifest("r1", server.url()), with_journal(&path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    fs::remove_file(&path).unwrap();
    // What stands there now is another's.
    fs::write(&path, "another's").unwrap();
    let events = run.subscribe();
    (0..3).for_each(|_| assert!(kali.call("nmap", json!({})).ok));
    let error = format!("{}: the file is gone", path.display());
    assert_eq!(failed(&run), std::slice::from_ref(&error));
    assert_eq!(run.ledger().journal_error(), Some(&*error));
    assert_eq!(run.ledger().usage().tool_calls(), 3);
    assert_eq!(events.try_next(), verifi::Next::Event(run.events()[1].clone()));
    run.close();
    assert_eq!(text(&path), "another's");
}

// Rules 4.5, 4.6.
#[test]
fn a_file_that_others_write_to_is_not_written_over() {
    let folder = Folder::new();
    for change in ["more", ""] {
        let path = folder.path(&format!("run-{change}.jsonl"));
        let run = open(&path).unwrap();
        let changed = if change.is_empty() { String::new() } else { text(&path) + change };
        fs::write(&path, &changed).unwrap();
        run.log("line");
        assert_eq!(failed(&run), [format!("{}: the file was changed by someone else", path.display())]);
        run.close();
        assert_eq!(text(&path), changed);
    }
}

// Rules 4.4, 4.6.
#[test]
fn a_file_that_was_moved_is_written_on() {
    let folder = Folder::new();
    let (path, moved) = (folder.path("run.jsonl"), folder.path("moved.jsonl"));
    let run = open(&path).unwrap();
    fs::rename(&path, &moved).unwrap();
    run.log("line");
    run.close();
    assert_eq!(run.ledger().journal_error(), None);
    assert_eq!(assert_whole(&moved).len(), 3);
}
