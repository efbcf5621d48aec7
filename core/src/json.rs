//! JSON text as text: its tokens, its compact form, its strings. Numbers keep every digit and members their order,
//! because no value is ever built; nothing recurses, because a server decides how deep its answer nests.
//!
//! Input is text that a JSON parser has accepted. Anything else gives some result, but never a panic.

use std::borrow::Cow;

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

/// Of an object, the members of these names, as JSON text; one that is `null` counts as not there. None when `json` is no
/// object, or has one of the names twice.
pub(crate) fn members<'a, const N: usize>(json: &'a str, names: [&str; N]) -> Option<[Option<&'a str>; N]> {
    let mut found = [None; N];
    let mut parts = parts(json, '{')?;
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        let name = unescape(name.get(1..name.len().saturating_sub(1)).unwrap_or_default());
        if let Some(place) = names.iter().position(|wanted| *wanted == name)
            && found[place].replace(value).is_some()
        {
            return None;
        }
    }
    Some(found.map(|value| value.filter(|value| *value != "null")))
}

/// The elements of an array, as JSON text. None when `json` is none.
pub(crate) fn elements(json: &str) -> Option<Parts<'_>> {
    parts(json, '[')
}

fn parts(json: &str, opening: char) -> Option<Parts<'_>> {
    json.trim_start().strip_prefix(opening).map(|rest| Parts { rest })
}

/// What stands in an array or an object: values; names and values in turn.
pub(crate) struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',' || c == ':');
        let (part, rest) = rest.split_at(value_length(rest.as_bytes()));
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }
}

/// How long the value is at the start of `bytes`; nothing where none begins.
fn value_length(bytes: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string_end(&bytes[at..]).map_or(bytes.len() - at, |end| end + 1),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth == 0 => return at,
            byte if is_space(*byte) || depth > 0 => {
                at += 1;
                continue;
            }
            _ => at += run(&bytes[at..], |b| !is_space(b) && !b"{}[]:,\"".contains(&b)),
        }
        if depth == 0 {
            return at;
        }
    }
    at
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
    let Some(first) = token.find('\\') else { return Cow::Borrowed(token) };
    let mut out = String::with_capacity(token.len());
    let mut rest = token;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (character, length) = escaped_char(&rest[at..]);
        out.push(character);
        rest = &rest[at + length..];
        next = rest.find('\\');
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escaped_char(text: &str) -> (char, usize) {
    let simple = match text.as_bytes().get(1) {
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

fn escaped_unit(text: &str) -> (char, usize) {
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
fn unit_at(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
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
    let short = match byte {
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0C => 'f',
        b'\r' => 'r',
        b'"' | b'\\' => byte as char,
        _ => {
            out.push_str("\\u00");
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
            return;
        }
    };
    out.push('\\');
    out.push(short);
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
    fn deep_nesting_is_no_reason_to_recurse() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(compact(&deep), deep);
    }

    // Rule 2.4.
    #[test]
    fn members_and_elements_are_pieces_of_the_text() {
        let json = r#" { "a\"" : "}],\\" , "b":[1,{"c":[]}], "c" :null,"\u0064":-0.50 } "#;
        assert_eq!(members(json, ["b", "d", "c"]), Some([Some(r#"[1,{"c":[]}]"#), Some("-0.50"), None]));
        assert_eq!(members(json, ["a\""]), Some([Some(r#""}],\\""#)]));
        assert_eq!(members(r#"{"a":1,"a":null}"#, ["a"]), None);
        assert_eq!(members("[]", ["a"]), None);
        assert_eq!(members("{}", ["a"]), Some([None]));
        let found = |json| elements(json).map(|found| found.collect::<Vec<_>>());
        assert_eq!(
            found(r#" [ [ "]" ,2] , "a,b" ,{ }, true,12 ] "#),
            Some(vec![r#"[ "]" ,2]"#, r#""a,b""#, "{ }", "true", "12"])
        );
        assert_eq!(found("[ ]"), Some(vec![]));
        assert_eq!(found("{}"), None);
    }

    // Rule 2.1.
    #[test]
    fn text_that_is_no_json_gives_something_and_no_panic() {
        for text in ["", "\"", "\"\\", "\"\\u", "\"\\u12", "\"é\\", "\\", "\"\\ué\"", "{\"a\":\"\\", "\"abc", "é\"é"]
        {
            compact(text);
            unescape(text);
            for text in [format!("[{text}"), format!("{{{text}"), format!("{{\"a\":{text}")] {
                members(&text, ["a"]);
                elements(&text).map(Iterator::count);
            }
        }
    }
}
