//! A slot: the one way to a tool.

use std::sync::Arc;
use std::time::Duration;

use verifi_core::{Arguments, CallOptions, ListOptions, Slot};

use crate::boundary::{self, Out};
use crate::call::{Completion, verifi_call};
use crate::error::verifi_error;
use crate::result::verifi_result;
use crate::status::verifi_status;
use crate::str::verifi_str;
use crate::text::{Ended, verifi_text};

/// A named capability of a run, and the servers that the manifest bound to it. Slots of the same name of one run are the
/// same: one session with each server, one failover state. Usable from any thread until it is freed with
/// verifi_slot_free, also after its run is closed or freed: its calls are then rejected.
pub struct verifi_slot {
    slot: Slot,
    name: Ended,
    endpoint: Ended,
}

impl From<Slot> for verifi_slot {
    fn from(slot: Slot) -> verifi_slot {
        let (name, endpoint) = (Ended::new(slot.name().into()), Ended::new(slot.endpoint().into()));
        verifi_slot { slot, name, endpoint }
    }
}

/// What is called, as C gives it. What is no text makes a call that the core rejects and puts on the timeline.
struct Request {
    tool: String,
    arguments: Arguments,
}

impl Request {
    fn new(tool: verifi_str, arguments: verifi_str) -> Request {
        let read = tool.read("tool").and_then(|_| arguments.read("arguments"));
        let arguments = match read {
            Ok(text) => Arguments::json(text),
            Err(fault) => Arguments::invalid(verifi_error::from(fault).message()),
        };
        Request { tool: tool.read_lossy().into_owned(), arguments }
    }
}

/// 0 stands for the run's own limit.
fn timeout(timeout_ms: u64) -> Option<Duration> {
    (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms))
}

/// The slot's name, as the manifest has it. It lasts until `slot` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_name(slot: *const verifi_slot) -> verifi_str {
    boundary::peek(slot, verifi_str::NONE, |slot| slot.name.lend())
}

/// The MCP endpoint of the slot's first server, with its query. It lasts until `slot` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_endpoint(slot: *const verifi_slot) -> verifi_str {
    boundary::peek(slot, verifi_str::NONE, |slot| slot.endpoint.lend())
}

/// Calls a tool and waits for its result, `timeout_ms` milliseconds at the most (0: the run's own limit, 300 s unless
/// set), which each further server has again after a failure. `arguments` is a JSON object as text; empty is none.
///
/// It always gives a result, which the caller frees: a dead server, arguments that are no JSON object, a closed run and a
/// `slot` that is NULL are results, too. It blocks this thread alone. verifi_run_close ends it from another thread, and so
/// does verifi_run_free; for a call that can be cancelled by itself use verifi_slot_submit.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_call(
    slot: *const verifi_slot,
    tool: verifi_str,
    arguments: verifi_str,
    timeout_ms: u64,
) -> *mut verifi_result {
    let work = || match boundary::hold(slot, "slot") {
        Ok(slot) => {
            let Request { tool, arguments } = Request::new(tool, arguments);
            let options = CallOptions { timeout: timeout(timeout_ms), ..CallOptions::default() };
            Arc::new(slot.slot.call_with(&tool, arguments, options).into())
        }
        Err(fault) => Arc::new(verifi_result::rejected(verifi_error::from(fault).message().into())),
    };
    boundary::object(work, verifi_result::lost)
}

/// Calls a tool on a thread of verifi's own and does not wait: see verifi_slot_call for the arguments and
/// verifi_call_wait for the result.
///
/// It always gives a call, which the caller frees.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_submit(
    slot: *const verifi_slot,
    tool: verifi_str,
    arguments: verifi_str,
    timeout_ms: u64,
) -> *mut verifi_call {
    let work = || match boundary::hold(slot, "slot") {
        Ok(slot) => {
            let call = Arc::new(verifi_call::default());
            let Request { tool, arguments } = Request::new(tool, arguments);
            let cancel = Some(call.cancel_token());
            let options = CallOptions { timeout: timeout(timeout_ms), cancel, ..CallOptions::default() };
            let completion = Completion::of(&call);
            slot.slot.call_then(&tool, arguments, options, move |result| completion.done(result));
            call
        }
        Err(fault) => {
            let told = verifi_error::from(fault);
            Arc::new(verifi_call::ended(verifi_result::rejected(told.message().into())))
        }
    };
    boundary::object(work, |message| verifi_call::ended(verifi_result::lost(message)))
}

/// The names of the slot's tools as a JSON array, following the list to its end. Each server has `timeout_ms`
/// milliseconds (0: the run's own limit). It blocks this thread; closing the run ends it. The caller frees the text.
///
/// Errors: VERIFI_LIST_TOOLS when no server gave a list (the message has each server's cause in order),
/// VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_list_tools(
    slot: *const verifi_slot,
    timeout_ms: u64,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let (out, slot) = (Out::new(out, "out")?, boundary::hold(slot, "slot")?);
        out.give(verifi_text::json(&slot.slot.list_tools_with(listing(timeout_ms))?)?)
    })
}

/// The definitions of the slot's tools as a JSON array, each as its server gives it, strings scrubbed. Otherwise like
/// verifi_slot_list_tools.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_tool_definitions(
    slot: *const verifi_slot,
    timeout_ms: u64,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let (out, slot) = (Out::new(out, "out")?, boundary::hold(slot, "slot")?);
        let definitions = slot.slot.tool_definitions_with(listing(timeout_ms))?;
        let json: Vec<String> = definitions.into_iter().map(|definition| definition.json).collect();
        out.give(verifi_text::new(format!("[{}]", json.join(","))))
    })
}

fn listing(timeout_ms: u64) -> ListOptions {
    ListOptions { timeout: timeout(timeout_ms), ..ListOptions::default() }
}

/// What verifi knows of each of the slot's servers, in the order in which they are tried, as a JSON array of objects:
/// `server`, `endpoint`, `state` (`unused`, `healthy` or `dead`), `since`, `reason` and `protocolVersion`. It asks no
/// server. The caller frees the text.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_health(
    slot: *const verifi_slot,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&boundary::hold(slot, "slot")?.slot.health())?)
    })
}

/// Frees the slot; its calls go on. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_slot_free(slot: *mut verifi_slot) {
    boundary::take(slot, |_| ());
}
