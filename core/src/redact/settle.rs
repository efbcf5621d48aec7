//! Secrets that only appear once a marker is there. With the secrets `hunter22` and `D]xy`, `hunter22xy` becomes
//! `[REDACTED]xy`, and that has `D]xy` in it: redacting again would change it again. Here the marker takes in what it
//! completes, so that the result holds no secret and redacting twice changes nothing more.
//!
//! Only a secret that overlaps `[REDACTED]` needs this, so hardly any run has one: a plain search will do. What a
//! marker takes in it never gives back, so the work is linear in the text, times the length of such secrets.

use std::collections::VecDeque;

use zeroize::Zeroizing;

use super::span::MARKER;

/// The patterns that a marker can be part of.
pub(super) struct Settler {
    patterns: Vec<Zeroizing<Vec<u8>>>,
    longest: usize,
}

impl Settler {
    pub(super) fn new(patterns: &[&[u8]]) -> Settler {
        let touching = patterns.iter().filter(|pattern| touches_marker(pattern));
        let patterns: Vec<_> = touching.map(|pattern| Zeroizing::new(pattern.to_vec())).collect();
        let longest = patterns.iter().map(|pattern| pattern.len()).max().unwrap_or(0);
        Settler { patterns, longest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Lets each marker of `text` take in what it completes.
    pub(super) fn settle(&self, text: String) -> String {
        if self.is_empty() {
            return text;
        }
        let mut ahead: VecDeque<usize> = text.match_indices(MARKER).map(|(at, _)| at).collect();
        let mut out = String::with_capacity(text.len());
        let mut behind = Vec::new();
        let mut done = 0;
        while let Some(marker) = ahead.pop_front() {
            out.push_str(&text[done..marker]);
            done = marker + MARKER.len();
            behind.push(out.len());
            out.push_str(MARKER);
            while let Some((before, after)) = self.completed(&out, &text[done..]) {
                done = past_markers(&mut ahead, done + after);
                let keep = out.len() - MARKER.len() - before;
                behind.pop();
                out.truncate(behind.pop_if(|start| *start + MARKER.len() > keep).unwrap_or(keep));
                behind.push(out.len());
                out.push_str(MARKER);
            }
        }
        out.push_str(&text[done..]);
        out
    }

    /// A secret that the marker at the end of `out` is part of: how many of its bytes stand before and after it.
    fn completed(&self, out: &str, rest: &str) -> Option<(usize, usize)> {
        let from = out.len().saturating_sub(MARKER.len() + self.longest - 1);
        let until = rest.len().min(self.longest - 1);
        let near = [&out.as_bytes()[from..], &rest.as_bytes()[..until]].concat();
        let marker_end = out.len() - from;
        let marker = marker_end - MARKER.len();
        self.patterns.iter().find_map(|pattern| {
            let first = (marker + 1).saturating_sub(pattern.len());
            let start = (first..marker_end).find(|&start| near[start..].starts_with(pattern))?;
            let end = start + pattern.len();
            Some((marker.saturating_sub(start), end.saturating_sub(marker_end)))
        })
    }
}

/// Where the text goes on after `end`: past the marker that `end` falls into, which then is no marker of its own.
fn past_markers(ahead: &mut VecDeque<usize>, end: usize) -> usize {
    let mut past = end;
    while let Some(marker) = ahead.front().copied().filter(|marker| *marker < end) {
        past = past.max(marker + MARKER.len());
        ahead.pop_front();
    }
    past
}

/// Whether an occurrence of `pattern` can overlap a marker. (None is part of it: such secrets are skipped.)
fn touches_marker(pattern: &[u8]) -> bool {
    let marker = MARKER.as_bytes();
    let overlap =
        |length: usize| pattern.starts_with(&marker[marker.len() - length..]) || pattern.ends_with(&marker[..length]);
    (1..marker.len()).any(overlap) || pattern.windows(marker.len()).any(|part| part == marker)
}
