//! The elements of an array, one at a time: an array of a million little ones must not become a list of a million.

use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Gives `each` the JSON text of every element in turn, until it says to stop.
///
/// # Errors
///
/// When `json` is no array.
pub(super) fn elements<'a>(json: &'a str, each: impl FnMut(&'a str) -> bool) -> Result<(), serde_json::Error> {
    serde_json::Deserializer::from_str(json).deserialize_seq(Each(each))
}

struct Each<F>(F);

impl<'a, F: FnMut(&'a str) -> bool> Visitor<'a> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&'a RawValue>()? {
            if !(self.0)(element.get()) {
                // What is left is skipped, not kept.
                while elements.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                break;
            }
        }
        Ok(())
    }
}
