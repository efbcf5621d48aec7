//! A request and what it takes to get its response: a session, the right revision, the rounds of an interim result.

use std::sync::Arc;

use http::StatusCode;

use super::answer::{Reader, Reply};
use super::ask::Ask;
use super::client::{Server, ToolCall};
use super::dialogue::Dialogue;
use super::era::{self, Answer, Body, Sign};
use super::failure::Failure;
use super::interim::{self, Kind};
use super::listing::ListFailure;
use super::message::RpcError;
use super::post::{Outgoing, Posted, Problem};
use super::session::Session;
use crate::cancel::Scope;
use crate::http::Method;

impl Server {
    /// Calls a tool.
    pub(crate) fn call(self: &Arc<Self>, scope: &Arc<Scope>, call: &ToolCall) -> Result<Reply, Failure> {
        let ask = Ask::call(call, self.catalog.params(call.tool));
        self.request(scope, ask).map(|response| response.reply)
    }

    /// Sends a request until it has its response.
    pub(super) fn request(self: &Arc<Self>, scope: &Arc<Scope>, ask: Ask) -> Result<Response, Failure> {
        let (renewed, turned, refreshed, rounds) = (false, false, false, 0);
        let mut pursuit = Pursuit { server: self, scope, ask, renewed, turned, refreshed, rounds };
        loop {
            if let Some(response) = pursuit.step()? {
                return Ok(response);
            }
        }
    }
}

/// The response to a request.
pub(super) struct Response {
    pub(super) reply: Reply,
    /// Whether the server spoke 2026-07-28.
    pub(super) is_modern: bool,
}

struct Answered {
    status: StatusCode,
    reply: Reply,
}

/// A request under way. Each thing that sends it again does so once, but for the rounds, which are counted.
struct Pursuit<'a> {
    server: &'a Arc<Server>,
    scope: &'a Arc<Scope>,
    ask: Ask<'a>,
    /// The session was made anew.
    renewed: bool,
    /// Another revision was turned to.
    turned: bool,
    /// The list of tools was asked for anew.
    refreshed: bool,
    rounds: u32,
}

impl Pursuit<'_> {
    /// Sends the request. None when it has to be sent again.
    fn step(&mut self) -> Result<Option<Response>, Failure> {
        let session = self.server.session(self.scope)?;
        let outcome = self.exchange(&session);
        if self.turns(&session, &outcome)? {
            return Ok(None);
        }
        match outcome {
            Ok(answered) if session.is_modern() => self.look_at(answered.reply),
            Ok(answered) => Ok(Some(Response { reply: answered.reply, is_modern: false })),
            Err(Problem::SessionGone(failure)) => {
                self.server.forget(&session);
                if std::mem::replace(&mut self.renewed, true) { Err(failure) } else { Ok(None) }
            }
            Err(problem) => Err(problem.into_failure()),
        }
    }

    fn exchange(&self, session: &Arc<Session>) -> Result<Answered, Problem> {
        let Pursuit { server, scope, ask, .. } = self;
        let id = server.next_id();
        let (body, headers) = match session.revision().filter(|revision| revision.is_modern()) {
            Some(revision) => (ask.alone(id, revision, server.limits.elicitation), Some(ask.headers())),
            None => (ask.in_session(id), None),
        };
        let outgoing = Outgoing { method: Method::Post, headers: headers.as_ref(), body: &body, resend: ask.resend() };
        let mut dialogue = Dialogue { server, session, id, progress: ask.progress() };
        let outcome = server.send(session, scope, &outgoing).and_then(|posted| match posted {
            Posted::Answer(response) => {
                let status = response.status;
                let reader = Reader { server, session, scope, id };
                let reply = reader.read(response, &mut dialogue).map_err(Problem::Failed)?;
                Ok(Answered { status, reply })
            }
            Posted::Refused(status, reply) => Ok(Answered { status, reply }),
        });
        if let Err(Problem::Failed(Failure::Stopped { sent: true, stop, .. })) = &outcome {
            dialogue.tell_cancelled(*stop);
        }
        outcome
    }

    /// Whether the server shows that it speaks another revision, which is then turned to.
    fn turns(&mut self, session: &Arc<Session>, outcome: &Result<Answered, Problem>) -> Result<bool, Failure> {
        let (status, body) = match outcome {
            Ok(Answered { status, reply }) if reply.is_error() => (*status, Body::Error(reply.text())),
            Ok(Answered { status, .. }) => (*status, Body::Result),
            Err(Problem::Status(status, _)) => (*status, Body::Other),
            Err(_) => return Ok(false),
        };
        let answer = Answer { status, body };
        let sign = match session.revision() {
            Some(revision) if !revision.is_modern() => era::of_session(answer, revision),
            _ => era::of_modern(answer, session.is_sure(), self.server.with_handshake()),
        };
        match sign {
            Sign::None => Ok(false),
            Sign::Right => {
                session.make_sure();
                Ok(false)
            }
            Sign::Other(revision) if !revision.is_modern() && session.is_without_choice() => {
                match body {
                    Body::Error(_) => session.make_sure(),
                    // What refused the handshake may have been something before the server: the next call begins anew.
                    _ => self.server.forget(session),
                }
                Ok(false)
            }
            Sign::Other(revision) if !self.turned => {
                self.turned = true;
                self.server.turn_to(revision, session);
                Ok(true)
            }
            Sign::Other(_) => Ok(false),
            Sign::Unknown(names) => Err(Failure::unknown_revisions(&names)),
        }
    }

    /// Looks at an answer of 2026-07-28. None when it is not the last one.
    fn look_at(&mut self, reply: Reply) -> Result<Option<Response>, Failure> {
        if reply.is_error() {
            let again = RpcError::parse(reply.text()).has_code(era::HEADER_MISMATCH) && self.refresh()?;
            return Ok((!again).then_some(Response { reply, is_modern: true }));
        }
        match interim::kind(reply.text()) {
            Kind::Complete => Ok(Some(Response { reply, is_modern: true })),
            Kind::InputRequired(_) if self.rounds == interim::MOST_ROUNDS => {
                Err(interim::required(&format!("still after {} rounds", interim::MOST_ROUNDS)))
            }
            Kind::InputRequired(needs) => {
                self.rounds += 1;
                self.ask.answers = Some(interim::answers(&needs, self.server.limits.elicitation)?);
                Ok(None)
            }
            Kind::Unknown(name) => Err(Failure::answered(format!("a result of type {name}, which is not known"))),
        }
    }

    /// Looks for the headers that the server misses: in its list as it is known by now, else in a new one. True when it
    /// is worth asking again.
    fn refresh(&mut self) -> Result<bool, Failure> {
        let Some(tool) = self.ask.tool() else { return Ok(false) };
        if std::mem::replace(&mut self.refreshed, true) {
            return Ok(false);
        }
        if self.server.catalog.params(tool) == self.ask.params && !self.list_anew()? {
            return Ok(false);
        }
        self.ask.params = self.server.catalog.params(tool);
        Ok(true)
    }

    /// Asks for a new list, once for all calls that miss headers at the same time. False when there is none: what the
    /// server said of the call stands.
    fn list_anew(&self) -> Result<bool, Failure> {
        let ask = || match self.server.ask_for_list(self.scope) {
            Ok(_) => Ok(Arc::default()),
            // The server has refused the call: it was not run, whatever becomes of the list.
            Err(ListFailure::Failed(Failure::Stopped { stop, .. })) => Err(Failure::stopped(stop)),
            Err(ListFailure::Failed(failure)) => Err(failure),
            Err(ListFailure::Refused(reason)) => Err(Failure::answered(reason)),
        };
        match self.server.listing_anew.get(self.scope, |_| false, ask) {
            Ok(_) => Ok(true),
            Err(failure) if failure.is_stop() => Err(failure),
            Err(_) => Ok(false),
        }
    }
}
