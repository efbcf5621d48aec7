//! What the tests of the journal share.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use verifi::{Event, EventKind, JournalSync, Ledger, Run, RunOptions, read_journal, verify_journal};
use verifi_tests::Server;

/// A folder of a test's own, for as long as it runs.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("verifi-journal-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that has every tool.
pub fn server() -> Server {
    let answer = json!({"result": {"content": [{"type": "text", "text": "done"}]}});
    Server::from_json(&json!({"rules": [{"on": {"rpc": "tools/call"}, "do": [answer]}]}).to_string()).unwrap()
}

pub fn manifest(run_id: &str, endpoint: &str) -> String {
    json!({"runId": run_id, "slotFills": {"kali": endpoint}}).to_string()
}

pub fn with_journal(path: &Path) -> RunOptions {
    RunOptions { journal: Some(path.to_owned()), ..RunOptions::default() }
}

/// Opens run `r1` with that journal and nowhere to call. Nothing of it is forced onto the disk, which would take its time.
pub fn open(path: &Path) -> Result<Run, verifi::Error> {
    let options = RunOptions { sync: JournalSync::None, ..with_journal(path) };
    Run::open(&manifest("r1", "http://127.0.0.1:1"), options)
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub fn events(path: &Path) -> Vec<Event> {
    read_journal(path).unwrap().map(|event| event.unwrap()).collect()
}

pub fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

pub fn fold(events: &[Event]) -> Ledger {
    let mut ledger = Ledger::new("r1");
    events.iter().for_each(|event| ledger.fold(event));
    ledger
}

/// The file is whole: its chain holds, no number is left out, and every call that started has ended once.
pub fn assert_whole(path: &Path) -> Vec<Event> {
    let verification = verify_journal(path).unwrap();
    assert!(verification.ok, "{verification:?}");
    assert_eq!(verification.missing, 0);
    let events = events(path);
    assert_eq!(verification.events, events.len() as u64);
    assert!(events.iter().map(|event| event.seq).eq(1..=verification.events));
    let mut open = BTreeMap::new();
    for event in &events {
        match event.kind {
            EventKind::CallStarted => assert_eq!(open.insert(event.call_id.unwrap(), event.seq), None),
            EventKind::CallFinished => assert!(open.remove(&event.call_id.unwrap()).is_some(), "{event:?}"),
            _ => (),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    events
}
