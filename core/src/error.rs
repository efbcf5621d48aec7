//! What may fail. A tool call may not: it reports failure in its `ToolResult`.

use std::fmt;

/// What kind of thing failed. Names and numbers are fixed: they are the same in every language, and new ones are only
/// ever appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The manifest is not one: the message names the member and what is wrong with it.
    Manifest = 1,
    /// An option of the run is not one: the message names it.
    Options = 2,
    /// The slot is in neither table of the manifest.
    SlotNotFilled = 3,
    /// No server of the slot gave a list of its tools.
    ListTools = 4,
    /// The run's journal cannot be opened or does not hold.
    Journal = 5,
}

impl ErrorKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [ErrorKind; 5] =
        [ErrorKind::Manifest, ErrorKind::Options, ErrorKind::SlotNotFilled, ErrorKind::ListTools, ErrorKind::Journal];

    /// The kind's name, as every language shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Manifest => "manifest",
            ErrorKind::Options => "options",
            ErrorKind::SlotNotFilled => "slot_not_filled",
            ErrorKind::ListTools => "list_tools",
            ErrorKind::Journal => "journal",
        }
    }

    /// The kind's number, as the C face returns it.
    pub fn code(self) -> u32 {
        self as u32
    }
}

/// An error of everything that is not a tool call. Its text is complete: it names what was wrong and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// What kind of thing failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The text of the error, without secrets.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
