//! The lines of a file, one in memory at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::thread;
use std::time::Duration;

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
        self.fill()?;
        Ok(self.line())
    }

    /// The same for a file that may be written meanwhile. A file system may show a write page by page: a line that is
    /// there in part is given the time to be there as a whole.
    pub(super) fn next_settled(&mut self) -> io::Result<Line<'_>> {
        const MOMENT: Duration = Duration::from_millis(1);
        const MOST_MOMENTS: u32 = 200;
        self.fill()?;
        let mut moments = 0;
        while !self.is_whole && !self.line.is_empty() && self.line.len() < MOST_BYTES && moments < MOST_MOMENTS {
            moments = if is_in_use(self.input.get_ref()) { moments + 1 } else { MOST_MOMENTS };
            thread::sleep(MOMENT);
            self.fill()?;
        }
        Ok(self.line())
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.is_whole {
            self.line.clear();
        }
        let room = MOST_BYTES - self.line.len();
        self.input.by_ref().take(room as u64).read_until(b'\n', &mut self.line)?;
        self.is_whole = self.line.ends_with(b"\n");
        Ok(())
    }

    fn line(&self) -> Line<'_> {
        match self.line.strip_suffix(b"\n") {
            Some(line) => Line::Whole(line),
            None if self.line.len() == MOST_BYTES => Line::TooLong,
            None => Line::End(&self.line),
        }
    }
}

/// Whether a run has the file open.
fn is_in_use(file: &File) -> bool {
    let is_free = file.try_lock_shared().is_ok();
    if is_free {
        // It fails for no lock that is held.
        let _ = file.unlock();
    }
    !is_free
}
