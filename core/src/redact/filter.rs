//! What lets most of a text pass unread.
//!
//! Every pattern is at least `window` bytes long, and a bitmap knows the grams (`Q` bytes each, hashed) of every
//! pattern's first `window` bytes. Of `stride = window - Q + 1` successive places in a text it is enough to look at
//! the gram of one: an occurrence that starts at any of them would show one of its grams there. Where the bitmap says
//! yes, the places around are asked as well, since an occurrence means `stride` hits in a row.

use zeroize::Zeroize;

/// Past this the bitmap fills faster than the steps grow.
const LARGEST_WINDOW: usize = 20;
const BITS_PER_GRAM: usize = 24;
const SMALLEST_BITMAP: usize = 1 << 15;
/// 1 MiB: a bitmap should stay in a core's own cache.
const LARGEST_BITMAP: usize = 1 << 23;
/// Leaves the bits of a hash that depend on all of the gram, as many as the largest bitmap needs.
const HASH_SHIFT: u32 = 64 - LARGEST_BITMAP.ilog2();

pub(super) struct Filter<const Q: usize> {
    bits: Vec<u64>,
    mask: u64,
    stride: usize,
}

impl<const Q: usize> Filter<Q> {
    /// `patterns` are longer than `Q` bytes each.
    pub(super) fn new(patterns: &[&[u8]]) -> Filter<Q> {
        let shortest = patterns.iter().map(|pattern| pattern.len()).min().unwrap_or(LARGEST_WINDOW);
        let window = shortest.min(LARGEST_WINDOW);
        let stride = window - Q + 1;
        let wanted = (patterns.len() * stride * BITS_PER_GRAM).next_power_of_two();
        let size = wanted.clamp(SMALLEST_BITMAP, LARGEST_BITMAP);
        let mut filter = Filter { bits: vec![0; size / 64], mask: size as u64 - 1, stride };
        for pattern in patterns {
            for gram in (0..stride).filter_map(|at| pattern[at..].first_chunk::<Q>()) {
                let bit = filter.bit(gram);
                filter.bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        filter
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// The first of the places `from`, `from + stride` … whose gram may belong to a pattern.
    ///
    /// Nearly all time goes into this loop. Inlined, it would have to share the registers with its caller's.
    #[inline(never)]
    pub(super) fn next_hit(&self, text: &[u8], from: usize) -> Option<usize> {
        let last = text.len().checked_sub(Q)?;
        let mut at = from;
        while at <= last {
            if self.has(text[at..].first_chunk::<Q>()?) {
                return Some(at);
            }
            at += self.stride;
        }
        None
    }

    /// Whether the gram at `at` may belong to a pattern; at the end of the text there is none.
    #[inline]
    pub(super) fn hits(&self, text: &[u8], at: usize) -> bool {
        text.get(at..).and_then(|rest| rest.first_chunk::<Q>()).is_some_and(|gram| self.has(gram))
    }

    #[inline]
    fn has(&self, gram: &[u8; Q]) -> bool {
        let bit = self.bit(gram);
        self.bits[bit / 64] >> (bit % 64) & 1 != 0
    }

    #[inline]
    fn bit(&self, gram: &[u8; Q]) -> usize {
        let mut word = [0; 4];
        word[..Q].copy_from_slice(gram);
        let hash = u64::from(u32::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> HASH_SHIFT;
        (hash & self.mask) as usize
    }
}

impl<const Q: usize> Drop for Filter<Q> {
    fn drop(&mut self) {
        self.bits.zeroize();
    }
}
