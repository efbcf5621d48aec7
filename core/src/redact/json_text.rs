//! Secrets in JSON text: rule 5.2.

use std::borrow::Cow;
use std::ops::Range;

use super::redactor::Redactor;
use super::span::{MARKER, QUOTED_MARKER, Span, spliced};
use crate::json::{self, Token};

/// A part of a JSON text, and what stands there instead when its secrets are gone.
pub(crate) struct Change {
    pub(crate) part: Range<usize>,
    pub(crate) text: Cow<'static, str>,
}

impl Change {
    pub(crate) fn placed(&self) -> (Range<usize>, &str) {
        (self.part.clone(), &self.text)
    }
}

/// A string in a JSON text that was searched before.
pub(super) struct Known<'a> {
    /// Where it stands, without its quotes.
    pub(super) token: &'a str,
    /// The secrets in what it stands for.
    pub(super) spans: &'a [Span],
}

/// What changes in `json`, in order.
pub(super) fn changes(redactor: &Redactor, json: &str, known: Option<Known>) -> Vec<Change> {
    let mut changes = Vec::new();
    let Some(Known { token, spans }) = known else {
        walk(redactor, 0, json, &mut changes);
        return changes;
    };
    // Which may be most of it, and is not read again. The quotes around it belong to neither part.
    let Range { start, end } = json::place(json, token);
    walk(redactor, 0, &json[..start - 1], &mut changes);
    add(redactor, start, token, spans, &mut changes);
    walk(redactor, end + 1, &json[end + 1..], &mut changes);
    changes
}

/// So many changes are listed. More only if their list is no larger than the text.
const LISTED: usize = 4096;

fn most_listed(text: &str) -> usize {
    LISTED.max(text.len() / size_of::<Change>())
}

/// Goes through all tokens of a part of the text that begins at `start`.
fn walk(redactor: &Redactor, start: usize, json: &str, changes: &mut Vec<Change>) {
    let first = changes.len();
    let mut at = start;
    for token in json::tokens(json) {
        if changes.len() - first > most_listed(json) {
            let listed = changes.split_off(first);
            changes.extend(in_one(start, json, &listed));
        }
        at += match token {
            Token::Mark(text) | Token::Space(text) => text.len(),
            Token::Scalar(text) => {
                if let Cow::Owned(_) = redactor.scrub_str(text) {
                    changes.push(Change { part: at..at + text.len(), text: QUOTED_MARKER.into() });
                }
                text.len()
            }
            Token::String(token) => {
                search(redactor, at + 1, token, changes);
                token.len() + 2
            }
        };
    }
}

/// Changes of a text that begins at `start`, as one.
fn in_one(start: usize, json: &str, changes: &[Change]) -> Option<Change> {
    let part = changes.first()?.part.start..changes.last()?.part.end;
    let placed = changes.iter().map(Change::placed);
    let placed = placed.map(|(at, text)| (at.start - part.start..at.end - part.start, text));
    let text = spliced(json[part.start - start..part.end - start].to_owned(), placed).into();
    Some(Change { part, text })
}

/// Looks into a string that begins at `at`.
fn search(redactor: &Redactor, at: usize, token: &str, changes: &mut Vec<Change>) {
    let spans = redactor.find(json::unescape(token).as_bytes());
    add(redactor, at, token, &spans, changes);
}

/// The secrets alone change, unless markers may take in what stands around them, or there are so many that a list of them
/// would be larger than the string.
fn add(redactor: &Redactor, at: usize, token: &str, spans: &[Span], changes: &mut Vec<Change>) {
    if spans.is_empty() {
        return;
    }
    if redactor.settles() || spans.len() > most_listed(token) {
        let scrubbed = redactor.without(json::unescape(token).into_owned(), spans);
        let mut text = String::with_capacity(scrubbed.len());
        json::escape_into(&mut text, &scrubbed);
        return changes.push(Change { part: at..at + token.len(), text: text.into() });
    }
    let mut places = json::Places::new(token);
    changes.extend(spans.iter().map(|span| {
        let start = at + places.of(span.start);
        Change { part: start..at + places.of(span.end), text: MARKER.into() }
    }));
}
