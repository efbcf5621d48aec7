//! From the body of an HTTP answer to the JSON-RPC response that was asked for.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;

use super::client::Server;
use super::failure::Failure;
use super::message::Message;
use super::pick::Pick;
use super::resume::Resume;
use super::session::Session;
use crate::cancel::Scope;
use crate::http::{Response, sse};
use crate::json;
use crate::raw::RawJson;
use crate::redact::{Change, spliced};
use crate::spare;

/// The response to a request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    body: String,
    part: Range<usize>,
    is_error: bool,
}

impl Reply {
    /// Keeps the text of a message and where its result or error stands in it.
    pub(super) fn new(body: String, part: Range<usize>, is_error: bool) -> Reply {
        Reply { body, part, is_error }
    }

    /// The JSON text of the result, or of the error object.
    pub(crate) fn text(&self) -> &str {
        &self.body[self.part.clone()]
    }

    /// The JSON-RPC error in the body of a refused request, if it is one.
    pub(super) fn error_in(body: &str) -> Option<Reply> {
        match Message::parse(body) {
            Ok(Message::Error { error, .. }) => {
                let part = json::place(body, error);
                Some(Reply { body: body.to_string(), part, is_error: true })
            }
            _ => None,
        }
    }

    /// The same text, changed where it has secrets.
    pub(crate) fn into_raw(self, changes: &[Change]) -> RawJson {
        let Reply { body, part, .. } = self;
        let Range { start, end } = part;
        let end = changes.iter().fold(end, |end, change| end + change.text.len() - change.part.len());
        let placed = changes.iter().map(Change::placed);
        let body = match changes {
            [] => body,
            _ => spliced(body, placed.map(|(at, text)| (start + at.start..start + at.end, text))),
        };
        RawJson::part(body, start..end)
    }

    /// The string whose token stands there in the text, in the memory of the body, apart from what is around it.
    pub(crate) fn into_apart(self, token: Range<usize>) -> Apart {
        // The quotes belong to neither.
        let (before, behind) = (&self.text()[..token.start - 1], &self.text()[token.end + 1..]);
        let (before, behind) = (before.into(), behind.into());
        let Reply { body, part, .. } = self;
        let mut string = body.into_bytes();
        json::unescape_in_place(&mut string, part.start + token.start..part.start + token.end);
        Apart { before, string, behind }
    }

    pub(crate) fn is_error(&self) -> bool {
        self.is_error
    }
}

/// A string out of a JSON text, and the text before and behind its quotes.
pub(crate) struct Apart {
    pub(crate) before: Box<str>,
    /// UTF-8.
    pub(crate) string: Vec<u8>,
    pub(crate) behind: Box<str>,
}

/// What becomes of the messages that come before the response.
pub(super) trait Incoming {
    /// Breaks off with the failure of the call.
    fn take(&mut self, message: &Message) -> Result<(), Failure>;
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Stream,
    Other,
}

/// The form of a body by its media type alone, case aside. Without one, what it begins with decides.
pub(super) fn form(headers: &HeaderMap) -> Option<Form> {
    let value = headers.get(http::header::CONTENT_TYPE)?.to_str().unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match media_type.as_str() {
        "application/json" => Form::Json,
        "text/event-stream" => Form::Stream,
        _ => Form::Other,
    })
}

fn sniff(start: &[u8]) -> Form {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    match start.trim_ascii_start() {
        [b'{' | b'[', ..] => Form::Json,
        [b':', ..] => Form::Stream,
        start if [&b"data:"[..], b"event:", b"id:", b"retry:"].iter().any(|field| start.starts_with(field)) => {
            Form::Stream
        }
        _ => Form::Other,
    }
}

/// What is read at once as long as little comes.
const SMALLEST_PIECE: usize = 1024;

/// The most that is read from a stream at once.
const LARGEST_PIECE: usize = 256 * 1024;

pub(super) struct Reader<'a> {
    pub(super) server: &'a Server,
    pub(super) session: &'a Session,
    pub(super) scope: &'a Arc<Scope>,
    pub(super) id: u64,
}

impl Reader<'_> {
    /// Reads the answer to the request from a 2xx response.
    pub(super) fn read(&self, mut response: Response, incoming: &mut dyn Incoming) -> Result<Reply, Failure> {
        let mut first = Vec::new();
        let form = match form(&response.headers) {
            Some(form) => form,
            None => {
                first = vec![0; 4096];
                let amount = response.read(self.scope, &mut first)?;
                first.truncate(amount);
                sniff(&first)
            }
        };
        match form {
            Form::Json => self.read_json(response, first, incoming),
            Form::Stream => self.read_stream(response, &first, incoming),
            Form::Other => Err(unreadable(response, self.scope, first)),
        }
    }

    fn read_json(
        &self,
        mut response: Response,
        mut body: Vec<u8>,
        incoming: &mut dyn Incoming,
    ) -> Result<Reply, Failure> {
        read_to_end(&mut response, self.scope, &mut body, self.limit())?;
        let status = response.status;
        response.finish();
        if body.trim_ascii().is_empty() {
            return Err(Failure::answered(format!("an empty answer ({status})")));
        }
        let mut pick = Pick::new(self.id);
        pick.take_bytes(body, incoming)?;
        pick.finish()
    }

    /// A stream that ends before the response is resumed, if it can be (rule 3.7).
    fn read_stream(&self, mut response: Response, first: &[u8], incoming: &mut dyn Incoming) -> Result<Reply, Failure> {
        let mut stream = Stream {
            scope: self.scope,
            limit: self.limit(),
            parser: sse::Parser::default(),
            pick: Pick::new(self.id),
            incoming,
        };
        let mut resume = Resume::new(self.server, self.session, self.scope);
        let mut ended = match stream.take(first)? {
            true => None,
            false => stream.read(&mut response)?,
        };
        while let Some(failure) = ended {
            response.finish_if_ended();
            response = resume.again(stream.parser.position(), stream.parser.has_news(), failure)?;
            stream.parser.reconnect();
            ended = stream.read(&mut response)?;
        }
        response.finish();
        stream.pick.finish()
    }

    fn limit(&self) -> u64 {
        self.server.limits.max_response_bytes
    }
}

/// The failure of an answer that is of no form which can be read.
pub(super) fn unreadable(response: Response, scope: &Scope, body: Vec<u8>) -> Failure {
    let named = match response.headers.get(http::header::CONTENT_TYPE) {
        Some(value) => format!("an answer of type {}", String::from_utf8_lossy(value.as_bytes())),
        None => "an answer of no known type".into(),
    };
    let status = response.status;
    let head = body_head(response, scope, body);
    Failure::answered_with(format!("{named} ({status})"), head)
}

/// A stream of events and what was found in it.
struct Stream<'a> {
    scope: &'a Arc<Scope>,
    /// The most bytes of one answer.
    limit: u64,
    parser: sse::Parser,
    pick: Pick,
    incoming: &'a mut dyn Incoming,
}

impl Stream<'_> {
    /// Reads on until the response is there. A failure that is given back is how the stream was broken off before.
    fn read(&mut self, response: &mut Response) -> Result<Option<Failure>, Failure> {
        let mut buffer = vec![0; SMALLEST_PIECE];
        loop {
            let filled = match response.read(self.scope, &mut buffer).map_err(Failure::from) {
                Ok(filled) => filled,
                Err(failure) if failure.is_stop() => return Err(failure),
                Err(failure) => return Ok(Some(failure)),
            };
            if filled == 0 {
                return self.end();
            }
            if self.take(&buffer[..filled])? {
                return Ok(None);
            }
            // A large answer is read in large pieces.
            if filled == buffer.len() && buffer.len() < LARGEST_PIECE {
                buffer.resize(buffer.len() * 2, 0);
            }
        }
    }

    /// Takes a piece. True when the response is in it.
    fn take(&mut self, piece: &[u8]) -> Result<bool, Failure> {
        self.with_events(|parser, on_event| parser.push(piece, on_event))?;
        if !self.pick.has_found() && self.parser.pending() as u64 > self.limit {
            return Err(Failure::TooLarge { limit: self.limit });
        }
        Ok(self.pick.has_found())
    }

    /// The connection has ended. A response under another id stands when there is no other.
    fn end(&mut self) -> Result<Option<Failure>, Failure> {
        self.with_events(|parser, on_event| parser.finish(on_event))?;
        Ok((!self.pick.has_any()).then(|| self.pick.failure()))
    }

    fn with_events(
        &mut self,
        parse: impl FnOnce(&mut sse::Parser, &mut dyn FnMut(Vec<u8>) -> bool),
    ) -> Result<(), Failure> {
        let Stream { limit, parser, pick, incoming, .. } = self;
        let mut outcome = Ok(());
        parse(parser, &mut |data: Vec<u8>| {
            outcome = match data.len() as u64 > *limit {
                true => Err(Failure::TooLarge { limit: *limit }),
                false => pick.take_bytes(data, *incoming),
            };
            outcome.is_ok() && !pick.has_found()
        });
        outcome
    }
}

/// A length that is promised is believed up to here; beyond, memory follows what comes.
const BELIEVED: usize = 1024 * 1024;

fn read_to_end(response: &mut Response, scope: &Scope, body: &mut Vec<u8>, limit: u64) -> Result<(), Failure> {
    let promised = response.headers.get(http::header::CONTENT_LENGTH);
    let promised: u64 = promised.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
    if promised > limit {
        return Err(Failure::TooLarge { limit });
    }
    let promised = promised as usize;
    let mut filled = body.len();
    if let Some(mut spare) = spare::take(promised.saturating_add(1)) {
        spare.resize(spare.len().max(filled), 0);
        spare[..filled].copy_from_slice(body);
        *body = spare;
    }
    // One byte more, for the end to be seen.
    let first = if promised == 0 { SMALLEST_PIECE } else { promised.min(BELIEVED) + 1 };
    body.resize(first.max(filled + 1).max(body.len()), 0);
    loop {
        if filled == body.len() {
            widen(body, promised);
        }
        let amount = response.read(scope, &mut body[filled..])?;
        filled += amount;
        if filled as u64 > limit {
            return Err(Failure::TooLarge { limit });
        }
        if amount == 0 {
            body.truncate(filled);
            return Ok(());
        }
    }
}

/// Large bodies have room for a multiple of this.
const WHOLE: usize = 64 * 1024;

/// Makes room for more of a body of which so many bytes are promised. Room that is not written yet takes no memory.
fn widen(body: &mut Vec<u8>, promised: usize) {
    let filled = body.len();
    if filled > BELIEVED {
        // What is promised may be more than there is: then memory follows what comes. A little more than that, so that it
        // does for another answer of the kind.
        let whole = promised.saturating_add(1).checked_next_multiple_of(WHOLE).unwrap_or(promised);
        let _ = body.try_reserve_exact(whole.saturating_sub(filled));
    }
    let piece = filled.min(BELIEVED);
    let room = body.capacity() - filled;
    body.resize(filled + if room == 0 { piece } else { piece.min(room) }, 0);
}

/// How much of a body is looked at for an error's text.
const MOST_HEAD: usize = 64 * 1024;

/// The beginning of a body that is no answer, for an error's text: enough to find whole secrets in before it is cut.
pub(super) fn body_head(mut response: Response, scope: &Scope, mut body: Vec<u8>) -> BodyHead {
    /// A failure is told at once, also when its body drips.
    const LONGEST: Duration = Duration::from_secs(2);
    response.limit(LONGEST);
    let mut buffer = [0; 4096];
    while body.len() < MOST_HEAD {
        match response.read(scope, &mut buffer) {
            Ok(0) => {
                response.finish();
                return BodyHead { text: lossy(body), is_cut: false };
            }
            Ok(amount) => body.extend_from_slice(&buffer[..amount]),
            Err(_) => break,
        }
    }
    BodyHead { text: lossy(body), is_cut: true }
}

pub(super) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What is known of a body. When it is cut, a secret may have begun at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyHead {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

impl BodyHead {
    /// Of a body that is there as a whole; what is far behind the part that is shown is let go.
    pub(super) fn whole(mut text: String) -> BodyHead {
        let is_cut = text.len() > MOST_HEAD;
        if is_cut {
            let end = (0..=MOST_HEAD).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
        }
        BodyHead { text, is_cut }
    }
}
