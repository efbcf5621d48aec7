//! What happens to a run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::timestamp::Timestamp;
use crate::names::named;
use crate::outcome::{Outcome, ServerRole};

/// How many bytes of an error or a line of the harness an event holds: the run keeps thousands of events, and the error
/// of a tool may be as large as any answer.
const MAX_TEXT: usize = 8 << 10;

named! {
    /// What an event says.
    #[non_exhaustive]
    pub enum EventKind {
        /// The run was opened. The first event; of a run whose journal was opened again, the first of each opening.
        RunStarted = "run_started",
        /// A call is about to be put to a server.
        CallStarted = "call_started",
        /// That call ended, however it did. This is what the ledger counts.
        CallFinished = "call_finished",
        /// A call came back to the harness with `ok: false`.
        ToolError = "tool_error",
        /// A slot left its server for the next one.
        FallbackUsed = "mcp.fallback_used",
        /// A slot has no server left.
        NoHealthyTool = "mcp.no_healthy_tool",
        /// A slot went back to its first server.
        PrimaryRestored = "mcp.primary_restored",
        /// A line of the harness's own.
        Log = "log",
        /// The run was closed. The last event, but for the ends of calls that could not be waited for; a subscription ends
        /// with it.
        RunFinished = "run_finished",
        /// The run's journal cannot be written: `error` says why. Calls go on. Told once.
        JournalFailed = "journal_failed",
    }
}

/// One event of a run's timeline. Its text is scrubbed, and URLs in it have no query. As JSON, names are in camelCase
/// and what does not apply is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Event {
    /// 1 for the run's first event, then one more each time, without gaps.
    pub seq: u64,
    /// When it happened by the wall clock, though never before the event before it: if the clock is set back in the
    /// middle of a run, time stands still until the clock has caught up.
    pub ts: Timestamp,
    /// The run's id.
    pub run_id: Arc<str>,
    /// What the event says.
    pub kind: EventKind,
    /// The slot that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Arc<str>>,
    /// The tool that was called. Cut at 8 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
    /// Of a call to a server: the `seq` of its [`EventKind::CallStarted`], in that event too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<u64>,
    /// Which of the slot's servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRole>,
    /// Where that server is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Arc<str>>,
    /// Of [`EventKind::FallbackUsed`]: the endpoint that the slot went on with; `server` and `endpoint` are those of the
    /// server that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Arc<str>>,
    /// How the call ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How long the call took, in milliseconds, to the microsecond. Measured by a clock that is never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// How many bytes of text the tool gave, scrubbed, in UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_bytes: Option<u64>,
    /// Of [`EventKind::CallFinished`]: the revision of MCP that the call was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<Cow<'static, str>>,
    /// What failed. Cut at 8 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The harness's line, or what verifi has to say of a server. Cut at 8 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// An event that has not happened yet: it has no number and no time. Whatever goes in must be scrubbed.
#[derive(Debug)]
pub(crate) struct Draft(Event);

impl Draft {
    pub(crate) fn new(kind: EventKind) -> Draft {
        Draft(Event {
            seq: 0,
            ts: Timestamp::default(),
            run_id: Arc::default(),
            kind,
            slot: None,
            tool: None,
            call_id: None,
            server: None,
            endpoint: None,
            fallback: None,
            outcome: None,
            latency_ms: None,
            evidence_bytes: None,
            protocol_version: None,
            error: None,
            message: None,
        })
    }

    /// The end of a call that was under way when its process ended. It counts as one that failed.
    pub(super) fn end_of_lost(started: &Event) -> Draft {
        Draft(Event {
            kind: EventKind::CallFinished,
            outcome: Some(Outcome::Unreachable),
            error: Some("the process ended before the call did".to_owned()),
            ..started.clone()
        })
    }

    pub(crate) fn slot(mut self, slot: &Arc<str>) -> Draft {
        self.0.slot = Some(Arc::clone(slot));
        self
    }

    pub(crate) fn tool(mut self, tool: &Arc<str>) -> Draft {
        self.0.tool = Some(if tool.len() <= MAX_TEXT { Arc::clone(tool) } else { cut(tool).into() });
        self
    }

    /// The call that the timeline gave this id when it started.
    pub(crate) fn call(mut self, id: u64) -> Draft {
        self.0.call_id = Some(id);
        self
    }

    /// `endpoint` is without its query.
    pub(crate) fn server(mut self, role: ServerRole, endpoint: &Arc<str>) -> Draft {
        self.0.server = Some(role);
        self.0.endpoint = Some(Arc::clone(endpoint));
        self
    }

    /// `endpoint` is without its query.
    pub(crate) fn fallback(mut self, endpoint: &Arc<str>) -> Draft {
        self.0.fallback = Some(Arc::clone(endpoint));
        self
    }

    pub(crate) fn outcome(mut self, outcome: Outcome) -> Draft {
        self.0.outcome = Some(outcome);
        self
    }

    pub(crate) fn latency(mut self, latency: Duration) -> Draft {
        self.0.latency_ms = Some(latency.as_micros() as f64 / 1000.0);
        self
    }

    pub(crate) fn evidence_bytes(mut self, bytes: u64) -> Draft {
        self.0.evidence_bytes = Some(bytes);
        self
    }

    pub(crate) fn protocol_version(mut self, revision: Option<&'static str>) -> Draft {
        self.0.protocol_version = revision.map(Cow::Borrowed);
        self
    }

    pub(crate) fn error(mut self, error: &str) -> Draft {
        self.0.error = Some(cut(error));
        self
    }

    pub(crate) fn message(mut self, line: &str) -> Draft {
        self.0.message = Some(cut(line));
        self
    }

    /// The event, now that it happens.
    pub(super) fn happens(self, seq: u64, ts: Timestamp, run_id: &Arc<str>) -> Event {
        let call_id = match self.0.kind {
            EventKind::CallStarted => Some(seq),
            _ => self.0.call_id,
        };
        Event { seq, ts, run_id: Arc::clone(run_id), call_id, ..self.0 }
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
