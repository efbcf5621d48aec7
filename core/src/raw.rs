//! The JSON of an answer, as far as it is not a result's text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::json;
use crate::spare;

/// The JSON-RPC result, or error object, of an answer, which belongs to a result's text: see
/// [`ToolResult::take_evidence`](crate::ToolResult::take_evidence).
#[derive(Clone, PartialEq)]
pub struct RawJson(Form);

#[derive(Clone, PartialEq)]
enum Form {
    Whole(Part),
    Around(Around),
}

/// A part of the body that it came in.
#[derive(Clone)]
struct Part {
    body: String,
    part: Range<usize>,
}

/// All but one string, which is the text of the result. The text may be large, and is kept once.
#[derive(Clone)]
struct Around {
    before: Box<str>,
    behind: Box<str>,
    /// The whole, when it was asked for where it has to stay.
    whole: OnceLock<String>,
}

impl RawJson {
    /// A part of a body. All else of the body is wiped when it is dropped.
    pub(crate) fn part(body: String, part: Range<usize>) -> RawJson {
        RawJson(Form::Whole(Part { body, part }))
    }

    /// What stands before and behind the quotes of a string that [`json::is_canonical`].
    pub(crate) fn around(before: &str, behind: &str) -> RawJson {
        RawJson(Form::Around(Around { before: before.into(), behind: behind.into(), whole: OnceLock::new() }))
    }

    /// The JSON text. `text` is the text of the result that it belongs to.
    pub fn with_text(&self, text: &str) -> Cow<'_, str> {
        match &self.0 {
            Form::Whole(part) => part.as_str().into(),
            Form::Around(around) => around.with_text(text).into(),
        }
    }

    /// The same, kept from then on.
    pub(crate) fn kept_with_text(&self, text: &str) -> &str {
        match &self.0 {
            Form::Whole(part) => part.as_str(),
            Form::Around(around) => around.whole.get_or_init(|| around.with_text(text)),
        }
    }

    /// Whether [`with_text`](Self::with_text) looks at the text.
    pub fn needs_text(&self) -> bool {
        matches!(self.0, Form::Around(_))
    }

    /// How many bytes it holds in memory.
    pub fn size(&self) -> usize {
        match &self.0 {
            Form::Whole(part) => part.body.capacity(),
            Form::Around(Around { before, behind, whole }) => {
                before.len() + behind.len() + whole.get().map_or(0, String::capacity)
            }
        }
    }
}

impl Part {
    fn as_str(&self) -> &str {
        &self.body[self.part.clone()]
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut body = std::mem::take(&mut self.body).into_bytes();
        // What stands around it was not scrubbed.
        body[self.part.end..].fill(0);
        body[..self.part.start].fill(0);
        spare::give(body);
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Around {
    fn with_text(&self, text: &str) -> String {
        let Around { before, behind, .. } = self;
        let mut json = String::with_capacity(before.len() + text.len() + text.len() / 16 + behind.len() + 2);
        json.push_str(before);
        json.push('"');
        json::escape_into(&mut json, text);
        json.push('"');
        json.push_str(behind);
        json
    }
}

impl PartialEq for Around {
    fn eq(&self, other: &Around) -> bool {
        (&self.before, &self.behind) == (&other.before, &other.behind)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawJson").field("size", &self.size()).finish_non_exhaustive()
    }
}
