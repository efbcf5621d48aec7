//! What a server and verifi have agreed on: the protocol's revision and the session.

use std::sync::Mutex;

use http::{HeaderMap, HeaderName, HeaderValue};
use once_cell::sync::OnceCell;

use crate::lock::Lock;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The revisions of MCP that begin with a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
}

impl Revision {
    const ALL: [Revision; 4] =
        [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text)
    }
}

/// One session with one server, from its handshake on.
pub(super) struct Session {
    revision: OnceCell<Revision>,
    /// What every request carries: changes when the server names the session anew.
    headers: Mutex<HeaderMap>,
}

impl Session {
    /// A session that the handshake has still to agree on. `base` is what goes with every request.
    pub(super) fn new(base: HeaderMap) -> Session {
        Session { revision: OnceCell::new(), headers: Mutex::new(base) }
    }

    /// The revision is agreed on. From 2025-06-18 on every request names it.
    pub(super) fn agree(&self, revision: Revision) {
        if self.revision.set(revision).is_ok() && revision >= Revision::V2025_06_18 {
            self.headers.locked().insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.locked().clone()
    }

    /// Takes the session's id from the head of any answer.
    pub(super) fn take_id(&self, answer: &HeaderMap) {
        if let Some(id) = answer.get(SESSION_ID) {
            let mut headers = self.headers.locked();
            if headers.get(SESSION_ID) != Some(id) {
                headers.insert(SESSION_ID, id.clone());
            }
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.headers.locked().contains_key(SESSION_ID)
    }
}
