//! The buffers of one connection. They start small, since a thousand calls may wait at once, and grow with what flows.

use ureq::unversioned::transport::Buffers;
use zeroize::Zeroize;

const SMALLEST: usize = 2 * 1024;
/// A connection keeps so much between its exchanges.
const LARGEST_KEPT: usize = 16 * 1024;
const LARGEST_INPUT: usize = 256 * 1024;
/// Output is held back up to here, so that the head and the body of a request go out in one write.
pub(super) const HELD_OUTPUT: usize = 32 * 1024;
/// Room that is offered for the next piece of output, at the least.
const OUTPUT_ROOM: usize = 512;

/// The output holds the headers of the manifest, which may be secrets, and the input the tokens that come: both are
/// zeroed at the end. (Over TLS they are encrypted here, and stand in buffers of ureq's.)
#[derive(Default)]
pub(super) struct ConnectionBuffers {
    input: Vec<u8>,
    read: usize,
    filled: usize,
    progress: bool,
    output: Vec<u8>,
    held: usize,
    room: usize,
}

impl ConnectionBuffers {
    /// What the next request needs at once: ureq writes whole lines, and the body in pieces of this size.
    pub(super) fn make_room(&mut self, room: usize) {
        self.room = room;
    }

    /// Holds `amount` more bytes of output back. True when they should be sent now.
    pub(super) fn hold(&mut self, amount: usize) -> bool {
        self.held += amount;
        self.held >= HELD_OUTPUT
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.output[..self.held]
    }

    pub(super) fn sent(&mut self) {
        self.held = 0;
    }

    /// Bytes that have come and that ureq could not use yet.
    pub(super) fn unread(&self) -> usize {
        self.filled - self.read
    }

    pub(super) fn has_input(&self) -> bool {
        self.read < self.filled
    }

    /// Gives the memory back that a large exchange took.
    pub(super) fn shrink(&mut self) {
        if self.input.len().max(self.output.len()) > LARGEST_KEPT && !self.has_input() && self.held == 0 {
            *self = ConnectionBuffers::default();
        }
    }
}

/// Makes it at least so long. A vector that grows by itself leaves a copy behind that nobody wipes.
fn grow(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        let mut larger = vec![0; length];
        larger[..buffer.len()].copy_from_slice(buffer);
        std::mem::replace(buffer, larger).zeroize();
    }
}

impl Drop for ConnectionBuffers {
    fn drop(&mut self) {
        self.output.zeroize();
        self.input.zeroize();
    }
}

impl Buffers for ConnectionBuffers {
    fn output(&mut self) -> &mut [u8] {
        let needed = self.held + self.room.max(OUTPUT_ROOM);
        grow(&mut self.output, needed);
        &mut self.output[self.held..]
    }

    fn input(&self) -> &[u8] {
        &self.input[self.read..self.filled]
    }

    fn input_append_buf(&mut self) -> &mut [u8] {
        if self.read == self.filled {
            (self.read, self.filled) = (0, 0);
        } else if self.filled == self.input.len() && self.read > 0 {
            self.input.copy_within(self.read..self.filled, 0);
            (self.read, self.filled) = (0, self.filled - self.read);
        }
        if self.filled == self.input.len() {
            let larger = (self.input.len() * 2).max(SMALLEST);
            grow(&mut self.input, larger);
        }
        &mut self.input[self.filled..]
    }

    fn input_appended(&mut self, amount: usize) {
        self.filled += amount;
        let full = self.filled == self.input.len();
        if full && self.read == 0 && self.input.len() < LARGEST_INPUT {
            let larger = self.input.len() * 2;
            grow(&mut self.input, larger);
        }
    }

    fn input_consume(&mut self, amount: usize) {
        self.progress = amount > 0;
        self.read += amount;
    }

    /// The first part is for bodies without a length. verifi sends none: ureq would send nothing of it.
    fn tmp_and_output(&mut self) -> (&mut [u8], &mut [u8]) {
        (&mut [], self.output())
    }

    fn can_use_input(&self) -> bool {
        self.progress && self.has_input()
    }
}
