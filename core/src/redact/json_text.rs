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

/// A string in a JSON text that was searched before.
pub(crate) struct Known<'a> {
    /// Where it stands, without its quotes.
    pub(crate) token: &'a str,
    /// What it stands for, without its secrets, if there were any.
    pub(crate) scrubbed: Option<&'a str>,
}

/// None when nothing changes.
pub(super) fn scrub(redactor: &Redactor, json: &str, known: Option<Known>) -> Option<String> {
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
                match &known {
                    Some(Known { token, scrubbed: None }) if std::ptr::eq(*token, text) => output.keep(length),
                    Some(Known { token, scrubbed: Some(scrubbed) }) if std::ptr::eq(*token, text) => {
                        output.replace(length, scrubbed);
                    }
                    _ => match redactor.scrub_str(&json::unescape(text)) {
                        Cow::Borrowed(_) => output.keep(length),
                        Cow::Owned(scrubbed) => output.replace(length, &scrubbed),
                    },
                }
            }
        }
    }
    output.changed
}
