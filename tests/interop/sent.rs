//! A request that verifi sent, read from the bytes of a connection.

use serde_json::Value;

use crate::target::MODERN;

#[derive(Clone, Debug)]
pub struct Sent {
    /// `POST` and its like.
    pub method: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// Null when there is none.
    pub body: Value,
}

impl Sent {
    /// The request at the beginning of `bytes`, and its length; none until it is complete.
    pub fn parse(bytes: &[u8]) -> Option<(Sent, usize)> {
        let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&bytes[..head]);
        let (first, lines) = text.split_once("\r\n")?;
        let headers = lines
            .split("\r\n")
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let method = first.split(' ').next()?.to_owned();
        let mut sent = Sent { method, headers, body: Value::Null };
        let length = sent.header("content-length").map_or(0, |length| length.parse().unwrap());
        let end = head + 4 + length;
        let body = bytes.get(head + 4..end)?;
        if length > 0 {
            sent.body = serde_json::from_slice(body).unwrap();
        }
        Some((sent, end))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC method; empty for an answer, and where there is no body.
    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// A request of 2026-07-28, as it says itself.
    pub fn is_modern(&self) -> bool {
        self.header("mcp-method").is_some()
    }

    /// Checks what every request carries (2026-07-28, `basic/transports/streamable-http`; 2025-11-25,
    /// `basic/transports`).
    pub fn assert_well_formed(&self) {
        if self.method == "POST" {
            assert_eq!(self.header("accept"), Some("application/json, text/event-stream"), "{self:?}");
            assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
            assert_eq!(self.body["jsonrpc"], "2.0", "{self:?}");
        }
        if self.is_modern() { self.assert_modern() } else { self.assert_of_a_session() }
    }

    fn assert_modern(&self) {
        let meta = &self.body["params"]["_meta"];
        let is_whole = self.method == "POST"
            && self.header("mcp-method") == Some(self.rpc())
            && self.header("mcp-protocol-version") == Some(MODERN)
            && self.header("mcp-session-id").is_none()
            && self.header("mcp-name").is_some() == (self.rpc() == "tools/call")
            && meta["io.modelcontextprotocol/protocolVersion"] == MODERN
            && meta["io.modelcontextprotocol/clientInfo"]["name"] == "verifi-harness-sdk"
            && meta["io.modelcontextprotocol/clientCapabilities"].is_object();
        assert!(is_whole, "{self:?}");
    }

    fn assert_of_a_session(&self) {
        let has_modern = self.headers.iter().any(|(name, _)| name == "mcp-name" || name.starts_with("mcp-param-"));
        let meta = self.body["params"]["_meta"].as_object();
        let has_modern = has_modern || meta.is_some_and(|meta| meta.keys().any(|key| key.contains('/')));
        assert!(!has_modern, "{self:?}");
        if self.rpc() == "initialize" {
            assert_eq!((self.header("mcp-session-id"), self.header("mcp-protocol-version")), (None, None), "{self:?}");
        }
    }
}
