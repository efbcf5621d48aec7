//! Text that is given away.

use serde::Serialize;

use crate::boundary::{self, Fault};
use crate::str::verifi_str;

/// Text that verifi made, in UTF-8. Usable from any thread until it is freed with verifi_text_free.
pub struct verifi_text {
    text: Ended,
}

impl verifi_text {
    pub(crate) fn new(text: String) -> verifi_text {
        verifi_text { text: Ended::new(text) }
    }

    pub(crate) fn json(value: &impl Serialize) -> Result<verifi_text, Fault> {
        let json = serde_json::to_string(value).map_err(|error| Fault::Argument("value", error.to_string()))?;
        Ok(verifi_text::new(json))
    }
}

/// The text itself, which lasts until `text` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_text_str(text: *const verifi_text) -> verifi_str {
    boundary::peek(text, verifi_str::NONE, |text| text.text.lend())
}

/// Frees the text. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_text_free(text: *mut verifi_text) {
    boundary::take(text, |_| ());
}

/// Text with a NUL behind it, which is not a part of it.
pub(crate) struct Ended(String);

impl Ended {
    pub(crate) fn new(mut text: String) -> Ended {
        // Not `push` alone, which would reserve as much again.
        text.reserve_exact(1);
        text.push('\0');
        Ended(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.strip_suffix('\0').unwrap_or_default()
    }

    /// Takes its memory away.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }

    /// The text for C, as long as this is there.
    pub(crate) fn lend(&self) -> verifi_str {
        verifi_str { data: self.0.as_ptr().cast(), len: self.0.len() - 1 }
    }
}
