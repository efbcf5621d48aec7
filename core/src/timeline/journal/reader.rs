//! Reading a journal that anyone may be writing.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::line::Chain;
use super::lines::{Line, Lines};
use super::torn::is_torn;
use super::{Shown, look_at};
use crate::error::Error;
use crate::timeline::event::Event;

/// What came of checking a journal. As JSON: `{"events", "missing", "ok", "head", "fault"?: {"line", "what"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Verification {
    /// How many events hold: those before the first fault.
    pub events: u64,
    /// How many events the file itself says it lacks: they happened while it could not be written, and were no longer
    /// in memory when it could.
    pub missing: u64,
    /// Whether the whole file holds.
    pub ok: bool,
    /// The hash of the last line that holds. Kept elsewhere it shows later whether lines were cut off at the end, which
    /// the file alone cannot.
    pub head: String,
    /// The first fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<JournalFault>,
}

/// Where a journal no longer holds, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JournalFault {
    /// The line's number; 1 is the first.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// Checks a journal from its first line to its last. Memory does not grow with the file. A journal that is being
/// written may be checked, too.
///
/// # Errors
///
/// [`ErrorKind::Journal`](crate::ErrorKind::Journal) when the file cannot be read. That it does not hold is no error: the
/// result says so.
pub fn verify_journal(path: impl AsRef<Path>) -> Result<Verification, Error> {
    let mut reader = read_journal(path)?;
    let fault = loop {
        match reader.step()? {
            Step::Event(_) => (),
            Step::End => break reader.tail.map(str::to_owned),
            Step::Fault(what) => break Some(what),
        }
    };
    let chain = reader.chain;
    let fault = fault.map(|what| JournalFault { line: chain.lines + 1, what });
    Ok(Verification {
        events: chain.lines,
        missing: chain.missing,
        ok: fault.is_none(),
        head: chain.hash.as_str().to_owned(),
        fault,
    })
}

/// Opens a journal to read its events, each of which is checked before it is given. Memory does not grow with the file.
/// A journal that is being written may be read, too.
///
/// # The file
///
/// Each event is one line: the event as JSON, in UTF-8, with up to three members more, in this order, and a line feed.
///
/// ```text
/// {"seq":7,"ts":"2026-12-02T01:02:03.004Z","runId":"r1","kind":"log","message":"hi","prev":"5f…","hash":"c0…"}
/// ```
///
/// - `missing`: how many events before this one are not in the file. Absent when there are none, which is the rule.
/// - `prev`: the `hash` of the line before; 64 zeros in the first line.
/// - `hash`: the SHA-256 of all bytes of this line that come before `,"hash":"`, `prev` among them.
///
/// Hashes are in lower-case hexadecimal. `seq` is that of the line before, plus 1, plus `missing`; `runId` is the same in
/// all lines. So any language can check a journal; in Python:
///
/// ```python
/// prev = "0" * 64
/// for line in open("run.jsonl", "rb"):
///     body, _, _ = line.rpartition(b',"hash":"')
///     entry = json.loads(line)
///     assert entry["prev"] == prev and entry["hash"] == hashlib.sha256(body).hexdigest()
///     prev = entry["hash"]
/// ```
///
/// A line that is whole is never changed. What the chain cannot show is that whole lines are gone at the end: who must
/// know that keeps the last `hash` elsewhere ([`Verification::head`]).
///
/// # Errors
///
/// [`ErrorKind::Journal`](crate::ErrorKind::Journal) when the file cannot be opened, and when it is no regular file: a pipe
/// is none.
pub fn read_journal(path: impl AsRef<Path>) -> Result<JournalReader, Error> {
    let shown = Shown::new(path.as_ref());
    look_at(path.as_ref(), &shown)?;
    let file = File::open(path.as_ref()).map_err(|error| shown.error(error))?;
    Ok(JournalReader { shown, lines: Lines::new(file), chain: Chain::new(), tail: None, failed: false })
}

/// The events of a journal, in order. As an iterator it ends at the end of the file, or with an error at the first line
/// that does not hold; what is there of a torn last line is such an error, too.
pub struct JournalReader {
    shown: Shown,
    lines: Lines,
    chain: Chain,
    /// What is wrong with what follows the last whole line, if anything does.
    tail: Option<&'static str>,
    failed: bool,
}

enum Step {
    Event(Box<Event>),
    End,
    Fault(String),
}

impl JournalReader {
    /// The next event if its line is whole, and `None` if not: when the file has grown it can be asked for again. This
    /// is how to follow a run that goes on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Journal`](crate::ErrorKind::Journal) when the file cannot be read, and when the line does not hold;
    /// then there is nothing more to be had.
    pub fn try_next(&mut self) -> Result<Option<Event>, Error> {
        match self.step()? {
            Step::Event(event) => Ok(Some(*event)),
            Step::End => Ok(None),
            Step::Fault(what) => Err(self.fault(&what)),
        }
    }

    fn step(&mut self) -> Result<Step, Error> {
        if self.failed {
            return Ok(Step::End);
        }
        let step = match self.lines.next_settled() {
            Ok(Line::Whole(line)) => match self.chain.read(line) {
                Ok(event) => Step::Event(Box::new(event)),
                Err(what) => Step::Fault(what),
            },
            Ok(Line::End(tail)) => {
                self.tail = fault_of_tail(tail);
                Step::End
            }
            Ok(Line::TooLong) => Step::Fault("it is too long".into()),
            Err(error) => return Err(self.unreadable(error)),
        };
        self.failed = matches!(step, Step::Fault(_));
        Ok(step)
    }

    fn fault(&self, what: &str) -> Error {
        self.shown.line(&self.chain, what)
    }

    fn unreadable(&mut self, error: io::Error) -> Error {
        self.failed = true;
        self.shown.error(error)
    }
}

impl Iterator for JournalReader {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Result<Event, Error>> {
        match self.try_next().transpose() {
            None if self.failed => None,
            None => {
                self.failed = true;
                self.tail.map(|what| Err(self.fault(what)))
            }
            event => event,
        }
    }
}

impl fmt::Debug for JournalReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalReader").field("line", &self.chain.lines).finish_non_exhaustive()
    }
}

fn fault_of_tail(tail: &[u8]) -> Option<&'static str> {
    match tail {
        [] => None,
        _ if is_torn(tail) => Some("it was not written to its end"),
        _ => Some("its end is missing"),
    }
}
