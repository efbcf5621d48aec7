//! What a well-behaved server of revision 2026-07-28 objects to (`basic/transports/streamable-http`, "Server Validation").

use serde_json::Value;

use crate::json;
use crate::request::Request;

pub const VERSION: &str = "2026-07-28";

/// Whether the client speaks that revision.
pub fn is_spoken(request: &Request) -> bool {
    meta(request, "protocolVersion").is_some()
}

fn meta<'a>(request: &'a Request, key: &str) -> Option<&'a Value> {
    request.json.as_ref()?.pointer("/params/_meta")?.get(format!("io.modelcontextprotocol/{key}"))
}

/// What is wrong with a request: HTTP status and JSON-RPC error. `tools` are the definitions that the server gives.
pub fn objection(request: &Request, tools: &str) -> Option<(u16, String)> {
    let mismatch = |what: String| Some((400, json::error(-32020, &format!("Header mismatch: {what}"))));
    let version = meta(request, "protocolVersion").and_then(Value::as_str);
    let named = request.header("mcp-protocol-version");
    if version.or(named).is_none_or(|version| version != VERSION) {
        let requested = json::quoted(version.or(named).unwrap_or_default());
        let data = format!(r#"{{"supported":["{VERSION}"],"requested":{requested}}}"#);
        return Some((400, format!(r#"{{"code":-32022,"message":"Unsupported protocol version","data":{data}}}"#)));
    }
    if named != version {
        return mismatch(format!("MCP-Protocol-Version is {named:?}, the body says {version:?}"));
    }
    if meta(request, "clientInfo").is_none() || meta(request, "clientCapabilities").is_none() {
        return Some((400, json::error(-32602, "Invalid params: the client does not say who it is and what it can")));
    }
    if request.header("mcp-method") != request.rpc() {
        return mismatch(format!("Mcp-Method is {:?}", request.header("mcp-method")));
    }
    if request.rpc() != Some("tools/call") {
        return None;
    }
    if request.header("mcp-name").and_then(decoded).as_deref() != request.tool() {
        return mismatch(format!("Mcp-Name is {:?}", request.header("mcp-name")));
    }
    let wanted = params(tools, request);
    let wrong = wanted.iter().find(|(name, value)| {
        let sent = request.header(&format!("mcp-param-{}", name.to_ascii_lowercase()));
        sent.and_then(decoded) != *value
    });
    wrong.and_then(|(name, value)| mismatch(format!("Mcp-Param-{name} should be {value:?}")))
}

/// The headers that the definition of the called tool asks for, and the values that they must have. Only properties of
/// the first and second level are looked at.
fn params(tools: &str, request: &Request) -> Vec<(String, Option<String>)> {
    let tools: Vec<Value> = serde_json::from_str(tools).unwrap_or_default();
    let tool = tools.iter().find(|tool| tool["name"].as_str() == request.tool());
    let arguments =
        request.json.as_ref().and_then(|json| json.pointer("/params/arguments")).cloned().unwrap_or_default();
    let mut found = Vec::new();
    let top = tool.and_then(|tool| tool["inputSchema"]["properties"].as_object());
    for (name, schema) in top.into_iter().flatten() {
        let inner = schema["properties"].as_object().into_iter().flatten();
        found.push((schema["x-mcp-header"].as_str().map(str::to_owned), text(&arguments[name])));
        found.extend(inner.map(|(inner, schema)| {
            (schema["x-mcp-header"].as_str().map(str::to_owned), text(&arguments[name][inner]))
        }));
    }
    found.into_iter().filter_map(|(header, value)| Some((header?, value))).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The value of a header, taken out of `=?base64?…?=` if it is in it.
fn decoded(value: &str) -> Option<String> {
    let Some(text) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(value.to_owned());
    };
    let place = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        (bits, count) = ((bits << 6 | u32::from(place(byte)?)) & 0xffff, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn values_are_decoded() {
        for (sent, value) in
            [("plain", "plain"), ("", ""), ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"), ("=?base64??=", "")]
        {
            assert_eq!(decoded(sent).as_deref(), Some(value));
        }
        assert_eq!(decoded("=?base64?*?="), None);
    }
}
