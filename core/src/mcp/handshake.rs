//! The handshake is made once, at the first use, by the first caller; the others wait for it.

use std::sync::{Arc, Condvar, Mutex};

use serde::Deserialize;

use super::answer::Reader;
use super::client::{Failure, Posted, Problem, Server, rpc_error_text};
use super::dialogue::Dialogue;
use super::message;
use super::session::{Revision, Session};
use crate::SDK_VERSION;
use crate::cancel::{Interrupt, Scope};
use crate::http::Resend;
use crate::lock::Lock;
use crate::options::Elicitation;

const CLIENT_NAME: &str = "verifi-harness-sdk";

/// What is asked for when the manifest says nothing.
const DEFAULT_REVISION: Revision = Revision::V2024_11_05;

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

    /// The server no longer knows this session: the next caller makes another.
    pub(super) fn forget(&self, session: &Arc<Session>) {
        let mut state = self.state.locked();
        if matches!(&state.standing, Standing::Made(made) if Arc::ptr_eq(made, session)) {
            state.standing = Standing::None;
        }
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
    /// `initialize` and `notifications/initialized` (rule 3.1).
    pub(super) fn open_session(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Session>, Failure> {
        let session = Arc::new(Session::new(self.base_headers()));
        let id = self.next_id();
        let asked = self.protocol_version.as_deref().unwrap_or(DEFAULT_REVISION.as_str());
        let capabilities = match self.limits.elicitation {
            Elicitation::Decline => "{}",
            Elicitation::Defaults => r#"{"elicitation":{}}"#,
        };
        let params = format!(
            r#"{{"protocolVersion":{},"capabilities":{capabilities},"clientInfo":{{"name":"{CLIENT_NAME}","version":"{SDK_VERSION}"}}}}"#,
            message::quoted(asked)
        );
        let body = message::request(id, "initialize", &params);
        let response = match self.post(&session, scope, &body, Resend::Unanswered).map_err(Problem::into_failure)? {
            Posted::Answer(response) => response,
            Posted::Refused(reply) => return Err(Failure::answered(rpc_error_text(reply.text()))),
        };
        let mut dialogue = Dialogue { server: self, session: &session, id, progress: None };
        let reader = Reader { scope, id, limit: self.limits.max_response_bytes };
        let reply = reader.read(*response, &mut dialogue)?;
        if reply.is_error() {
            return Err(Failure::answered(rpc_error_text(reply.text())));
        }
        session.agree(offered_revision(reply.text())?);
        let text = message::notification("notifications/initialized", None);
        match self.post(&session, scope, &text, Resend::Unanswered).map_err(Problem::into_failure)? {
            Posted::Answer(response) => response.finish(),
            Posted::Refused(reply) => {
                return Err(Failure::answered(format!("notifications/initialized: {}", rpc_error_text(reply.text()))));
            }
        }
        Ok(session)
    }
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
    Revision::parse(&offered)
        .ok_or_else(|| Failure::answered(format!("the server offers protocol version {offered}, which is not known")))
}
