//! The memory of a large answer, kept for the next one. The system gives it anew page by page, which takes about as long
//! as to read the answer.
//!
//! Two buffers a process, for body and text of an answer that needs both, and none without an open run. A child after
//! `fork` may find the lock held for ever: so nobody waits for it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Less is soon had.
const SMALLEST: usize = 1024 * 1024;
/// More is not kept.
const LARGEST: usize = 32 * 1024 * 1024;

/// The one that was given last is behind.
static SPARE: Mutex<[Vec<u8>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

static LEASES: AtomicUsize = AtomicUsize::new(0);

/// As long as there is one, buffers are kept. An open run has one.
pub(crate) struct Lease(());

impl Lease {
    pub(crate) fn new() -> Lease {
        LEASES.fetch_add(1, Ordering::SeqCst);
        Lease(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if LEASES.fetch_sub(1, Ordering::SeqCst) == 1 {
            empty();
        }
    }
}

fn empty() {
    let kept = SPARE.try_lock().map(|mut spare| std::mem::take(&mut *spare));
    drop(kept);
}

/// A buffer that has room for so much, and not for much more. What is in it has no meaning.
pub(crate) fn take(room: usize) -> Option<Vec<u8>> {
    if room < SMALLEST {
        return None;
    }
    let mut spare = SPARE.try_lock().ok()?;
    let fits = |buffer: &&mut Vec<u8>| (room..room.saturating_mul(2)).contains(&buffer.capacity());
    spare.iter_mut().find(fits).map(std::mem::take)
}

/// An empty string that has room for so much.
pub(crate) fn string(room: usize) -> String {
    match take(room) {
        Some(mut buffer) => {
            buffer.clear();
            String::from_utf8(buffer).unwrap_or_default()
        }
        None => String::with_capacity(room),
    }
}

/// Keeps a buffer, in the place of the one that was kept for longest. What is in it was scrubbed.
pub(crate) fn give(buffer: Vec<u8>) {
    if let SMALLEST..=LARGEST = buffer.capacity()
        && LEASES.load(Ordering::SeqCst) > 0
        && let Ok(mut spare) = SPARE.try_lock()
    {
        let [older, newer] = &mut *spare;
        let longest = std::mem::replace(older, std::mem::replace(newer, buffer));
        drop(spare);
        drop(longest);
        // The last run may have been closed in the meantime.
        if LEASES.load(Ordering::SeqCst) == 0 {
            empty();
        }
    }
}

/// Gives the memory of a text that nobody needs any more to the next large answer: for a face that has made a string of
/// its own of it. The text is one that verifi has scrubbed.
pub fn reuse(text: String) {
    give(text.into_bytes());
}
