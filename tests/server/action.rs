//! What a rule does with a request: actions, in order.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json;
use crate::payload::Payload;
use crate::script::Match;

/// One thing that a rule does.
#[derive(Clone, Debug)]
pub enum Action {
    /// `{"delay": ms}`: waits, but not longer than the client stays.
    Delay(u64),
    /// `{"await": {…}}`: waits until something has happened.
    Await(Box<Condition>),
    /// `{"answer": {…}}`: a whole answer.
    Answer(Box<Answer>),
    /// `{"result": …}`: the request's JSON-RPC response; an event when a stream is open.
    Result(String),
    /// `{"error": {…}}`: the request's JSON-RPC error; an event when a stream is open.
    Error(String),
    /// `{"head": {…}}`: status and headers; what follows is the body.
    Head(Box<Answer>),
    /// `{"sse": [CHUNK or action, …], "with": {…}}`: head, body and end of an event stream.
    Stream(Box<Answer>, Vec<Action>),
    /// `{"write": PAYLOAD}`: a part of the body, in the framing of the head.
    Write(Payload, Pace),
    /// `{"event": {"id", "event", "retry", "data"}}` or `{"data": …}`: an event, `data` being JSON or a string.
    Event(String),
    /// `{"ask": {"id": …, "method": …}}`: a request to the client, and a wait for its answer.
    Ask(String),
    /// `{"endless": PAYLOAD}`: a part of the body again and again until the client has closed.
    Endless(Payload, Pace),
    /// `{"raw": PAYLOAD}`: bytes outside of any framing.
    Raw(Payload, Pace),
    /// A word, `"close"` or in a stream `{"then": "close"}`.
    Word(Word),
}

/// The actions that need no more than their name.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    /// What a well-behaved server would have done.
    Default,
    /// The end of the body, in the framing of the head.
    End,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more, until the client has closed.
    Hang,
    /// All sessions are forgotten.
    Forget,
    /// No more connections are taken; those that are there stay.
    Refuse,
}

/// What `await` waits for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Condition {
    /// So many requests that fit have arrived, over all connections.
    pub request: Option<Match>,
    /// How many.
    pub count: usize,
    /// The test has released the gate of this name.
    pub gate: Option<String>,
    /// So many connections were closed by the client.
    pub client_closed: Option<usize>,
    /// So many connections were closed by the server.
    pub server_closed: Option<usize>,
    /// So many connections were closed by either.
    pub closed: Option<usize>,
    /// Waiting longer is a fault of the test.
    pub limit_ms: u64,
}

impl Default for Condition {
    fn default() -> Condition {
        Condition {
            request: None,
            count: 1,
            gate: None,
            client_closed: None,
            server_closed: None,
            closed: None,
            limit_ms: 10_000,
        }
    }
}

/// How bytes are written: in pieces, with a pause between them.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// The size of each piece, the last size being that of all others; empty: in one piece.
    pub pieces: Vec<usize>,
    /// The pause after each piece, in milliseconds.
    pub every_ms: u64,
}

/// An HTTP answer, or the head of one.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// So many further headers.
    pub pad_headers: usize,
    pub body: Option<Payload>,
    pub framing: Framing,
    pub gzip: bool,
    pub pace: Pace,
    /// So many bytes of the body as framed are sent, then no more.
    pub cut: Option<usize>,
}

impl Default for Answer {
    fn default() -> Answer {
        Answer {
            status: 200,
            headers: Vec::new(),
            pad_headers: 0,
            body: None,
            framing: Framing::Length,
            gzip: false,
            pace: Pace::default(),
            cut: None,
        }
    }
}

/// How the end of the body is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Framing {
    /// `content-length`, as it is.
    Length,
    /// `content-length`, as the script claims it.
    Claimed(usize),
    /// `transfer-encoding: chunked`.
    Chunked,
    /// By closing the connection.
    Close,
    /// Not at all: an answer that has no body, as a 204.
    None,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ActionText {
    delay: Option<u64>,
    #[serde(rename = "await")]
    condition: Option<Condition>,
    answer: Option<AnswerText>,
    head: Option<AnswerText>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Box<RawValue>>,
    sse: Option<Vec<Box<RawValue>>>,
    with: Option<AnswerText>,
    write: Option<Box<RawValue>>,
    raw: Option<Box<RawValue>>,
    endless: Option<Box<RawValue>>,
    event: Option<EventText>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Box<RawValue>>,
    ask: Option<Box<RawValue>>,
    then: Option<Word>,
    pieces: Option<Value>,
    every_ms: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnswerText {
    status: Option<u16>,
    #[serde(rename = "type")]
    content_type: Option<Value>,
    #[serde(default)]
    headers: Value,
    #[serde(default)]
    pad_headers: usize,
    body: Option<Box<RawValue>>,
    framing: Option<Value>,
    #[serde(default)]
    gzip: bool,
    pieces: Option<Value>,
    every_ms: Option<u64>,
    cut: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventText {
    id: Option<String>,
    event: Option<String>,
    retry: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Box<RawValue>>,
}

/// A member that is there, also when it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

impl Action {
    /// Reads an action of a rule: an object, or a word.
    pub fn parse(raw: &RawValue) -> Result<Action, String> {
        if let Some(word) = json::string(raw) {
            let word = serde_json::from_value(Value::String(word)).map_err(|e| e.to_string())?;
            return Ok(Action::Word(word));
        }
        let text: ActionText = serde_json::from_str(raw.get()).map_err(|e| format!("action {raw}: {e}"))?;
        text.action().and_then(|action| action.ok_or_else(|| format!("action {raw}: of no known kind")))
    }

    /// Reads an action inside a stream, where a string is a piece of the stream, verbatim.
    fn parse_in_stream(raw: &RawValue) -> Result<Action, String> {
        match json::string(raw) {
            Some(_) => Ok(Action::Write(Payload::parse(raw)?, Pace::default())),
            None => Action::parse(raw),
        }
    }
}

impl ActionText {
    fn action(self) -> Result<Option<Action>, String> {
        let pace = Pace::parse(self.pieces, self.every_ms)?;
        let with_payload = |raw: Box<RawValue>, make: fn(Payload, Pace) -> Action| {
            Payload::parse(&raw).map(|payload| Some(make(payload, pace.clone())))
        };
        if let Some(raw) = self.write {
            return with_payload(raw, Action::Write);
        }
        if let Some(raw) = self.raw {
            return with_payload(raw, Action::Raw);
        }
        if let Some(raw) = self.endless {
            return with_payload(raw, Action::Endless);
        }
        if let Some(items) = self.sse {
            let head = self.with.unwrap_or_default().answer("text/event-stream", Framing::Chunked)?;
            let actions = items.iter().map(|item| Action::parse_in_stream(item)).collect::<Result<_, _>>()?;
            return Ok(Some(Action::Stream(Box::new(head), actions)));
        }
        if let Some(answer) = self.answer {
            return Ok(Some(Action::Answer(Box::new(answer.answer("application/json", Framing::Length)?))));
        }
        if let Some(head) = self.head {
            return Ok(Some(Action::Head(Box::new(head.answer("application/json", Framing::Chunked)?))));
        }
        let text = |raw: Box<RawValue>| json::compact(raw.get());
        Ok(self
            .delay
            .map(Action::Delay)
            .or(self.condition.map(|condition| Action::Await(Box::new(condition))))
            .or(self.result.map(text).map(Action::Result))
            .or(self.error.map(text).map(Action::Error))
            .or(self.event.map(|event| Action::Event(event.text())))
            .or(self.data.map(|data| Action::Event(format!("event: message\ndata: {}\n\n", data_text(&data)))))
            .or(self.ask.map(text).map(Action::Ask))
            .or(self.then.map(Action::Word)))
    }
}

fn data_text(data: &RawValue) -> String {
    json::string(data).unwrap_or_else(|| json::compact(data.get()))
}

impl EventText {
    fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: String| out.push_str(&format!("{name}: {value}\n"));
        self.id.iter().for_each(|id| line("id", id.clone()));
        self.event.iter().for_each(|event| line("event", event.clone()));
        self.retry.iter().for_each(|retry| line("retry", retry.to_string()));
        self.data.iter().for_each(|data| line("data", data_text(data)));
        out.push('\n');
        out
    }
}

impl Pace {
    fn parse(pieces: Option<Value>, every_ms: Option<u64>) -> Result<Pace, String> {
        let pieces = match pieces {
            None => Vec::new(),
            Some(Value::Array(sizes)) => serde_json::from_value(Value::Array(sizes)).map_err(|e| e.to_string())?,
            Some(size) => vec![serde_json::from_value(size).map_err(|e| e.to_string())?],
        };
        if pieces.contains(&0) {
            return Err("pieces: a size of 0".to_owned());
        }
        Ok(Pace { pieces, every_ms: every_ms.unwrap_or(0) })
    }
}

impl AnswerText {
    fn answer(self, content_type: &str, framing: Framing) -> Result<Answer, String> {
        let mut headers = Vec::new();
        match self.content_type {
            None if self.status.is_none_or(|status| status != 204) => {
                headers.push(("content-type", content_type.into()))
            }
            Some(Value::String(given)) => headers.push(("content-type", given)),
            _ => {}
        }
        let mut headers: Vec<(String, String)> = headers.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        headers.extend(header_list(&self.headers)?);
        Ok(Answer {
            status: self.status.unwrap_or(200),
            headers,
            pad_headers: self.pad_headers,
            body: self.body.map(|body| Payload::parse(&body)).transpose()?,
            framing: self.framing.map_or(Ok(framing), |given| Framing::parse(&given))?,
            gzip: self.gzip,
            pace: Pace::parse(self.pieces, self.every_ms)?,
            cut: self.cut,
        })
    }
}

impl Framing {
    fn parse(given: &Value) -> Result<Framing, String> {
        match (given.as_str(), given.as_u64()) {
            (_, Some(length)) => Ok(Framing::Claimed(length as usize)),
            (Some("length"), _) => Ok(Framing::Length),
            (Some("chunked"), _) => Ok(Framing::Chunked),
            (Some("close"), _) => Ok(Framing::Close),
            (Some("none"), _) => Ok(Framing::None),
            _ => Err(format!("framing {given}: not length, chunked, close, none or a number")),
        }
    }
}

/// Headers as an object, or as an array of pairs when one comes twice.
fn header_list(given: &Value) -> Result<Vec<(String, String)>, String> {
    let pairs = match given {
        Value::Null => Vec::new(),
        Value::Object(members) => members.iter().map(|(name, value)| (Some(name.as_str()), value.as_str())).collect(),
        Value::Array(items) => items.iter().map(|item| (item[0].as_str(), item[1].as_str())).collect(),
        _ => return Err(format!("headers {given}: neither an object nor an array")),
    };
    pairs
        .into_iter()
        .map(|(name, value)| Some((name?.to_owned(), value?.to_owned())))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("headers {given}: not all are text"))
}
