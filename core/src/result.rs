//! What a call gives back.

use std::borrow::Cow;
use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::json;
use crate::outcome::{Outcome, ServerRole};
use crate::spare;

/// The result of a tool call. There is one for every call, whatever happened; all text in it is scrubbed.
///
/// As JSON its members are `ok`, `text`, `isError`, `latencyMs`, `error`, `raw`, `outcome`, `server`, `mayHaveRun` and
/// `redactions`; what does not apply is absent.
#[derive(Clone, PartialEq)]
#[must_use = "a failed call shows only in its result"]
#[non_exhaustive]
pub struct ToolResult {
    /// The tool ran and answered. False means that it failed, was refused or was not reached.
    pub ok: bool,
    /// The content of the answer as text: text blocks as they are, others as compact JSON, joined by LF.
    pub text: String,
    /// The server reported the failure: a tool error, or a refusal. False in every other case.
    pub is_error: bool,
    /// How long the whole call took, in milliseconds, failover included.
    pub latency_ms: f64,
    /// What went wrong; set exactly when `ok` is false.
    pub error: Option<String>,
    /// How the call ended.
    pub outcome: Outcome,
    /// Which server answered. None when none did.
    pub server: Option<ServerRole>,
    /// The call was sent and its fate is unknown: the tool may have run, or still run.
    pub may_have_run: bool,
    /// How many occurrences of secrets were replaced in the answer's text, or in what an error was made from.
    pub redactions: u64,
    pub(crate) raw: Option<Raw>,
}

impl ToolResult {
    /// The JSON-RPC result, or error object, as the JSON text that the server sent: every digit of a number is kept, and
    /// strings are scrubbed. None when there was no response.
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_ref().map(Raw::as_str)
    }

    /// Takes what [`raw`](Self::raw) shows out of the result, for a face that has the text as a string of its own: of a
    /// large answer it keeps no second copy.
    pub fn take_raw(&mut self) -> Option<RawJson> {
        self.raw.take().map(|raw| RawJson(raw.into_kept()))
    }
}

impl ToolResult {
    /// The result of a call that was not made: for a face that has no slot to make it on, or lost it. It is on no
    /// timeline; what is wrong with the arguments alone is told to a slot with
    /// [`Arguments::invalid`](crate::Arguments::invalid).
    pub fn rejected(reason: String, latency_ms: f64) -> ToolResult {
        ToolResult {
            ok: false,
            text: String::new(),
            is_error: false,
            latency_ms,
            error: Some(reason),
            outcome: Outcome::Rejected,
            server: None,
            may_have_run: false,
            redactions: 0,
            raw: None,
        }
    }
}

impl ToolResult {
    /// Of a call that other servers had failed before: when nobody ran it after all, their causes and doubts are its own.
    pub(crate) fn after(self, causes: Vec<String>, may_have_run: bool, redactions: u64) -> ToolResult {
        if causes.is_empty() || !matches!(self.outcome, Outcome::Cancelled | Outcome::Rejected) {
            return self;
        }
        let error = causes.into_iter().chain(self.error).collect::<Vec<_>>().join("; ");
        ToolResult {
            error: Some(error),
            may_have_run: self.may_have_run || may_have_run,
            redactions: self.redactions + redactions,
            ..self
        }
    }
}

/// A piece of JSON text, which may be a part of the body that it came in.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) body: String,
    pub(crate) part: Range<usize>,
    /// Where in the body the text of the result stands, if it stands there as verifi would escape it.
    pub(crate) text: Option<Range<usize>>,
}

impl Raw {
    pub(crate) fn as_str(&self) -> &str {
        &self.body[self.part.clone()]
    }

    fn into_kept(self) -> Kept {
        /// Less is not worth two pieces.
        const LARGE: usize = 16 * 1024;
        match &self.text {
            Some(text) if text.len() >= LARGE => {
                let (before, after) = (self.part.start..text.start, text.end..self.part.end);
                Kept::Around { before: self.body[before].into(), after: self.body[after].into() }
            }
            _ => Kept::Whole(self),
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let mut body = std::mem::take(&mut self.body).into_bytes();
        // What stands around it was not scrubbed.
        body[self.part.end..].fill(0);
        body[..self.part.start].fill(0);
        spare::give(body);
    }
}

/// The JSON of an answer, apart from its result: see [`ToolResult::take_raw`].
pub struct RawJson(Kept);

enum Kept {
    Whole(Raw),
    /// All but the text of the result, from which the rest is made again.
    Around {
        before: Box<str>,
        after: Box<str>,
    },
}

impl RawJson {
    /// The JSON text. `text` is the text of the result that it was taken from.
    pub fn with_text(&self, text: &str) -> Cow<'_, str> {
        match &self.0 {
            Kept::Whole(raw) => raw.as_str().into(),
            Kept::Around { before, after } => {
                let mut json = String::with_capacity(before.len() + text.len() + text.len() / 16 + after.len());
                json.push_str(before);
                json::escape_into(&mut json, text);
                json.push_str(after);
                json.into()
            }
        }
    }

    /// Whether [`with_text`](Self::with_text) looks at the text.
    pub fn needs_text(&self) -> bool {
        matches!(self.0, Kept::Around { .. })
    }

    /// How many bytes it holds in memory.
    pub fn size(&self) -> usize {
        match &self.0 {
            Kept::Whole(raw) => raw.body.capacity(),
            Kept::Around { before, after } => before.len() + after.len(),
        }
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.as_str() == other.as_str()
    }
}

impl std::fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolResult")
            .field("ok", &self.ok)
            .field("outcome", &self.outcome)
            .field("text", &self.text)
            .field("is_error", &self.is_error)
            .field("error", &self.error)
            .field("latency_ms", &self.latency_ms)
            .field("server", &self.server)
            .field("may_have_run", &self.may_have_run)
            .field("redactions", &self.redactions)
            .finish_non_exhaustive()
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ok", &self.ok)?;
        map.serialize_entry("text", &self.text)?;
        map.serialize_entry("isError", &self.is_error)?;
        map.serialize_entry("latencyMs", &self.latency_ms)?;
        if let Some(error) = &self.error {
            map.serialize_entry("error", error)?;
        }
        if let Some(raw) = self.raw().and_then(|raw| serde_json::from_str::<&RawValue>(raw).ok()) {
            map.serialize_entry("raw", raw)?;
        }
        map.serialize_entry("outcome", &self.outcome)?;
        if let Some(server) = &self.server {
            map.serialize_entry("server", server)?;
        }
        map.serialize_entry("mayHaveRun", &self.may_have_run)?;
        map.serialize_entry("redactions", &self.redactions)?;
        map.end()
    }
}
