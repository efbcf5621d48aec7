//! A call from the harness to its result, and a list of tools: through the slot's servers, within its time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::attempt::{Attempt, Target, Told, attempt, tell};
use crate::background::Start;
use crate::cancel::{Attachment, CancelToken, Scope, Stop};
use crate::error::{Error, ErrorKind};
use crate::http::Resend;
use crate::mcp::{ListFailure, ToolCall};
use crate::options::Replay;
use crate::outcome::Outcome;
use crate::result::ToolResult;
use crate::run::Live;
use crate::servers::{Servers, Walk};
use crate::slot::{CallOptions, ListOptions, Progress, ProgressFn, Slot};
use crate::timeline::{Draft, EventKind};
use crate::tools::ToolDefinition;

const CLOSED: &str = "the run is closed";

/// What bounds a call: its time, which each server has anew, and all that may stop it.
struct Bounds {
    timeout: Duration,
    tokens: Vec<CancelToken>,
    /// Begins when the call is made, so that it covers the wait for a thread.
    first: Option<Bounded>,
}

/// A scope that is tied to what may stop it.
struct Bounded {
    scope: Arc<Scope>,
    _attachments: Vec<Attachment>,
}

impl Bounds {
    fn new(slot: &Slot, timeout: Option<Duration>, tokens: [Option<CancelToken>; 2]) -> Bounds {
        let timeout = timeout.unwrap_or(slot.run.options.timeout);
        let run = slot.run.state().calls.clone();
        let tokens = tokens.into_iter().flatten().chain([run]).collect();
        let mut bounds = Bounds { timeout, tokens, first: None };
        bounds.first = Some(bounds.bounded());
        bounds
    }

    fn bounded(&self) -> Bounded {
        let scope = Scope::new(self.timeout);
        let attachments = self.tokens.iter().map(|token| token.attach(&scope)).collect();
        Bounded { scope, _attachments: attachments }
    }

    /// The bounds of the next server: what the call began with, then the same time again.
    fn next(&mut self) -> Bounded {
        self.first.take().unwrap_or_else(|| self.bounded())
    }

    fn first(&self) -> Option<&Arc<Scope>> {
        self.first.as_ref().map(|first| &first.scope)
    }
}

/// A call that has not been made yet.
pub(crate) struct Call {
    slot: Slot,
    tool: String,
    arguments: Result<String, String>,
    on_progress: Option<ProgressFn>,
    bounds: Bounds,
    started: Instant,
}

impl Call {
    pub(crate) fn new(
        slot: &Slot,
        tool: &str,
        arguments: Arguments,
        options: CallOptions,
        dropped: Option<CancelToken>,
    ) -> Call {
        Call {
            tool: tool.to_string(),
            arguments: arguments.into_text(),
            on_progress: options.on_progress,
            bounds: Bounds::new(slot, options.timeout, [options.cancel, dropped]),
            started: Instant::now(),
            slot: slot.clone(),
        }
    }

    pub(crate) fn run_in_background(self, done: impl FnOnce(ToolResult) + Send + 'static) {
        let (Some(scope), Some(_)) = (self.bounds.first().cloned(), self.slot.run.live()) else {
            return done(self.rejected_by_the_end());
        };
        let run = self.slot.run.clone();
        run.state().background.spawn(&scope, move |start| match start {
            Start::Go => done(self.run()),
            Start::Stopped(stop) => done(self.not_started(stop)),
            Start::NoThread(error) => done(self.refuse(Outcome::Rejected, &format!("no thread for the call: {error}"))),
        });
    }

    /// Makes the call on this thread.
    pub(crate) fn run(mut self) -> ToolResult {
        let Some(live) = self.slot.run.live() else { return self.rejected_by_the_end() };
        let Some(servers) = self.slot.shared.servers(&self.slot.run) else { return self.rejected_by_the_end() };
        let arguments = match std::mem::replace(&mut self.arguments, Ok(String::new())) {
            Ok(arguments) => arguments,
            Err(reason) => return self.refuse(Outcome::Rejected, &reason),
        };
        if let Some(Err(stop)) = self.bounds.first().map(|scope| scope.remaining()) {
            return self.not_started(stop);
        }
        let on_progress = self.on_progress.take().map(|on_progress| scrubbed(on_progress, &live));
        let result = self.follow(&live, &servers, &arguments, on_progress.as_ref());
        self.finish(&live, result)
    }

    /// From server to server until one answers.
    fn follow(
        &mut self,
        live: &Arc<Live>,
        servers: &Arc<Servers>,
        arguments: &str,
        progress: Option<&ProgressFn>,
    ) -> ToolResult {
        let run = self.slot.run.clone();
        let tool: Arc<str> = live.redactor.scrub_str(&self.tool).into();
        let mut causes: Vec<String> = Vec::new();
        let mut last = None;
        let mut may_have_run = false;
        for index in Walk::new(servers) {
            let server = &servers.list[index];
            let role = Servers::role(index);
            let may_repeat = self.slot.shared.replay(&run) == Replay::Always || servers.may_repeat(index, &self.tool);
            let resend = if may_repeat { Resend::Unanswered } else { Resend::Unsent };
            let bounded = self.bounds.next();
            let target = Target { slot: &servers.slot, tool: &tool, role, server };
            let call = ToolCall { tool: &self.tool, arguments, progress, resend };
            let attempt = attempt(&run.state().timeline, &live.redactor, &target, &bounded.scope, &call);
            if !matches!(attempt.outcome, Outcome::Unreachable | Outcome::TimedOut) {
                if attempt.is_answer {
                    servers.answered(index);
                }
                let server = attempt.is_answer.then_some(role);
                return self.result(ToolResult { server, ..ToolResult::from(attempt) });
            }
            servers.failed(index, attempt.error.as_deref().unwrap_or_default(), attempt.is_lost);
            causes.extend(attempt.error.clone());
            may_have_run |= attempt.may_have_run;
            let stays = attempt.may_have_run && !may_repeat;
            last = Some(attempt);
            if stays {
                break;
            }
        }
        let error = causes.join("; ");
        servers.tell_if_none_lives(&error);
        match last {
            Some(attempt) => self.result(ToolResult { error: Some(error), may_have_run, ..ToolResult::from(attempt) }),
            None => self.result(ToolResult::rejected("the slot has no server".into(), 0.0)),
        }
    }

    /// Puts a failed call on the timeline.
    fn finish(&self, live: &Live, result: ToolResult) -> ToolResult {
        if let Some(error) = &result.error {
            let tool: Arc<str> = live.redactor.scrub_str(&self.tool).into();
            let draft = Draft::new(EventKind::ToolError)
                .slot(&self.slot.shared.shown)
                .tool(&tool)
                .outcome(result.outcome)
                .latency(self.started.elapsed())
                .error(error);
            self.slot.run.state().timeline.record(draft);
        }
        result
    }

    fn result(&self, result: ToolResult) -> ToolResult {
        ToolResult { latency_ms: self.latency_ms(), ..result }
    }

    fn latency_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    /// A call that verifi does not send. It is on the timeline, and not on the ledger.
    fn refuse(&self, outcome: Outcome, reason: &str) -> ToolResult {
        let Some(live) = self.slot.run.live() else { return self.rejected_by_the_end() };
        let reason = live.redactor.scrub_str(reason).into_owned();
        self.finish(&live, ToolResult { outcome, ..ToolResult::rejected(reason, self.latency_ms()) })
    }

    fn not_started(&self, stop: Stop) -> ToolResult {
        match stop {
            Stop::Cancelled => self.refuse(Outcome::Cancelled, "the call was cancelled before it was sent"),
            Stop::Closed => self.rejected_by_the_end(),
            Stop::Deadline => {
                let limit = self.bounds.timeout.as_millis();
                self.refuse(Outcome::TimedOut, &format!("tool call timed out after {limit} ms, before it was sent"))
            }
        }
    }

    /// A call on a closed run. Its timeline has ended, too.
    fn rejected_by_the_end(&self) -> ToolResult {
        ToolResult::rejected(CLOSED.into(), self.latency_ms())
    }
}

fn scrubbed(on_progress: ProgressFn, live: &Arc<Live>) -> ProgressFn {
    let live = live.clone();
    Arc::new(move |progress: Progress| {
        let message = progress.message.map(|message| live.redactor.scrub(message).text);
        on_progress(Progress { message, ..progress });
    })
}

impl From<Attempt> for ToolResult {
    fn from(attempt: Attempt) -> ToolResult {
        ToolResult {
            ok: attempt.outcome == Outcome::Ok,
            text: attempt.text,
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

impl ToolResult {
    pub(crate) fn rejected(reason: String, latency_ms: f64) -> ToolResult {
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

/// A list of tools that has not been asked for yet.
pub(crate) struct Listing {
    slot: Slot,
    bounds: Bounds,
}

type Listed = Result<Vec<ToolDefinition>, Error>;

impl Listing {
    pub(crate) fn new(slot: &Slot, options: ListOptions, dropped: Option<CancelToken>) -> Listing {
        Listing { bounds: Bounds::new(slot, options.timeout, [options.cancel, dropped]), slot: slot.clone() }
    }

    pub(crate) fn run_in_background(self, done: impl FnOnce(Listed) + Send + 'static) {
        let (Some(scope), Some(_)) = (self.bounds.first().cloned(), self.slot.run.live()) else {
            return done(Err(list_error(CLOSED)));
        };
        let run = self.slot.run.clone();
        run.state().background.spawn(&scope, move |start| match start {
            Start::Go => done(self.run()),
            Start::Stopped(Stop::Deadline) => done(Err(list_error("it timed out before it was sent"))),
            Start::Stopped(_) => done(Err(list_error("it was cancelled before it was sent"))),
            Start::NoThread(error) => done(Err(list_error(&format!("no thread for it: {error}")))),
        });
    }

    /// Asks on this thread, from server to server until one gives a list.
    pub(crate) fn run(mut self) -> Listed {
        let Some(live) = self.slot.run.live() else { return Err(list_error(CLOSED)) };
        let Some(servers) = self.slot.shared.servers(&self.slot.run) else { return Err(list_error(CLOSED)) };
        let mut causes: Vec<String> = Vec::new();
        for index in Walk::new(&servers) {
            let server = &servers.list[index];
            let bounded = self.bounds.next();
            match server.list(&bounded.scope) {
                Ok(tools) => {
                    servers.answered(index);
                    return Ok(tools.into_iter().map(|tool| live.scrub_tool(&tool.name, &tool.json)).collect());
                }
                Err(ListFailure::Refused(reason)) => {
                    servers.answered(index);
                    let reason = format!("{}: {reason}", server.shown());
                    causes.push(live.redactor.scrub(reason).text);
                }
                Err(ListFailure::Failed(failure)) => {
                    let Told { outcome, error, .. } = tell(&failure, server.shown(), &bounded.scope, &live.redactor);
                    causes.push(error.clone());
                    if !matches!(outcome, Outcome::Unreachable | Outcome::TimedOut) {
                        break;
                    }
                    servers.failed(index, &error, failure.is_lost());
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
