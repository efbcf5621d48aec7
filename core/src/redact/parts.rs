//! The parts of a secret that are secrets themselves (rule 5.5): the lines of a key, the strings of a JSON document,
//! the password of a URL, the credentials of an `Authorization` header.

use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::encodings::base64_decoded;
use super::secrets::{is_placeholder, is_secret, url_passwords};
use crate::json::{self, Token};

/// A shorter line or string is too likely to be a word.
const SHORTEST_PART: usize = 8;
/// A line of a string of a JSON document in a JSON document: deeper than that nobody hides a secret.
const DEEPEST: usize = 4;

/// Schemes of HTTP authentication whose credentials are one word.
const SCHEMES: &[&str] = &["Bearer", "Basic", "Token", "ApiKey", "Api-Key", "DPoP", "PRIVATE-TOKEN"];

type Part = Zeroizing<String>;

/// `secret` as it stands, and all parts of it, wiped when dropped.
pub(super) fn parts(secret: &str) -> Vec<Part> {
    let mut all = Vec::new();
    let mut layer = vec![part(secret)];
    for _ in 0..DEEPEST {
        let mut inner = Vec::new();
        for whole in layer {
            if is_json(&whole) {
                add_strings(&whole, &mut inner);
            } else {
                add_lines(&whole, &mut inner);
            }
            inner.extend(url_passwords(&whole).filter(|p| is_secret(p) && !is_placeholder(p)).map(Zeroizing::new));
            add_credentials(&whole, &mut inner);
            add_line_ends(&whole, &mut all);
            all.push(whole);
        }
        layer = inner;
    }
    all
}

fn part(text: &str) -> Part {
    Zeroizing::new(text.to_owned())
}

/// As `str::replace`, but in a buffer that never grows: a grown one leaves a copy behind that nobody wipes.
fn replaced(text: &str, from: &str, to: &str) -> Part {
    let count = text.matches(from).count();
    let mut out = Zeroizing::new(String::with_capacity(text.len() + count * to.len()));
    for (at, piece) in text.split(from).enumerate() {
        out.push_str(if at > 0 { to } else { "" });
        out.push_str(piece);
    }
    out
}

fn is_long_enough(text: &str) -> bool {
    text.chars().nth(SHORTEST_PART - 1).is_some() && is_secret(text) && !is_placeholder(text)
}

fn is_json(whole: &str) -> bool {
    whole.trim_start().starts_with(['{', '[', '"']) && serde_json::from_str::<&RawValue>(whole).is_ok()
}

/// Adds the strings of a JSON document; names of members are no values.
fn add_strings(whole: &str, out: &mut Vec<Part>) {
    let mut tokens = json::tokens(whole).filter(|token| !matches!(token, Token::Space(_))).peekable();
    while let Some(token) = tokens.next() {
        let Token::String(token) = token else { continue };
        if tokens.peek() == Some(&Token::Mark(":")) {
            continue;
        }
        let text = Zeroizing::new(json::unescape(token).into_owned());
        if is_long_enough(&text) {
            out.push(text);
        }
    }
}

/// Adds the lines of a text of several, without the white space around them. A key in an environment variable often
/// has `\n` spelled out for its line ends.
fn add_lines(whole: &str, out: &mut Vec<Part>) {
    if !whole.contains(['\n', '\r']) {
        let spelled_out = whole.starts_with("-----BEGIN ") && whole.contains("\\n");
        out.extend(spelled_out.then(|| replaced(&replaced(whole, "\\r", ""), "\\n", "\n")));
        return;
    }
    let lines = whole.split(['\n', '\r']).map(str::trim);
    out.extend(lines.filter(|line| is_long_enough(line) && !is_armour(line)).map(part));
}

/// `-----BEGIN PRIVATE KEY-----` tells that there is a key, which is evidence, not which one.
fn is_armour(line: &str) -> bool {
    line.starts_with("-----") && line.ends_with("-----")
}

/// Adds what follows the scheme in `Bearer TOKEN` or `Basic BASE64` (RFC 9110, section 11.4), and the password in it.
fn add_credentials(whole: &str, out: &mut Vec<Part>) {
    let Some((scheme, credentials)) = whole.split_once(' ') else { return };
    let credentials = credentials.trim();
    if !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) || credentials.contains(char::is_whitespace) {
        return;
    }
    let decoded = base64_decoded(credentials).filter(|_| scheme.eq_ignore_ascii_case("Basic"));
    let password = decoded.and_then(|pair| pair.split_once(':').map(|(_, password)| part(password)));
    out.extend([part(credentials)].into_iter().chain(password).filter(|text| is_secret(text) && !is_placeholder(text)));
}

/// Adds a text of several lines with the other line ends, and without those at its own end.
fn add_line_ends(whole: &str, out: &mut Vec<Part>) {
    if !whole.contains(['\n', '\r']) {
        return;
    }
    let trimmed = whole.trim_matches(['\n', '\r']);
    let unix = replaced(trimmed, "\r\n", "\n");
    let dos = replaced(&unix, "\n", "\r\n");
    out.extend([part(trimmed), unix, dos].into_iter().filter(|text| is_secret(text)));
}
