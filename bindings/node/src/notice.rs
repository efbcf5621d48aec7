//! What JavaScript is told.

use napi::bindgen_prelude::External;
use napi_derive::napi;
use verifi::{Error, Outcome, Progress, RawJson, ServerRole, ToolDefinition, ToolResult};

/// V8 makes no longer strings. In UTF-16 units, of which a text has never more than it has bytes in UTF-8.
const LONGEST: usize = (1 << 29) - 24;

/// How something ended that JavaScript began, or what has become of it so far.
#[napi(discriminant = "kind", object_from_js = false)]
pub enum Notice {
    /// A call has its result.
    Result {
        ok: bool,
        text: String,
        is_error: bool,
        latency_ms: f64,
        error: Option<String>,
        outcome: String,
        server: Option<String>,
        may_have_run: bool,
        redactions: f64,
        /// What [`raw_json`](raw_json) gives the text of: large, perhaps, and seldom asked for.
        raw: Option<External<RawJson>>,
    },
    /// A call goes on.
    Progress { progress: f64, total: Option<f64>, message: Option<String> },
    /// A list of tools is there.
    Tools { names: Vec<String>, definitions: Vec<String> },
    /// A journal was checked: what came of it, as JSON.
    Verified { verification: String },
    /// The next events of a journal, as a JSON array that is empty at its end.
    Read { events: String },
    /// A list of tools could not be had, or a journal not be read.
    Failure { code: String, message: String },
    /// A subscription has events again, or has ended.
    Events,
    /// A run is closed.
    Closed,
}

impl Notice {
    /// Whether nothing more will be said under this number.
    pub fn is_last(&self) -> bool {
        !matches!(self, Notice::Progress { .. } | Notice::Events)
    }
}

impl From<ToolResult> for Notice {
    fn from(mut result: ToolResult) -> Notice {
        let (text, raw) = result.take_evidence();
        if text.len() > LONGEST || raw.as_ref().is_some_and(|raw| is_too_long(raw, &text)) {
            return too_long(result.latency_ms);
        }
        let error = result.error.take();
        Notice::Result {
            ok: result.ok,
            is_error: result.is_error,
            latency_ms: result.latency_ms,
            outcome: result.outcome.as_str().to_owned(),
            server: result.server.map(ServerRole::as_str).map(str::to_owned),
            may_have_run: result.may_have_run,
            redactions: result.redactions as f64,
            text,
            error,
            raw: raw.map(|raw| {
                let size = raw.size();
                External::new_with_size_hint(raw, size)
            }),
        }
    }
}

/// The JSON text of an answer, whose result has this text.
#[napi]
pub fn raw_json(raw: &External<RawJson>, text: String) -> String {
    raw.with_text(&text).into_owned()
}

fn is_too_long(raw: &RawJson, text: &str) -> bool {
    /// Bytes of a byte that is escaped, at the most.
    const ESCAPED: usize = 6;
    // It is made to be measured only if need be.
    raw.size().saturating_add(text.len().saturating_mul(ESCAPED)) > LONGEST && raw.with_text(text).len() > LONGEST
}

/// An answer that verifi took and JavaScript cannot.
fn too_long(latency_ms: f64) -> Notice {
    Notice::Result {
        ok: false,
        text: String::new(),
        is_error: false,
        latency_ms,
        error: Some(format!("the answer is longer than a JavaScript string can be ({LONGEST})")),
        outcome: Outcome::Rejected.as_str().to_owned(),
        server: None,
        may_have_run: false,
        redactions: 0.0,
        raw: None,
    }
}

impl From<Progress> for Notice {
    fn from(Progress { progress, total, message, .. }: Progress) -> Notice {
        Notice::Progress { progress, total, message }
    }
}

impl From<Result<Vec<ToolDefinition>, Error>> for Notice {
    fn from(listed: Result<Vec<ToolDefinition>, Error>) -> Notice {
        match listed {
            Ok(tools) => {
                let (names, definitions) = tools.into_iter().map(|tool| (tool.name, tool.json)).unzip();
                Notice::Tools { names, definitions }
            }
            Err(error) => error.into(),
        }
    }
}

impl From<Error> for Notice {
    fn from(error: Error) -> Notice {
        Notice::Failure { code: error.kind().as_str().to_owned(), message: error.message().to_owned() }
    }
}
