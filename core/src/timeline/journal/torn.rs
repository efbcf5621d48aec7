//! A last line that was not written to its end: a process was killed, or a machine lost power, in the middle of a write.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::open::beside;
use crate::timeline::event::Event;

/// Whether the bytes at the end of a journal are the beginning of a line, and not a whole one. Zeros are what some file
/// systems leave after a power cut.
pub(super) fn is_torn(tail: &[u8]) -> bool {
    const START: &[u8] = b"{\"seq\":";
    let zeros = tail.iter().rev().take_while(|byte| **byte == 0).count();
    let tail = &tail[..tail.len() - zeros];
    if !tail.starts_with(START) {
        return START.starts_with(tail);
    }
    // A character may have been cut, too.
    let text = match str::from_utf8(tail) {
        Ok(text) => text,
        Err(fault) if fault.error_len().is_none() => str::from_utf8(&tail[..fault.valid_up_to()]).unwrap_or_default(),
        Err(_) => return false,
    };
    serde_json::from_str::<Event>(text).is_err_and(|fault| fault.is_eof())
}

/// Cuts the tail off the journal, whose whole lines end at `length`, and says so in words. Its bytes are kept in
/// `PATH.torn`, and they are there before they are gone here: a crash at any point loses none of them, and when it is
/// done again after one they are not kept twice.
pub(super) fn cut_off(journal: &File, path: &Path, length: u64, tail: &[u8]) -> io::Result<String> {
    let kept = beside(path, ".torn");
    keep(&kept, tail)?;
    journal.set_len(length)?;
    let (bytes, kept) = (tail.len(), kept.display());
    Ok(format!("the journal's last line was not written to its end: {bytes} bytes were cut off and kept in {kept}"))
}

fn keep(path: &Path, tail: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let entry = [tail, b"\n"].concat();
    if !ends_with(&mut file, &entry)? {
        file.write_all(&entry)?;
    }
    file.sync_all()
}

fn ends_with(file: &mut File, entry: &[u8]) -> io::Result<bool> {
    let Some(start) = file.metadata()?.len().checked_sub(entry.len() as u64) else { return Ok(false) };
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(end == entry)
}
