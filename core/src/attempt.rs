//! One attempt at one server: the only place where a call is metered, right where its answer is scrubbed, so that no way
//! leads around the ledger.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::cancel::{Scope, Stop};
use crate::evidence::Evidence;
use crate::mcp::{BodyHead, Failure, Note, Reply, Server, ToolCall};
use crate::outcome::{Outcome, ServerRole};
use crate::raw::RawJson;
use crate::redact::{Redactor, Scrubbed};
use crate::result::ToolResult;
use crate::state::Live;
use crate::timeline::{Draft, EventKind, Timeline};

/// The most characters of a body that an error shows.
const SHOWN_BODY: usize = 200;

/// What came of an attempt. All text is scrubbed.
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    pub(crate) error: Option<String>,
    pub(crate) raw: Option<RawJson>,
    pub(crate) redactions: u64,
    pub(crate) may_have_run: bool,
    /// The server lives: it answered the call, in whatever way.
    pub(crate) is_answer: bool,
    /// The connection failed: the server may have gone and come back as another.
    pub(crate) is_lost: bool,
}

/// Where an attempt goes, for its events.
pub(crate) struct Target<'a> {
    pub(crate) slot: &'a Arc<str>,
    /// Scrubbed.
    pub(crate) tool: &'a Arc<str>,
    pub(crate) role: ServerRole,
    pub(crate) server: &'a Arc<Server>,
}

/// Makes the attempt.
pub(crate) fn attempt(
    timeline: &Timeline,
    live: &Live,
    target: &Target,
    scope: &Arc<Scope>,
    call: &ToolCall,
) -> Attempt {
    let Target { slot, tool, role, server } = target;
    let draft = |kind| Draft::new(kind).slot(slot).tool(tool).server(*role, server.shown());
    let started = Instant::now();
    let id = timeline.record(draft(EventKind::CallStarted)).seq;
    let made = catch_unwind(AssertUnwindSafe(|| {
        let outcome = server.call(scope, call);
        let redactor = live.redactor();
        match outcome {
            Ok(reply) if reply.is_error() => Attempt::refused(reply, &redactor),
            Ok(reply) => Attempt::answered(reply, &redactor),
            Err(failure) => Attempt::failed(&failure, server.shown(), scope, &redactor),
        }
    }));
    let redactor = live.redactor();
    let attempt = made.unwrap_or_else(|_| Attempt::failed(&Failure::internal(), server.shown(), scope, &redactor));
    let finished = draft(EventKind::CallFinished).call(id).outcome(attempt.outcome).latency(started.elapsed());
    let finished = finished.protocol_version(server.revision().map(|revision| revision.as_str()));
    let finished = match attempt.outcome {
        Outcome::Ok | Outcome::ToolError | Outcome::Refused => finished.evidence_bytes(attempt.text.len() as u64),
        _ => finished,
    };
    timeline.record(match &attempt.error {
        Some(error) => finished.error(error),
        None => finished,
    });
    tell_notes(timeline, &redactor, slot, *role, server);
    attempt
}

/// What the server's list of tools gave cause to say.
pub(crate) fn tell_notes(
    timeline: &Timeline,
    redactor: &Redactor,
    slot: &Arc<str>,
    role: ServerRole,
    server: &Arc<Server>,
) {
    for Note { tool, reason } in server.catalog.take_notes() {
        let tool: Arc<str> = redactor.scrub_str(&tool).into();
        let line = redactor.scrub(format!("{}: the tool is left out: {reason}", server.shown())).text;
        timeline.record(Draft::new(EventKind::Log).slot(slot).tool(&tool).server(role, server.shown()).message(&line));
    }
}

impl Attempt {
    fn answered(reply: Reply, redactor: &Redactor) -> Attempt {
        let Evidence { text, raw, redactions, is_error } = Evidence::of_result(reply, redactor);
        let (outcome, error) = match (is_error, text.is_empty()) {
            (false, _) => (Outcome::Ok, None),
            (true, true) => (Outcome::ToolError, Some("tool reported an error".to_string())),
            (true, false) => (Outcome::ToolError, Some(text.clone())),
        };
        let raw = Some(raw);
        Attempt { outcome, text, error, raw, redactions, may_have_run: false, is_answer: true, is_lost: false }
    }

    fn refused(reply: Reply, redactor: &Redactor) -> Attempt {
        let Evidence { text: error, raw, redactions, .. } = Evidence::of_error(reply, redactor);
        Attempt {
            outcome: Outcome::Refused,
            text: String::new(),
            error: Some(error),
            raw: Some(raw),
            redactions,
            may_have_run: false,
            is_answer: true,
            is_lost: false,
        }
    }

    fn failed(failure: &Failure, endpoint: &str, scope: &Scope, redactor: &Redactor) -> Attempt {
        let Told { outcome, error, redactions } = tell(failure, endpoint, scope, redactor);
        let (may_have_run, is_answer) = match failure {
            Failure::Stopped { sent, .. } | Failure::Unreachable { sent, .. } | Failure::NoToken { sent, .. } => {
                (*sent, false)
            }
            Failure::CancelledByServer { .. } | Failure::TooLarge { .. } | Failure::InputRequired { .. } => {
                (true, true)
            }
        };
        Attempt {
            outcome,
            text: String::new(),
            error: Some(error),
            raw: None,
            redactions,
            may_have_run,
            is_answer,
            is_lost: failure.is_lost(),
        }
    }
}

/// A failure in words, scrubbed.
pub(crate) struct Told {
    pub(crate) outcome: Outcome,
    pub(crate) error: String,
    pub(crate) redactions: u64,
}

pub(crate) fn tell(failure: &Failure, endpoint: &str, scope: &Scope, redactor: &Redactor) -> Told {
    let (outcome, what) = match failure {
        Failure::Stopped { stop: Stop::Deadline, awaited, .. } => {
            let awaited = awaited.as_ref().map(|awaited| format!("{awaited}: ")).unwrap_or_default();
            (Outcome::TimedOut, format!("{awaited}tool call timed out after {} ms", scope.timeout().as_millis()))
        }
        Failure::Stopped { stop: Stop::Cancelled, .. } => (Outcome::Cancelled, "the call was cancelled".to_string()),
        Failure::Stopped { stop: Stop::Closed, .. } => (Outcome::Cancelled, "the run was closed".into()),
        Failure::Unreachable { reason, .. } | Failure::NoToken { reason, .. } => (Outcome::Unreachable, reason.clone()),
        Failure::CancelledByServer { reason } => (Outcome::Cancelled, format!("cancelled by the server: {reason}")),
        Failure::TooLarge { limit } => {
            (Outcome::Rejected, format!("the answer is larger than {limit} bytes (maxResponseBytes)"))
        }
        Failure::InputRequired { reason } => (Outcome::Rejected, reason.clone()),
    };
    let Scrubbed { text: error, redactions, .. } = redactor.scrub(format!("{endpoint}: {what}"));
    match failure {
        Failure::Unreachable { head, .. } | Failure::NoToken { head, .. } if !head.text.trim().is_empty() => {
            let Scrubbed { text: body, redactions: in_body, .. } = shown_body(head, redactor);
            Told { outcome, error: format!("{error}: {body}"), redactions: redactions + in_body }
        }
        _ => Told { outcome, error, redactions },
    }
}

/// The beginning of a body: scrubbed before it is cut, so that no part of a secret is left at the cut.
fn shown_body(head: &BodyHead, redactor: &Redactor) -> Scrubbed {
    let mut body = match head.is_cut {
        true => redactor.scrub_cut(&head.text),
        false => redactor.scrub(head.text.clone()),
    };
    body.text = body.text.trim().chars().take(SHOWN_BODY).collect();
    body
}

impl From<Attempt> for ToolResult {
    fn from(attempt: Attempt) -> ToolResult {
        ToolResult {
            ok: attempt.outcome == Outcome::Ok,
            text: attempt.text.into(),
            is_error: matches!(attempt.outcome, Outcome::ToolError | Outcome::Refused),
            latency_ms: 0.0,
            error: attempt.error,
            outcome: attempt.outcome,
            server: None,
            may_have_run: attempt.may_have_run,
            redactions: attempt.redactions,
            raw: attempt.raw,
        }
    }
}
