//! Server-sent events, as the HTML standard's "Interpreting an event stream" has it. Pure: bytes in, data out.

use std::time::Duration;

/// Where a stream stands, for one that goes on where it was broken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The id of the last event that was whole; empty when none had one.
    pub(crate) last_id: Vec<u8>,
    /// How long the server wants to be left alone first.
    pub(crate) retry: Option<Duration>,
}

/// Splits a stream into the data of its events. It keeps what has not ended yet, and no more.
#[derive(Default)]
pub(crate) struct Parser {
    /// The line that has begun, unless it is one of data: then it goes to `data` as it comes.
    line: Vec<u8>,
    /// The data of the event that has begun, each line ended by LF.
    data: Vec<u8>,
    in_data: bool,
    past_start: bool,
    after_cr: bool,
    position: Position,
    /// The id of the event that has begun: the position's when it is whole.
    id: Option<Vec<u8>>,
    has_news: bool,
}

impl Parser {
    /// Takes the next bytes; `event` gets the data of each event that they complete, without the last LF. It answers
    /// whether to go on: after a `false` the rest of `bytes` is dropped.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut event: impl FnMut(Vec<u8>) -> bool) {
        if std::mem::take(&mut self.after_cr) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            self.append(&bytes[..end]);
            bytes = match &bytes[end..] {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                ended => &ended[1..],
            };
            if !self.end_line(&mut event) {
                return;
            }
        }
        self.append(bytes);
    }

    /// The stream has ended. An event without its blank line counts: some servers leave it out.
    pub(crate) fn finish(&mut self, mut event: impl FnMut(Vec<u8>) -> bool) {
        // Nothing of a line that has begun, but of data, can be told from one that was cut; nor the end of its event.
        if (self.in_data || !self.line.is_empty()) && !self.end_line(&mut event) {
            return;
        }
        self.id = None;
        self.dispatch(&mut event);
    }

    /// Where the stream stands.
    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// Whether an event with data or an id has come on this connection.
    pub(crate) fn has_news(&self) -> bool {
        self.has_news
    }

    /// The stream goes on, on another connection. An event that had begun comes again.
    pub(crate) fn reconnect(&mut self) {
        *self = Parser { position: std::mem::take(&mut self.position), ..Parser::default() };
    }

    /// How many bytes wait for the end of their event.
    pub(crate) fn pending(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn append(&mut self, piece: &[u8]) {
        if self.in_data {
            self.data.extend_from_slice(piece);
            return;
        }
        if self.line.is_empty() && self.past_start {
            match data_of(piece) {
                Some(data) => self.begin_data(data),
                None => self.line.extend_from_slice(piece),
            }
            return;
        }
        self.line.extend_from_slice(piece);
        if !self.past_start && self.line.len() >= BYTE_ORDER_MARK.len() {
            self.skip_byte_order_mark();
        }
        if let Some(data) = data_of(&self.line) {
            let data = data.to_vec();
            self.line.clear();
            self.begin_data(&data);
        }
    }

    fn begin_data(&mut self, data: &[u8]) {
        self.in_data = true;
        self.data.extend_from_slice(data);
    }

    fn skip_byte_order_mark(&mut self) {
        self.past_start = true;
        if self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
    }

    /// A line has ended. False when nobody wants more.
    fn end_line(&mut self, event: &mut impl FnMut(Vec<u8>) -> bool) -> bool {
        self.past_start = true;
        if std::mem::take(&mut self.in_data) {
            self.data.push(b'\n');
            return true;
        }
        let is_blank = self.line.is_empty();
        // Shorter than what tells data from the rest while it comes.
        match self.line.as_slice() {
            b"data" | b"data:" => self.data.push(b'\n'),
            b"id" | b"id:" => self.id = Some(Vec::new()),
            line => {
                if let Some(id) = value_of(b"id:", line).filter(|id| !id.contains(&0)) {
                    self.id = Some(id.to_vec());
                } else if let Some(retry) = value_of(b"retry:", line) {
                    self.position.retry = milliseconds(retry).or(self.position.retry);
                }
            }
        }
        self.line.clear();
        if is_blank { self.dispatch(event) } else { true }
    }

    fn dispatch(&mut self, event: &mut impl FnMut(Vec<u8>) -> bool) -> bool {
        let mut data = std::mem::take(&mut self.data);
        data.pop();
        self.has_news |= self.id.is_some() || !data.is_empty();
        if let Some(id) = self.id.take() {
            self.position.last_id = id;
        }
        // An event without data, or with empty data, primes a stream that can be resumed.
        data.is_empty() || event(data)
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The value of a line that is one of data, as soon as that can be told.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    value_of(b"data:", line)
}

/// What follows the name of a field, when any byte does.
fn value_of<'a>(field: &[u8], line: &'a [u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(field)? {
        [] => None,
        [b' ', value @ ..] => Some(value),
        value => Some(value),
    }
}

/// A wait in digits alone; one that no number holds is as long as can be.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_number)?;
    Some(Duration::from_millis(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(bytes: &[u8]) -> Position {
        let mut parser = Parser::default();
        parser.push(bytes, |_| true);
        parser.finish(|_| true);
        parser.position().clone()
    }

    // Rules 3.6, 3.7.
    #[test]
    fn the_position_is_that_of_the_last_whole_event() {
        let retry = |ms| Some(Duration::from_millis(ms));
        for (bytes, id, wait) in [
            (&b"id: 1\nretry: 500\ndata:\n\n"[..], "1", retry(500)),
            (b"id:1\n\n", "1", None),
            (b"id: 1\ndata: x\n\nid: 2\ndata: cut", "1", None),
            (b"id: 1\ndata: x\n\ndata: y\n\n", "1", None),
            (b"id: 1\n\nid\n\n", "", None),
            (b"id: 1\n\nid: a\0b\n\n", "1", None),
            (b"retry: 5\nretry: soon\nretry: -1\nretry:\n\n", "", retry(5)),
            (b"retry: 99999999999999999999\n", "", retry(u64::MAX)),
            (b"retry: 7", "", retry(7)),
            (b"id: 1\n\nid: 2\n", "1", None),
            (b"id: 1\n\nid: 2\ndata: x\n", "1", None),
            (b"identity: 9\nid : 9\n\n", "", None),
        ] {
            let expected = Position { last_id: id.into(), retry: wait };
            assert_eq!(position(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
