//! One request and its answer.

use std::io::{self, Read};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ureq::BodyReader;
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};

use super::buffers::HELD_OUTPUT;
use super::lanes::{Lane, Lanes, USER_AGENT};
use super::wire::Phase;
use crate::cancel::{Scope, Stop};

/// The connections to one server.
#[derive(Default)]
pub(crate) struct Client {
    lanes: Arc<Lanes>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Post,
    Get,
    Delete,
}

/// What happens when a kept connection turns out to have been closed by the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resend {
    /// It is sent again on a new connection, once, when the server cannot have begun to answer it.
    Unanswered,
    /// It is sent again only when no byte of it had been sent.
    Unsent,
}

pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) resend: Resend,
}

/// Adds what HTTP itself wants in every request to this server. ureq would make these anew each time.
pub(crate) fn add_standing_headers(headers: &mut HeaderMap, uri: &Uri) {
    let host = uri.host().unwrap_or_default();
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = match uri.port_u16() {
        Some(port) if port != default => HeaderValue::try_from(format!("{host}:{port}")),
        _ => HeaderValue::try_from(host),
    };
    if let Ok(host) = host {
        headers.insert(header::HOST, host);
    }
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
}

/// Why there is no answer, or no whole one.
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// Whether any byte of the request was sent, on this or an earlier connection.
    pub(crate) sent: bool,
}

pub(crate) enum FaultKind {
    Stopped(Stop),
    /// What failed, for people.
    Failed(String),
}

impl Client {
    /// Sends a request and returns when the head of the answer has come.
    pub(crate) fn send(&self, scope: &Arc<Scope>, request: &Request) -> Result<Response, Fault> {
        let failed = |message| Fault { kind: FaultKind::Failed(message), sent: false };
        let lane = self.lanes.take(request.uri).map_err(failed)?;
        match exchange(&self.lanes, lane, scope, request) {
            Ok(response) => Ok(response),
            Err(Ended::Final(fault)) => Err(fault),
            Err(Ended::AtReuse(fault)) if fault.sent && request.resend == Resend::Unsent => Err(fault),
            Err(Ended::AtReuse(first)) => {
                let lane = self.lanes.fresh(request.uri).map_err(failed)?;
                exchange(&self.lanes, lane, scope, request).map_err(|ended| {
                    let fault = ended.into_fault();
                    Fault { sent: fault.sent || first.sent, ..fault }
                })
            }
        }
    }

    /// Closes every connection that is not in use.
    pub(crate) fn clear(&self) {
        self.lanes.clear();
    }
}

enum Ended {
    Final(Fault),
    /// On a kept connection, which the server had closed in the meantime.
    AtReuse(Fault),
}

impl Ended {
    fn into_fault(self) -> Fault {
        match self {
            Ended::Final(fault) | Ended::AtReuse(fault) => fault,
        }
    }
}

fn exchange(lanes: &Arc<Lanes>, mut lane: Lane, scope: &Arc<Scope>, request: &Request) -> Result<Response, Ended> {
    if let Err(stop) = lane.wire.begin(scope, room(request)) {
        return Err(Ended::Final(Fault { kind: FaultKind::Stopped(stop), sent: false }));
    }
    let mut head = http::Request::builder().uri(request.uri.clone());
    if let Some(headers) = head.headers_mut() {
        *headers = request.headers.clone();
    }
    let answer = match request.method {
        Method::Post => head.method(http::Method::POST).body(request.body).map(|request| lane.agent.run(request)),
        Method::Get => head.method(http::Method::GET).body(()).map(|request| lane.agent.run(request)),
        Method::Delete => head.method(http::Method::DELETE).body(()).map(|request| lane.agent.run(request)),
    };
    match answer.map_err(ureq::Error::from).and_then(|answer| answer) {
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            lane.keep_for(keep_alive(&head.headers));
            Ok(Response {
                status: head.status,
                headers: head.headers,
                rest: Box::new(Rest { body: body.into_reader(), lane }),
                lanes: Arc::downgrade(lanes),
                ended: false,
                parked_at: None,
            })
        }
        Err(error) => {
            let fault = fault(&lane, scope, error);
            let at_reuse = lane.wire.ended_at_reuse() && matches!(fault.kind, FaultKind::Failed(_));
            lane.wire.end();
            Err(if at_reuse { Ended::AtReuse(fault) } else { Ended::Final(fault) })
        }
    }
}

/// What the request needs of its buffer at once: the longest line of its head, with some room for what ureq adds to it, or
/// the body.
fn room(request: &Request) -> usize {
    const ADDED: usize = 64;
    let target = request.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let host = request.uri.authority().map_or(0, |authority| authority.as_str().len());
    let headers = request.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let line = headers.chain([target, host]).max().unwrap_or_default() + ADDED;
    line.max(request.body.len().min(HELD_OUTPUT))
}

/// `Keep-Alive: timeout=N`, in seconds.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
    let value = headers.get(KEEP_ALIVE)?.to_str().ok()?;
    let seconds = value.split(',').find_map(|part| part.trim().strip_prefix("timeout="))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

fn fault(lane: &Lane, scope: &Scope, error: ureq::Error) -> Fault {
    let phase = lane.wire.phase();
    let sent = phase >= Phase::Sent;
    let kind = match (scope.remaining(), phase) {
        (Err(stop), _) => FaultKind::Stopped(stop),
        (Ok(_), Phase::Resolving | Phase::Connecting | Phase::Securing) if lane.wire.connect_timed_out() => {
            let seconds = super::dial::CONNECT_LIMIT.as_secs();
            FaultKind::Failed(format!("{}: no connection within {seconds} s", doing(phase)))
        }
        (Ok(_), Phase::Sent | Phase::Answering) if is_end(&error) => {
            let when = if phase == Phase::Sent { "before the answer" } else { "in the middle of the answer" };
            FaultKind::Failed(format!("the connection ended {when}: {}", describe(&error)))
        }
        _ => FaultKind::Failed(format!("{}: {}", doing(phase), describe(&error))),
    };
    Fault { kind, sent }
}

fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Idle => "could not send",
        Phase::Resolving => "could not look up the host",
        Phase::Connecting => "could not connect",
        Phase::Securing => "could not set up TLS",
        Phase::Ready | Phase::Sent => "could not send the request",
        Phase::Answering => "could not read the answer",
    }
}

fn is_end(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    use io::ErrorKind::*;
    matches!(error.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
}

/// ureq's own words, without the prefix that tells the kind.
fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => "closed by the server".into(),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// An answer whose body is still on its way. Dropping it early closes the connection.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    rest: Box<Rest>,
    lanes: Weak<Lanes>,
    ended: bool,
    parked_at: Option<Instant>,
}

/// What is still on its way, and where. Apart, since a response goes from hand to hand.
struct Rest {
    body: BodyReader<'static>,
    lane: Lane,
}

impl Response {
    /// The next piece of the body; none at its end. `scope` is the one it was sent with.
    pub(crate) fn read(&mut self, scope: &Scope, buffer: &mut [u8]) -> Result<usize, Fault> {
        match self.rest.body.read(buffer) {
            Ok(0) => {
                // A stop looks like the end of a body that has no length.
                if let Some(stop) = scope.stopped() {
                    return Err(Fault { kind: FaultKind::Stopped(stop), sent: true });
                }
                self.ended = true;
                Ok(0)
            }
            Ok(amount) => Ok(amount),
            Err(error) => Err(fault(&self.rest.lane, scope, ureq::Error::from(error))),
        }
    }

    /// Gives what is left of the body this much time.
    pub(crate) fn limit(&self, limit: Duration) {
        self.rest.lane.wire.answer_within(limit);
    }

    /// The answer was taken. The connection is kept: at once when the body has ended or its end has arrived already,
    /// else when it does. Nothing is waited for.
    pub(crate) fn finish(mut self) {
        // Gone when the run has ended meanwhile: then the connection is closed.
        let Some(lanes) = self.lanes.upgrade() else { return };
        if self.ended || self.drain() {
            if let Some(lane) = self.into_lane() {
                lanes.put(lane);
            }
        } else if self.rest.lane.wire.end() {
            // From here on it belongs to no call: stopping this one does not touch it.
            self.parked_at = Some(Instant::now());
            lanes.park(self);
        }
    }

    /// Keeps the connection if the body was read to its end; else closes it.
    pub(crate) fn finish_if_ended(self) {
        if self.ended {
            self.finish();
        }
    }

    pub(super) fn parked_for(&self) -> Duration {
        self.parked_at.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Reads what has arrived. True when that was the end of the body.
    pub(super) fn drain(&mut self) -> bool {
        const MOST: usize = 64 * 1024;
        let Rest { body, lane } = &mut *self.rest;
        let mut buffer = [0; 1024];
        let mut read = 0;
        lane.wire.set_arrived_only(true);
        while read < MOST && !self.ended {
            match body.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(amount) => read += amount,
                Err(_) => break,
            }
        }
        lane.wire.set_arrived_only(false);
        self.ended
    }

    /// The connection, when it can be used again.
    pub(super) fn into_lane(self) -> Option<Lane> {
        let lane = self.rest.lane;
        (self.ended && lane.wire.end()).then_some(lane)
    }
}
