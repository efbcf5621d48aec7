//! Text that is looked at, not owned.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::ptr;

use crate::boundary::{self, Fault};

/// Text in UTF-8, by pointer and length. It owns nothing.
///
/// As an argument it is read during the call and not kept. `{NULL, 0}` is empty text. As a return value it belongs to the
/// object that it was asked of, lasts until that object is freed, and has a NUL behind its end; `data` is NULL where
/// there is no such text. The text itself may have a NUL in it, too: `len` counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verifi_str {
    /// The first byte.
    pub data: *const c_char,
    /// How many bytes there are, without a NUL behind them.
    pub len: usize,
}

impl verifi_str {
    /// No text at all.
    pub(crate) const NONE: verifi_str = verifi_str { data: ptr::null(), len: 0 };

    /// A text that is always there.
    pub(crate) fn of_literal(text: &'static CStr) -> verifi_str {
        verifi_str { data: text.as_ptr(), len: text.count_bytes() }
    }

    /// The text, if it is one.
    pub(crate) fn read(&self, name: &'static str) -> Result<&str, Fault> {
        let bytes = boundary::bytes(self).ok_or(Fault::Utf8(name))?;
        std::str::from_utf8(bytes).map_err(|_| Fault::Utf8(name))
    }

    /// The text as far as it is one, to be shown.
    pub(crate) fn read_lossy(&self) -> Cow<'_, str> {
        boundary::bytes(self).map(String::from_utf8_lossy).unwrap_or_default()
    }
}

/// The text that ends with a NUL, such as a literal, as an argument for another function. NULL is empty text.
///
/// It points to the same bytes: they must stay as long as the verifi_str is used.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_str_of(text: *const c_char) -> verifi_str {
    verifi_str { data: text, len: boundary::length(text) }
}
