//! The lines of a file, one in memory at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// No line of a journal is longer. It bounds what reading a file takes that is none.
pub(super) const MOST_BYTES: usize = 4 << 20;

pub(super) struct Lines {
    input: BufReader<File>,
    line: Vec<u8>,
    /// `line` was handed out.
    is_whole: bool,
}

pub(super) enum Line<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    /// The file ends here; what follows the last line's end, if anything. When the file grows, the next line can be
    /// asked for again.
    End(&'a [u8]),
    TooLong,
}

impl Lines {
    pub(super) fn new(file: File) -> Lines {
        Lines { input: BufReader::with_capacity(64 << 10, file), line: Vec::new(), is_whole: false }
    }

    pub(super) fn next(&mut self) -> io::Result<Line<'_>> {
        if self.is_whole {
            self.line.clear();
        }
        let room = MOST_BYTES - self.line.len();
        self.input.by_ref().take(room as u64).read_until(b'\n', &mut self.line)?;
        self.is_whole = self.line.ends_with(b"\n");
        Ok(match self.line.strip_suffix(b"\n") {
            Some(line) => Line::Whole(line),
            None if self.line.len() == MOST_BYTES => Line::TooLong,
            None => Line::End(&self.line),
        })
    }
}
