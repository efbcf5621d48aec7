//! What the server says, and asks, while a request is under way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Incoming;
use super::client::Server;
use super::elicitation::elicited;
use super::failure::Failure;
use super::message::{self, Message, is_id};
use super::post::Posted;
use super::session::Session;
use crate::cancel::Stop;
use crate::progress::{Progress, ProgressFn};

const METHOD_NOT_FOUND: i32 = -32601;

/// One request, as far as the server may speak to it.
pub(super) struct Dialogue<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) session: &'a Arc<Session>,
    pub(super) id: u64,
    pub(super) progress: Option<&'a ProgressFn>,
}

impl Incoming for Dialogue<'_> {
    fn take(&mut self, message: &Message) -> Result<(), Failure> {
        match message {
            Message::Request { id, method, params } => self.answer(id, method, *params),
            Message::Notification { method, params } => return self.notice(method, *params),
            Message::Result { .. } | Message::Error { .. } => {}
        }
        Ok(())
    }
}

impl Dialogue<'_> {
    /// Answers a request of the server's (rule 3.8).
    fn answer(&self, id: &str, method: &str, params: Option<&str>) {
        let text = match method {
            "ping" => message::response(id, "{}"),
            "elicitation/create" => {
                message::response(id, &elicited(self.server.limits.elicitation, params).to_string())
            }
            _ => message::error(id, METHOD_NOT_FOUND, &format!("{method} is not supported")),
        };
        // The call goes on meanwhile: its answer may already be there. A server that asks faster than it takes answers
        // gets no more of them.
        if let Some(answering) = Answering::begin(self.server) {
            self.post_later(text, answering);
        }
    }

    /// Posts a message that the call does not wait for. In 2026-07-28 a server is posted nothing but requests: closing
    /// the stream tells it that nobody waits any more, and it may ask nothing.
    fn post_later(&self, text: String, until_then: impl Send + 'static) {
        const LIMIT: Duration = Duration::from_secs(5);
        if self.session.is_modern() {
            return;
        }
        let (server, session) = (self.server.clone(), self.session.clone());
        self.server.background.chore(LIMIT, move |scope| {
            // Whether it arrives is the server's concern.
            if let Ok(Posted::Answer(response)) = server.post(&session, scope, &text) {
                response.finish();
            }
            drop(until_then);
        });
    }

    fn notice(&self, method: &str, params: Option<&str>) -> Result<(), Failure> {
        let params = params.unwrap_or("{}");
        match method {
            "notifications/progress" => self.progressed(params),
            "notifications/cancelled" => return self.cancelled(params),
            "notifications/tools/list_changed" => self.server.catalog.stale(),
            _ => {}
        }
        Ok(())
    }

    fn progressed(&self, params: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            progress_token: &'a RawValue,
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let Some(on_progress) = self.progress else { return };
        if let Ok(params) = serde_json::from_str::<Params>(params)
            && is_id(Some(params.progress_token.get()), self.id)
        {
            let progress = Progress { progress: params.progress, total: params.total, message: params.message };
            // A callback that panics is its harness's trouble, not the call's.
            let _ = catch_unwind(AssertUnwindSafe(|| on_progress(progress)));
        }
    }

    fn cancelled(&self, params: &str) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            request_id: Option<&'a RawValue>,
            reason: Option<String>,
        }
        match serde_json::from_str::<Params>(params) {
            Ok(params) if is_id(params.request_id.map(RawValue::get), self.id) => {
                let reason = params.reason.unwrap_or_else(|| "no reason given".into());
                Err(Failure::CancelledByServer { reason })
            }
            _ => Ok(()),
        }
    }

    /// Tells the server that nobody waits for the request any more. In the background: the caller has its answer.
    pub(super) fn tell_cancelled(&self, stop: Stop) {
        let reason = match stop {
            Stop::Cancelled => "cancelled by the caller",
            Stop::Closed => "the run was closed",
            Stop::Deadline => "timed out",
        };
        let params = format!(r#"{{"requestId":{},"reason":{}}}"#, self.id, message::quoted(reason));
        self.post_later(message::notification("notifications/cancelled", Some(&params)), ());
    }
}

/// One of the answers that are on their way to a server.
struct Answering(Arc<Server>);

impl Answering {
    fn begin(server: &Arc<Server>) -> Option<Answering> {
        const MOST: usize = 64;
        let answering = Answering(server.clone());
        (server.answering.fetch_add(1, Ordering::Relaxed) < MOST).then_some(answering)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}
