//! Redaction: no text that came from a server is seen by anyone before it went through here.
//!
//! `secrets` says which values are secrets, `parts` and `keys` which parts of them are, `encodings` in which forms these
//! turn up.
//! That gives patterns, and the [`Redactor`] finds them all at once: `filter` passes over what cannot be one,
//! `automaton` reads the rest, `search` joins the two; `span` and `settle` put markers in their places.

mod automaton;
mod encodings;
mod filter;
mod json_text;
mod keys;
mod parts;
mod redactor;
mod search;
mod secrets;
mod settle;
mod span;

pub(crate) use json_text::Change;
pub use redactor::{Redactor, Scrubbed};
pub use secrets::{collect_run_secrets, collect_run_secrets_from};
pub(crate) use span::spliced;

/// `text` with `[REDACTED]` in the place of every occurrence of every secret, as they stand; occurrences that overlap
/// are replaced together.
///
/// Secrets that are blank, shorter than 4 characters or part of `[REDACTED]` are skipped. Time is linear in the text
/// and in the secrets; for many texts and the same secrets, keep a [`Redactor`].
///
/// ```
/// assert_eq!(verifi::redact("token=ghp_0123456789 sent", &["ghp_0123456789"]), "token=[REDACTED] sent");
/// ```
pub fn redact(text: &str, secrets: &[impl AsRef<str>]) -> String {
    Redactor::plain(secrets).scrub_str(text).into_owned()
}
