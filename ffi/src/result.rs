//! What a call gives back.

use std::ffi::CStr;
use std::sync::OnceLock;

use verifi_core::{Outcome, RawJson, ServerRole, ToolResult};

use crate::boundary::{self, Out};
use crate::error::verifi_error;
use crate::status::verifi_status;
use crate::str::verifi_str;
use crate::text::{Ended, verifi_text};

/// How a call ended. Numbers are fixed; new ones are only appended, so expect others than these.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct verifi_outcome(u32);

/// The tool ran and answered.
pub const VERIFI_OUTCOME_OK: verifi_outcome = verifi_outcome(0);
/// The tool ran and reported an error of its own.
pub const VERIFI_OUTCOME_TOOL_ERROR: verifi_outcome = verifi_outcome(1);
/// The server answered with a JSON-RPC error.
pub const VERIFI_OUTCOME_REFUSED: verifi_outcome = verifi_outcome(2);
/// No answer came: DNS, connect, TLS, HTTP status, or a body that was cut or is not MCP.
pub const VERIFI_OUTCOME_UNREACHABLE: verifi_outcome = verifi_outcome(3);
/// The deadline passed.
pub const VERIFI_OUTCOME_TIMED_OUT: verifi_outcome = verifi_outcome(4);
/// The caller cancelled the call.
pub const VERIFI_OUTCOME_CANCELLED: verifi_outcome = verifi_outcome(5);
/// verifi did not send the call, or did not take its answer.
pub const VERIFI_OUTCOME_REJECTED: verifi_outcome = verifi_outcome(6);

/// The outcome's number, and its name with a NUL behind it.
fn outcome(outcome: Outcome) -> (verifi_outcome, &'static CStr) {
    match outcome {
        Outcome::Ok => (VERIFI_OUTCOME_OK, c"ok"),
        Outcome::ToolError => (VERIFI_OUTCOME_TOOL_ERROR, c"tool_error"),
        Outcome::Refused => (VERIFI_OUTCOME_REFUSED, c"refused"),
        Outcome::Unreachable => (VERIFI_OUTCOME_UNREACHABLE, c"unreachable"),
        Outcome::TimedOut => (VERIFI_OUTCOME_TIMED_OUT, c"timed_out"),
        Outcome::Cancelled => (VERIFI_OUTCOME_CANCELLED, c"cancelled"),
        Outcome::Rejected => (VERIFI_OUTCOME_REJECTED, c"rejected"),
    }
}

/// Which of a slot's servers answered. Numbers are fixed; new ones are only appended, so expect others than these.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct verifi_server(u32);

/// None did.
pub const VERIFI_SERVER_NONE: verifi_server = verifi_server(0);
/// The first one of the slot.
pub const VERIFI_SERVER_PRIMARY: verifi_server = verifi_server(1);
/// Any later one.
pub const VERIFI_SERVER_FALLBACK: verifi_server = verifi_server(2);

fn server(role: Option<ServerRole>) -> verifi_server {
    match role {
        None => VERIFI_SERVER_NONE,
        Some(ServerRole::Primary) => VERIFI_SERVER_PRIMARY,
        Some(ServerRole::Fallback) => VERIFI_SERVER_FALLBACK,
    }
}

/// The result of a call. There is one for every call, whatever happened; secrets are scrubbed from all its text. Usable
/// from any thread until it is freed with verifi_result_free.
pub struct verifi_result {
    /// All but `text`, `error` and the JSON.
    rest: ToolResult,
    text: Ended,
    error: Option<Ended>,
    source: Option<RawJson>,
    raw: OnceLock<Option<Ended>>,
}

impl From<ToolResult> for verifi_result {
    fn from(mut result: ToolResult) -> verifi_result {
        let (text, source) = result.take_evidence();
        let error = result.error.take().map(Ended::new);
        verifi_result { rest: result, text: Ended::new(text), error, source, raw: OnceLock::new() }
    }
}

impl Drop for verifi_result {
    fn drop(&mut self) {
        verifi_core::reuse(self.text.take());
    }
}

impl verifi_result {
    /// The result of a call that was not made, and why.
    pub(crate) fn rejected(reason: String) -> verifi_result {
        ToolResult::rejected(reason, 0.0).into()
    }

    /// The result of a call that verifi lost on its way.
    pub(crate) fn lost(reason: String) -> verifi_result {
        let mut result = ToolResult::rejected(reason, 0.0);
        result.may_have_run = true;
        result.into()
    }

    fn error(&self) -> verifi_str {
        self.error.as_ref().map_or(verifi_str::NONE, Ended::lend)
    }

    fn raw(&self) -> verifi_str {
        // It may stand in the middle of a body, where no NUL can follow.
        let made = |source: &RawJson| Ended::new(source.with_text(self.text.as_str()).into_owned());
        let raw = self.raw.get_or_init(|| self.source.as_ref().map(made));
        raw.as_ref().map_or(verifi_str::NONE, Ended::lend)
    }

    fn whole(&self) -> ToolResult {
        let mut whole = self.rest.clone();
        whole.put_evidence(self.text.as_str().to_owned(), self.source.clone());
        whole.error = self.error.as_ref().map(|error| error.as_str().to_owned());
        whole
    }
}

/// Whether the tool ran and was content. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_ok(result: *const verifi_result) -> bool {
    boundary::peek(result, false, |result| result.rest.ok)
}

/// The content of the answer as text: text blocks as they are, others as compact JSON, joined by LF. Empty when no answer
/// came. It lasts until `result` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_text(result: *const verifi_result) -> verifi_str {
    boundary::peek(result, verifi_str::NONE, |result| result.text.lend())
}

/// What went wrong; `{NULL, 0}` when the result is ok, and for NULL. It lasts until `result` is freed.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_error(result: *const verifi_result) -> verifi_str {
    boundary::peek(result, verifi_str::NONE, verifi_result::error)
}

/// The JSON-RPC result, or error object, as the JSON text that the server sent, strings scrubbed; `{NULL, 0}` when there
/// was no response, and for NULL. It lasts until `result` is freed.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_raw(result: *const verifi_result) -> verifi_str {
    boundary::peek(result, verifi_str::NONE, verifi_result::raw)
}

/// How the call ended. VERIFI_OUTCOME_REJECTED for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_outcome(result: *const verifi_result) -> verifi_outcome {
    boundary::peek(result, VERIFI_OUTCOME_REJECTED, |result| outcome(result.rest.outcome).0)
}

/// The name of the outcome, as events and JSON have it: `ok`, `tool_error`, `refused`, `unreachable`, `timed_out`,
/// `cancelled` or `rejected`. It lasts until `result` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_outcome_name(result: *const verifi_result) -> verifi_str {
    boundary::peek(result, verifi_str::NONE, |result| verifi_str::of_literal(outcome(result.rest.outcome).1))
}

/// Whether the server reported the failure: a tool error, or a refusal. False when no answer came, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_is_error(result: *const verifi_result) -> bool {
    boundary::peek(result, false, |result| result.rest.is_error)
}

/// How long the whole call took, in milliseconds, failover included. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_latency_ms(result: *const verifi_result) -> f64 {
    boundary::peek(result, 0.0, |result| result.rest.latency_ms)
}

/// Which server answered. VERIFI_SERVER_NONE when none did, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_server(result: *const verifi_result) -> verifi_server {
    boundary::peek(result, VERIFI_SERVER_NONE, |result| server(result.rest.server))
}

/// Whether the call was sent and its fate is unknown: the tool may have run, or still run. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_may_have_run(result: *const verifi_result) -> bool {
    boundary::peek(result, false, |result| result.rest.may_have_run)
}

/// How many occurrences of secrets were replaced in the text, or in the error when there is no text. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_redactions(result: *const verifi_result) -> u64 {
    boundary::peek(result, 0, |result| result.rest.redactions)
}

/// The whole result as a JSON object: `ok`, `text`, `isError`, `latencyMs`, `error`, `raw`, `outcome`, `server`,
/// `mayHaveRun` and `redactions`; what does not apply is absent. The caller frees it.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_to_json(
    result: *const verifi_result,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&boundary::hold(result, "result")?.whole())?)
    })
}

/// Frees the result. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_result_free(result: *mut verifi_result) {
    boundary::take(result, |_| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rules 2.2, 7.1.
    #[test]
    fn outcomes_have_the_names_of_every_language() {
        for (number, &value) in Outcome::ALL.iter().enumerate() {
            let (told, name) = outcome(value);
            assert_eq!((told.0 as usize, name.to_str()), (number, Ok(value.as_str())));
        }
    }
}
