//! Which proxy the environment asks for. ureq takes `ALL_PROXY` first, whatever the scheme; the custom, which this
//! follows, is the scheme's own variable first and `NO_PROXY` before all.

use ureq::http::Uri;
use ureq::http::uri::Scheme;
use ureq::{Proxy, ProxyProtocol};

/// The proxy for `uri`, if any. The environment is read at the first connection to a server. An error names the variable.
pub(super) fn from_environment(uri: &Uri) -> Result<Option<Proxy>, String> {
    choose(uri, |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

fn choose(uri: &Uri, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Proxy>, String> {
    let either = |upper: &'static str, lower: &'static str| {
        variable(lower).map(|value| (lower, value)).or_else(|| variable(upper).map(|value| (upper, value)))
    };
    if either("NO_PROXY", "no_proxy").is_some_and(|(_, list)| is_exempt(uri, &list)) {
        return Ok(None);
    }
    let own = match uri.scheme() == Some(&Scheme::HTTPS) {
        true => either("HTTPS_PROXY", "https_proxy"),
        false => either("HTTP_PROXY", "http_proxy"),
    };
    let Some((name, value)) = own.or_else(|| either("ALL_PROXY", "all_proxy")) else {
        return Ok(None);
    };
    match Proxy::new(value.trim()) {
        Ok(proxy) if matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https) => Ok(Some(proxy)),
        Ok(_) => Err(format!("{name}: only http and https proxies are supported")),
        Err(_) => Err(format!("{name}: not the URL of a proxy")),
    }
}

/// Whether `NO_PROXY` names the host: `*`, a host or address, a domain with or without a leading dot (which covers its
/// subdomains), each with an optional port. Address ranges (`10.0.0.0/8`) are not understood.
fn is_exempt(uri: &Uri, list: &str) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 });
    list.split([',', ' ']).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let (name, wanted) = split_port(&entry);
        if wanted.is_some_and(|wanted| wanted != port) {
            return false;
        }
        let domain = name.trim_start_matches('*').trim_start_matches('.');
        name == "*" || host == domain || (!domain.is_empty() && host.ends_with(&format!(".{domain}")))
    })
}

/// `host:port`, `[v6]:port` or either without a port; an address of version 6 may stand without brackets.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some(rest) = entry.strip_prefix('[') {
        let (host, port) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, port.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str, environment: &[(&str, &str)]) -> Result<Option<String>, String> {
        let find = |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_string());
        let proxy = choose(&url.parse().expect("a URL of the test"), find)?;
        Ok(proxy.map(|proxy| proxy.host().to_string()))
    }

    // Rule 3.9.
    #[test]
    fn the_schemes_own_variable_comes_first() {
        let both = [("HTTP_PROXY", "http://h:1"), ("HTTPS_PROXY", "http://s:1"), ("ALL_PROXY", "http://a:1")];
        assert_eq!(chosen("http://k/mcp", &both), Ok(Some("h".into())));
        assert_eq!(chosen("https://k/mcp", &both), Ok(Some("s".into())));
        assert_eq!(chosen("https://k/mcp", &both[..1]), Ok(None));
        assert_eq!(chosen("https://k/mcp", &both[2..]), Ok(Some("a".into())));
        assert_eq!(chosen("http://k/mcp", &[]), Ok(None));
    }

    // Rule 3.9.
    #[test]
    fn no_proxy_exempts_hosts_domains_and_ports() {
        let proxied =
            |url: &str, list: &str| chosen(url, &[("ALL_PROXY", "http://a:1"), ("no_proxy", list)]) != Ok(None);
        assert!(!proxied("http://127.0.0.1:5/mcp", "127.0.0.1,localhost"));
        assert!(!proxied("http://LOCALHOST/mcp", "127.0.0.1, localhost"));
        assert!(!proxied("http://a.example.com/mcp", "example.com"));
        assert!(!proxied("http://a.example.com/mcp", ".example.com"));
        assert!(!proxied("http://a.example.com/mcp", "*.example.com"));
        assert!(!proxied("http://x/mcp", "*"));
        assert!(!proxied("http://[::1]:9/mcp", "::1"));
        assert!(!proxied("http://[::1]:9/mcp", "[::1]:9"));
        assert!(!proxied("https://k/mcp", "k:443"));
        assert!(proxied("http://k/mcp", "k:443"));
        assert!(proxied("http://badexample.com/mcp", "example.com"));
        assert!(proxied("http://10.1.2.3/mcp", "10.0.0.0/8"));
    }

    // Rule 3.9.
    #[test]
    fn a_proxy_that_cannot_be_used_is_an_error() {
        assert_eq!(
            chosen("http://k/mcp", &[("ALL_PROXY", "socks5://p:1080")]),
            Err("ALL_PROXY: only http and https proxies are supported".into())
        );
        assert_eq!(chosen("http://k/mcp", &[("http_proxy", "::::")]), Err("http_proxy: not the URL of a proxy".into()));
    }
}
