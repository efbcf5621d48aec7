//! A request and the answering of it: the actions of a script, or what a well-behaved server does.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::action::{Action, Answer, Condition, Framing, Pace, Word};
use crate::connection::Flow;
use crate::payload::{Fill, Payload, gzip};
use crate::request::Request;
use crate::script::{Match, Script};
use crate::shared::Shared;
use crate::socket::{Got, Socket};
use crate::{json, mcp};

/// How often a thread that waits for the test also looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(5);

/// A request and where its answer goes.
pub struct Exchange<'a> {
    pub shared: &'a Arc<Shared>,
    pub script: &'a Script,
    pub request: Arc<Request>,
    socket: &'a mut Socket,
    fill: Fill,
    stream: Option<Stream>,
    answered: bool,
}

/// A body that is being written.
struct Stream {
    framing: Framing,
    encoder: Option<GzEncoder<Vec<u8>>>,
    pace: Pace,
}

/// Why the actions end early.
#[derive(Debug)]
pub struct Ended(pub Flow);

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Ended {
        Ended(Flow::Gone)
    }
}

impl<'a> Exchange<'a> {
    /// Takes a request.
    pub fn new(shared: &'a Arc<Shared>, script: &'a Script, socket: &'a mut Socket, request: Arc<Request>) -> Self {
        let fill = Fill::default();
        Exchange { shared, script, request, socket, fill, stream: None, answered: false }
    }

    /// Performs the actions, or answers as a well-behaved server.
    pub fn perform(mut self, rule: Option<(Vec<Action>, u64)>) -> Flow {
        let Some((actions, count)) = rule else { return self.usual().map_or_else(|ended| ended.0, |()| Flow::Keep) };
        self.fill = self.places(count);
        let done = self.all(&actions).and_then(|()| self.finish());
        done.map_or_else(|ended| ended.0, |()| Flow::Keep)
    }

    /// What scripts may refer to.
    fn places(&self, count: u64) -> Fill {
        let mut fill = Fill::default();
        let id = self.request.id();
        fill.set("id:string", json::quoted(id.trim_matches('"')));
        fill.set("id:other", id.parse::<i64>().map_or("-1".to_owned(), |id| (id + 1000).to_string()));
        fill.set("id", id);
        fill.set("token", self.request.token().unwrap_or("null".to_owned()));
        fill.set("n", count.to_string());
        fill.set("self", self.shared.base_url.clone());
        for (name, value) in self.request.arguments().into_iter().flatten() {
            fill.set(&format!("arg:{name}"), value.to_string());
        }
        fill
    }

    fn all(&mut self, actions: &[Action]) -> Result<(), Ended> {
        actions.iter().try_for_each(|action| self.act(action))
    }

    fn act(&mut self, action: &Action) -> Result<(), Ended> {
        match action {
            Action::Delay(ms) => self.pause(Duration::from_millis(*ms)),
            Action::Await(condition) => self.wait(condition),
            Action::Answer(answer) => self.answer(answer),
            Action::Result(result) => self.respond(json::response("{{id}}", result)),
            Action::Error(error) => self.respond(json::error_response("{{id}}", error)),
            Action::Head(head) => self.begin(head),
            Action::Stream(head, actions) => {
                self.begin(head)?;
                self.all(actions)?;
                self.end()
            }
            Action::Write(payload, pace) => self.write_part(&payload.render(&self.fill), pace),
            Action::Event(text) => self.write_part(self.fill.apply(text).as_bytes(), &Pace::default()),
            Action::Ask(request) => self.ask(request),
            Action::Endless(payload, pace) => self.endless(payload, pace),
            Action::Raw(payload, pace) => {
                self.answered = true;
                self.write_paced(&payload.render(&self.fill), pace)
            }
            Action::Word(word) => self.word(*word),
        }
    }

    fn word(&mut self, word: Word) -> Result<(), Ended> {
        match word {
            Word::Default => self.usual(),
            Word::End => self.end(),
            Word::Close => Err(Ended(Flow::Close)),
            Word::Reset => {
                self.socket.reset();
                Err(Ended(Flow::Close))
            }
            Word::Hang => loop {
                if self.socket.read(None) == Got::Closed {
                    return Err(Ended(Flow::Gone));
                }
            },
            Word::Forget => {
                self.shared.change(|state| state.sessions.clear());
                Ok(())
            }
            Word::Refuse => {
                self.shared.refuse();
                Ok(())
            }
        }
    }

    /// The rest: what was begun is ended, and what was not answered gets the usual answer.
    fn finish(&mut self) -> Result<(), Ended> {
        match (self.answered, self.stream.is_some()) {
            (_, true) => self.end(),
            (false, false) => self.usual(),
            (true, false) => Ok(()),
        }
    }

    /// What a well-behaved server answers.
    fn usual(&mut self) -> Result<(), Ended> {
        self.answered = true;
        mcp::answer(self)
    }

    /// Waits, but not longer than the client stays.
    pub fn pause(&mut self, time: Duration) -> Result<(), Ended> {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if self.socket.read(Some(left)) == Got::Closed {
                return Err(Ended(Flow::Gone));
            }
        }
        Ok(())
    }

    fn wait(&mut self, condition: &Condition) -> Result<(), Ended> {
        let end = Instant::now() + Duration::from_millis(condition.limit_ms);
        while !self.shared.wait(condition, LOOK) {
            if self.socket.read(Some(Duration::ZERO)) == Got::Closed {
                return Err(Ended(Flow::Gone));
            }
            if Instant::now() > end {
                let fault = format!("request {}: waited in vain for {condition:?}", self.request.number);
                self.shared.change(|state| state.faults.push(fault));
                return Err(Ended(Flow::Close));
            }
        }
        Ok(())
    }

    /// Sends the client a request and waits until its answer has come.
    fn ask(&mut self, request: &str) -> Result<(), Ended> {
        let request = self.fill.apply(request);
        self.write_part(format!("event: message\ndata: {request}\n\n").as_bytes(), &Pace::default())?;
        let id = serde_json::from_str::<serde_json::Value>(&request).ok().map(|request| request["id"].clone());
        let answer = serde_json::json!({"id": id, "method": {"$absent": true}});
        let wanted = Match { body: Some(answer), ..Match::default() };
        self.wait(&Condition { request: Some(wanted), ..Condition::default() })
    }

    fn respond(&mut self, message: String) -> Result<(), Ended> {
        let message = self.fill.apply(&message);
        if self.stream.is_some() {
            return self.event(&message);
        }
        self.send(200, &[("content-type", "application/json")], message.as_bytes())
    }

    /// Writes a message as an event of the stream that is open.
    pub fn event(&mut self, message: &str) -> Result<(), Ended> {
        self.write_part(format!("event: message\ndata: {message}\n\n").as_bytes(), &Pace::default())
    }

    /// Begins an event stream.
    pub fn begin_events(&mut self, headers: &[(&str, &str)]) -> Result<(), Ended> {
        let mut all = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        all.extend(headers.iter().map(|(name, value)| (name.to_string(), value.to_string())));
        self.begin(&Answer { headers: all, framing: Framing::Chunked, ..Answer::default() })
    }

    /// Sends a whole answer, in one write.
    pub fn send(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) -> Result<(), Ended> {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let framing = if status == 204 { Framing::None } else { Framing::Length };
        self.whole(&Answer { status, headers, framing, ..Answer::default() }, body.to_vec())
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), Ended> {
        let body = answer.body.as_ref().map(|body| body.render(&self.fill)).unwrap_or_default();
        self.whole(answer, if answer.gzip { gzip(&body) } else { body })
    }

    fn whole(&mut self, answer: &Answer, body: Vec<u8>) -> Result<(), Ended> {
        self.answered = true;
        let mut wire = self.head(answer, body.len());
        let mut framed = match answer.framing {
            Framing::Chunked => [chunk(&body), chunk(b"")].concat(),
            _ => body,
        };
        framed.truncate(answer.cut.unwrap_or(usize::MAX));
        wire.extend_from_slice(&framed);
        self.write_paced(&wire, &answer.pace)?;
        match (answer.cut, answer.framing) {
            // What a script does next with a cut answer (reset, hang) is up to it; nothing can follow on the wire.
            (Some(_), _) => Ok(()),
            (None, Framing::Close) => Err(Ended(Flow::Close)),
            (None, _) => Ok(()),
        }
    }

    fn begin(&mut self, head: &Answer) -> Result<(), Ended> {
        self.answered = true;
        let wire = self.head(head, 0);
        let encoder = head.gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        self.stream = Some(Stream { framing: head.framing, encoder, pace: head.pace.clone() });
        Ok(self.socket.write(&wire)?)
    }

    fn head(&self, answer: &Answer, length: usize) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
        for (name, value) in &answer.headers {
            text.push_str(&format!("{name}: {}\r\n", self.fill.apply(value)));
        }
        (0..answer.pad_headers).for_each(|n| text.push_str(&format!("x-pad-{n}: {n}\r\n")));
        if answer.gzip {
            text.push_str("content-encoding: gzip\r\n");
        }
        if let Some(keep_alive) = self.script.traits.keep_alive.as_ref().filter(|keep_alive| keep_alive.header) {
            text.push_str(&format!("keep-alive: timeout={}\r\n", keep_alive.ms / 1000));
        }
        match answer.framing {
            Framing::Length => text.push_str(&format!("content-length: {length}\r\n")),
            Framing::Claimed(length) => text.push_str(&format!("content-length: {length}\r\n")),
            Framing::Chunked => text.push_str("transfer-encoding: chunked\r\n"),
            Framing::Close => text.push_str("connection: close\r\n"),
            Framing::None => {}
        }
        text.push_str("\r\n");
        text.into_bytes()
    }

    /// Writes a part of the body: each piece of it a chunk, if the body is chunked.
    fn write_part(&mut self, part: &[u8], pace: &Pace) -> Result<(), Ended> {
        let Some(stream) = &mut self.stream else { return self.write_paced(part, pace) };
        let pace = if pace.pieces.is_empty() { stream.pace.clone() } else { pace.clone() };
        let part = stream.encode(part)?;
        for piece in pace.cut(&part) {
            let framed = self.stream.as_ref().map_or_else(|| piece.to_vec(), |stream| stream.frame(piece));
            self.socket.write(&framed)?;
            self.pause(Duration::from_millis(pace.every_ms))?;
        }
        Ok(())
    }

    fn write_paced(&mut self, bytes: &[u8], pace: &Pace) -> Result<(), Ended> {
        for piece in pace.cut(bytes) {
            self.socket.write(piece)?;
            self.pause(Duration::from_millis(pace.every_ms))?;
        }
        Ok(())
    }

    fn endless(&mut self, payload: &Payload, pace: &Pace) -> Result<(), Ended> {
        let part = payload.render(&self.fill);
        loop {
            self.write_part(&part, pace)?;
            if pace.pieces.is_empty() {
                self.pause(Duration::from_millis(pace.every_ms))?;
            }
        }
    }

    /// Ends the body that was begun.
    pub fn end(&mut self) -> Result<(), Ended> {
        let Some(mut stream) = self.stream.take() else { return Ok(()) };
        if let Some(encoder) = stream.encoder.take() {
            let rest = encoder.finish()?;
            self.socket.write(&stream.frame(&rest))?;
        }
        match stream.framing {
            Framing::Chunked => Ok(self.socket.write(&chunk(b""))?),
            Framing::Close => Err(Ended(Flow::Close)),
            Framing::Length | Framing::Claimed(_) | Framing::None => Ok(()),
        }
    }
}

impl Stream {
    fn encode(&mut self, part: &[u8]) -> io::Result<Vec<u8>> {
        let Some(encoder) = &mut self.encoder else { return Ok(part.to_vec()) };
        encoder.write_all(part)?;
        encoder.flush()?;
        Ok(std::mem::take(encoder.get_mut()))
    }

    fn frame(&self, piece: &[u8]) -> Vec<u8> {
        // An empty chunk would be the end of the body.
        if self.framing == Framing::Chunked && !piece.is_empty() { chunk(piece) } else { piece.to_vec() }
    }
}

impl Pace {
    /// The bytes in pieces; the last size holds for all that follow.
    fn cut<'b>(&self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let mut sizes = self.pieces.iter().copied();
        let mut size = usize::MAX;
        let mut rest = bytes;
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            size = sizes.next().unwrap_or(size);
            let (piece, left) = rest.split_at(size.min(rest.len()));
            pieces.push(piece);
            rest = left;
        }
        pieces
    }
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        300..=399 => "Redirect",
        404 => "Not Found",
        429 => "Too Many Requests",
        400..=499 => "Client Error",
        500..=599 => "Server Error",
        _ => "Other",
    }
}
