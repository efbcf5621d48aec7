//! Calls: made and waited for at once, or started and waited for later.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use verifi::{Arguments, CallOptions, CancelToken, Progress, ProgressFn, Slot, ToolResult};

use crate::executor::{Executor, Form};
use crate::{Answer, Reply, text};

/// What is called, and how: TOOL ARGS TIMEOUT_MS PROGRESS.
pub struct Request {
    tool: String,
    arguments: String,
    timeout: Option<Duration>,
    progress: Option<Reported>,
}

/// What was reported of a call, in order.
type Reported = Arc<Mutex<Vec<Value>>>;

/// The calls that were started and not yet waited for.
#[derive(Default)]
pub struct Calls {
    started: HashMap<String, Started>,
}

struct Started {
    cancel: CancelToken,
    progress: Option<Reported>,
    result: Receiver<ToolResult>,
}

impl Request {
    pub fn from_fields(fields: &[String]) -> Request {
        Request {
            tool: fields[0].clone(),
            arguments: fields[1].clone(),
            timeout: fields[2].parse().ok().map(Duration::from_millis),
            progress: (!fields[3].is_empty()).then(Reported::default),
        }
    }

    fn options(&self, cancel: &CancelToken) -> CallOptions {
        let on_progress = self
            .progress
            .clone()
            .map(|reported| -> ProgressFn { Arc::new(move |progress| note(&reported, &progress)) });
        CallOptions { timeout: self.timeout, cancel: Some(cancel.clone()), on_progress }
    }
}

fn note(reported: &Reported, progress: &Progress) {
    let mut value = json!({"progress": progress.progress});
    if let Some(total) = progress.total {
        value["total"] = total.into();
    }
    if let Some(message) = &progress.message {
        value["message"] = message.as_str().into();
    }
    reported.lock().expect("no report panics").push(value);
}

impl Calls {
    /// Calls and waits.
    pub fn call(&self, slot: &Slot, request: &Request) -> Reply {
        let options = request.options(&CancelToken::new());
        let result = slot.call_with(&request.tool, Arguments::json(&request.arguments), options);
        reply(&result, request.progress.as_ref())
    }

    /// Starts a call: on a thread of its own, or as a future.
    pub fn start(&mut self, id: &str, slot: Slot, request: Request, form: Form, executor: &Executor) {
        let cancel = CancelToken::new();
        let options = request.options(&cancel);
        let arguments = Arguments::json(&request.arguments);
        let (sender, result) = channel();
        match form {
            Form::Awaited => {
                let future = slot.call_async_with(&request.tool, arguments, options);
                executor.spawn(future, move |result| drop(sender.send(result)));
            }
            Form::Blocking => {
                let tool = request.tool.clone();
                thread::spawn(move || drop(sender.send(slot.call_with(&tool, arguments, options))));
            }
        }
        self.started.insert(id.to_owned(), Started { cancel, progress: request.progress, result });
    }

    /// The result of a call that was started; null if it is not there in time.
    pub fn wait(&mut self, id: &str, limit: Duration) -> Reply {
        let result = self.started.get(id).and_then(|started| started.result.recv_timeout(limit).ok());
        match (result, self.started.get(id)) {
            (Some(result), Some(started)) => reply(&result, started.progress.as_ref()),
            _ => Reply::of(&Value::Null),
        }
    }

    /// Cancels a call that was started.
    pub fn cancel(&self, id: &str) -> Answer {
        if let Some(started) = self.started.get(id) {
            started.cancel.cancel();
        }
        Reply::done()
    }
}

fn reply(result: &ToolResult, progress: Option<&Reported>) -> Reply {
    let mut whole = result.clone();
    let (shown, raw) = whole.take_evidence();
    assert_eq!(raw.as_ref().map(|raw| raw.with_text(&shown)).as_deref(), result.raw(), "the JSON apart from its text");
    whole.put_evidence(shown, raw);
    assert_eq!(&whole, result);
    let progress = progress.map(|reported| text(&*reported.lock().expect("no report panics")));
    Reply { ok: text(result), progress }
}
