//! The MCP endpoint of a server, and that of its tokens, from the URLs in the manifest.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use http::Uri;

use crate::redact::Redactor;

/// Where requests go. Its query may hold a key, so there are two forms: one to connect to and one to show.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    uri: Uri,
    full: Arc<str>,
    shown: Arc<str>,
}

impl Endpoint {
    /// The MCP endpoint of a base URL: `/mcp` is added to its path unless that ends so already. Nothing else is changed,
    /// but that the scheme is written small and a fragment is dropped. The error is what is wrong, and shows nothing of
    /// the URL.
    pub(crate) fn parse(url: &str) -> Result<Endpoint, String> {
        let parts = Parts::of(url)?;
        let path = parts.path.strip_suffix('/').unwrap_or(parts.path);
        let suffix = if path.ends_with("/mcp") { "" } else { "/mcp" };
        parts.join(&format!("{path}{suffix}"))
    }

    /// The endpoint that a URL names as it stands.
    pub(crate) fn exact(url: &str) -> Result<Endpoint, String> {
        let parts = Parts::of(url)?;
        parts.join(parts.path)
    }

    /// To connect to.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The whole URL, for the harness that wrote it.
    pub(crate) fn full(&self) -> &str {
        &self.full
    }

    /// The URL without its query, for events and errors.
    pub(crate) fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// The URL without its query, for a server that is told where the request will go.
    pub(crate) fn without_query(&self) -> &str {
        self.full.split('?').next().unwrap_or_default()
    }

    /// A path may hold a key as well.
    pub(crate) fn scrub(&mut self, redactor: &Redactor) {
        self.shown = redactor.scrub_str(&self.shown).into();
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.shown).finish()
    }
}

/// A URL taken apart, as far as it was checked.
struct Parts<'a> {
    scheme: &'static str,
    authority: &'a str,
    path: &'a str,
    query: &'a str,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Result<Parts<'a>, String> {
        let (scheme, rest) = split_scheme(url)?;
        let (rest, _fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (hierarchy, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let (authority, path) = hierarchy.split_at(hierarchy.find('/').unwrap_or(hierarchy.len()));
        check_authority(authority)?;
        Ok(Parts { scheme, authority, path, query })
    }

    fn join(&self, path: &str) -> Result<Endpoint, String> {
        let shown = format!("{}://{}{path}", self.scheme, self.authority);
        let full = format!("{shown}{}", self.query);
        if !full.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("has a character that a URL cannot hold; write it percent-encoded".to_owned());
        }
        let uri = full.parse().map_err(|fault| format!("is not a valid URL: {fault}"))?;
        Ok(Endpoint { uri, full: full.into(), shown: shown.into() })
    }
}

fn split_scheme(url: &str) -> Result<(&'static str, &str), String> {
    let after = |scheme: &'static str| {
        let (start, rest) = url.split_at_checked(scheme.len())?;
        let rest = rest.strip_prefix("://")?;
        start.eq_ignore_ascii_case(scheme).then_some((scheme, rest))
    };
    after("https").or_else(|| after("http")).ok_or_else(|| "must be a URL with http:// or https://".to_owned())
}

/// RFC 3986, section 3.2, without the user information.
fn check_authority(authority: &str) -> Result<(), String> {
    if authority.contains('@') {
        return Err("must not hold a user or password; `headers` and `auth` are for those".to_owned());
    }
    let (host, after) = match authority.split_once(']') {
        Some((address, after)) => (check_ipv6(address)?, after),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err("has no host".to_owned());
    }
    match after.strip_prefix(':') {
        None if after.is_empty() => Ok(()),
        Some(port) if is_port(port) => Ok(()),
        Some(_) => Err("has a port that is not a number from 1 to 65535 (an IPv6 address needs brackets)".to_owned()),
        None => Err("has something behind its IPv6 address that is no port".to_owned()),
    }
}

/// The address after its opening bracket. A zone (`fe80::1%eth0`) has no place in it.
fn check_ipv6(address: &str) -> Result<&str, String> {
    let address = address.strip_prefix('[').filter(|address| address.parse::<Ipv6Addr>().is_ok());
    address.ok_or_else(|| "has an IPv6 address that is not valid".to_owned())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}
