//! One MCP server, as verifi speaks to it: a request in its session, and what came of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::ask::Ask;
use super::auth::Authorization;
use super::catalog::Catalog;
use super::era;
use super::failure::Failure;
use super::message::RpcError;
use super::session::{Revision, Session};
use super::shared::Shared;
use crate::background::Background;
use crate::cancel::{Scope, Stop};
use crate::http::{Client, Method, Request, Resend, add_standing_headers};
use crate::lock::Lock;
use crate::manifest::{Endpoint, SecretValue, ServerSpec};
use crate::options::Elicitation;
use crate::progress::ProgressFn;
use crate::run_secrets::RunSecrets;

/// How many sessions that were given up are ended with the run. A server that comes and goes leaves no more.
const MOST_RETIRED: usize = 16;

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
    pub(super) endpoint: Endpoint,
    /// The revision that the manifest names.
    asked: Option<Revision>,
    /// The one that the server turned out to speak instead.
    pub(super) turned: Turned,
    headers: Mutex<Vec<(HeaderName, SecretValue)>>,
    pub(super) authorization: Option<Arc<Authorization>>,
    pub(super) limits: ServerLimits,
    pub(super) http: Client,
    pub(super) background: Arc<Background>,
    session: Arc<Shared<Session>>,
    next_id: AtomicU64,
    /// Sessions that were given up, to be ended with the run.
    retired: Mutex<Vec<Arc<Session>>>,
    pub(crate) catalog: Catalog,
    /// A list that is being asked for since calls missed headers.
    pub(super) listing_anew: Arc<Shared<()>>,
    pub(super) listener: Listening,
    /// How many answers to questions of the server's are under way.
    pub(super) answering: AtomicUsize,
}

impl Server {
    pub(crate) fn new(
        spec: &ServerSpec,
        limits: ServerLimits,
        background: Arc<Background>,
        secrets: &Arc<RunSecrets>,
    ) -> Arc<Server> {
        let authorization = |auth| Authorization::new(auth, &spec.endpoint, secrets.keyring(), background.clone());
        Arc::new(Server {
            endpoint: spec.endpoint.clone(),
            asked: spec.protocol_version.as_deref().and_then(Revision::parse),
            turned: Turned::default(),
            headers: Mutex::new(spec.headers.clone()),
            authorization: spec.auth.as_ref().map(authorization),
            limits,
            background,
            http: Client::default(),
            session: Arc::default(),
            next_id: AtomicU64::new(1),
            retired: Mutex::default(),
            catalog: Catalog::default(),
            listing_anew: Arc::default(),
            listener: Listening::default(),
            answering: AtomicUsize::new(0),
        })
    }

    /// The endpoint as errors and events show it.
    pub(crate) fn shown(&self) -> &Arc<str> {
        self.endpoint.shown()
    }

    /// The revision that was agreed on, or that the server has shown to speak.
    pub(crate) fn revision(&self) -> Option<Revision> {
        let session = self.session.made()?;
        session.revision().filter(|revision| !revision.is_modern() || session.is_sure())
    }

    /// What the server is first spoken to in.
    pub(super) fn begins_with(&self) -> Revision {
        self.turned.get().or(self.asked).unwrap_or(era::DEFAULT)
    }

    /// What a handshake asks for.
    pub(super) fn with_handshake(&self) -> Revision {
        let asked = self.asked.unwrap_or(era::DEFAULT);
        if asked.is_modern() { era::NEWEST_WITH_HANDSHAKE } else { asked }
    }

    /// The server speaks another revision than the session.
    pub(super) fn turn_to(&self, revision: Revision, session: &Arc<Session>) {
        self.turned.set(revision);
        self.forget(session);
    }

    /// The next request begins with the server anew.
    pub(super) fn forget(&self, session: &Arc<Session>) {
        if self.session.forget(session) {
            self.listener.stop();
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Finds out whether the server answers, by what a session begins with.
    pub(crate) fn probe(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<(), Failure> {
        if self.session(scope)?.is_modern() {
            self.request(scope, Ask::new("server/discover", String::new()))?;
        }
        Ok(())
    }

    pub(super) fn session(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Session>, Failure> {
        self.session.get(scope, |_| true, || self.open_session(scope).map_err(Failure::before_the_call))
    }

    /// The server went away and may come back as another process: the next call makes a session of its own.
    pub(crate) fn retire_session(&self) {
        if let Some(session) = self.session.made() {
            self.forget(&session);
            if session.has_id() {
                let mut retired = self.retired.locked();
                retired.truncate(MOST_RETIRED - 1);
                retired.push(session);
            }
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
        add_standing_headers(&mut headers, self.endpoint.uri());
        headers
    }

    /// Whether there is a session to end.
    pub(crate) fn has_session(&self) -> bool {
        self.session.made().is_some_and(|session| session.has_id()) || !self.retired.locked().is_empty()
    }

    /// Ends the sessions.
    pub(crate) fn close(&self, scope: &Arc<Scope>) {
        let made = self.session.made();
        let retired = std::mem::take(&mut *self.retired.locked());
        for session in made.iter().filter(|session| session.has_id()).chain(&retired) {
            let uri = self.endpoint.uri();
            let mut headers = HeaderMap::clone(&session.headers());
            headers.remove(header::CONTENT_TYPE);
            let headers = &headers;
            let request = Request { method: Method::Delete, uri, headers, body: b"", resend: Resend::Unanswered };
            // Best effort: the server may not know DELETE, or be gone.
            if let Ok(response) = self.deliver(scope, &request) {
                response.finish();
            }
        }
    }

    /// The run is closed: gives up what holds the manifest's headers.
    pub(crate) fn forget_secrets(&self) {
        if let Some(session) = self.session.made() {
            self.forget(&session);
        }
        self.retired.locked().clear();
        self.catalog.clear();
        self.headers.locked().clear();
        if let Some(authorization) = &self.authorization {
            authorization.forget_secrets();
        }
        self.http.clear();
    }
}

/// The text of a JSON-RPC error: `MESSAGE (code N)`.
pub(crate) fn rpc_error_text(error: &str) -> String {
    RpcError::parse(error).to_string()
}

/// A revision that was found out, kept for the sessions to come.
#[derive(Default)]
pub(super) struct Turned(Mutex<Option<Revision>>);

impl Turned {
    pub(super) fn get(&self) -> Option<Revision> {
        *self.0.locked()
    }

    pub(super) fn set(&self, revision: Revision) {
        *self.0.locked() = Some(revision);
    }
}

/// What stops the thread that listens, if one does.
#[derive(Default)]
pub(super) struct Listening(Mutex<Option<Arc<Scope>>>);

impl Listening {
    pub(super) fn replace(&self, scope: Arc<Scope>) {
        let before = self.0.locked().replace(scope);
        if let Some(before) = before {
            before.stop(Stop::Closed);
        }
    }

    fn stop(&self) {
        let scope = self.0.locked().take();
        if let Some(scope) = scope {
            scope.stop(Stop::Closed);
        }
    }
}
