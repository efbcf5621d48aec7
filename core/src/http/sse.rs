//! Server-sent events, as the HTML standard's "Interpreting an event stream" has it. Pure: bytes in, data out.

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
        if !self.end_line(&mut event) {
            return;
        }
        self.dispatch(&mut event);
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
            _ => {}
        }
        self.line.clear();
        if is_blank { self.dispatch(event) } else { true }
    }

    fn dispatch(&mut self, event: &mut impl FnMut(Vec<u8>) -> bool) -> bool {
        let mut data = std::mem::take(&mut self.data);
        data.pop();
        // An event without data, or with empty data, primes a stream that can be resumed.
        data.is_empty() || event(data)
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The value of a line that is one of data, as soon as that can be told.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let value = line.strip_prefix(b"data:")?;
    match value {
        [] => None,
        [b' ', value @ ..] => Some(value),
        value => Some(value),
    }
}
