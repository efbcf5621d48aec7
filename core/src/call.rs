//! A call from the harness to its result: through the slot's servers, within its time.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use crate::arguments::Arguments;
use crate::attempt::{Target, attempt};
use crate::background::Start;
use crate::bounds::Bounds;
use crate::call_options::CallOptions;
use crate::cancel::{CancelToken, Stop};
use crate::http::Resend;
use crate::mcp::ToolCall;
use crate::options::Replay;
use crate::outcome::Outcome;
use crate::progress::{Progress, ProgressFn};
use crate::result::ToolResult;
use crate::servers::{Servers, Walk};
use crate::state::{CLOSED, Live, RunShared, RunState, SlotShared};
use crate::timeline::{Draft, EventKind};

/// A call that has not been made yet.
pub(crate) struct Call {
    run: Arc<RunShared>,
    state: Arc<RunState>,
    slot: Arc<SlotShared>,
    tool: Arc<str>,
    arguments: Result<String, String>,
    on_progress: Option<ProgressFn>,
    bounds: Bounds,
    started: Instant,
}

impl Call {
    pub(crate) fn new(
        run: &Arc<RunShared>,
        slot: &Arc<SlotShared>,
        tool: &str,
        arguments: Arguments,
        options: CallOptions,
        dropped: Option<CancelToken>,
    ) -> Call {
        let state = run.state().clone();
        let timeout = options.timeout.unwrap_or(run.options.timeout);
        Call {
            tool: tool.into(),
            arguments: arguments.into_text(),
            on_progress: options.on_progress,
            bounds: Bounds::new(&state, timeout, [options.cancel, dropped]),
            started: Instant::now(),
            run: run.clone(),
            state,
            slot: slot.clone(),
        }
    }

    pub(crate) fn run_in_background(self, done: impl FnOnce(ToolResult) + Send + 'static) {
        let (Some(scope), Some(_)) = (self.bounds.first().cloned(), self.run.live()) else {
            return done(self.rejected_by_the_end());
        };
        let state = self.state.clone();
        state.background.spawn(&scope, move |start| match start {
            Start::Go => done(self.run()),
            Start::Stopped(stop) => done(self.not_started(stop)),
            Start::NoThread(error) => done(self.refuse(Outcome::Rejected, &format!("no thread for the call: {error}"))),
        });
    }

    /// Makes the call on this thread.
    pub(crate) fn run(mut self) -> ToolResult {
        let Some(live) = self.run.live() else { return self.rejected_by_the_end() };
        let Some(servers) = self.slot.servers(&self.run, &self.state) else { return self.rejected_by_the_end() };
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
        let tool = self.shown_tool(live);
        let mut causes: Vec<String> = Vec::new();
        let mut last = None;
        let (mut may_have_run, mut redactions) = (false, 0);
        let mut walk = Walk::new(servers);
        while let Some(index) = walk.next() {
            let server = &servers.list[index];
            let role = Servers::role(index);
            let may_repeat = self.slot.replay(&self.run) == Replay::Always || servers.may_repeat(index, &self.tool);
            let resend = if may_repeat { Resend::Unanswered } else { Resend::Unsent };
            let bounded = self.bounds.next();
            if last.is_some() && bounded.scope.stopped().is_some() {
                // Stopped on the way from one server to the next.
                let outcome = Outcome::Cancelled;
                return self.result(ToolResult { outcome, may_have_run, redactions, ..self.stopped(causes) });
            }
            servers.tell_fallback(index);
            let target = Target { slot: &servers.slot, tool: &tool, role, server };
            let call = ToolCall { tool: &self.tool, arguments, progress, resend };
            let attempt = attempt(&self.state.timeline, live, &target, &bounded.scope, &call);
            if !matches!(attempt.outcome, Outcome::Unreachable | Outcome::TimedOut) {
                if attempt.is_answer {
                    walk.answered(index);
                }
                let server = attempt.is_answer.then_some(role);
                let result = ToolResult { server, ..ToolResult::from(attempt) };
                return self.result(result.after(causes, may_have_run, redactions));
            }
            servers.failed(index, attempt.error.as_deref().unwrap_or_default());
            if attempt.is_lost {
                servers.lost(index);
            }
            causes.extend(attempt.error.clone());
            may_have_run |= attempt.may_have_run;
            redactions += attempt.redactions;
            let stays = attempt.may_have_run && !may_repeat;
            last = Some(attempt);
            if stays {
                break;
            }
        }
        let error = causes.join("; ");
        servers.tell_if_none_lives(&error);
        match last {
            Some(attempt) => {
                self.result(ToolResult { error: Some(error), may_have_run, redactions, ..ToolResult::from(attempt) })
            }
            None => self.result(ToolResult::rejected("the slot has no server".into(), 0.0)),
        }
    }

    /// The tool's name, scrubbed.
    fn shown_tool(&self, live: &Live) -> Arc<str> {
        match live.redactor().scrub_str(&self.tool) {
            Cow::Borrowed(_) => self.tool.clone(),
            Cow::Owned(scrubbed) => scrubbed.into(),
        }
    }

    fn stopped(&self, causes: Vec<String>) -> ToolResult {
        ToolResult::rejected([causes, vec!["the call was cancelled".into()]].concat().join("; "), 0.0)
    }

    /// Puts a failed call on the timeline.
    fn finish(&self, live: &Live, result: ToolResult) -> ToolResult {
        if let Some(error) = &result.error {
            let tool = self.shown_tool(live);
            let draft = Draft::new(EventKind::ToolError)
                .slot(&self.slot.shown)
                .tool(&tool)
                .outcome(result.outcome)
                .latency(self.started.elapsed())
                .error(error);
            self.state.timeline.record(draft);
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
        let Some(live) = self.run.live() else { return self.rejected_by_the_end() };
        let reason = live.redactor().scrub_str(reason).into_owned();
        self.finish(&live, ToolResult { outcome, ..ToolResult::rejected(reason, self.latency_ms()) })
    }

    fn not_started(&self, stop: Stop) -> ToolResult {
        match stop {
            Stop::Cancelled => self.refuse(Outcome::Cancelled, "the call was cancelled before it was sent"),
            Stop::Closed => self.rejected_by_the_end(),
            Stop::Deadline => {
                let limit = self.bounds.timeout().as_millis();
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
        let message = progress.message.map(|message| live.redactor().scrub(message).text);
        on_progress(Progress { message, ..progress });
    })
}
