//! The stream on which a server asks what belongs to no request of ours (2025-03-26 to 2025-11-25, `basic/transports`,
//! "Listening for Messages from the Server"). It is opened when the run can answer anything there: an elicitation.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue, header};

use super::answer::Incoming;
use super::client::Server;
use super::dialogue::Dialogue;
use super::failure::Failure;
use super::message::Message;
use super::post::Outgoing;
use super::resume::{LAST_EVENT_ID, LONG_ENOUGH, is_stream};
use super::session::Session;
use crate::cancel::{Bell, Interrupt, Scope};
use crate::http::{Method, Resend, Response, sse};
use crate::options::Elicitation;

/// How long the server is left alone when it does not say.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// How many attempts in a row may bring nothing.
const MOST_IN_VAIN: u32 = 3;

impl Server {
    /// Opens the stream and waits until it is open, but not for long: a server may not have one, or hold its answer back.
    pub(super) fn listen(self: &Arc<Self>, session: &Arc<Session>, scope: &Arc<Scope>) -> Result<(), Failure> {
        const LIMIT: Duration = Duration::from_secs(2);
        const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
        if self.limits.elicitation == Elicitation::Decline {
            return Ok(());
        }
        let opened = Arc::new(Bell::default());
        // A server that holds the head of its answer back must not cost the call.
        let limit = LIMIT.min(scope.remaining().map_err(Failure::stopped)? / 4);
        let (server, session, bell) = (Arc::downgrade(self), Arc::downgrade(session), RingAtEnd(opened.clone()));
        self.listener.replace(self.background.accompany(FOR_EVER, move |scope| {
            let mut listener = Listener { server, session, scope, bell, parser: sse::Parser::default() };
            listener.listen();
        }));
        scope.wait(&opened, limit).map_err(Failure::stopped)
    }
}

/// Also when the listener gets no thread.
struct RingAtEnd(Arc<Bell>);

impl Drop for RingAtEnd {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

struct Listener<'a> {
    server: Weak<Server>,
    session: Weak<Session>,
    scope: &'a Arc<Scope>,
    /// Rung when the stream is open, or will not be.
    bell: RingAtEnd,
    parser: sse::Parser,
}

impl Listener<'_> {
    fn listen(&mut self) {
        let mut in_vain = 0;
        while in_vain < MOST_IN_VAIN {
            in_vain += 1;
            match self.open() {
                Some(Ok(response)) if response.status.is_success() && is_stream(&response) => {
                    self.bell.0.interrupt();
                    let opened = Instant::now();
                    self.read(response);
                    if self.parser.has_news() || opened.elapsed() >= LONG_ENOUGH {
                        in_vain = 0;
                    }
                    self.parser.reconnect();
                }
                // It has none.
                Some(Ok(_)) => return,
                Some(Err(failure)) if failure.is_lost() => {}
                Some(Err(_)) | None => return,
            }
            let wait = self.parser.position().retry.unwrap_or(USUAL_WAIT).max(USUAL_WAIT);
            if self.scope.sleep(wait).is_err() {
                return;
            }
        }
    }

    /// None when the session is no more.
    fn open(&self) -> Option<Result<Response, Failure>> {
        let (server, session) = (self.server.upgrade()?, self.session.upgrade()?);
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let last_id = &self.parser.position().last_id;
        if let Ok(id) = HeaderValue::from_bytes(last_id)
            && !id.is_empty()
        {
            headers.insert(LAST_EVENT_ID, id);
        }
        let outgoing = Outgoing { method: Method::Get, headers: Some(&headers), body: "", resend: Resend::Unanswered };
        Some(server.follow(&session, self.scope, &outgoing))
    }

    fn read(&mut self, mut response: Response) {
        let mut buffer = vec![0; 8 * 1024];
        while let Ok(filled) = response.read(self.scope, &mut buffer) {
            if filled == 0 {
                return;
            }
            let (server, session) = (self.server.upgrade(), self.session.upgrade());
            let (Some(server), Some(session)) = (&server, &session) else { return };
            // No request of ours has this id.
            let mut dialogue = Dialogue { server, session, id: 0, progress: None };
            self.parser.push(&buffer[..filled], |data| {
                if let Ok(message) =
                    std::str::from_utf8(&data).map_err(drop).and_then(|text| Message::parse(text).map_err(drop))
                {
                    // What ends a call on its own stream has nothing to end here.
                    let _ = dialogue.take(&message);
                }
                true
            });
            if self.parser.pending() as u64 > server.limits.max_response_bytes {
                return;
            }
        }
    }
}
