//! An answer as evidence: its text and its JSON, scrubbed.

use crate::json;
use crate::mcp::{Apart, Content, Reply, Text, flatten, rpc_error_text};
use crate::raw::RawJson;
use crate::redact::{Redactor, Scrubbed};
use crate::spare;

/// What is kept of an answer.
pub(crate) struct Evidence {
    pub(crate) text: String,
    pub(crate) raw: RawJson,
    pub(crate) redactions: u64,
    /// The tool says that it failed.
    pub(crate) is_error: bool,
}

/// A shorter text is not worth two pieces of JSON around it.
const LARGE: usize = 16 * 1024;

/// What is around the text is copied: it should be the smaller part.
fn is_worth_it(token: &str, whole: &str) -> bool {
    token.len() >= LARGE && token.len() >= whole.len() / 2
}

impl Evidence {
    /// Of a tool's result. A large text is kept once, in the memory that it came in, when that says all of how it came.
    pub(crate) fn of_result(reply: Reply, redactor: &Redactor) -> Evidence {
        let Content { text, is_error } = flatten(reply.text());
        let (text, token) = match text {
            Text::Token(token) if is_worth_it(token, reply.text()) && json::is_canonical(token) => {
                let place = json::place(reply.text(), token);
                return Evidence::apart(reply.into_apart(place), is_error, redactor);
            }
            Text::Token(token) => (json::unescape_in(token, spare::string).into_owned(), Some(token)),
            Text::Made(text) => (text, None),
        };
        let (Scrubbed { text, redactions }, changes) = redactor.scrub_with_source(text, token, reply.text());
        Evidence { text, raw: reply.into_raw(&changes), redactions, is_error }
    }

    /// Of an error object: its words.
    pub(crate) fn of_error(reply: Reply, redactor: &Redactor) -> Evidence {
        let Scrubbed { text, redactions } = redactor.scrub(rpc_error_text(reply.text()));
        let changes = redactor.changes_in(reply.text());
        Evidence { text, raw: reply.into_raw(&changes), redactions, is_error: true }
    }

    fn apart(apart: Apart, is_error: bool, redactor: &Redactor) -> Evidence {
        let Apart { before, string, behind } = apart;
        let raw = RawJson::around(&redactor.scrub_json(&before), &redactor.scrub_json(&behind));
        let Scrubbed { mut text, redactions } = redactor.scrub_utf8(string);
        // The rest of the answer may have been larger than the text.
        if text.len() < text.capacity() / 2 {
            text.shrink_to_fit();
        }
        Evidence { text, raw, redactions, is_error }
    }
}
