//! One MCP server, as verifi speaks to it: a request in its session, and what came of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};

use super::answer::{self, BodyHead, Reader, Reply};
use super::dialogue::Dialogue;
use super::handshake::Handshake;
use super::message::{self, RpcError};
use super::session::{Revision, Session};
use crate::background::Background;
use crate::cancel::{Scope, Stop};
use crate::http::{Client, Method, Request, Resend, Response};
use crate::lock::Lock;
use crate::manifest::{Endpoint, SecretValue, ServerSpec};
use crate::options::Elicitation;
use crate::progress::ProgressFn;
use crate::tools::ToolHints;

/// How many sessions that were given up are ended with the run. A server that comes and goes leaves no more.
const MOST_RETIRED: usize = 16;

/// Why a request got no response.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Stopped {
        stop: Stop,
        sent: bool,
    },
    /// `lost`: the connection failed, so that the server may have lost its sessions, too.
    Unreachable {
        reason: String,
        head: BodyHead,
        sent: bool,
        lost: bool,
    },
    CancelledByServer {
        reason: String,
    },
    TooLarge {
        limit: u64,
    },
}

impl Failure {
    pub(super) fn stopped(stop: Stop) -> Failure {
        Failure::Stopped { stop, sent: false }
    }

    /// The server answered, but not with a response.
    pub(super) fn answered(reason: String) -> Failure {
        Failure::answered_with(reason, BodyHead::default())
    }

    pub(super) fn answered_with(reason: String, head: BodyHead) -> Failure {
        Failure::Unreachable { reason, head, sent: true, lost: false }
    }

    /// The server answered so that the call was certainly not run.
    fn unsent(reason: String) -> Failure {
        Failure::Unreachable { reason, head: BodyHead::default(), sent: false, lost: false }
    }

    /// A fault of verifi's own.
    pub(crate) fn internal() -> Failure {
        Failure::answered("verifi failed, which is a fault in verifi".into())
    }

    /// Whether the connection failed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Failure::Unreachable { lost: true, .. })
    }

    pub(super) fn is_stop(&self) -> bool {
        matches!(self, Failure::Stopped { .. })
    }

    /// The failure of a handshake, as that of a call that was not sent for it.
    fn before_the_call(self) -> Failure {
        match self {
            Failure::Stopped { stop, .. } => Failure::Stopped { stop, sent: false },
            Failure::Unreachable { reason, head, lost, .. } => {
                Failure::Unreachable { reason: format!("handshake: {reason}"), head, sent: false, lost }
            }
            Failure::CancelledByServer { reason } => {
                Failure::unsent(format!("handshake: cancelled by the server: {reason}"))
            }
            Failure::TooLarge { limit } => {
                Failure::unsent(format!("handshake: the answer is larger than {limit} bytes (maxResponseBytes)"))
            }
        }
    }
}

/// What the run allows.
#[derive(Clone, Copy)]
pub(crate) struct ServerLimits {
    pub(crate) max_response_bytes: u64,
    pub(crate) elicitation: Elicitation,
}

pub(crate) struct ToolCall<'a> {
    pub(crate) tool: &'a str,
    /// A JSON object.
    pub(crate) arguments: &'a str,
    pub(crate) progress: Option<&'a ProgressFn>,
    pub(crate) resend: Resend,
}

pub(crate) struct Server {
    endpoint: Endpoint,
    pub(super) protocol_version: Option<String>,
    headers: Mutex<Vec<(HeaderName, SecretValue)>>,
    pub(super) limits: ServerLimits,
    pub(super) http: Client,
    pub(super) background: Arc<Background>,
    handshake: Arc<Handshake>,
    next_id: AtomicU64,
    /// Sessions that were given up, to be ended with the run.
    retired: Mutex<Vec<Arc<Session>>>,
    /// What the server says of its tools, as far as it was asked.
    pub(crate) tools: Mutex<HashMap<String, ToolHints>>,
}

impl Server {
    pub(crate) fn new(spec: &ServerSpec, limits: ServerLimits, background: Arc<Background>) -> Arc<Server> {
        Arc::new(Server {
            endpoint: spec.endpoint.clone(),
            protocol_version: spec.protocol_version.clone(),
            headers: Mutex::new(spec.headers.clone()),
            limits,
            background,
            http: Client::default(),
            handshake: Arc::default(),
            next_id: AtomicU64::new(1),
            retired: Mutex::default(),
            tools: Mutex::default(),
        })
    }

    /// The endpoint as errors and events show it.
    pub(crate) fn shown(&self) -> &Arc<str> {
        self.endpoint.shown()
    }

    /// The revision that was agreed on.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.handshake.made()?.revision()
    }

    /// Calls a tool.
    pub(crate) fn call(self: &Arc<Self>, scope: &Arc<Scope>, call: &ToolCall) -> Result<Reply, Failure> {
        let params = |id| {
            let name = message::quoted(call.tool);
            let arguments = call.arguments;
            match call.progress {
                Some(_) => format!(r#"{{"name":{name},"arguments":{arguments},"_meta":{{"progressToken":{id}}}}}"#),
                None => format!(r#"{{"name":{name},"arguments":{arguments}}}"#),
            }
        };
        self.request(scope, "tools/call", params, call.progress, call.resend)
    }

    /// Sends a request in the session. A session that the server no longer knows is made anew, once.
    pub(crate) fn request(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        method: &str,
        params: impl Fn(u64) -> String,
        progress: Option<&ProgressFn>,
        resend: Resend,
    ) -> Result<Reply, Failure> {
        let mut renewed = false;
        loop {
            let session = self.session(scope)?;
            let id = self.next_id();
            let mut dialogue = Dialogue { server: self, session: &session, id, progress };
            let body = message::request(id, method, &params(id));
            let outcome = self.post(&session, scope, &body, resend).and_then(|response| match response {
                Posted::Answer(response) => Reader { scope, id, limit: self.limits.max_response_bytes }
                    .read(*response, &mut dialogue)
                    .map_err(Problem::Failed),
                Posted::Refused(reply) => Ok(reply),
            });
            match outcome {
                Ok(reply) => return Ok(reply),
                Err(Problem::SessionGone(_)) if !renewed => {
                    renewed = true;
                    self.handshake.forget(&session);
                }
                Err(Problem::SessionGone(failure)) => {
                    self.handshake.forget(&session);
                    return Err(failure);
                }
                Err(Problem::Failed(failure)) => {
                    if let Failure::Stopped { sent: true, stop } = failure {
                        dialogue.tell_cancelled(stop);
                    }
                    return Err(failure);
                }
            }
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes sure of a session.
    pub(crate) fn session_ready(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<(), Failure> {
        self.session(scope).map(|_| ())
    }

    fn session(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Session>, Failure> {
        self.handshake.session(scope, || self.open_session(scope).map_err(Failure::before_the_call))
    }

    /// The server went away and may come back as another process: the next call makes a session of its own.
    pub(crate) fn retire_session(&self) {
        if let Some(session) = self.handshake.made() {
            self.handshake.forget(&session);
            let mut retired = self.retired.locked();
            retired.truncate(MOST_RETIRED - 1);
            retired.push(session);
        }
        self.http.clear();
    }

    /// What every request to this server carries.
    pub(super) fn base_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers.locked().iter() {
            // The manifest was checked: its values are fit to be sent.
            if let Ok(mut sent) = HeaderValue::from_str(value.as_str()) {
                sent.set_sensitive(true);
                headers.append(name, sent);
            }
        }
        // Both types, literally: a server answers 406 otherwise.
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
    }

    /// Posts a message and looks at the status of the answer.
    pub(super) fn post(
        &self,
        session: &Session,
        scope: &Arc<Scope>,
        body: &str,
        resend: Resend,
    ) -> Result<Posted, Problem> {
        const WAITS: u32 = 3;
        let mut waits = 0;
        loop {
            let response = self.follow(session, scope, body, resend)?;
            session.take_id(&response.headers);
            let status = response.status;
            if status.is_success() {
                return Ok(Posted::Answer(Box::new(response)));
            }
            if status != StatusCode::TOO_MANY_REQUESTS {
                return self.refused(session, scope, response);
            }
            let wait = retry_after(&response.headers);
            // A request that has to wait was not taken up.
            let left = scope.remaining().map_err(|stop| Problem::Failed(Failure::stopped(stop)))?;
            if waits == WAITS || wait >= left {
                let failure = http_failure(scope, response);
                let told =
                    format!("still after {waits} waits, and the server asks for another of {} s", wait.as_secs());
                return Err(Problem::Failed(failure.explained(&told)));
            }
            response.finish();
            waits += 1;
            scope.sleep(wait).map_err(|stop| Problem::Failed(Failure::stopped(stop)))?;
        }
    }

    /// Follows 307 and 308 within the origin.
    fn follow(&self, session: &Session, scope: &Arc<Scope>, body: &str, resend: Resend) -> Result<Response, Problem> {
        const REDIRECTS: usize = 5;
        let mut uri = self.endpoint.uri().clone();
        for _ in 0..=REDIRECTS {
            let headers = session.headers();
            let request = Request { method: Method::Post, uri: &uri, headers, body: body.as_bytes(), resend };
            let response = self.http.send(scope, &request).map_err(|fault| Problem::Failed(fault.into()))?;
            if !response.status.is_redirection() || response.status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            uri = redirect(&uri, &response).map_err(|reason| Problem::Failed(Failure::unsent(reason)))?;
            response.finish();
        }
        Err(Problem::Failed(Failure::unsent(format!("more than {REDIRECTS} redirects"))))
    }

    /// A status outside 2xx: the end of the session, a refusal, or no answer at all.
    fn refused(&self, session: &Session, scope: &Arc<Scope>, response: Response) -> Result<Posted, Problem> {
        let status = response.status;
        let failure = http_failure(scope, response);
        let Failure::Unreachable { head, .. } = &failure else { return Err(Problem::Failed(failure)) };
        let error = Reply::error_in(&head.text);
        let speaks_of_session =
            || error.as_ref().is_some_and(|error| error.text().to_ascii_lowercase().contains("session"));
        let is_gone = session.has_id()
            && (status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && speaks_of_session()));
        match error {
            _ if is_gone => Err(Problem::SessionGone(failure)),
            Some(error) => Ok(Posted::Refused(error)),
            None => Err(Problem::Failed(failure)),
        }
    }

    /// Whether there is a session to end.
    pub(crate) fn has_session(&self) -> bool {
        self.handshake.made().is_some_and(|session| session.has_id()) || !self.retired.locked().is_empty()
    }

    /// Ends the sessions.
    pub(crate) fn close(&self, scope: &Arc<Scope>) {
        let made = self.handshake.made();
        let retired = std::mem::take(&mut *self.retired.locked());
        for session in made.iter().chain(&retired).filter(|session| session.has_id()) {
            let uri = self.endpoint.uri();
            let mut headers = session.headers();
            headers.remove(header::CONTENT_TYPE);
            let request = Request { method: Method::Delete, uri, headers, body: b"", resend: Resend::Unanswered };
            // Best effort: the server may not know DELETE, or be gone.
            if let Ok(response) = self.http.send(scope, &request) {
                response.finish();
            }
        }
    }

    /// The run is closed: gives up what holds the manifest's headers.
    pub(crate) fn forget_secrets(&self) {
        if let Some(session) = self.handshake.made() {
            self.handshake.forget(&session);
        }
        self.retired.locked().clear();
        self.headers.locked().clear();
        self.http.clear();
    }
}

/// The answer to a message that was posted.
pub(super) enum Posted {
    Answer(Box<Response>),
    /// A JSON-RPC error under a status outside 2xx.
    Refused(Reply),
}

pub(super) enum Problem {
    Failed(Failure),
    /// The server no longer knows the session.
    SessionGone(Failure),
}

impl Problem {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Problem::Failed(failure) | Problem::SessionGone(failure) => failure,
        }
    }
}

impl Failure {
    fn explained(self, told: &str) -> Failure {
        match self {
            Failure::Unreachable { reason, head, sent, lost } => {
                Failure::Unreachable { reason: format!("{reason}, {told}"), head, sent, lost }
            }
            other => other,
        }
    }
}

fn http_failure(scope: &Arc<Scope>, response: Response) -> Failure {
    let status = response.status;
    let head = answer::body_head(response, scope, Vec::new());
    // A request that the server does not accept was not run; one that it failed on may have been.
    let sent = status.is_server_error();
    if let Some(stop) = scope.stopped() {
        return Failure::Stopped { stop, sent };
    }
    Failure::Unreachable { reason: format!("HTTP {status}"), head, sent, lost: false }
}

/// `Retry-After`, in seconds or as a date; a second when it says nothing.
fn retry_after(headers: &HeaderMap) -> Duration {
    let value = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    if let Ok(seconds) = value.parse() {
        return Duration::from_secs(seconds);
    }
    match httpdate::parse_http_date(value) {
        Ok(date) => date.duration_since(SystemTime::now()).unwrap_or_default(),
        Err(_) => Duration::from_secs(1),
    }
}

/// Where a redirect leads, when it is one that is followed (rule 3.9).
fn redirect(from: &Uri, response: &Response) -> Result<Uri, String> {
    let status = response.status;
    let target = response.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let Some(target) = target else { return Err(format!("HTTP {status} without a target")) };
    let shown = shown_target(target);
    let refused = |why: &str| Err(format!("HTTP {status} to {shown}: {why}"));
    if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
        return refused("only 307 and 308 keep a POST what it is");
    }
    let target = target.split('#').next().unwrap_or_default();
    let parsed = if target.starts_with('/') && !target.starts_with("//") {
        let mut parts = from.clone().into_parts();
        parts.path_and_query = target.parse().ok();
        Uri::from_parts(parts).ok()
    } else {
        target.parse::<Uri>().ok()
    };
    match parsed {
        Some(uri) if origin(&uri).is_some() && origin(&uri) == origin(from) => Ok(uri),
        Some(_) => refused("it leaves the origin"),
        None => refused("not a URL"),
    }
}

/// The target of a redirect as an error shows it: without credentials, query and fragment, and not without end.
fn shown_target(target: &str) -> String {
    const LONGEST: usize = 200;
    let target = target.split(['?', '#']).next().unwrap_or_default();
    let shown = match target.split_once("//") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}//{}{path}", authority.rsplit('@').next().unwrap_or_default())
        }
        None => target.to_string(),
    };
    shown.chars().take(LONGEST).collect()
}

/// Scheme, host and port (RFC 6454).
fn origin(uri: &Uri) -> Option<(String, String, u16)> {
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let default = if scheme == "https" { 443 } else { 80 };
    Some((scheme, uri.host()?.to_ascii_lowercase(), uri.port_u16().unwrap_or(default)))
}

/// The text of a JSON-RPC error: `MESSAGE (code N)`.
pub(crate) fn rpc_error_text(error: &str) -> String {
    RpcError::parse(error).to_string()
}
