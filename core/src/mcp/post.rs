//! A message on its way to the server and the head of the answer: redirects, `Retry-After`, statuses.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, Uri, header};

use super::answer::{self, Reply};
use super::client::Server;
use super::failure::Failure;
use super::session::Session;
use crate::cancel::Scope;
use crate::http::{Method, Request, Resend, Response};

/// What is sent in a session.
pub(super) struct Outgoing<'a> {
    pub(super) method: Method,
    /// Beside those of the session.
    pub(super) headers: Option<&'a HeaderMap>,
    pub(super) body: &'a str,
    pub(super) resend: Resend,
}

/// The answer to a message that was posted.
pub(super) enum Posted {
    Answer(Response),
    /// A JSON-RPC error under a status outside 2xx.
    Refused(StatusCode, Reply),
}

/// Why there is none.
pub(super) enum Problem {
    Failed(Failure),
    /// A status outside 2xx without a JSON-RPC error.
    Status(StatusCode, Failure),
    /// The server no longer knows the session.
    SessionGone(Failure),
}

impl Problem {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Problem::Failed(failure) | Problem::Status(_, failure) | Problem::SessionGone(failure) => failure,
        }
    }
}

impl Server {
    /// Posts a message of the handshake era and looks at the status of the answer.
    pub(super) fn post(&self, session: &Session, scope: &Arc<Scope>, body: &str) -> Result<Posted, Problem> {
        let outgoing = Outgoing { method: Method::Post, headers: None, body, resend: Resend::Unanswered };
        self.send(session, scope, &outgoing)
    }

    /// Sends a message, waits where the server asks for it, and looks at the status of the answer.
    pub(super) fn send(&self, session: &Session, scope: &Arc<Scope>, outgoing: &Outgoing) -> Result<Posted, Problem> {
        const WAITS: u32 = 3;
        let mut waits = 0;
        loop {
            let response = self.follow(session, scope, outgoing).map_err(Problem::Failed)?;
            session.take_id(&response.headers);
            let status = response.status;
            if status.is_success() {
                return Ok(Posted::Answer(response));
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
    pub(super) fn follow(
        &self,
        session: &Session,
        scope: &Arc<Scope>,
        outgoing: &Outgoing,
    ) -> Result<Response, Failure> {
        const REDIRECTS: usize = 5;
        let mut uri = self.endpoint.uri().clone();
        for _ in 0..=REDIRECTS {
            let mut headers = session.headers();
            if outgoing.method != Method::Post {
                Arc::make_mut(&mut headers).remove(header::CONTENT_TYPE);
            }
            if let Some(more) = outgoing.headers {
                Arc::make_mut(&mut headers).extend(more.clone());
            }
            let Outgoing { method, body, resend, .. } = *outgoing;
            let request = Request { method, uri: &uri, headers: &headers, body: body.as_bytes(), resend };
            let response = self.deliver(scope, &request)?;
            if !response.status.is_redirection() || response.status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            uri = redirect(&uri, &response).map_err(Failure::unsent)?;
            response.finish();
        }
        Err(Failure::unsent(format!("more than {REDIRECTS} redirects")))
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
            Some(error) => Ok(Posted::Refused(status, error)),
            None => Err(Problem::Status(status, failure)),
        }
    }
}

pub(super) fn http_failure(scope: &Arc<Scope>, response: Response) -> Failure {
    let status = response.status;
    let head = answer::body_head(response, scope, Vec::new());
    // A request that the server does not accept was not run; one that it failed on may have been.
    let sent = status.is_server_error();
    if let Some(stop) = scope.stopped() {
        return Failure::Stopped { stop, sent, awaited: None };
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
    let parsed = resolved(from, target);
    match parsed {
        Some(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            refused("credentials in it")
        }
        Some(uri) if origin(&uri).is_some() && origin(&uri) == origin(from) => Ok(uri),
        Some(_) => refused("it leaves the origin"),
        None => refused("not a URL"),
    }
}

/// A target as RFC 3986, section 5.2, has it: a whole URL, or the parts of one that differ.
fn resolved(from: &Uri, target: &str) -> Option<Uri> {
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let has_scheme = target.find(':').is_some_and(|colon| !target[..colon].contains(['/', '?']));
    if has_scheme {
        return target.parse().ok();
    }
    if target.starts_with("//") {
        return format!("{scheme}:{target}").parse().ok();
    }
    let folder = from.path().rfind('/').map_or("/", |end| &from.path()[..=end]);
    let target = match target.as_bytes().first() {
        Some(b'/') => target.to_string(),
        Some(b'?') | None => format!("{}{target}", from.path()),
        Some(_) => format!("{folder}{target}"),
    };
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    format!("{scheme}://{authority}{}{query}", without_dots(path)).parse().ok()
}

/// The path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut segments = Vec::new();
    let ends_in_dots = matches!(path.rsplit('/').next(), Some("." | ".."));
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let end = if ends_in_dots && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/"))
}

/// The target of a redirect as an error shows it: without credentials, query and fragment. It is not cut, since it has yet
/// to be scrubbed.
pub(super) fn shown_target(target: &str) -> String {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    match target.split_once("//") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}//{}{path}", authority.rsplit('@').next().unwrap_or_default())
        }
        None => target.to_string(),
    }
}

/// Scheme, host and port (RFC 6454).
fn origin(uri: &Uri) -> Option<(String, String, u16)> {
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let default = if scheme == "https" { 443 } else { 80 };
    Some((scheme, uri.host()?.to_ascii_lowercase(), uri.port_u16().unwrap_or(default)))
}
