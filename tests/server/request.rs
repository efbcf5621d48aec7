//! One HTTP request, as it came.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// A request that the server received. Everything that a test may ask about what went over the wire.
#[derive(Clone, Debug)]
pub struct Request {
    /// 1, 2, 3 … over all connections.
    pub number: u64,
    /// Of the connection that it came on: 1, 2, 3 …
    pub connection: u64,
    /// 1 for the first request of its connection.
    pub on_connection: u64,
    /// When it was complete, since the start of the server.
    pub at: Duration,
    /// `POST` and its like.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Names in lower case, in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
    /// The body, if it is JSON.
    pub json: Option<Value>,
}

impl Request {
    /// The header's value; the first, if there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The JSON-RPC method.
    pub fn rpc(&self) -> Option<&str> {
        self.json.as_ref()?.get("method")?.as_str()
    }

    /// The tool of a `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.json.as_ref()?.pointer("/params/name")?.as_str()
    }

    /// The JSON-RPC id as JSON text; `null` when there is none.
    pub fn id(&self) -> String {
        self.json.as_ref().and_then(|json| json.get("id")).map_or("null".to_owned(), Value::to_string)
    }

    /// The tool's arguments.
    pub fn arguments(&self) -> Option<&Map<String, Value>> {
        self.json.as_ref()?.pointer("/params/arguments")?.as_object()
    }

    /// The progress token as JSON text.
    pub fn token(&self) -> Option<String> {
        Some(self.json.as_ref()?.pointer("/params/_meta/progressToken")?.to_string())
    }

    /// The request as JSON: what [`crate::matching`] and the control channel see.
    pub fn to_json(&self) -> Value {
        let headers: Map<String, Value> =
            self.headers.iter().rev().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let mut all = json!({
            "n": self.number, "connection": self.connection, "onConnection": self.on_connection,
            "atMs": self.at.as_secs_f64() * 1e3, "method": self.method, "target": self.target, "path": self.path(),
            "headers": headers, "text": String::from_utf8_lossy(&self.body),
        });
        let body = self.json.clone();
        let known = [("rpc", self.rpc().map(Value::from)), ("tool", self.tool().map(Value::from)), ("body", body)];
        for (name, value) in known {
            if let Some(value) = value {
                all[name] = value;
            }
        }
        all
    }
}

/// What stands before the body.
#[derive(Debug, PartialEq)]
pub struct Head {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    /// Where the body begins.
    pub length: usize,
}

impl Head {
    /// Reads the head at the beginning of `bytes`; `None` until it is complete.
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        let end = find(bytes, b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = text.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let target = first.next().unwrap_or_default().to_owned();
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Head { method, target, headers, length: end + 4 })
    }

    /// How the body is delimited.
    pub fn body(&self) -> BodyLength {
        let value = |name| self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            return BodyLength::Chunked;
        }
        BodyLength::Bytes(value("content-length").and_then(|n| n.parse().ok()).unwrap_or(0))
    }
}

/// How long a request's body is.
pub enum BodyLength {
    Bytes(usize),
    Chunked,
}

/// The body in chunked coding at the beginning of `bytes`, and how many bytes it took; `None` until it is complete.
pub fn dechunk(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let line = find(bytes.get(at..)?, b"\r\n")?;
        let size = std::str::from_utf8(&bytes[at..at + line]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        at += line + 2;
        body.extend_from_slice(bytes.get(at..at + size)?);
        at += size + 2;
        if size == 0 {
            return (at <= bytes.len()).then_some((body, at));
        }
    }
}

/// Where `needle` begins in `bytes`.
pub fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|&byte| byte == first)?;
        if bytes[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_and_its_headers() {
        let head = Head::parse(b"POST /mcp?a=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc").unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/mcp?a=1"));
        assert!(matches!(head.body(), BodyLength::Bytes(3)));
        assert_eq!(Head::parse(b"POST / HTTP/1.1\r\nHost: x\r\n"), None);
    }

    #[test]
    fn chunks_in_one_piece() {
        assert_eq!(dechunk(b"3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\nrest"), Some((b"abcde".to_vec(), 24)));
        assert_eq!(dechunk(b"3\r\nabc\r\n0\r\n"), None);
    }
}
