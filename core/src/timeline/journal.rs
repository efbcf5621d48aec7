//! A run's events in a file, so that they outlive the process. `read_journal` documents the format of the file.

mod line;
mod lines;
mod open;
mod reader;
mod torn;

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use self::line::Chain;
use self::lines::MOST_BYTES;
pub(crate) use self::open::Past;
pub use self::reader::{JournalFault, JournalReader, Verification, read_journal, verify_journal};
use super::event::{Draft, Event, EventKind};
use crate::error::{Error, ErrorKind};
use crate::names::named;

named! {
    /// When what was written to a journal is forced onto the disk. Written it is in any case, each event before its
    /// effect: what a process has written survives its end, whatever ends it.
    #[derive(Default)]
    pub enum JournalSync {
        /// Never. The journal survives the end of the process, by a signal too, but the last seconds before a power cut
        /// or a crash of the system may be lost.
        None = "none",
        /// When the run is closed. A closed run survives a power cut as well; of one that goes on, the last seconds may
        /// be lost.
        #[default]
        Finish = "finish",
        /// After each event, before its effect. A power cut loses nothing, as far as the disk keeps its word. Each
        /// event then takes as long as the disk does, often milliseconds, and calls wait for one another.
        Always = "always",
    }
}

impl JournalSync {
    fn is_due(self, kind: EventKind) -> bool {
        match self {
            JournalSync::None => false,
            JournalSync::Finish => kind == EventKind::RunFinished,
            JournalSync::Always => true,
        }
    }
}

/// How a journal is named in errors.
struct Shown(String);

impl Shown {
    /// What is in a path and cannot be seen, or would end a C string or a line, is escaped.
    fn new(path: &Path) -> Shown {
        let mut shown = String::new();
        for character in path.to_string_lossy().chars() {
            if character.is_control() {
                shown.extend(character.escape_debug());
            } else {
                shown.push(character);
            }
        }
        Shown(shown)
    }

    fn error(&self, what: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Journal, format!("{}: {what}", self.0))
    }

    /// About the line that follows those of the chain.
    fn line(&self, chain: &Chain, what: &str) -> Error {
        self.error(format_args!("line {}: {what}", chain.lines + 1))
    }
}

/// Makes sure, before a path is opened, that it is a file's: to open what is none may do something, or take for ever.
fn look_at(path: &Path, shown: &Shown) -> Result<Metadata, Error> {
    let metadata = fs::metadata(path).map_err(|error| shown.error(error))?;
    if metadata.is_dir() {
        Err(shown.error("is a directory"))
    } else if !metadata.is_file() {
        Err(shown.error("is not a regular file"))
    } else {
        Ok(metadata)
    }
}

/// The journal of a run that is open: this process's alone until it is dropped or ended.
///
/// A write that fails fails nobody's call. The events are kept in the run's own list meanwhile, and as soon as there is
/// room again they are written, in order, before the next one.
pub(crate) struct Journal {
    /// Or why there is none.
    file: Result<File, String>,
    shown: Shown,
    sync: JournalSync,
    chain: Chain,
    /// How long the file is, up to the end of the last whole line.
    length: u64,
    /// A part of a line may follow.
    is_torn: bool,
    line: Vec<u8>,
    trouble: Trouble,
}

/// What the harness is told about a journal that cannot be written.
#[derive(Default)]
struct Trouble {
    /// The first event that could not be written when it happened, as long as the trouble lasts.
    since: Option<u64>,
    was_told: bool,
    news: Option<Draft>,
}

impl Journal {
    fn new(file: File, shown: Shown, sync: JournalSync, chain: Chain, length: u64) -> Journal {
        let trouble = Trouble::default();
        Journal { file: Ok(file), shown, sync, chain, length, is_torn: false, line: Vec::new(), trouble }
    }

    /// A journal that could not be opened, for a process that must go on all the same.
    pub(crate) fn unopened(path: &Path, reason: &Error) -> Journal {
        Journal {
            file: Err(reason.message().to_owned()),
            shown: Shown::new(path),
            sync: JournalSync::None,
            chain: Chain::new(),
            length: 0,
            is_torn: false,
            line: Vec::new(),
            trouble: Trouble::default(),
        }
    }

    /// Writes the event, and before it those of `recent` that could not be written when they happened.
    pub(super) fn append(&mut self, recent: &VecDeque<Arc<Event>>, event: &Event) {
        let since = self.chain.seq + 1;
        match self.catch_up(recent, event).and_then(|()| self.write(event)) {
            Ok(()) => self.trouble.is_over(event.seq),
            Err(error) => {
                let error = match &self.file {
                    Ok(_) => format!("{}: {error}", self.shown.0),
                    Err(reason) => reason.clone(),
                };
                self.trouble.is_there(since, &error);
            }
        }
    }

    /// What is to be recorded about the journal itself.
    pub(super) fn news(&mut self) -> Option<Draft> {
        self.trouble.news.take()
    }

    /// Lets the file go: the run is over.
    pub(super) fn end(&mut self) {
        if let Ok(file) = std::mem::replace(&mut self.file, Err("the run was closed before this".into())) {
            // A forked child may hold the file as well; that must not keep it locked.
            let _ = file.unlock();
        }
    }

    fn catch_up(&mut self, recent: &VecDeque<Arc<Event>>, event: &Event) -> io::Result<()> {
        if self.chain.seq + 1 == event.seq {
            return Ok(());
        }
        let behind = recent.partition_point(|event| event.seq <= self.chain.seq);
        recent.range(behind..).try_for_each(|event| self.write(event))
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut file = self.file.as_ref().map_err(|reason| io::Error::other(reason.clone()))?;
        let hash = self.chain.write(event, &mut self.line)?;
        if self.line.len() > MOST_BYTES {
            return Err(io::Error::other(format!("event {} is larger than {MOST_BYTES} bytes", event.seq)));
        }
        // The start of a call was looked at just before its end: that is often enough, and half the time.
        if self.is_torn || event.kind != EventKind::CallFinished {
            self.mend(file)?;
        }
        self.is_torn = true;
        if let Err(error) = file.write_all(&self.line) {
            // Should that fail as well, it is made up for before the next write.
            let _ = file.set_len(self.length);
            return Err(error);
        }
        self.is_torn = false;
        self.length += self.line.len() as u64;
        self.chain.wrote(event, hash);
        if self.sync.is_due(event.kind) { file.sync_data() } else { Ok(()) }
    }

    /// Makes sure that the file is what was written so far, and nothing else.
    fn mend(&self, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        if metadata.nlink() == 0 {
            return Err(io::Error::other("the file is gone"));
        }
        if metadata.len() == self.length {
            return Ok(());
        }
        if !self.is_torn || metadata.len() < self.length {
            return Err(io::Error::other("the file was changed by someone else"));
        }
        file.set_len(self.length)
    }
}

impl Trouble {
    fn is_there(&mut self, since: u64, error: &str) {
        self.since.get_or_insert(since);
        if !std::mem::replace(&mut self.was_told, true) {
            self.news = Some(Draft::new(EventKind::JournalFailed).error(error));
        }
    }

    fn is_over(&mut self, written: u64) {
        let Some(since) = self.since.take() else { return };
        let line = format!("the journal can be written again: events {since} to {written} came late");
        self.news = Some(Draft::new(EventKind::Log).message(&line));
    }
}
