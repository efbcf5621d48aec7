//! Which revision a server speaks, as its answers show it. Pure: an answer goes in, what it says about the revision comes
//! out. `tests/vectors/eras.json` is the table.
//!
//! There are two eras. Up to 2025-11-25 a session begins with a handshake; in 2026-07-28 there is none, and each request
//! says for itself what it is. A server of one era answers the first request of the other with an error, in whatever
//! way its author chose.

use http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::session::Revision;

/// What is asked for in a handshake when the manifest says nothing.
pub(super) const DEFAULT: Revision = Revision::V2024_11_05;

/// What is asked for in a handshake that the manifest did not count on: it asked for the newest.
pub(super) const NEWEST_WITH_HANDSHAKE: Revision = Revision::V2025_11_25;

const WITHOUT_HANDSHAKE: Revision = Revision::V2026_07_28;

/// As in 2026-07-28, `basic/index`, "Error Codes".
pub(super) const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INVALID_REQUEST: i64 = -32600;

/// An answer, as far as it can speak of eras.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) status: StatusCode,
    pub(super) body: Body<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    /// The result of the request.
    Result,
    /// A JSON-RPC error: the error object.
    Error(&'a str),
    /// Neither.
    Other,
}

/// What an answer says about the revision that the server speaks.
#[derive(Debug, PartialEq)]
pub(super) enum Sign {
    /// Nothing.
    None,
    /// It is the one that it was spoken to in.
    Right,
    /// It is another.
    Other(Revision),
    /// The server names those that it speaks, and verifi speaks none of them.
    Unknown(String),
}

/// What the answer to `initialize` says.
pub(super) fn of_initialize(answer: Answer, asked: Revision) -> Sign {
    let Some(error) = answer.error() else { return Sign::None };
    if let Some(sign) = error.choose(asked) {
        return sign;
    }
    let is_modern =
        matches!(error.code, METHOD_NOT_FOUND | INVALID_PARAMS) || error.is_modern() || error.names_modern();
    if is_modern { Sign::Other(WITHOUT_HANDSHAKE) } else { Sign::None }
}

/// What an answer in a session that began with a handshake says: the server may have become another since.
pub(super) fn of_session(answer: Answer, agreed: Revision) -> Sign {
    let Some(error) = answer.error() else { return Sign::None };
    // Servers of that era may use these codes for whatever they like.
    let is_about_eras = answer.status.is_client_error() || !error.supported.is_empty();
    match is_about_eras && (error.is_modern() || error.speaks_modern()) {
        true => error.choose(agreed).unwrap_or(Sign::Other(WITHOUT_HANDSHAKE)),
        false => Sign::None,
    }
}

/// What the answer to a request of 2026-07-28 says. `is_sure`: the server has spoken that revision before, so that an
/// error is more likely to be about the request. `with_handshake` is what to ask for in a handshake.
pub(super) fn of_modern(answer: Answer, is_sure: bool, with_handshake: Revision) -> Sign {
    if matches!(answer.body, Body::Result) {
        return Sign::Right;
    }
    let old = Sign::Other(with_handshake);
    let Some(error) = answer.error() else {
        let is_old = match is_sure {
            true => matches!(answer.status.as_u16(), 400 | 404 | 405),
            false => answer.status.is_client_error(),
        };
        return if is_old && answer.may_speak_of_eras() { old } else { Sign::None };
    };
    match error.code {
        HEADER_MISMATCH | MISSING_CAPABILITY => Sign::Right,
        // Who refuses a revision and names it among its own is asked again, once.
        UNSUPPORTED_VERSION if !error.supported.is_empty() => {
            error.choose(WITHOUT_HANDSHAKE).unwrap_or(Sign::Other(WITHOUT_HANDSHAKE))
        }
        UNSUPPORTED_VERSION => old,
        METHOD_NOT_FOUND => Sign::None,
        // Codes that servers used for whatever they liked before 2026-07-28.
        -32019..=-32000 | INVALID_REQUEST if is_sure && answer.status.is_client_error() && error.misses_session() => {
            old
        }
        _ if is_sure => Sign::None,
        _ if answer.status.is_client_error() || error.misses_handshake() => old,
        _ => Sign::None,
    }
}

impl<'a> Answer<'a> {
    /// The error, if it can be about eras.
    fn error(&self) -> Option<Error<'a>> {
        match self.body {
            Body::Error(text) if self.may_speak_of_eras() => Some(Error::parse(text)),
            _ => None,
        }
    }

    /// Of access, load, size and faults of the server a status says all that there is to say.
    fn may_speak_of_eras(&self) -> bool {
        let is_about_else = matches!(self.status.as_u16(), 401 | 402 | 403 | 407 | 408 | 413 | 414 | 429 | 431);
        !is_about_else && (self.status.is_success() || self.status.is_client_error())
    }
}

struct Error<'a> {
    code: i64,
    text: &'a str,
    /// The revisions that the server says it speaks.
    supported: Vec<String>,
}

impl<'a> Error<'a> {
    fn parse(text: &'a str) -> Error<'a> {
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Data {
            supported: Vec<String>,
        }
        let object: Option<Object> = serde_json::from_str(text).ok();
        let code = object.as_ref().and_then(|object| object.code?.get().trim_matches('"').parse().ok());
        let data = object.and_then(|object| serde_json::from_str::<Data>(object.data?.get()).ok());
        Error { code: code.unwrap_or_default(), text, supported: data.map(|data| data.supported).unwrap_or_default() }
    }

    /// What its list of revisions leads to: the newest that verifi speaks, too. None without a list, or when the list has
    /// what the server was spoken to in, so that the error must be about something else.
    fn choose(&self, asked: Revision) -> Option<Sign> {
        if self.supported.is_empty() || self.supported.iter().any(|name| name == asked.as_str()) {
            return None;
        }
        let common = self.supported.iter().filter_map(|name| Revision::parse(name)).max();
        Some(common.map_or_else(|| Sign::Unknown(self.supported.join(", ")), Sign::Other))
    }

    /// One of the codes that 2026-07-28 brought.
    fn is_modern(&self) -> bool {
        matches!(self.code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
    }

    /// It speaks of the keys that every request of 2026-07-28 has in its `_meta`.
    fn speaks_modern(&self) -> bool {
        self.text.contains("io.modelcontextprotocol/")
    }

    fn names_modern(&self) -> bool {
        self.speaks_modern() || self.text.contains(WITHOUT_HANDSHAKE.as_str())
    }

    /// It asks for a session, in the words of the SDKs: a tool may have sessions of its own to speak of.
    fn misses_session(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        let words = ["session id", "session-id", "session not found", "not initialized", "before initialization"];
        words.iter().any(|word| text.contains(word))
    }

    /// It asks for what only a handshake gives.
    fn misses_handshake(&self) -> bool {
        let text = self.text.to_ascii_lowercase();
        ["session", "initializ", "initialis"].iter().any(|word| text.contains(word))
    }
}
