//! The handshake, which makes a session.

use std::sync::Arc;

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
use crate::cancel::Scope;

impl Server {
    /// What stands for an agreement with the server: made by a handshake, unless it is known to have none.
    pub(super) fn open_session(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Session>, Failure> {
        let first = self.begins_with();
        let other = match self.begin(scope, first)? {
            Begun::Session(session) => return Ok(session),
            Begun::Other { revision, .. } => revision,
        };
        self.turned.set(other);
        if other.is_modern() && !first.is_modern() {
            return Ok(Arc::new(Session::without_choice(other, self.base_headers())));
        }
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
                (status, reader.read(response, &mut dialogue)?)
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
