//! Server-sent events, as the HTML standard's "Interpreting an event stream" has it. Pure: bytes in, data out.

/// Splits a stream into the data of its events. It keeps what has not ended yet, and no more.
#[derive(Default)]
pub(crate) struct Parser {
    /// The line that has begun, as far as it has come.
    line: Vec<u8>,
    /// The `data` of the event that has begun, each line ended by LF.
    data: Vec<u8>,
    begun: Begun,
    after_cr: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Begun {
    /// A byte order mark may still come.
    #[default]
    Not,
    Yes,
}

impl Parser {
    /// Takes the next bytes; `event` gets the data of each event that they complete, without the last LF. It answers
    /// whether to go on: after a `false` the rest of `bytes` is dropped.
    pub(crate) fn push(&mut self, bytes: &[u8], mut event: impl FnMut(&[u8]) -> bool) {
        let mut rest = bytes;
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        self.after_cr &= bytes.is_empty();
        while let Some(end) = memchr::memchr2(b'\r', b'\n', rest) {
            let (line, ended) = rest.split_at(end);
            rest = match ended {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            let go_on = if self.line.is_empty() {
                self.line(line, &mut event)
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                let go_on = self.line(&whole, &mut event);
                whole.clear();
                self.line = whole;
                go_on
            };
            if !go_on {
                return;
            }
        }
        self.line.extend_from_slice(rest);
    }

    /// The stream has ended. An event without its blank line counts: some servers leave it out.
    pub(crate) fn finish(&mut self, mut event: impl FnMut(&[u8]) -> bool) {
        let last = std::mem::take(&mut self.line);
        if !last.is_empty() && !self.line(&last, &mut event) {
            return;
        }
        self.line(b"", &mut event);
    }

    /// How many bytes wait for the end of their event.
    pub(crate) fn pending(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn line(&mut self, mut line: &[u8], event: &mut impl FnMut(&[u8]) -> bool) -> bool {
        if self.begun == Begun::Not {
            self.begun = Begun::Yes;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(event);
        }
        let value = match memchr::memchr(b':', line) {
            Some(colon) if &line[..colon] == b"data" => &line[colon + 1..],
            None if line == b"data" => b"",
            _ => return true,
        };
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        self.data.push(b'\n');
        true
    }

    fn dispatch(&mut self, event: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let mut data = std::mem::take(&mut self.data);
        let go_on = match data.split_last() {
            // An event without data, or with empty data, primes a stream that can be resumed.
            None | Some((_, [])) => true,
            Some((_, data)) => event(data),
        };
        data.clear();
        self.data = data;
        go_on
    }
}
