//! What a function that may fail returns.

use verifi_core::ErrorKind;

/// What became of a function that may fail. Numbers are fixed; new ones are only appended, so expect others than these.
/// Those below 100 are the same in every language that verifi is used from.
///
/// Every status but VERIFI_OK, VERIFI_NOT_YET and VERIFI_ENDED comes with a verifi_error, if one was asked for.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct verifi_status(u32);

/// It was done, and the outputs are written.
pub const VERIFI_OK: verifi_status = verifi_status(0);
/// The manifest is not one: the message names the member and what is wrong with it.
pub const VERIFI_MANIFEST: verifi_status = verifi_status(1);
/// An option of the run is not one: the message names it.
pub const VERIFI_OPTIONS: verifi_status = verifi_status(2);
/// The manifest has no server for the slot.
pub const VERIFI_SLOT_NOT_FILLED: verifi_status = verifi_status(3);
/// No server of the slot gave a list of its tools.
pub const VERIFI_LIST_TOOLS: verifi_status = verifi_status(4);
/// A journal cannot be opened or read, or does not hold: the message names the file and the line.
pub const VERIFI_JOURNAL: verifi_status = verifi_status(5);
/// An argument is NULL that must not be: the message names it.
pub const VERIFI_NULL_ARGUMENT: verifi_status = verifi_status(100);
/// A text that was given is not UTF-8, or its length cannot be one: the message names the argument.
pub const VERIFI_INVALID_UTF8: verifi_status = verifi_status(101);
/// An argument is not what it must be: the message names it.
pub const VERIFI_INVALID_ARGUMENT: verifi_status = verifi_status(102);
/// A fault of verifi's own, caught where it met C. The message is for a report of it; the object can still be freed.
pub const VERIFI_PANIC: verifi_status = verifi_status(103);
/// Nothing has happened yet: ask again. No error.
pub const VERIFI_NOT_YET: verifi_status = verifi_status(200);
/// Nothing more will come. No error.
pub const VERIFI_ENDED: verifi_status = verifi_status(201);

impl From<ErrorKind> for verifi_status {
    fn from(kind: ErrorKind) -> verifi_status {
        match kind {
            ErrorKind::Manifest => VERIFI_MANIFEST,
            ErrorKind::Options => VERIFI_OPTIONS,
            ErrorKind::SlotNotFilled => VERIFI_SLOT_NOT_FILLED,
            ErrorKind::ListTools => VERIFI_LIST_TOOLS,
            ErrorKind::Journal => VERIFI_JOURNAL,
            // One that is newer than this file keeps its number: a test below fails until it is here.
            kind => verifi_status(kind.code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule 7.1.
    #[test]
    fn statuses_have_the_numbers_of_every_language() {
        let known = [VERIFI_MANIFEST, VERIFI_OPTIONS, VERIFI_SLOT_NOT_FILLED, VERIFI_LIST_TOOLS, VERIFI_JOURNAL];
        assert_eq!(ErrorKind::ALL.map(verifi_status::from), known);
        assert_eq!(ErrorKind::ALL.map(ErrorKind::code), known.map(|status| status.0));
    }
}
