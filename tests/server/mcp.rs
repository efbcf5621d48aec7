//! What a well-behaved server answers, and what one of the handshake era objects to.

use serde_json::Value;

use crate::exchange::{Ended, Exchange};
use crate::json;
use crate::script::Era;
use crate::shared::Session;
use crate::{modern, tools};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Answers the request of the exchange.
pub fn answer(exchange: &mut Exchange) -> Result<(), Ended> {
    let request = exchange.request.clone();
    match request.method.as_str() {
        "POST" if exchange.script.traits.lenient => dispatch(exchange),
        "POST" => match objection(exchange) {
            Some((status, error)) => refuse(exchange, status, &error),
            None => dispatch(exchange),
        },
        "DELETE" if exchange.script.traits.era != Era::Modern => end_session(exchange),
        _ => exchange.send(405, &[("allow", "POST, DELETE")], b""),
    }
}

fn refuse(exchange: &mut Exchange, status: u16, error: &str) -> Result<(), Ended> {
    let body = json::error_response(&exchange.request.id(), error);
    exchange.send(status, &[JSON], body.as_bytes())
}

/// What is wrong with a POST, as a strict server sees it: HTTP status and JSON-RPC error.
fn objection(exchange: &Exchange) -> Option<(u16, String)> {
    let plain = |(status, code, message): (u16, i64, String)| (status, json::error(code, &message));
    match is_modern(exchange) {
        true => {
            form_objection(exchange).map(plain).or_else(|| modern::objection(&exchange.request, &definitions(exchange)))
        }
        false => form_objection(exchange).or_else(|| session_objection(exchange)).map(plain),
    }
}

fn is_modern(exchange: &Exchange) -> bool {
    match exchange.script.traits.era {
        Era::Handshake => false,
        Era::Modern => true,
        Era::Both => modern::is_spoken(&exchange.request),
    }
}

fn form_objection(exchange: &Exchange) -> Option<(u16, i64, String)> {
    let request = &exchange.request;
    let accept = request.header("accept").unwrap_or_default();
    if !(accept.contains("application/json") && accept.contains("text/event-stream")) {
        return Some((406, -32000, "Not Acceptable: client must accept both types".to_owned()));
    }
    if request.header("content-type").is_none_or(|it| !it.starts_with("application/json")) {
        return Some((415, -32000, "Unsupported Media Type".to_owned()));
    }
    request.json.is_none().then(|| (400, -32700, "Parse error".to_owned()))
}

fn session_objection(exchange: &Exchange) -> Option<(u16, i64, String)> {
    let request = &exchange.request;
    if request.rpc() == Some("initialize") || !exchange.script.traits.sessions {
        return None;
    }
    let Some(id) = request.header("mcp-session-id") else {
        return Some((400, -32000, "Bad Request: Missing session ID".to_owned()));
    };
    let mut state = exchange.shared.state();
    let Some(session) = state.sessions.get_mut(id) else {
        return Some((404, -32001, "Session not found".to_owned()));
    };
    let named = request.header("mcp-protocol-version");
    let must_be_named = session.version.as_str() >= "2025-06-18";
    if named.is_some_and(|named| named != session.version) || (must_be_named && named.is_none()) {
        return Some((400, -32000, format!("Bad Request: version {named:?}, agreed on {}", session.version)));
    }
    match request.rpc() {
        Some("notifications/initialized") => session.initialized = true,
        Some(rpc) if rpc.starts_with("tools/") && !session.initialized => {
            return Some((400, -32600, "Received request before initialization was complete".to_owned()));
        }
        _ => {}
    }
    None
}

fn dispatch(exchange: &mut Exchange) -> Result<(), Ended> {
    let request = exchange.request.clone();
    match request.rpc() {
        // A response to a request of ours.
        None => exchange.send(202, &[], b""),
        Some(rpc) if rpc.starts_with("notifications/") => exchange.send(202, &[], b""),
        Some("server/discover") if is_modern(exchange) => discover(exchange),
        Some("initialize") if !is_modern(exchange) => initialize(exchange),
        Some("ping") => reply(exchange, "{}"),
        Some("tools/list") => list(exchange),
        Some("tools/call") => tools::call(exchange),
        Some(other) => {
            let error = json::error(-32601, &format!("Method not found: {other}"));
            if is_modern(exchange) { refuse(exchange, 404, &error) } else { reply_error(exchange, &error) }
        }
    }
}

fn discover(exchange: &mut Exchange) -> Result<(), Ended> {
    let version = modern::VERSION;
    let info = r#""serverInfo":{"name":"scripted","version":"1"}"#;
    reply(exchange, &format!(r#"{{"supportedVersions":["{version}"],"capabilities":{{"tools":{{}}}},{info}}}"#))
}

/// The `tools` that the server lists.
fn definitions(exchange: &Exchange) -> String {
    exchange.script.traits.tools.as_ref().map_or_else(tools::definitions, |tools| tools.get().to_owned())
}

fn initialize(exchange: &mut Exchange) -> Result<(), Ended> {
    let versions = &exchange.script.traits.versions;
    let asked = exchange.request.json.as_ref().and_then(|json| json.pointer("/params/protocolVersion"));
    let asked = asked.and_then(Value::as_str).unwrap_or_default();
    let version = versions.iter().find(|version| *version == asked).or(versions.last()).cloned().unwrap_or_default();
    let result = format!(
        r#"{{"protocolVersion":{},"capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"scripted","version":"1"}}}}"#,
        json::quoted(&version)
    );
    let body = json::response(&exchange.request.id(), &result);
    if !exchange.script.traits.sessions {
        return exchange.send(200, &[JSON], body.as_bytes());
    }
    let session = exchange.shared.change(|state| {
        state.sessions_made += 1;
        let id = format!("s{}", state.sessions_made);
        state.sessions.insert(id.clone(), Session { version, initialized: false });
        id
    });
    exchange.send(200, &[JSON, ("mcp-session-id", &session)], body.as_bytes())
}

fn list(exchange: &mut Exchange) -> Result<(), Ended> {
    let text = definitions(exchange);
    let all: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&text).unwrap_or_default();
    let page = exchange.script.traits.page.unwrap_or(usize::MAX).max(1);
    let cursor = exchange.request.json.as_ref().and_then(|json| json.pointer("/params/cursor"));
    let from = match cursor.map(|cursor| cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok())) {
        None => 0,
        Some(Some(from)) if from < all.len() => from,
        Some(_) => return reply_error(exchange, &json::error(-32602, "Invalid cursor")),
    };
    let to = from.saturating_add(page).min(all.len());
    let tools: Vec<String> = all[from..to].iter().map(|tool| json::compact(tool.get())).collect();
    let next = if to < all.len() { format!(r#","nextCursor":"{to}""#) } else { String::new() };
    reply(exchange, &format!(r#"{{"tools":[{}]{next}}}"#, tools.join(",")))
}

fn end_session(exchange: &mut Exchange) -> Result<(), Ended> {
    let id = exchange.request.header("mcp-session-id").unwrap_or_default().to_owned();
    let known = exchange.shared.change(|state| state.sessions.remove(&id).is_some());
    exchange.send(if known { 200 } else { 404 }, &[], b"")
}

/// Answers with a result: JSON text.
pub fn reply(exchange: &mut Exchange, result: &str) -> Result<(), Ended> {
    message(exchange, &json::response(&exchange.request.id(), &complete(exchange, result)))
}

/// The result in the form that the client's revision has for it.
pub fn complete(exchange: &Exchange, result: &str) -> String {
    match result.strip_prefix('{') {
        Some("}") if is_modern(exchange) => r#"{"resultType":"complete"}"#.to_owned(),
        Some(members) if is_modern(exchange) => format!(r#"{{"resultType":"complete",{members}"#),
        _ => result.to_owned(),
    }
}

/// Answers with a JSON-RPC error: JSON text.
pub fn reply_error(exchange: &mut Exchange, error: &str) -> Result<(), Ended> {
    message(exchange, &json::error_response(&exchange.request.id(), error))
}

fn message(exchange: &mut Exchange, message: &str) -> Result<(), Ended> {
    if !exchange.script.traits.sse {
        return exchange.send(200, &[JSON], message.as_bytes());
    }
    exchange.begin_events(&[])?;
    exchange.event(message)?;
    exchange.end()
}
