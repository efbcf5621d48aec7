//! One line of a journal, and the chain that the lines make.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::timeline::event::Event;

const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";
const END: &[u8] = b"\"}";

/// How long `,"hash":"…"}` is, and with `,"prev":"…"` before it.
const SEAL: usize = HASH.len() + 64 + END.len();
const LINKS: usize = PREV.len() + 64 + 1 + SEAL;

/// A SHA-256 in hexadecimal, as it stands in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash([u8; 64]);

impl Hash {
    /// Stands before the first line.
    pub(super) const NONE: Hash = Hash([b'0'; 64]);

    fn of(bytes: &[u8]) -> Hash {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(Sha256::digest(bytes)) {
            *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        }
        Hash(text)
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// As far as a journal was read or written, and whatever follows must fit.
#[derive(Clone)]
pub(super) struct Chain {
    /// Of the first event; none before it.
    pub(super) run_id: Option<Arc<str>>,
    /// Of the last event; 0 before the first.
    pub(super) seq: u64,
    /// Of the last line.
    pub(super) hash: Hash,
    pub(super) lines: u64,
    /// How many events are known not to be in the file.
    pub(super) missing: u64,
}

/// What a line has beside its event, when events before it are not in the file.
#[derive(Deserialize)]
struct Gap {
    #[serde(default)]
    missing: u64,
}

impl Chain {
    pub(super) fn new() -> Chain {
        Chain { run_id: None, seq: 0, hash: Hash::NONE, lines: 0, missing: 0 }
    }

    /// The line of an event that comes next, with its end. The chain itself goes on with [`Chain::wrote`].
    pub(super) fn write(&self, event: &Event, line: &mut Vec<u8>) -> io::Result<Hash> {
        line.clear();
        serde_json::to_writer(&mut *line, event)?;
        line.pop();
        let missing = event.seq.saturating_sub(self.seq + 1);
        if missing > 0 {
            write!(line, ",\"missing\":{missing}")?;
        }
        line.extend_from_slice(PREV);
        line.extend_from_slice(&self.hash.0);
        line.push(b'"');
        let hash = Hash::of(line);
        line.extend_from_slice(HASH);
        line.extend_from_slice(&hash.0);
        line.extend_from_slice(END);
        line.push(b'\n');
        Ok(hash)
    }

    /// The line of that event is in the file.
    pub(super) fn wrote(&mut self, event: &Event, hash: Hash) {
        self.missing += event.seq.saturating_sub(self.seq + 1);
        self.seq = event.seq;
        self.hash = hash;
        self.lines += 1;
    }

    /// Reads the next line, which comes without its end. The error is what is wrong with it.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Event, String> {
        let hash = self.check_hashes(line)?;
        let mut event: Event = serde_json::from_slice(line).map_err(|fault| format!("it is not an event: {fault}"))?;
        match &self.run_id {
            Some(run_id) if *run_id == event.run_id => event.run_id = run_id.clone(),
            Some(run_id) => return Err(format!("it belongs to run {:?}, not {run_id:?}", &*event.run_id)),
            None => self.run_id = Some(event.run_id.clone()),
        }
        if event.seq != self.seq + 1 {
            let gap: Gap = serde_json::from_slice(line).map_err(|fault| format!("it is not an event: {fault}"))?;
            if self.seq.checked_add(gap.missing).and_then(|seq| seq.checked_add(1)) != Some(event.seq) {
                return Err(format!("event {} follows event {}", event.seq, self.seq));
            }
        }
        self.wrote(&event, hash);
        Ok(event)
    }

    fn check_hashes(&self, line: &[u8]) -> Result<Hash, String> {
        const SHAPE: &str = "it does not end with its hashes";
        let (body, seal) = line.split_at_checked(line.len().wrapping_sub(SEAL)).ok_or(SHAPE)?;
        let hash = seal.strip_prefix(HASH).and_then(|rest| rest.strip_suffix(END)).ok_or(SHAPE)?;
        let links = &line[line.len().checked_sub(LINKS).ok_or(SHAPE)?..line.len() - SEAL];
        let prev = links.strip_prefix(PREV).and_then(|rest| rest.strip_suffix(b"\"")).ok_or(SHAPE)?;
        let found = Hash::of(body);
        if found.0 != hash {
            return Err("its hash does not fit its text".into());
        }
        if self.hash.0 != prev {
            return Err("it does not carry the hash of the line before it".into());
        }
        Ok(found)
    }
}
