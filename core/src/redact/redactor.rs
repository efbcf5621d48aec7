//! The redactor: secrets in, text in, text without secrets out.

use std::borrow::Cow;
use std::fmt;

use super::encodings::{Pattern, add_forms};
use super::json_text::{self, Change, Known};
use super::keys::add_pieces;
use super::parts::parts;
use super::search::Search;
use super::secrets::is_secret;
use super::settle::Settler;
use super::span::{MARKER, Span, merged, push_merged, replaced, spliced, utf8};

/// Bytes of a short pattern at most. Short ones are searched for on their own, so that they do not shorten the steps
/// in which a text is searched for long ones.
const LONGEST_SHORT: usize = 7;

/// Replaces secrets with `[REDACTED]`.
///
/// Building one costs a few hundred nanoseconds for each byte of the secrets, and about 16 bytes of memory for each
/// byte of their forms. Searching takes time linear in the text, whatever text and secrets are; text without secrets
/// passes at memory speed, more or less. Overlapping occurrences are replaced together, so no part of any is left, and
/// redacting twice changes nothing more.
///
/// A secret that is blank, shorter than 4 characters or part of `[REDACTED]` is skipped. Unlike
/// [`collect_run_secrets`](super::collect_run_secrets), a redactor takes everything else that it is given, placeholder
/// or not.
///
/// It never changes, so threads share one freely. What it holds of the secrets is zeroed when it is dropped, and its
/// `Debug` shows none of it.
///
/// ```
/// let redactor = verifi::Redactor::for_run(&["p@ss/word"]);
/// assert_eq!(redactor.scrub_str("GET /?key=p%40ss%2Fword HTTP/1.1"), "GET /?key=[REDACTED] HTTP/1.1");
/// ```
pub struct Redactor {
    short: Option<Search<3>>,
    long: Option<Search<4>>,
    settler: Settler,
}

/// A text without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scrubbed {
    /// The text.
    pub text: String,
    /// How many times something was replaced.
    pub redactions: u64,
}

impl Redactor {
    /// Looks for the secrets as they stand only.
    pub fn plain<S: AsRef<str>>(secrets: &[S]) -> Redactor {
        let secrets = secrets.iter().map(AsRef::as_ref).filter(|secret| is_secret(secret));
        Redactor::of(secrets.map(|secret| Pattern::new(secret.as_bytes().to_vec())).collect())
    }

    /// Looks for the secrets in every form that a run looks for: as they stand, JSON-escaped, percent-encoded, and,
    /// when they are 8 bytes or longer, in base64 and base64url wherever in the encoded data they stand. A secret of
    /// several lines is looked for line by line as well, and one that is JSON string by string (8 characters or
    /// longer); of one with a URL in it, the URL's password is a secret, too, and of an `Authorization` header's value
    /// what follows the scheme. A private key is found at any line width.
    ///
    /// Hexadecimal, HTML entities and base64 with line breaks in it are not covered.
    pub fn for_run<S: AsRef<str>>(secrets: &[S]) -> Redactor {
        let mut patterns = Vec::new();
        for secret in secrets.iter().map(AsRef::as_ref).filter(|secret| is_secret(secret)) {
            for part in parts(secret) {
                add_forms(&part, &mut patterns);
                add_pieces(&part, &mut patterns);
            }
        }
        Redactor::of(patterns)
    }

    fn of(mut patterns: Vec<Pattern>) -> Redactor {
        // A form may be part of the marker even if the secret is not. One that is no text would be found inside of
        // characters.
        let is_in_marker = |pattern: &[u8]| MARKER.as_bytes().windows(pattern.len()).any(|part| part == pattern);
        patterns.retain(|pattern| std::str::from_utf8(pattern).is_ok() && !is_in_marker(pattern));
        patterns.sort_unstable_by(|a, b| a.as_slice().cmp(b.as_slice()));
        patterns.dedup();
        let all: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.as_slice()).collect();
        let (short, long): (Vec<&[u8]>, Vec<&[u8]>) = all.iter().partition(|pattern| pattern.len() <= LONGEST_SHORT);
        Redactor { short: Search::new(&short), long: Search::new(&long), settler: Settler::new(&all) }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.short.is_none() && self.long.is_none()
    }

    /// `text` without secrets, and how many were replaced. Not copied when there is none.
    pub fn scrub(&self, text: String) -> Scrubbed {
        let spans = self.find(text.as_bytes());
        Scrubbed { text: self.without(text, &spans), redactions: spans.len() as u64 }
    }

    /// The same of bytes that are known to be UTF-8: they are read as such once, when the secrets are gone.
    pub(crate) fn scrub_utf8(&self, text: Vec<u8>) -> Scrubbed {
        let spans = self.find(&text);
        let redactions = spans.len() as u64;
        let text = if spans.is_empty() { utf8(text) } else { self.settler.settle(replaced(text, &spans)) };
        Scrubbed { text, redactions }
    }

    /// A text that was taken out of `json`, and what changes there. `token` is the string, without its quotes, that the
    /// text is of, if it is of one: it is not searched again.
    pub(crate) fn scrub_with_source(&self, text: String, token: Option<&str>, json: &str) -> (Scrubbed, Vec<Change>) {
        let spans = self.find(text.as_bytes());
        let scrubbed = Scrubbed { text: self.without(text, &spans), redactions: spans.len() as u64 };
        let known = token.map(|token| Known { token, spans: &spans });
        let changes = self.changes(json, known);
        (scrubbed, changes)
    }

    /// `text` without secrets; borrowed when there is none in it.
    pub fn scrub_str<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.scrub_spans(text, &self.find(text.as_bytes()))
    }

    /// `text` without secrets, where `text` is the beginning of a longer one that was cut: an end of 4 bytes or more
    /// that is the beginning of a secret goes, too.
    pub fn scrub_cut(&self, text: &str) -> Scrubbed {
        let bytes = text.as_bytes();
        let mut spans = self.find(bytes);
        let short = self.short.as_ref().map_or(0, |search| search.begun_at_end(bytes));
        let long = self.long.as_ref().map_or(0, |search| search.begun_at_end(bytes));
        let begun = short.max(long);
        if begun >= 4 {
            push_merged(&mut spans, Span { start: bytes.len() - begun, end: bytes.len() });
        }
        Scrubbed { redactions: spans.len() as u64, text: self.scrub_spans(text, &spans).into_owned() }
    }

    /// JSON text whose strings, names of members included, hold no secrets; borrowed when nothing changes.
    ///
    /// Strings are searched as what they stand for, however they are escaped. A number, `true`, `false` or `null` that
    /// has a secret in it becomes the string `"[REDACTED]"`. Everything else stays, byte for byte, so that JSON stays
    /// JSON; only a string full of secrets may be escaped anew. Nesting may be as deep as it likes.
    pub fn scrub_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match &self.changes_in(json)[..] {
            [] => Cow::Borrowed(json),
            changes => Cow::Owned(spliced(json.to_owned(), changes.iter().map(Change::placed))),
        }
    }

    /// What changes in `json`, in order.
    pub(crate) fn changes_in(&self, json: &str) -> Vec<Change> {
        self.changes(json, None)
    }

    fn changes(&self, json: &str, known: Option<Known>) -> Vec<Change> {
        if self.is_empty() { Vec::new() } else { json_text::changes(self, json, known) }
    }

    fn scrub_spans<'a>(&self, text: &'a str, spans: &[Span]) -> Cow<'a, str> {
        match spans {
            [] => Cow::Borrowed(text),
            spans => Cow::Owned(self.without(text.to_owned(), spans)),
        }
    }

    /// `text` without the secrets that were found in it.
    pub(super) fn without(&self, text: String, spans: &[Span]) -> String {
        match spans {
            [] => text,
            spans => self.settler.settle(replaced(text, spans)),
        }
    }

    /// Whether a marker may take in what stands around it.
    pub(super) fn settles(&self) -> bool {
        !self.settler.is_empty()
    }

    pub(super) fn find(&self, text: &[u8]) -> Vec<Span> {
        let mut short = Vec::new();
        let mut long = Vec::new();
        if let Some(search) = &self.short {
            search.find(text, &mut short);
        }
        if let Some(search) = &self.long {
            search.find(text, &mut long);
        }
        if short.is_empty() {
            return long;
        }
        short.append(&mut long);
        merged(short)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}
