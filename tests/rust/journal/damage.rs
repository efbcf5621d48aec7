//! Files that were cut, and files in which a bit has changed.

use std::fs;
use std::path::Path;

use serde_json::json;
use verifi::{ErrorKind, Run, verify_journal};

use crate::common::{Folder, assert_whole, manifest, open, server, text, with_journal};

/// A journal of a run that was killed in its fourth call: of its last three lines the first and the last begin a call.
fn journal(path: &Path) -> Vec<u8> {
    let server = server();
    let run = Run::open(&manifest("r1", server.url()), with_journal(path)).unwrap();
    let kali = run.mcp("kali").unwrap();
    run.log("umlaut ü, \u{1F50D}, \"quotes\" and \\ in it");
    (0..3).for_each(|_| assert!(kali.call("nmap", json!({})).ok));
    run.log("umlaut ü, \u{1F50D}, \"quotes\" and \\ in it");
    assert!(kali.call("nikto", json!({})).ok);
    run.close();
    let text = fs::read(path).unwrap();
    let ends: Vec<usize> = (1..=text.len()).filter(|end| text[end - 1] == b'\n').collect();
    text[..ends[ends.len() - 3]].to_vec()
}

/// Where the last three lines begin.
fn last_three(text: &[u8]) -> usize {
    (0..text.len()).rev().filter(|at| text[*at] == b'\n').nth(3).unwrap() + 1
}

// Rule 4.5.
#[test]
fn a_file_that_was_cut_anywhere_goes_on() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let whole = journal(&path);
    for cut in last_three(&whole)..whole.len() {
        let file = &whole[..cut];
        let lines = file.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>();
        let tail = lines.last().filter(|line| !line.ends_with(b"\n")).map_or(&b""[..], |line| *line);
        let is_complete = whole[cut] == b'\n';
        fs::write(&path, file).unwrap();
        let verification = verify_journal(&path).unwrap();
        assert_eq!(verification.ok, tail.is_empty(), "{cut}");
        assert_eq!(verification.fault.map(|fault| fault.line), (!tail.is_empty()).then_some(lines.len() as u64));

        drop(open(&path).unwrap());
        let now = fs::read(&path).unwrap();
        let kept = if is_complete { file } else { &file[..cut - tail.len()] };
        assert!(now.starts_with(kept), "{cut}");
        let events = assert_whole(&path);
        let said =
            events.iter().rev().find_map(|event| event.message.as_deref().filter(|said| said.contains("journal")));
        match (tail, is_complete) {
            (b"", _) => assert_eq!(said, None),
            (_, true) => assert_eq!(said, Some("the journal's last line had lost its end, which was put back")),
            (tail, false) => {
                let start = format!("the journal's last line was not written to its end: {} bytes", tail.len());
                assert!(said.unwrap().starts_with(&start), "{said:?}");
                let torn = folder.path("run.jsonl.torn");
                assert_eq!(fs::read(&torn).unwrap(), [tail, b"\n"].concat());
                fs::remove_file(torn).unwrap();
            }
        }
    }
}

// Rule 4.5.
#[test]
fn a_bit_that_changed_is_named_and_nothing_is_overwritten() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let whole = journal(&path);
    for at in last_three(&whole)..whole.len() {
        let line = whole[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        for bit in 0..8 {
            let mut file = whole.clone();
            file[at] ^= 1 << bit;
            fs::write(&path, &file).unwrap();
            let verification = verify_journal(&path).unwrap();
            assert_eq!(verification.fault.map(|fault| fault.line), Some(line), "byte {at}, bit {bit}");
            assert_eq!((verification.events, verification.ok), (line - 1, false));
            // To open a run takes a while: once a byte is enough.
            if bit != at % 8 {
                continue;
            }
            let error = open(&path).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Journal);
            assert!(error.message().contains(&format!("line {line}: ")), "{error}");
            assert_eq!(fs::read(&path).unwrap(), file);
        }
    }
}

// Rule 4.5.
#[test]
fn lines_that_were_removed_swapped_or_put_in_are_found() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    journal(&path);
    let text = text(&path);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let fault = |lines: &[&str]| {
        fs::write(&path, lines.concat()).unwrap();
        verify_journal(&path).unwrap().fault.map(|fault| (fault.line, fault.what))
    };
    let chain = "it does not carry the hash of the line before it";
    assert_eq!(fault(&lines), None);
    for at in 1..lines.len() - 1 {
        let line = at as u64 + 1;
        let without = [&lines[..at], &lines[at + 1..]].concat();
        assert_eq!(fault(&without), Some((line, chain.to_owned())));
        let twice = [&lines[..=at], &lines[at..]].concat();
        assert_eq!(fault(&twice), Some((line + 1, chain.to_owned())));
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        assert_eq!(fault(&swapped), Some((line, chain.to_owned())));
    }
    assert_eq!(fault(&lines[1..]), Some((1, chain.to_owned())));
}

// Rule 4.5.
#[test]
fn repairing_twice_keeps_what_was_cut_off_once_and_loses_nothing() {
    let folder = Folder::new();
    let (path, torn) = (folder.path("run.jsonl"), folder.path("run.jsonl.torn"));
    let whole = journal(&path);
    let cut = whole.len() - 40;
    let tail = &whole[last_line(&whole)..cut];
    // As a crash leaves it between keeping the bytes and cutting them off: both files have them.
    fs::write(&path, &whole[..cut]).unwrap();
    fs::write(&torn, [tail, b"\n"].concat()).unwrap();
    drop(open(&path).unwrap());
    assert_eq!(fs::read(&torn).unwrap(), [tail, b"\n"].concat());
    assert_whole(&path);
    // Another time another line is torn: what was kept stays.
    let more = fs::read(&path).unwrap();
    let other = &more[last_line(&more)..more.len() - 100];
    fs::write(&path, &more[..more.len() - 100]).unwrap();
    drop(open(&path).unwrap());
    assert_eq!(fs::read(&torn).unwrap(), [tail, b"\n", other, b"\n"].concat());
    assert_whole(&path);
}

fn last_line(text: &[u8]) -> usize {
    text[..text.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1
}

// Rule 4.5.
#[test]
fn zeros_after_a_power_cut_are_a_torn_line_and_a_line_without_end_is_none() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let whole = journal(&path);
    let start = last_line(&whole);
    for file in [[&whole[..], &[0; 512]].concat(), [&whole[..start + 50], &[0; 4096]].concat()] {
        fs::write(&path, &file).unwrap();
        drop(open(&path).unwrap());
        assert_whole(&path);
    }
    // A sparse file of 8 GiB: no line of a journal is that long, and none is read that far.
    fs::write(&path, &whole).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(8 << 30).unwrap();
    let fault = verify_journal(&path).unwrap().fault.unwrap();
    assert_eq!(fault.what, "it is too long");
    assert!(open(&path).is_err());
}
