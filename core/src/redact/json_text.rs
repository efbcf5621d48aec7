//! Secrets in JSON text: rule 5.2.

use std::borrow::Cow;

use super::redactor::Redactor;
use super::span::MARKER;
use crate::json::{self, Token};

/// Copies nothing until the first token that changes.
struct Output<'a> {
    json: &'a str,
    changed: Option<String>,
    /// How much of `json` has been dealt with.
    done: usize,
}

impl Output<'_> {
    /// Puts `text` (already escaped) as a string in the place of the next `length` bytes.
    fn replace(&mut self, length: usize, text: &str) {
        let out = self.changed.get_or_insert_with(|| {
            let mut out = String::with_capacity(self.json.len());
            out.push_str(&self.json[..self.done]);
            out
        });
        out.push('"');
        json::escape_into(out, text);
        out.push('"');
        self.done += length;
    }

    fn keep(&mut self, length: usize) {
        if let Some(out) = &mut self.changed {
            out.push_str(&self.json[self.done..self.done + length]);
        }
        self.done += length;
    }
}

pub(super) fn scrub<'a>(redactor: &Redactor, json: &'a str) -> Cow<'a, str> {
    let mut output = Output { json, changed: None, done: 0 };
    for token in json::tokens(json) {
        match token {
            Token::Mark(text) | Token::Space(text) => output.keep(text.len()),
            Token::Scalar(text) => match redactor.scrub_str(text) {
                Cow::Borrowed(_) => output.keep(text.len()),
                Cow::Owned(_) => output.replace(text.len(), MARKER),
            },
            Token::String(text) => {
                let length = text.len() + 2;
                match redactor.scrub_str(&json::unescape(text)) {
                    Cow::Borrowed(_) => output.keep(length),
                    Cow::Owned(scrubbed) => output.replace(length, &scrubbed),
                }
            }
        }
    }
    output.changed.map_or(Cow::Borrowed(json), Cow::Owned)
}
