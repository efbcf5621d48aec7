//! A stream that was broken off before the response is asked for what is left of it (rule 3.7; 2025-11-25,
//! `basic/transports`, "Resumability and Redelivery").

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::answer::{Form, form, unreadable};
use super::client::Server;
use super::failure::Failure;
use super::post::{Outgoing, http_failure};
use super::session::Session;
use crate::cancel::Scope;
use crate::http::sse::Position;
use crate::http::{Method, Resend, Response};

/// How long the server is left alone when it does not say.
const USUAL_WAIT: Duration = Duration::from_millis(500);

/// However little the server asks for.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

/// So long at the most, unless the server asks for more.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A stream that stays open for so long was worth opening, also when it brought nothing.
pub(super) const LONG_ENOUGH: Duration = Duration::from_secs(5);

/// How many attempts in a row may bring nothing.
const MOST_IN_VAIN: u32 = 3;

pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The stream of one request, as far as it can be resumed.
pub(super) struct Resume<'a> {
    server: &'a Server,
    session: &'a Session,
    scope: &'a Arc<Scope>,
    /// Attempts since something last came.
    in_vain: u32,
    opened: Instant,
}

impl<'a> Resume<'a> {
    pub(super) fn new(server: &'a Server, session: &'a Session, scope: &'a Arc<Scope>) -> Resume<'a> {
        Resume { server, session, scope, in_vain: 0, opened: Instant::now() }
    }

    /// Opens the stream again where it stands. `ended` is how it was broken off: the failure when it cannot be resumed.
    pub(super) fn again(&mut self, position: &Position, has_news: bool, ended: Failure) -> Result<Response, Failure> {
        let id = HeaderValue::from_bytes(&position.last_id).ok().filter(|id| !id.is_empty());
        // 2026-07-28 has no streams that can be resumed.
        let Some(id) = id.filter(|_| !self.session.is_modern()) else { return Err(ended) };
        if has_news || self.opened.elapsed() >= LONG_ENOUGH {
            self.in_vain = 0;
        }
        let mut cause = None;
        while self.in_vain < MOST_IN_VAIN {
            self.wait(position.retry.unwrap_or(USUAL_WAIT).max(SHORTEST_WAIT), &ended)?;
            self.in_vain += 1;
            match self.get(&id) {
                Ok(response) if response.status.is_success() => {
                    self.opened = Instant::now();
                    return match is_stream(&response) {
                        true => Ok(response),
                        false => Err(unreadable(response, self.scope, Vec::new()).because_of(&ended)),
                    };
                }
                Ok(response) => {
                    let status = response.status;
                    let failure = http_failure(self.scope, response);
                    if !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS {
                        return Err(failure.because_of(&ended));
                    }
                    cause = Some(failure);
                }
                Err(failure) if failure.is_lost() => cause = Some(failure),
                Err(failure) => return Err(failure.because_of(&ended)),
            }
        }
        let told = format!("still nothing after {MOST_IN_VAIN} attempts to resume it");
        Err(cause.map_or(ended.clone(), |cause| cause.because_of(&ended)).explained(&told))
    }

    /// The wait grows with each attempt that brought nothing.
    fn wait(&self, first: Duration, ended: &Failure) -> Result<(), Failure> {
        /// A shorter wait is not worth giving up for: the call's time ends meanwhile.
        const WORTH_GIVING_UP: Duration = Duration::from_secs(1);
        let grown = first.saturating_mul(1 << self.in_vain).min(LONGEST_WAIT.max(first));
        let stopped = |stop| Failure::stopped(stop).after_the_call();
        if grown >= WORTH_GIVING_UP.max(self.scope.remaining().map_err(stopped)?) {
            let told =
                format!("the wait of {} ms before it can be resumed is longer than the call's time", grown.as_millis());
            return Err(ended.clone().explained(&told));
        }
        self.scope.sleep(grown).map_err(stopped)
    }

    fn get(&self, id: &HeaderValue) -> Result<Response, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(LAST_EVENT_ID, id.clone());
        let outgoing = Outgoing { method: Method::Get, headers: Some(&headers), body: "", resend: Resend::Unanswered };
        self.server.follow(self.session, self.scope, &outgoing).map_err(Failure::after_the_call)
    }
}

pub(super) fn is_stream(response: &Response) -> bool {
    form(&response.headers).is_none_or(|form| form == Form::Stream)
}
