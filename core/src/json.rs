//! JSON text as text: its tokens, its compact form, its strings. Numbers keep every digit and members their order,
//! because no value is ever built; nothing recurses, because a server decides how deep its answer nests.
//!
//! Input is text that a JSON parser has accepted. Anything else gives some result, but never a panic.

mod cursor;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use cursor::Cursor;

/// Where `part`, a slice of `text`, stands in it.
pub(crate) fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// One token of JSON text. Put together, the tokens are the text (a string's quotes aside).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// What stands between the quotes of a string, still escaped.
    String(&'a str),
    /// A number, `true`, `false` or `null`.
    Scalar(&'a str),
    /// One of `{ } [ ] : ,`.
    Mark(&'a str),
    /// White space.
    Space(&'a str),
}

/// The tokens of `json`, in order.
pub(crate) fn tokens(json: &str) -> Tokens<'_> {
    Tokens { rest: json }
}

pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        token
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.rest.as_bytes();
        Some(match bytes.first()? {
            b'"' => match string_end(bytes) {
                Some(end) => Token::String(&self.take(end + 1)[1..end]),
                None => Token::Scalar(self.take(bytes.len())),
            },
            b'{' | b'}' | b'[' | b']' | b':' | b',' => Token::Mark(self.take(1)),
            byte if is_space(*byte) => Token::Space(self.take(run(bytes, is_space))),
            _ => Token::Scalar(self.take(run(bytes, |b| !is_space(b) && !b"{}[]:,\"".contains(&b)))),
        })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !belongs(b)).unwrap_or(bytes.len())
}

/// Where the quote stands that ends the string at the start of `bytes`.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
    None
}

/// `json` as `JSON.stringify` writes it: no white space, strings escaped no more than they must be. Numbers stay as
/// they are spelled.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for token in tokens(json) {
        match token {
            Token::Space(_) => {}
            Token::Scalar(text) | Token::Mark(text) => out.push_str(text),
            Token::String(text) => {
                out.push('"');
                match unescape(text) {
                    Cow::Borrowed(text) => out.push_str(text),
                    Cow::Owned(text) => escape_into(&mut out, &text),
                }
                out.push('"');
            }
        }
    }
    out
}

/// The string that a string token (without its quotes) stands for. Half a surrogate pair becomes U+FFFD.
pub(crate) fn unescape(token: &str) -> Cow<'_, str> {
    unescape_in(token, String::with_capacity)
}

/// The same, in a string from `with_capacity`.
pub(crate) fn unescape_in(token: &str, with_capacity: fn(usize) -> String) -> Cow<'_, str> {
    let Some(first) = next_escape(token.as_bytes()) else { return Cow::Borrowed(token) };
    // An escape has two backslashes at the most, and is longer than what it stands for.
    let escapes = memchr::memchr_iter(b'\\', token.as_bytes()).count();
    let mut out = with_capacity(token.len() - escapes / 2);
    let mut rest = token;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (character, length) = escaped_char(&rest.as_bytes()[at..]);
        out.push(character);
        rest = &rest[at + length..];
        next = next_escape(rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Leaves of `json` nothing but the string that a token stands for, where it stood. Its bytes are UTF-8 as those were.
pub(crate) fn unescape_in_place(json: &mut Vec<u8>, token: Range<usize>) {
    let (mut read, mut written) = (token.start, 0);
    while let Some(plain) = next_escape(&json[read..token.end]) {
        json.copy_within(read..read + plain, written);
        (read, written) = (read + plain, written + plain);
        let (character, length) = escaped_char(&json[read..token.end]);
        let mut utf8 = [0; 4];
        let utf8 = character.encode_utf8(&mut utf8).as_bytes();
        // An escape is longer than what it stands for, if it is one.
        let utf8 = &utf8[..utf8.len().min(length)];
        json[written..written + utf8.len()].copy_from_slice(utf8);
        (read, written) = (read + length, written + utf8.len());
    }
    json.copy_within(read..token.end, written);
    written += token.end - read;
    // What is left over was not scrubbed.
    json[written..].fill(0);
    json.truncate(written);
}

/// Whether a string token is what [`escape_into`] makes of its string.
pub(crate) fn is_canonical(token: &str) -> bool {
    let mut rest = token.as_bytes();
    while let Some(at) = next_escape(rest) {
        let (character, length) = escaped_char(&rest[at..]);
        if !is_as_escaped(&rest[at..at + length], character) {
            return false;
        }
        rest = &rest[at + length..];
    }
    true
}

/// Whether an escape is the one that [`push_escape`] makes.
fn is_as_escaped(escape: &[u8], character: char) -> bool {
    match escape.len() {
        2 => escape != b"\\/" && character != char::REPLACEMENT_CHARACTER,
        6 => character < ' ' && short_escape(character as u8).is_none() && !escape.iter().any(u8::is_ascii_uppercase),
        _ => false,
    }
}

fn next_escape(text: &[u8]) -> Option<usize> {
    memchr::memchr(b'\\', text)
}

/// Finds in a string token what stands at one place of the string after the other.
pub(crate) struct Places<'a> {
    token: &'a str,
    /// How far the token was read, and to what place of the string that is.
    read: usize,
    reached: usize,
}

impl<'a> Places<'a> {
    pub(crate) fn new(token: &'a str) -> Places<'a> {
        Places { token, read: 0, reached: 0 }
    }

    /// Where the byte `place` of the string stands in the token. It is not before the last one asked for.
    pub(crate) fn of(&mut self, place: usize) -> usize {
        loop {
            let wanted = place.saturating_sub(self.reached);
            let rest = &self.token.as_bytes()[self.read..];
            let ahead = &rest[..wanted.min(rest.len())];
            let plain = memchr::memchr(b'\\', ahead).unwrap_or(ahead.len());
            self.read += plain;
            self.reached += plain;
            if plain == ahead.len() {
                return self.read;
            }
            let (character, length) = escaped_char(&self.token.as_bytes()[self.read..]);
            self.read += length;
            self.reached += character.len_utf8();
        }
    }
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escaped_char(text: &[u8]) -> (char, usize) {
    let simple = match text.get(1) {
        Some(b'b') => '\u{8}',
        Some(b't') => '\t',
        Some(b'n') => '\n',
        Some(b'f') => '\u{c}',
        Some(b'r') => '\r',
        Some(&byte @ (b'"' | b'\\' | b'/')) => byte as char,
        Some(b'u') => return escaped_unit(text),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

fn escaped_unit(text: &[u8]) -> (char, usize) {
    let Some(unit) = unit_at(text) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let Some(character) = char::from_u32(unit) {
        return (character, 6);
    }
    let low = text.get(6..).and_then(unit_at).filter(|low| (0xDC00..0xE000).contains(low));
    match low {
        Some(low) if unit < 0xDC00 => {
            let scalar = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The UTF-16 unit of the `\uXXXX` at the start of `text`.
fn unit_at(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

/// Appends `text` as the inside of a JSON string, escaped as `JSON.stringify` does.
pub(crate) fn escape_into(out: &mut String, text: &str) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[done..at]);
        done = at + 1;
        push_escape(out, byte);
    }
    out.push_str(&text[done..]);
}

fn push_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match short_escape(byte) {
        Some(short) => out.extend(['\\', short]),
        None => {
            out.push_str("\\u00");
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
}

/// What follows the backslash, if that is a letter or a mark.
fn short_escape(byte: u8) -> Option<char> {
    Some(match byte {
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0C => 'f',
        b'\r' => 'r',
        b'"' | b'\\' => byte as char,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule 2.4.
    #[test]
    fn compact_is_what_json_stringify_writes() {
        for (json, expected) in [
            ("{ \"b\" : [ 1.50 , -0e+10 ] ,\n\t\"a\" : { } }", r#"{"b":[1.50,-0e+10],"a":{}}"#),
            (r#""\u0041\/\u00e9\ud83d\udd11""#, "\"A/é🔑\""),
            (r#""\u0000\u001F\u007f\b\t\n\f\r\"\\""#, "\"\\u0000\\u001f\u{7f}\\b\\t\\n\\f\\r\\\"\\\\\""),
            (r#""\u2028""#, "\"\u{2028}\""),
            (r#"{"a\"b":true}"#, r#"{"a\"b":true}"#),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(compact(json), expected, "{json}");
        }
    }

    // Rule 2.4.
    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        assert_eq!(unescape(r"a\ud83d"), "a\u{FFFD}");
        assert_eq!(unescape(r"\udd11b"), "\u{FFFD}b");
        assert_eq!(unescape(r"\ud83d\ud83d\udd11"), "\u{FFFD}🔑");
        assert_eq!(unescape(r"\ud83dA"), "\u{FFFD}A");
        assert_eq!(unescape(r"\ud83d\n"), "\u{FFFD}\n");
    }

    // Rule 2.4.
    #[test]
    fn it_is_known_whether_a_string_is_escaped_as_it_would_be_again() {
        for (token, expected) in [
            ("plain é", true),
            (r#"\b\t\n\f\r\"\\"#, true),
            (r"\u001b[31m\u0000", true),
            (r"\u001B", false),
            (r"\u000a", false),
            (r"\/", false),
            (r"\u0041", false),
            (r"\u00e9", false),
            (r"\ud83d\udd11", false),
            (r"\ud83d", false),
        ] {
            let mut again = String::new();
            escape_into(&mut again, &unescape(token));
            assert_eq!((again == token, is_canonical(token)), (expected, expected), "{token}");
        }
    }

    // Rule 2.4.
    #[test]
    fn a_string_is_unescaped_where_it_stands() {
        for token in
            ["", "plain é", r#"\b\t\n\"\\"#, r"\u001b[31m\u0000é", r"\u00e9\/\ud83d\udd11", r"a\ud83d", r"\udd11b"]
        {
            for (before, after) in [("\"", "\""), ("{\"text\": \"", "\", \"more\": \"\\n\"}")] {
                let mut json = [before, token, after].concat().into_bytes();
                unescape_in_place(&mut json, before.len()..before.len() + token.len());
                assert_eq!(String::from_utf8(json).unwrap(), unescape(token), "{token}");
            }
        }
    }

    // Rule 5.2.
    #[test]
    fn a_place_of_a_string_is_found_in_its_token() {
        let token = r"a\u00e9\n\ud83d\udd11é\ud83db";
        let string = unescape(token);
        let mut places = Places::new(token);
        let found: Vec<_> = string.char_indices().map(|(at, _)| places.of(at)).collect();
        assert_eq!(found, [0, 1, 7, 9, 21, 23, 29]);
        assert_eq!(places.of(string.len()), token.len());
        assert_eq!(places.of(string.len() + 9), token.len());
    }

    // Rule 2.4.
    #[test]
    fn deep_nesting_is_no_reason_to_recurse() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(compact(&deep), deep);
    }

    // Rule 2.1.
    #[test]
    fn text_that_is_no_json_gives_something_and_no_panic() {
        for text in ["", "\"", "\"\\", "\"\\u", "\"\\u12", "\"é\\", "\\", "\"\\ué\"", "{\"a\":\"\\", "\"abc", "é\"é"]
        {
            compact(text);
            unescape(text);
            is_canonical(text);
            unescape_in_place(&mut text.into(), 0..text.len());
        }
    }
}
