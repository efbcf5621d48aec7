//! The headers that a manifest gives a server, with the variables of the environment put in.

use std::collections::HashSet;

use http::HeaderName;

use super::expand::{CONTROL_CHARACTER, expand};
use super::{Environment, SecretValue};
use crate::error::Error;
use crate::member::Member;

/// Set by verifi or by HTTP itself on each request: the values of a manifest would break the protocol.
const RESERVED: [&str; 18] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The same, for all names that begin so.
const RESERVED_PREFIXES: [&str; 2] = ["mcp-param-", "proxy-"];

pub(super) fn read(
    headers: &Member<'_>,
    environment: Environment<'_>,
) -> Result<Vec<(HeaderName, SecretValue)>, Error> {
    let object = headers.object()?;
    let mut seen = HashSet::new();
    let mut pairs = Vec::new();
    for (name, value) in object.members() {
        let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(object.error(&token(name), "not the name of a header"));
        };
        if is_reserved(header.as_str()) {
            return Err(value.error("verifi sets this header itself"));
        }
        if !seen.insert(header.clone()) {
            return Err(value.error("this header is there twice, in other letters"));
        }
        let read = read_value(&value, environment)?;
        // RFC 9110, section 11.6.2: credentials are ASCII.
        if header == http::header::AUTHORIZATION && !read.as_str().is_ascii() {
            return Err(value.error("has a character beyond ASCII in its value"));
        }
        pairs.push((header, read));
    }
    Ok(pairs)
}

/// What of a wrong name can be shown: `Authorization…`. The rest may be a value that slipped into it.
fn token(name: &str) -> String {
    let end = name.find(|char: char| !char.is_ascii_alphanumeric() && char != '-').unwrap_or(name.len());
    format!("{}…", &name[..end])
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn read_value(member: &Member<'_>, environment: Environment<'_>) -> Result<SecretValue, Error> {
    let value = expand(member, environment)?;
    // RFC 9110, section 5.5: visible characters, space, tab, and bytes beyond ASCII.
    let allowed = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    if !value.text.bytes().all(allowed) {
        return Err(member.error(CONTROL_CHARACTER));
    }
    Ok(SecretValue::new(&value.text, value.variables))
}
