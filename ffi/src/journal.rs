//! A run's events in a file, to be checked and read by anyone.

use std::sync::{Mutex, PoisonError};

use verifi_core::JournalReader;

use crate::boundary::{self, Out};
use crate::error::verifi_error;
use crate::status::{VERIFI_ENDED, verifi_status};
use crate::str::verifi_str;
use crate::text::verifi_text;

/// A journal that is read, and how far it was. It needs no run. Usable from any thread until it is freed with
/// verifi_journal_free.
pub struct verifi_journal {
    reader: Mutex<JournalReader>,
}

/// Checks the journal at `path` from its first line to its last, and tells what came of it as a JSON object: `events` (how
/// many hold: those before the first fault), `missing` (how many the file itself says it lacks), `ok`, `head` (the hash of
/// the last line that holds; kept elsewhere it shows later whether lines were cut off at the end) and, unless `ok`, `fault`
/// with `line` (1 is the first) and `what`. The caller frees the text.
///
/// That the file does not hold is VERIFI_OK. Nothing is changed; a journal that is being written may be checked, too. It
/// blocks this thread for as long as reading the file takes, and needs the memory of a line.
///
/// Errors: VERIFI_JOURNAL when the file cannot be read, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_journal_verify(
    path: verifi_str,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&verifi_core::verify_journal(path.read("path")?)?)?)
    })
}

/// Opens the journal at `path` to read its events from the first on. The caller frees the journal.
///
/// Errors: VERIFI_JOURNAL when the file cannot be opened, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_journal_open(
    path: verifi_str,
    out: *mut *mut verifi_journal,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        let reader = verifi_core::read_journal(path.read("path")?)?;
        out.give(verifi_journal { reader: Mutex::new(reader) })
    })
}

/// The journal's next event as a JSON object, as verifi_run_next_event gives it, once its line was checked. The caller
/// frees the text.
///
/// It blocks this thread for as long as reading a line takes. Threads that ask at the same time share the events: each
/// goes to one of them.
///
/// VERIFI_ENDED at the end of the file, without an error. Errors: VERIFI_JOURNAL when the file cannot be read and at the
/// first line that does not hold, a last one that was not written to its end among them (the message has its number; from
/// then on it is VERIFI_ENDED), VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_journal_next(
    journal: *const verifi_journal,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let (out, journal) = (Out::new(out, "out")?, boundary::hold(journal, "journal")?);
        // Should a panic have lost a line, the next one does not fit, and says so.
        let event = journal.reader.lock().unwrap_or_else(PoisonError::into_inner).next();
        match event {
            Some(event) => out.give(verifi_text::json(&event?)?),
            None => Ok(VERIFI_ENDED),
        }
    })
}

/// Frees the journal; its file stays as it is. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_journal_free(journal: *mut verifi_journal) {
    boundary::take(journal, |_| ());
}
