//! Parts of a text that are to go.

use std::ops::Range;

/// What is put in a secret's place.
pub(super) const MARKER: &str = "[REDACTED]";

/// The same in JSON.
pub(super) const QUOTED_MARKER: &str = "\"[REDACTED]\"";

/// Bytes `start..end` of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Adds a span to those found so far, in one with those that it overlaps. Spans come in order of their ends, or in
/// order of their starts.
pub(super) fn push_merged(spans: &mut Vec<Span>, mut span: Span) {
    while let Some(last) = spans.pop_if(|last| last.end > span.start) {
        span.start = span.start.min(last.start);
        span.end = span.end.max(last.end);
    }
    spans.push(span);
}

/// Spans in any order, as merged ones in order.
pub(super) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        push_merged(&mut out, span);
    }
    out
}

/// `text` with a marker in the place of each span.
pub(super) fn replaced(text: impl Into<Vec<u8>>, spans: &[Span]) -> String {
    spliced(text, spans.iter().map(|span| (span.start..span.end, MARKER)))
}

/// `text`, which is UTF-8, with another in the place of each of these parts of it, which come in order. It stays where it
/// is if there is room, since it may be large.
pub(crate) fn spliced<'a>(
    text: impl Into<Vec<u8>>,
    parts: impl Iterator<Item = (Range<usize>, &'a str)> + Clone,
) -> String {
    let mut text = text.into();
    let ahead = room(parts.clone());
    let length = text.len();
    text.reserve_exact(ahead);
    text.resize(length + ahead, 0);
    text.copy_within(..length, ahead);
    let (mut written, mut read) = (0, 0);
    for (part, new) in parts {
        text.copy_within(ahead + read..ahead + part.start, written);
        written += part.start - read;
        text[written..written + new.len()].copy_from_slice(new.as_bytes());
        written += new.len();
        read = part.end;
    }
    text.copy_within(ahead + read.., written);
    let length = written + length - read;
    // What is left over may be a part of a secret.
    text[length..].fill(0);
    text.truncate(length);
    // The parts begin and end between characters.
    utf8(text)
}

/// Bytes that are known to be UTF-8.
pub(super) fn utf8(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How far what is written is ahead of what is read, at the most.
fn room<'a>(parts: impl Iterator<Item = (Range<usize>, &'a str)>) -> usize {
    let (mut written, mut read, mut ahead) = (0usize, 0, 0);
    for (part, new) in parts {
        written += part.start - read + new.len();
        read = part.end;
        ahead = ahead.max(written.saturating_sub(read));
    }
    ahead
}
