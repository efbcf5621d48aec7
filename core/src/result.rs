//! What a call gives back.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::outcome::{Outcome, ServerRole};
use crate::raw::RawJson;
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
    pub(crate) text: Text,
    pub(crate) raw: Option<RawJson>,
}

impl ToolResult {
    /// The content of the answer as text: text blocks as they are, others as compact JSON, joined by LF.
    pub fn text(&self) -> &str {
        &self.text.0
    }

    /// The same, as the caller's own.
    pub fn into_text(mut self) -> String {
        std::mem::take(&mut self.text.0)
    }

    /// The JSON-RPC result, or error object, as the JSON text that the server sent: every digit of a number is kept, and
    /// strings are scrubbed. None when there was no response. That of a large answer may be made at first use, and then
    /// takes as much memory again.
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_ref().map(|raw| raw.kept_with_text(self.text()))
    }

    /// Takes out what [`text`](Self::text) and [`raw`](Self::raw) show, for a face that has strings of its own.
    pub fn take_evidence(&mut self) -> (String, Option<RawJson>) {
        (std::mem::take(&mut self.text.0), self.raw.take())
    }

    /// Puts back what was taken out.
    pub fn put_evidence(&mut self, text: String, raw: Option<RawJson>) {
        (self.text, self.raw) = (Text(text), raw);
    }
}

impl ToolResult {
    /// The result of a call that was not made: for a face that has no slot to make it on, or lost it. It is on no
    /// timeline; what is wrong with the arguments alone is told to a slot with
    /// [`Arguments::invalid`](crate::Arguments::invalid).
    pub fn rejected(reason: String, latency_ms: f64) -> ToolResult {
        ToolResult {
            ok: false,
            text: Text::default(),
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

/// Text whose memory may go to the next large answer.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Text(String);

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        spare::reuse(std::mem::take(&mut self.0));
    }
}

impl std::fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolResult")
            .field("ok", &self.ok)
            .field("outcome", &self.outcome)
            .field("text", &self.text())
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
        map.serialize_entry("text", self.text())?;
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
