//! A list of a slot's tools.

use std::sync::Arc;

use crate::attempt::{Told, tell};
use crate::background::Start;
use crate::bounds::Bounds;
use crate::call_options::ListOptions;
use crate::cancel::{CancelToken, Stop};
use crate::error::{Error, ErrorKind};
use crate::mcp::ListFailure;
use crate::outcome::Outcome;
use crate::servers::Walk;
use crate::state::{CLOSED, RunShared, RunState, SlotShared};
use crate::tools::ToolDefinition;

/// A list of tools that has not been asked for yet.
pub(crate) struct Listing {
    run: Arc<RunShared>,
    state: Arc<RunState>,
    slot: Arc<SlotShared>,
    bounds: Bounds,
}

type Listed = Result<Vec<ToolDefinition>, Error>;

impl Listing {
    pub(crate) fn new(
        run: &Arc<RunShared>,
        slot: &Arc<SlotShared>,
        options: ListOptions,
        dropped: Option<CancelToken>,
    ) -> Listing {
        let state = run.state().clone();
        let timeout = options.timeout.unwrap_or(run.options.timeout);
        let bounds = Bounds::new(&state, timeout, [options.cancel, dropped]);
        Listing { run: run.clone(), state, slot: slot.clone(), bounds }
    }

    pub(crate) fn run_in_background(self, done: impl FnOnce(Listed) + Send + 'static) {
        let (Some(scope), Some(_)) = (self.bounds.first().cloned(), self.run.live()) else {
            return done(Err(list_error(CLOSED)));
        };
        let state = self.state.clone();
        state.background.spawn(&scope, move |start| match start {
            Start::Go => done(self.run()),
            Start::Stopped(Stop::Closed) => done(Err(list_error(CLOSED))),
            Start::Stopped(Stop::Deadline) => done(Err(list_error("it timed out before it was sent"))),
            Start::Stopped(Stop::Cancelled) => done(Err(list_error("it was cancelled before it was sent"))),
            Start::NoThread(error) => done(Err(list_error(&format!("no thread for it: {error}")))),
        });
    }

    /// Asks on this thread, from server to server until one gives a list.
    pub(crate) fn run(mut self) -> Listed {
        let Some(live) = self.run.live() else { return Err(list_error(CLOSED)) };
        let Some(servers) = self.slot.servers(&self.run, &self.state) else { return Err(list_error(CLOSED)) };
        let mut causes: Vec<String> = Vec::new();
        let mut walk = Walk::new(&servers);
        while let Some(index) = walk.next() {
            let server = &servers.list[index];
            let bounded = self.bounds.next();
            servers.tell_fallback(index);
            match server.list(&bounded.scope) {
                Ok(tools) => {
                    walk.answered(index);
                    servers.tell_notes(index, &live.redactor());
                    return Ok(live.scrub_tools(&tools));
                }
                // As in the SDK before: a refusal is an answer, but another server may still give the list.
                Err(ListFailure::Refused(reason)) => {
                    walk.answered(index);
                    let reason = format!("{}: {reason}", server.shown());
                    causes.push(live.redactor().scrub(reason).text);
                }
                Err(ListFailure::Failed(failure)) => {
                    let Told { outcome, error, .. } = tell(&failure, server.shown(), &bounded.scope, &live.redactor());
                    causes.push(error.clone());
                    if !matches!(outcome, Outcome::Unreachable | Outcome::TimedOut) {
                        break;
                    }
                    servers.failed(index, &error);
                    if failure.is_lost() {
                        servers.lost(index);
                    }
                }
            }
        }
        let error = causes.join("; ");
        servers.tell_if_none_lives(&error);
        Err(list_error(&error))
    }
}

fn list_error(cause: &str) -> Error {
    Error::new(ErrorKind::ListTools, format!("tools/list failed: {cause}"))
}
