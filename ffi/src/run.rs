//! A run: a manifest that was opened, its slots, its books.

use std::time::Duration;

use verifi_core::{Next, Run, RunOptions, Subscription};

use crate::boundary::{self, Out};
use crate::error::verifi_error;
use crate::slot::verifi_slot;
use crate::status::{VERIFI_ENDED, VERIFI_NOT_YET, VERIFI_OK, verifi_status};
use crate::str::verifi_str;
use crate::text::{Ended, verifi_text};

/// One scan job: the slots that the platform bound to it, its ledger and its timeline. Usable from any thread until it is
/// freed with verifi_run_free.
pub struct verifi_run {
    run: Run,
    id: Ended,
    events: Subscription,
}

/// Opens a run from a manifest, which is a JSON object as text. It connects to nothing yet.
///
/// `options` is a JSON object, too: `timeoutMs`, `maxResponseBytes`, `secrets` (array of strings), `elicitation`
/// (`"decline"` or `"defaults"`), `replay` (`"always"` or `"safe"`), `retryPrimaryAfterMs`, `journal` (a path) and `sync`
/// (`"none"`, `"finish"` or `"always"`). Each may be absent, and empty text is the defaults. What is scrubbed from all that
/// the run's servers say: the secrets of the process's environment, those of the options, the headers of the manifest, and
/// the client secrets in it with each token that comes for them. The caller frees the run.
///
/// A fill of the manifest may have `auth`: `tokenUrl`, `clientId`, `clientSecret` and, if the server wants one, `scope`. The
/// server's tokens are then fetched by OAuth's client credentials.
///
/// The journal is a file that has each event before its effect: what a server has seen is in it, whatever ends the
/// process. One that is there already must be of the same run, which goes on where it ended; reading it blocks this
/// thread. Without `journal` there is none. `sync` is when it is forced onto the disk. `none`: never; it survives the end
/// of the process, by a signal too, but a power cut may take the last seconds. `finish`, the default: when the run is
/// closed; a closed run survives a power cut as well. `always`: after each event, before its effect; a power cut loses
/// nothing, and each event takes as long as the disk does.
///
/// Errors: VERIFI_MANIFEST, VERIFI_OPTIONS, VERIFI_JOURNAL (it cannot be opened, is in use, is of another run, or does not
/// hold), VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_open(
    manifest: verifi_str,
    options: verifi_str,
    out: *mut *mut verifi_run,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        let options = RunOptions::from_json(options.read("options")?)?;
        let run = Run::open(manifest.read("manifest")?, options)?;
        out.give(verifi_run { id: Ended::new(run.id().into()), events: run.subscribe_from(1), run })
    })
}

/// The run's id, as the manifest has it. It lasts until `run` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_id(run: *const verifi_run) -> verifi_str {
    boundary::peek(run, verifi_str::NONE, |run| run.id.lend())
}

/// The slot of that name. The caller frees it; it may outlive the run.
///
/// Errors: VERIFI_SLOT_NOT_FILLED when the manifest has no server for it, VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_slot(
    run: *const verifi_run,
    name: verifi_str,
    out: *mut *mut verifi_slot,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let (out, run) = (Out::new(out, "out")?, boundary::hold(run, "run")?);
        out.give(run.run.mcp(name.read("name")?)?.into())
    })
}

/// The names of the slots that the manifest fills, sorted, as a JSON array. The caller frees the text.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_slot_names(
    run: *const verifi_run,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&boundary::hold(run, "run")?.run.slot_names())?)
    })
}

/// What the run has used so far, as a JSON object: `runId`, `toolCalls`, `failures`, `evidenceBytes`, `latencyMs` and
/// `slots`, which has the same for each slot, and there in `tools` for each tool. The caller frees the text.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_ledger(
    run: *const verifi_run,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&boundary::hold(run, "run")?.run.ledger())?)
    })
}

/// The run's latest 10 000 events, in order, as a JSON array. The caller frees the text.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_events(
    run: *const verifi_run,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        out.give(verifi_text::json(&boundary::hold(run, "run")?.run.events())?)
    })
}

/// The run's next event as a JSON object, from `run_started` to `run_finished`, each once; a run that goes on with its
/// journal begins with the latest 10 000 before. It waits `wait_ms` milliseconds at the most: 0 looks whether there is one,
/// UINT64_MAX waits as long as it takes. The caller frees the text.
///
/// It blocks this thread and holds up no call. Threads that ask at the same time share the events: each goes to one of
/// them. Who falls more than 10 000 events behind loses the oldest, which shows as a gap in `seq`.
///
/// VERIFI_NOT_YET when no event came in time, VERIFI_ENDED after `run_finished`; both without an error. Errors:
/// VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_next_event(
    run: *const verifi_run,
    wait_ms: u64,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let (out, run) = (Out::new(out, "out")?, boundary::hold(run, "run")?);
        match run.events.next_timeout(Duration::from_millis(wait_ms)) {
            Next::Event(event) => out.give(verifi_text::json(&*event)?),
            Next::NotYet => Ok(VERIFI_NOT_YET),
            Next::Ended => Ok(VERIFI_ENDED),
        }
    })
}

/// Puts a line of the harness's own on the timeline, scrubbed. On a closed run it does nothing.
///
/// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_log(
    run: *const verifi_run,
    line: verifi_str,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        boundary::hold(run, "run")?.run.log(line.read("line")?);
        Ok(VERIFI_OK)
    })
}

/// Ends the run: calls under way come back as cancelled, on whatever thread they are, sessions are ended with their
/// servers, `run_finished` is recorded and secrets are wiped. Ledger and events can still be read; later calls are
/// rejected. It blocks this thread for 2 s at the most. A second call does nothing.
///
/// Errors: VERIFI_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_close(run: *const verifi_run, error: *mut *mut verifi_error) -> verifi_status {
    boundary::status(error, || {
        boundary::hold(run, "run")?.run.close();
        Ok(VERIFI_OK)
    })
}

/// Closes the run, as verifi_run_close does, and frees it. When the last run of the process is freed and the calls have
/// ended, the threads that verifi made end. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_run_free(run: *mut verifi_run) {
    boundary::take(run, |run| run.run.close());
}
