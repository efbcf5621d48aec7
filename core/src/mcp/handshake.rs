//! The handshake is made once, at the first use, by the first caller; the others wait for it.

use std::sync::{Arc, Condvar, Mutex};

use serde::Deserialize;

use super::answer::Reader;
use super::ask::CLIENT_NAME;
use super::client::{Server, rpc_error_text};
use super::dialogue::Dialogue;
use super::elicitation::capabilities;
use super::era::{self, Answer, Body, Sign};
use super::failure::Failure;
use super::message;
use super::post::{Posted, Problem};
use super::session::{Revision, Session};
use crate::SDK_VERSION;
use crate::cancel::{Interrupt, Scope};
use crate::lock::Lock;

#[derive(Default)]
pub(super) struct Handshake {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    standing: Standing,
    /// Counts the attempts.
    attempt: u64,
    /// How the latest attempt failed, for those who waited for it.
    failed: Option<(u64, Failure)>,
}

#[derive(Default)]
enum Standing {
    #[default]
    None,
    Running,
    Made(Arc<Session>),
}

impl Interrupt for Handshake {
    fn interrupt(&self) {
        // The lock makes sure that a waiter either sees the stop or is already waiting.
        let _state = self.state.locked();
        self.changed.notify_all();
    }
}

impl Handshake {
    /// The session, made by `open` if there is none. Callers that come while it is being made share the attempt and its
    /// failure, but not the end of the first caller's own time: then the next of them tries.
    pub(super) fn session(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        open: impl FnOnce() -> Result<Arc<Session>, Failure>,
    ) -> Result<Arc<Session>, Failure> {
        let mut state = self.state.locked();
        loop {
            match &state.standing {
                Standing::Made(session) => return Ok(session.clone()),
                Standing::None => break,
                Standing::Running => {
                    let awaited = state.attempt;
                    drop(state);
                    self.wait(scope, awaited)?;
                    state = self.state.locked();
                    match &state.failed {
                        Some((attempt, failure)) if *attempt == awaited && !failure.is_stop() => {
                            return Err(failure.clone());
                        }
                        _ => {}
                    }
                }
            }
        }
        state.standing = Standing::Running;
        state.attempt += 1;
        let leading = Leading { handshake: self, attempt: state.attempt };
        drop(state);
        leading.finish(open())
    }

    fn wait(self: &Arc<Self>, scope: &Arc<Scope>, attempt: u64) -> Result<(), Failure> {
        let _entered = scope.enter(self.clone()).map_err(Failure::stopped)?;
        let mut state = self.state.locked();
        while matches!(state.standing, Standing::Running) && state.attempt == attempt {
            let left = scope.remaining().map_err(Failure::stopped)?;
            state = match self.changed.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        Ok(())
    }

    /// The session, if one was made.
    pub(super) fn made(&self) -> Option<Arc<Session>> {
        match &self.state.locked().standing {
            Standing::Made(session) => Some(session.clone()),
            _ => None,
        }
    }

    /// The server no longer knows this session: the next caller makes another. False when it has already been made.
    pub(super) fn forget(&self, session: &Arc<Session>) -> bool {
        let mut state = self.state.locked();
        let is_this = matches!(&state.standing, Standing::Made(made) if Arc::ptr_eq(made, session));
        if is_this {
            state.standing = Standing::None;
        }
        is_this
    }
}

/// The attempt under way. Whatever ends it, a panic too, the others get to know.
struct Leading<'a> {
    handshake: &'a Handshake,
    attempt: u64,
}

impl Leading<'_> {
    fn finish(self, outcome: Result<Arc<Session>, Failure>) -> Result<Arc<Session>, Failure> {
        let mut state = self.handshake.state.locked();
        match &outcome {
            Ok(session) => state.standing = Standing::Made(session.clone()),
            Err(failure) => state.failed = Some((self.attempt, failure.clone())),
        }
        drop(state);
        outcome
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let mut state = self.handshake.state.locked();
        if matches!(state.standing, Standing::Running) {
            state.standing = Standing::None;
        }
        self.handshake.changed.notify_all();
    }
}

impl Server {
    /// What stands for an agreement with the server: made by a handshake, unless it is known to have none.
    pub(super) fn open_session(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Session>, Failure> {
        let first = self.begins_with();
        let other = match self.begin(scope, first)? {
            Begun::Session(session) => return Ok(session),
            Begun::Other { revision, .. } => revision,
        };
        self.turned.set(other);
        match self.begin(scope, other)? {
            Begun::Session(session) => Ok(session),
            Begun::Other { failure, .. } => Err(failure),
        }
    }

    fn begin(self: &Arc<Self>, scope: &Arc<Scope>, revision: Revision) -> Result<Begun, Failure> {
        match revision.is_modern() {
            true => Ok(Begun::Session(Arc::new(Session::without_handshake(revision, self.base_headers())))),
            false => self.shake_hands(scope, revision),
        }
    }

    /// `initialize` and `notifications/initialized` (rule 3.1).
    fn shake_hands(self: &Arc<Self>, scope: &Arc<Scope>, asked: Revision) -> Result<Begun, Failure> {
        let session = Arc::new(Session::new(self.base_headers()));
        let id = self.next_id();
        let members = format!(
            r#""protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"{CLIENT_NAME}","version":"{SDK_VERSION}"}}"#,
            asked.as_str(),
            capabilities(self.limits.elicitation),
        );
        let body = message::request(id, "initialize", &members);
        let (status, reply) = match self.post(&session, scope, &body).map_err(Problem::into_failure)? {
            Posted::Answer(response) => {
                let status = response.status;
                let mut dialogue = Dialogue { server: self, session: &session, id, progress: None };
                let reader = Reader { server: self, session: &session, scope, id };
                (status, reader.read(*response, &mut dialogue)?)
            }
            Posted::Refused(status, reply) => (status, reply),
        };
        if reply.is_error() {
            let failure = Failure::answered(rpc_error_text(reply.text()));
            let answer = Answer { status, body: Body::Error(reply.text()) };
            return match era::of_initialize(answer, asked) {
                Sign::Other(revision) => Ok(Begun::Other { revision, failure }),
                Sign::Unknown(names) => Err(Failure::unknown_revisions(&names)),
                Sign::None | Sign::Right => Err(failure),
            };
        }
        session.agree(offered_revision(reply.text())?);
        let text = message::notification("notifications/initialized", None);
        match self.post(&session, scope, &text).map_err(Problem::into_failure)? {
            Posted::Answer(response) => response.finish(),
            Posted::Refused(_, reply) => {
                return Err(Failure::answered(format!("notifications/initialized: {}", rpc_error_text(reply.text()))));
            }
        }
        self.listen(&session, scope)?;
        Ok(Begun::Session(session))
    }
}

enum Begun {
    Session(Arc<Session>),
    /// The server refuses and shows that it speaks another revision.
    Other {
        revision: Revision,
        failure: Failure,
    },
}

/// The revision that the server offers in its answer.
fn offered_revision(result: &str) -> Result<Revision, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
    }
    let offered = serde_json::from_str::<Initialized>(result)
        .map_err(|_| Failure::answered("the server named no protocol version".into()))?
        .protocol_version;
    // One that has no handshake cannot be agreed on in one.
    Revision::parse(&offered)
        .filter(|revision| !revision.is_modern())
        .ok_or_else(|| Failure::answered(format!("the server offers protocol version {offered}, which is not known")))
}
