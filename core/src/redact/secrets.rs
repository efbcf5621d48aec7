//! Which values are secrets: rules 5.3 and 5.4.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use super::span::MARKER;

/// In characters. What is shorter turns up everywhere.
const SHORTEST: usize = 4;

/// The secrets of this process's environment: see [`collect_run_secrets_from`].
pub fn collect_run_secrets() -> Vec<String> {
    collect_run_secrets_from(std::env::vars_os())
}

/// The values in `env` that are secrets, in the order of their variables' names, each once.
///
/// The value of a variable whose *name* looks like a secret's is one (`MY_API_KEY`, `DB_PASSWORD`; not
/// `API_KEY_FILE`), and so is the password in a URL, whatever the variable's name; of such a URL nothing else is. What
/// is blank, shorter than 4 characters or a placeholder (`none`, `disabled`, `changeme` …) is not, so that ordinary
/// words stay in the evidence. Bytes that are not UTF-8 become U+FFFD, as they do in a tool's output.
pub fn collect_run_secrets_from(env: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>) -> Vec<String> {
    let owned = |(name, value): (_, _)| (os_string(&name), os_string(&value));
    let mut variables: Vec<(OsString, OsString)> = env.into_iter().map(owned).collect();
    variables.sort();
    let mut seen = HashSet::new();
    let values =
        variables.iter().flat_map(|(name, value)| secrets_of(&name.to_string_lossy(), &value.to_string_lossy()));
    values.filter(|secret| seen.insert(secret.clone())).collect()
}

fn os_string(text: &impl AsRef<OsStr>) -> OsString {
    text.as_ref().to_owned()
}

fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let passwords: Vec<String> = url_passwords(value).collect();
    let url_alone = !passwords.is_empty() && is_url(value);
    let whole = (names_secret(name) && !url_alone).then(|| value.to_owned());
    whole.into_iter().chain(passwords).filter(|secret| is_secret(secret) && !is_placeholder(secret)).collect()
}

/// Whether a value can be looked for at all: long enough, not blank, and not part of what is put in its place.
pub(super) fn is_secret(value: &str) -> bool {
    value.chars().nth(SHORTEST - 1).is_some() && !value.trim().is_empty() && !MARKER.contains(value)
}

const SECRET_PARTS: &[&str] = &["KEY", "AUTH", "PASS", "PWD", "PAT", "JWT", "CREDENTIAL", "CREDENTIALS", "PASSPHRASE"];

const SECRET_ENDINGS: &[&str] =
    &["PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY"];

/// Last parts that say that the value is about a secret, not one.
#[rustfmt::skip]
const OTHER_THINGS: &[&str] = &[
    "ID", "IDS", "URL", "URLS", "URI", "ENDPOINT", "ENDPOINTS", "HOST", "HOSTS", "HOSTNAME", "PORT", "PATH", "FILE",
    "FILENAME", "DIR", "DIRECTORY", "FOLDER", "NAME", "USER", "USERNAME", "EMAIL", "REGION", "ZONE", "DOMAIN", "ADDR",
    "ADDRESS", "SERVER", "SERVICE", "PROVIDER", "ISSUER", "AUDIENCE", "SCOPE", "SCOPES", "ROLE", "ARN", "TYPE", "KIND",
    "FORMAT", "ENCODING", "METHOD", "MODE", "HEADER", "PREFIX", "SUFFIX", "SIZE", "LENGTH", "LEN", "BITS", "COUNT",
    "LIMIT", "MAX", "MIN", "TTL", "TIMEOUT", "LIFETIME", "EXPIRY", "EXPIRES", "EXPIRATION", "AGE", "INTERVAL", "DAYS",
    "HOURS", "MINUTES", "SECONDS", "SECS", "MS", "VERSION", "ALGORITHM", "ALG", "ALGO", "POLICY", "ENABLED",
    "DISABLED", "REQUIRED", "ROTATION", "STORE", "SOCK", "SOCKET",
];

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The shell's working directory.
    if name == "PWD" {
        return false;
    }
    let mut parts = name.split(['_', '-', '.']);
    let looks_secret =
        |part: &str| SECRET_PARTS.contains(&part) || SECRET_ENDINGS.iter().any(|ending| part.ends_with(ending));
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    parts.any(looks_secret) && !OTHER_THINGS.contains(&last)
}

/// Values that stand where a secret would, and words that a scan may well report.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "disabled", "disable", "enabled", "enable", "true", "false", "none", "null", "nil", "undefined", "unset",
    "not-set", "not_set", "notset", "missing", "empty", "blank", "default", "auto", "automatic", "optional",
    "required", "unknown", "unused", "anonymous", "public", "guest", "user", "username", "root", "admin",
    "administrator", "password", "passwd", "passphrase", "pass", "secret", "token", "apikey", "api-key", "api_key",
    "credential", "credentials", "changeme", "change-me", "change_me", "changeit", "replaceme", "replace-me",
    "replace_me", "placeholder", "example", "sample", "dummy", "fake", "todo", "tbd", "fixme", "test", "testing",
    "redacted", "hidden", "masked", "yourkey", "your-key", "your_key", "your-token", "your_token", "your-password",
    "your_password", "your-secret", "your_secret", "your-api-key", "your_api_key", "insert-key-here", "localhost",
];

/// Characters that fill a field: `****`, `xxxxxxxx`, `----`.
const FILLERS: &str = "*xX-_.#?0";

pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_lowercase();
    let filler = value.chars().next().filter(|first| FILLERS.contains(*first));
    PLACEHOLDERS.contains(&lower.as_str()) || filler.is_some_and(|filler| value.chars().all(|c| c == filler))
}

/// The passwords of the URLs in `text`, as they stand and, where that differs, with their percent-encoding undone.
pub(super) fn url_passwords(text: &str) -> impl Iterator<Item = String> {
    text.match_indices("://").filter_map(|(at, mark)| password_of(&text[at + mark.len()..])).flat_map(|password| {
        let decoded = percent_decoded(password).filter(|decoded| decoded != password);
        [Some(password.to_owned()), decoded].into_iter().flatten()
    })
}

/// The password at the start of what follows `scheme://`.
fn password_of(rest: &str) -> Option<&str> {
    let ends_url = |c: char| matches!(c, '"' | '\'' | '<' | '>' | '\\') || c.is_whitespace();
    let url = &rest[..rest.find(ends_url).unwrap_or(rest.len())];
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    if let Some((user_info, _)) = authority.rsplit_once('@') {
        return user_info.split_once(':').map(|(_, password)| password);
    }
    // No host has a port that is no number: this is a password with a `/`, `?` or `#` that should have been encoded.
    let (host, port) = authority.split_once(':')?;
    if host.starts_with('[') || port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (password, _) = url[host.len() + 1..].split_once('@')?;
    Some(password)
}

/// Whether `text` starts as a URL does (RFC 3986, section 3.1).
fn is_url(text: &str) -> bool {
    let scheme = text.trim_start().split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':'))
}

/// `None` if it does not come to text. A `%` that starts no byte stays.
fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let encoded = (byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten().and_then(hex_byte);
        out.push(encoded.unwrap_or(byte));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).ok()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| (*digits.get(at)? as char).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}
