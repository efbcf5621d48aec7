//! Where patterns occur: the filter finds the places that are worth reading, the automaton reads them.

use super::automaton::{Automaton, ROOT};
use super::filter::Filter;
use super::span::{Span, push_merged};

/// Searches for patterns longer than `Q` bytes.
pub(super) struct Search<const Q: usize> {
    filter: Filter<Q>,
    automaton: Automaton,
    longest: usize,
}

impl<const Q: usize> Search<Q> {
    /// `None` if there are no patterns. They are sorted and no two are equal.
    pub(super) fn new(patterns: &[&[u8]]) -> Option<Search<Q>> {
        let longest = patterns.iter().map(|pattern| pattern.len()).max()?;
        Some(Search { filter: Filter::new(patterns), automaton: Automaton::new(patterns), longest })
    }

    /// Adds the merged occurrences, in order.
    pub(super) fn find(&self, text: &[u8], found: &mut Vec<Span>) {
        let last = self.filter.stride() - 1;
        // No occurrence that starts before `floor` is left to be found.
        let mut floor = 0;
        let mut at = last;
        while let Some(hit) = self.filter.next_hit(text, at) {
            let (low, high) = self.widen(text, floor, hit);
            if high - low < last {
                // The gram after `high` belongs to no pattern.
                floor = high + 2;
            } else {
                floor = self.read(text, low, high + Q, found);
            }
            at = floor + last;
        }
    }

    /// The first and last place, around `hit`, of a row of hits; no more than makes an occurrence possible.
    fn widen(&self, text: &[u8], floor: usize, hit: usize) -> (usize, usize) {
        let last = self.filter.stride() - 1;
        let lowest = floor.max(hit.saturating_sub(last));
        let mut low = hit;
        while low > lowest && self.filter.hits(text, low - 1) {
            low -= 1;
        }
        let mut high = hit;
        while high < low + last && self.filter.hits(text, high + 1) {
            high += 1;
        }
        (low, high)
    }

    /// Reads on from `from`, to `until` at least, and then until too little of a pattern is seen to stay. The result
    /// is where the next occurrence may start.
    fn read(&self, text: &[u8], from: usize, until: usize, found: &mut Vec<Span>) -> usize {
        let mut state = ROOT;
        for (at, &byte) in text.iter().enumerate().skip(from) {
            state = self.automaton.step(state, byte);
            let end = at + 1;
            let (begun, whole) = self.automaton.seen(state);
            if whole > 0 {
                push_merged(found, Span { start: end - whole, end });
            }
            if begun < Q && end >= until {
                return end - begun;
            }
        }
        text.len()
    }

    /// How many bytes at the end of `text` are the beginning of a pattern.
    pub(super) fn begun_at_end(&self, text: &[u8]) -> usize {
        let from = text.len().saturating_sub(self.longest);
        let state = text[from..].iter().fold(ROOT, |state, &byte| self.automaton.step(state, byte));
        self.automaton.seen(state).0
    }
}
