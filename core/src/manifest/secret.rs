//! The value of a header, which is a secret, and the parts of it that are secrets of their own.

use std::fmt;

use http::HeaderName;
use http::header::{AUTHORIZATION, COOKIE};
use zeroize::Zeroizing;

/// Schemes that stand before a token in headers of other names than `authorization`, too.
const SCHEMES: [&str; 5] = ["apikey", "basic", "bearer", "digest", "token"];

/// Below this a password cannot be scrubbed (rule 5.1).
const SHORTEST: usize = 4;

/// A cookie shorter than this is a setting rather than a session.
const SHORTEST_COOKIE: usize = 8;

/// Zeroed when dropped, and never shown.
#[derive(Clone)]
pub(crate) struct SecretValue {
    value: Zeroizing<String>,
    parts: Vec<Zeroizing<String>>,
}

impl SecretValue {
    /// A value and the parts that it was made from. White space around it is not part of it (RFC 9110, section 5.5): a
    /// server that repeats the value repeats it without.
    pub(super) fn new(value: &str, parts: Vec<Zeroizing<String>>) -> SecretValue {
        SecretValue { value: secret(value.trim_matches([' ', '\t'])), parts }
    }

    /// The value, to be sent.
    pub(crate) fn as_str(&self) -> &str {
        &self.value
    }

    /// The value and every part of it that must not be seen alone either.
    pub(super) fn secrets(&self, name: &HeaderName) -> Vec<Zeroizing<String>> {
        let mut secrets = vec![self.value.clone()];
        secrets.extend(self.parts.iter().map(|part| secret(part.trim())));
        if let Some((scheme, token)) = self.value.split_once(' ') {
            let known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
            if known || name == AUTHORIZATION {
                secrets.push(secret(token.trim()));
            }
            if scheme.eq_ignore_ascii_case("basic") {
                secrets.extend(basic(token.trim()));
            }
        }
        if name == COOKIE {
            let values = self.value.split(';').filter_map(|cookie| Some(cookie.split_once('=')?.1.trim()));
            secrets.extend(values.filter(|value| value.len() >= SHORTEST_COOKIE).map(secret));
        }
        secrets
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue")
    }
}

fn secret(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.to_owned())
}

/// The pair in a Basic credential (RFC 7617), and its password. The user is `admin` as often as not, and no secret,
/// unless it stands without a password worth the name: then it is the token.
fn basic(credential: &str) -> Vec<Zeroizing<String>> {
    let decoded = decode_base64(credential);
    let Some(pair) = decoded.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
        return Vec::new();
    };
    let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
    let key = if password.chars().count() < SHORTEST { user } else { password };
    vec![secret(pair), secret(key)]
}

fn decode_base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let (mut bits, mut count) = (0_u32, 0);
    for char in text.trim_end_matches('=').bytes() {
        let digit = match char {
            b'A'..=b'Z' => char - b'A',
            b'a'..=b'z' => char - b'a' + 26,
            b'0'..=b'9' => char - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}
