//! What a server and verifi have agreed on: the protocol's revision and the session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName, HeaderValue};
use once_cell::sync::OnceCell;

use crate::lock::Lock;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The revisions of MCP that verifi speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// Whether it has no handshake and no session: each request says for itself what it is.
    pub(crate) fn is_modern(self) -> bool {
        self == Revision::V2026_07_28
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text)
    }
}

/// One session with one server, from its handshake on; or what stands in its place where there is none.
pub(super) struct Session {
    revision: OnceCell<Revision>,
    /// Whether the server has shown that it speaks the revision.
    is_sure: AtomicBool,
    /// The server has just refused a handshake.
    is_without_choice: bool,
    /// What every request carries: changes when the server names the session anew.
    headers: Mutex<Arc<HeaderMap>>,
}

impl Session {
    /// A session that the handshake has still to agree on. `base` is what goes with every request.
    pub(super) fn new(base: HeaderMap) -> Session {
        let headers = Mutex::new(Arc::new(base));
        Session { revision: OnceCell::new(), is_sure: AtomicBool::new(false), is_without_choice: false, headers }
    }

    /// What is taken for agreed on with a server that knows no handshake.
    pub(super) fn without_handshake(revision: Revision, base: HeaderMap) -> Session {
        let session = Session::new(base);
        session.agree(revision);
        session
    }

    /// The same with one that has just refused a handshake: nothing is left but this revision.
    pub(super) fn without_choice(revision: Revision, base: HeaderMap) -> Session {
        Session { is_without_choice: true, ..Session::without_handshake(revision, base) }
    }

    /// The revision is agreed on. From 2025-06-18 on every request names it.
    pub(super) fn agree(&self, revision: Revision) {
        if self.revision.set(revision).is_ok() && revision >= Revision::V2025_06_18 {
            Arc::make_mut(&mut self.headers.locked())
                .insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    /// Whether it is none, but stands for a server that knows no handshake.
    pub(super) fn is_modern(&self) -> bool {
        self.revision().is_some_and(Revision::is_modern)
    }

    /// The server has shown that it speaks the revision.
    pub(super) fn make_sure(&self) {
        self.is_sure.store(true, Ordering::Relaxed);
    }

    /// Whether a first error of the server's, whatever it speaks of, is no reason to try a handshake.
    pub(super) fn is_without_choice(&self) -> bool {
        self.is_without_choice && !self.is_sure()
    }

    pub(super) fn is_sure(&self) -> bool {
        self.is_sure.load(Ordering::Relaxed)
    }

    pub(super) fn headers(&self) -> Arc<HeaderMap> {
        self.headers.locked().clone()
    }

    /// Takes the session's id from the head of any answer.
    pub(super) fn take_id(&self, answer: &HeaderMap) {
        if self.is_modern() {
            return;
        }
        if let Some(id) = answer.get(SESSION_ID) {
            let mut headers = self.headers.locked();
            if headers.get(SESSION_ID) != Some(id) {
                Arc::make_mut(&mut headers).insert(SESSION_ID, id.clone());
            }
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.headers.locked().contains_key(SESSION_ID)
    }
}
