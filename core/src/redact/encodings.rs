//! The forms in which a secret turns up in what a tool prints (rule 5.5): as it stands, in a JSON string, in a URL, in
//! base64. Not covered: hexadecimal, HTML entities, base64 with line breaks, and anything compressed or encrypted.

use zeroize::Zeroizing;

use crate::json;

/// A form of a secret, wiped when dropped.
pub(super) type Pattern = Zeroizing<Vec<u8>>;

/// Fewer bytes than this leave so few characters of base64 that they turn up by chance.
const SHORTEST_IN_BASE64: usize = 8;

/// Adds every form of `secret`. Some may be equal.
pub(super) fn add_forms(secret: &str, out: &mut Vec<Pattern>) {
    out.push(Zeroizing::new(secret.as_bytes().to_vec()));
    if !secret.bytes().all(is_never_escaped) {
        JSON_STYLES.iter().for_each(|style| out.push(in_json(secret, style)));
        out.push(twice_in_json(secret));
        for style in PERCENT_STYLES {
            out.push(percent_encoded(secret, style, UPPER));
            out.push(percent_encoded(secret, style, LOWER));
        }
    }
    if secret.len() >= SHORTEST_IN_BASE64 {
        for alphabet in [STANDARD, URL_SAFE] {
            (0..3).for_each(|alignment| add_base64(secret.as_bytes(), alignment, alphabet, out));
        }
    }
}

/// What neither JSON nor any percent-encoding touches.
fn is_never_escaped(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// How an encoder writes strings, past what JSON demands.
struct JsonStyle {
    /// Characters that are written as `\uXXXX`.
    unicode: &'static str,
    /// Whether everything past `~` is, too.
    ascii: bool,
    /// Whether `/` is written as `\/`.
    slash: bool,
    digits: &'static [u8; 16],
}

/// What is in use: JavaScript, Python (two settings), PHP (its default and its `JSON_HEX_…` flags), Go, Gson, .NET.
const JSON_STYLES: [JsonStyle; 12] = [
    JsonStyle { unicode: "", ascii: false, slash: false, digits: LOWER },
    JsonStyle { unicode: "", ascii: false, slash: false, digits: UPPER },
    JsonStyle { unicode: "", ascii: false, slash: true, digits: LOWER },
    JsonStyle { unicode: "", ascii: true, slash: false, digits: LOWER },
    JsonStyle { unicode: "", ascii: true, slash: false, digits: UPPER },
    JsonStyle { unicode: "", ascii: true, slash: true, digits: LOWER },
    JsonStyle { unicode: "", ascii: true, slash: true, digits: UPPER },
    JsonStyle { unicode: "\"'<>&", ascii: true, slash: true, digits: UPPER },
    JsonStyle { unicode: "<>&\u{2028}\u{2029}", ascii: false, slash: false, digits: LOWER },
    JsonStyle { unicode: "<>&='\u{2028}\u{2029}", ascii: false, slash: false, digits: LOWER },
    JsonStyle { unicode: "\"'<>&+`", ascii: true, slash: false, digits: UPPER },
    JsonStyle { unicode: "\"'<>&", ascii: true, slash: false, digits: LOWER },
];

fn in_json(secret: &str, style: &JsonStyle) -> Pattern {
    // Six bytes are the most that one becomes. A buffer that grew would leave a copy behind.
    let mut out = Zeroizing::new(String::with_capacity(secret.len() * 6));
    for character in secret.chars() {
        if style.unicode.contains(character) || (style.ascii && character > '~') {
            push_units(&mut out, character, style.digits);
        } else if character == '/' && style.slash {
            out.push_str("\\/");
        } else if is_long_control(character) {
            push_units(&mut out, character, style.digits);
        } else {
            json::escape_into(&mut out, character.encode_utf8(&mut [0; 4]));
        }
    }
    Zeroizing::new(std::mem::take(&mut *out).into_bytes())
}

/// JSON within a JSON string, as tools that wrap the output of others print it.
fn twice_in_json(secret: &str) -> Pattern {
    let mut once = Zeroizing::new(String::with_capacity(secret.len() * 6));
    json::escape_into(&mut once, secret);
    in_json(&once, &JSON_STYLES[0])
}

/// A control character that has no escape of two characters.
fn is_long_control(character: char) -> bool {
    character < ' ' && !matches!(character, '\u{8}' | '\t' | '\n' | '\u{c}' | '\r')
}

fn push_units(out: &mut String, character: char, digits: &[u8; 16]) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str("\\u");
        for shift in [12, 8, 4, 0] {
            out.push(digits[usize::from(*unit >> shift & 15)] as char);
        }
    }
}

/// How an encoder writes URLs.
struct PercentStyle {
    /// What it leaves as it is, besides ASCII letters and digits.
    kept: &'static str,
    space: &'static str,
}

/// RFC 3986's unreserved characters, `encodeURIComponent`, HTML forms, Python's `quote`, a URL's path segment, and
/// `encodeURI`.
const PERCENT_STYLES: &[PercentStyle] = &[
    PercentStyle { kept: "-._~", space: "%20" },
    PercentStyle { kept: "-._~", space: "+" },
    PercentStyle { kept: "-._~!*'()", space: "%20" },
    PercentStyle { kept: "-._~!*'()", space: "+" },
    PercentStyle { kept: "-._*", space: "+" },
    PercentStyle { kept: "-._", space: "%20" },
    PercentStyle { kept: "-._", space: "+" },
    PercentStyle { kept: "-._~/", space: "%20" },
    PercentStyle { kept: "-._~/", space: "+" },
    PercentStyle { kept: "-._~$&+:=@", space: "%20" },
    PercentStyle { kept: "-._~!*'();,/?:@&=+$#", space: "%20" },
];

fn percent_encoded(secret: &str, style: &PercentStyle, digits: &[u8; 16]) -> Pattern {
    let mut out = Zeroizing::new(Vec::with_capacity(secret.len() * 3));
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || style.kept.as_bytes().contains(&byte) {
            out.push(byte);
        } else if byte == b' ' {
            out.extend_from_slice(style.space.as_bytes());
        } else {
            out.extend_from_slice(&[b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
    }
    out
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Adds what `bytes` look like in the base64 of data where `alignment` (0 to 2) bytes stand before them, modulo 3: the
/// characters that they determine alone, and, where the data ends with them, the last character and the padding, too.
fn add_base64(bytes: &[u8], alignment: usize, alphabet: &[u8; 64], out: &mut Vec<Pattern>) {
    // The character that the first bits share with the byte before is left out.
    let skipped = [0, 4, 2][alignment];
    let bits = bytes.len() * 8 - skipped;
    let mut text = Zeroizing::new(Vec::with_capacity(bits / 6 + 4));
    text.extend((0..bits / 6).map(|at| alphabet[six_bits(bytes, skipped + at * 6)]));
    out.push(text.clone());
    if bits.is_multiple_of(6) {
        return;
    }
    text.push(alphabet[six_bits(bytes, skipped + bits / 6 * 6)]);
    out.push(text.clone());
    let padding = 3 - (alignment + bytes.len()) % 3;
    text.extend(std::iter::repeat_n(b'=', padding));
    out.push(text);
}

/// The text that `encoded` is the base64 or base64url of, padded or not; `None` if it is of none.
pub(super) fn base64_decoded(encoded: &str) -> Option<Zeroizing<String>> {
    let mut out = Zeroizing::new(Vec::with_capacity(encoded.len()));
    let (mut bits, mut held) = (0u32, 0);
    for byte in encoded.trim_end_matches('=').bytes() {
        let value = [STANDARD, URL_SAFE].iter().find_map(|alphabet| alphabet.iter().position(|&b| b == byte))?;
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    String::from_utf8(std::mem::take(&mut *out)).ok().map(Zeroizing::new)
}

/// The six bits from bit `at` on; past the end they are 0.
fn six_bits(bytes: &[u8], at: usize) -> usize {
    let high = u16::from(bytes[at / 8]) << 8;
    let low = u16::from(bytes.get(at / 8 + 1).copied().unwrap_or(0));
    usize::from((high | low) << (at % 8) >> 10)
}
