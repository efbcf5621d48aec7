//! Parts of a text that are to go.

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
pub(super) fn replaced(text: &str, spans: &[Span]) -> String {
    let gone: usize = spans.iter().map(|span| span.end - span.start).sum();
    let mut out = String::with_capacity(text.len() - gone + spans.len() * MARKER.len());
    let mut done = 0;
    for span in spans {
        out.push_str(&text[done..span.start]);
        out.push_str(MARKER);
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}
