//! Parts of a text that are to go.

use std::ops::Range;

/// What is put in a secret's place.
pub(super) const MARKER: &str = "[REDACTED]";

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
pub(super) fn replaced(text: String, spans: &[Span]) -> String {
    spliced(text, spans.iter().map(|span| (span.start..span.end, MARKER)))
}

/// `text` with another in the place of each of these parts of it, which come in order. It stays where it is if it can,
/// since it may be large.
pub(crate) fn spliced<'a>(text: String, parts: impl Iterator<Item = (Range<usize>, &'a str)> + Clone) -> String {
    let mut written = 0;
    let mut read = 0;
    let fits = parts.clone().all(|(part, new)| {
        written += part.start - read + new.len();
        read = part.end;
        written <= read
    });
    if fits { spliced_in_place(text.into_bytes(), parts) } else { spliced_copy(&text, parts) }
}

/// No part is replaced by more than there is room for.
fn spliced_in_place<'a>(mut text: Vec<u8>, parts: impl Iterator<Item = (Range<usize>, &'a str)>) -> String {
    let (mut written, mut read) = (0, 0);
    for (part, new) in parts {
        text.copy_within(read..part.start, written);
        written += part.start - read;
        text[written..written + new.len()].copy_from_slice(new.as_bytes());
        written += new.len();
        read = part.end;
    }
    text.copy_within(read.., written);
    text.truncate(written + text.len() - read);
    // The parts begin and end between characters.
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn spliced_copy<'a>(text: &str, parts: impl Iterator<Item = (Range<usize>, &'a str)> + Clone) -> String {
    let gone: usize = parts.clone().map(|(part, _)| part.len()).sum();
    let new: usize = parts.clone().map(|(_, new)| new.len()).sum();
    let mut out = String::with_capacity(text.len() - gone + new);
    let mut read = 0;
    for (part, new) in parts {
        out.push_str(&text[read..part.start]);
        out.push_str(new);
        read = part.end;
    }
    out.push_str(&text[read..]);
    out
}
