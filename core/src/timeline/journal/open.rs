//! Opening a journal: making its file, or going on where it ended.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::line::Chain;
use super::lines::{Line, Lines};
use super::{Journal, JournalSync, Shown, look_at, torn};
use crate::error::Error;
use crate::timeline::KEPT;
use crate::timeline::event::{Event, EventKind};
use crate::timeline::ledger::Ledger;

const OWNER_ONLY: u32 = 0o600;
const ALL_OTHERS: u32 = 0o077;

/// What the events of a journal add up to.
pub(crate) struct Past {
    pub(crate) ledger: Ledger,
    /// The latest, in order.
    pub(crate) recent: VecDeque<Arc<Event>>,
    /// The calls that have started and not ended, by id.
    pub(crate) unfinished: BTreeMap<u64, Arc<Event>>,
    /// What was done to the last line, in words.
    pub(crate) repair: Option<String>,
}

impl Past {
    pub(crate) fn new(run_id: &Arc<str>) -> Past {
        let ledger = Ledger::new(Arc::clone(run_id));
        Past { ledger, recent: VecDeque::new(), unfinished: BTreeMap::new(), repair: None }
    }

    fn fold(&mut self, event: Event) {
        let event = Arc::new(event);
        self.ledger.fold(&event);
        match (event.kind, event.call_id) {
            (EventKind::CallStarted, Some(id)) => drop(self.unfinished.insert(id, Arc::clone(&event))),
            (EventKind::CallFinished, Some(id)) => drop(self.unfinished.remove(&id)),
            _ => (),
        }
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(event);
    }
}

/// A journal that is being opened.
struct Opening<'a> {
    path: &'a Path,
    shown: Shown,
    run_id: &'a Arc<str>,
}

impl Journal {
    /// Opens the journal of that run for this process alone. What it holds is checked from its first line to its last; a
    /// last line that was not written to its end is cut off, and nothing else in it is ever changed.
    pub(crate) fn open(path: &Path, sync: JournalSync, run_id: &Arc<str>) -> Result<(Journal, Past), Error> {
        let opening = Opening { path, shown: Shown::new(path), run_id };
        let file = opening.file()?;
        opening.lock(&file)?;
        let (chain, past, length) = opening.replay(&file)?;
        opening.close_to_others(&file)?;
        if sync != JournalSync::None && chain.lines == 0 {
            opening.sync_folder()?;
        }
        Ok((Journal::new(file, opening.shown, sync, chain, length), past))
    }

    /// A journal for a forked child, beside that of its parent, which goes on with its own: `PATH.PID`, or `PATH.PID.N`
    /// when an earlier process had that number, too.
    pub(crate) fn open_beside(path: &Path, sync: JournalSync, run_id: &Arc<str>) -> Result<(Journal, Past), Error> {
        let process = std::process::id();
        let mut own = beside(path, &format!(".{process}"));
        let mut number = 2;
        while fs::symlink_metadata(&own).is_ok() {
            own = beside(path, &format!(".{process}.{number}"));
            number += 1;
        }
        Journal::open(&own, sync, run_id)
    }
}

impl Opening<'_> {
    fn file(&self) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).mode(OWNER_ONLY);
        match options.clone().create_new(true).open(self.path) {
            Ok(file) => {
                // The umask may have taken from the owner, too.
                file.set_permissions(Permissions::from_mode(OWNER_ONLY)).map_err(|error| self.shown.error(error))?;
                return Ok(file);
            }
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(self.shown.error(error)),
            Err(_) => (),
        }
        if look_at(self.path, &self.shown)?.permissions().readonly() {
            return Err(self.shown.error("is read-only"));
        }
        options.open(self.path).map_err(|error| self.shown.error(error))
    }

    fn lock(&self, file: &File) -> Result<(), Error> {
        /// A reader that looks whether the file is in use holds it for less than that.
        const MOMENT: Duration = Duration::from_millis(2);
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => thread::sleep(MOMENT),
                Err(TryLockError::Error(error)) => return Err(self.shown.error(error)),
            }
        }
        Err(self.shown.error("is in use by another run"))
    }

    /// Reads all events, and puts the end of the file in order.
    fn replay(&self, file: &File) -> Result<(Chain, Past, u64), Error> {
        let input = file.try_clone().map_err(|error| self.shown.error(error))?;
        let mut lines = Lines::new(input);
        let mut chain = Chain::new();
        let mut past = Past::new(self.run_id);
        let mut length = 0;
        let tail = loop {
            match lines.next().map_err(|error| self.shown.error(error))? {
                Line::Whole(line) => {
                    length += line.len() as u64 + 1;
                    past.fold(self.event(&mut chain, line)?);
                }
                Line::TooLong => return Err(self.shown.line(&chain, "it is too long")),
                Line::End(tail) => break tail.to_vec(),
            }
        };
        if tail.is_empty() {
            return Ok((chain, past, length));
        }
        if torn::is_torn(&tail) {
            past.repair = Some(torn::cut_off(file, self.path, length, &tail).map_err(|error| self.shown.error(error))?);
        } else if let Ok(event) = self.event(&mut chain, &tail) {
            let mut output = file;
            output.write_all(b"\n").map_err(|error| self.shown.error(error))?;
            length += tail.len() as u64 + 1;
            past.fold(event);
            past.repair = Some("the journal's last line had lost its end, which was put back".into());
        } else {
            return Err(self.shown.line(&chain, "its end is missing"));
        }
        Ok((chain, past, length))
    }

    fn event(&self, chain: &mut Chain, line: &[u8]) -> Result<Event, Error> {
        let event = chain.read(line).map_err(|what| self.shown.line(chain, &what))?;
        if event.run_id != *self.run_id {
            let (other, own) = (&*event.run_id, &**self.run_id);
            return Err(self.shown.error(format_args!("belongs to run {other:?}, not {own:?}")));
        }
        Ok(event)
    }

    /// The file may once have been readable by others.
    fn close_to_others(&self, file: &File) -> Result<(), Error> {
        let mode = file.metadata().map_err(|error| self.shown.error(error))?.permissions().mode();
        if mode & ALL_OTHERS == 0 {
            return Ok(());
        }
        file.set_permissions(Permissions::from_mode(mode & !ALL_OTHERS)).map_err(|error| self.shown.error(error))
    }

    /// So that a new file is still in its folder after a power cut.
    fn sync_folder(&self) -> Result<(), Error> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| self.shown.error(error))
    }
}

/// The path with something added to its last name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
