//! The vector file of eras as scenarios: a server that speaks both answers its first request as the case says.

use serde::Deserialize;
use serde_json::{Value, json};

const MODERN: &str = "2026-07-28";

#[derive(Deserialize)]
pub struct Case {
    name: String,
    /// The manifest's `protocolVersion`.
    asked: Option<String>,
    answer: Answer,
    /// The revision that is spoken from there on, `refused` or `unreachable`.
    then: String,
    /// What the error contains.
    #[serde(default)]
    says: Vec<String>,
    /// More than follows from the rest: how many requests of which method.
    #[serde(default)]
    received: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct Answer {
    status: u16,
    /// A body that is no JSON-RPC message, and its media type.
    #[serde(default, rename = "type")]
    media_type: Value,
    #[serde(default)]
    body: Value,
    result: Option<Value>,
    error: Option<Value>,
    /// An error in a stream.
    sse: Option<Value>,
}

impl Answer {
    fn action(&self) -> Value {
        let message = |name: &str, part: &Value| json!({"json": {"jsonrpc": "2.0", "id": "{{id}}", (name): part}});
        let (media_type, body) = match (&self.result, &self.error, &self.sse) {
            (Some(result), _, _) => (json!("application/json"), message("result", result)),
            (_, Some(error), _) => (json!("application/json"), message("error", error)),
            (_, _, Some(error)) => return json!({"sse": [{"error": error}]}),
            _ => (self.media_type.clone(), self.body.clone()),
        };
        json!({"answer": {"status": self.status, "type": media_type, "body": body}})
    }
}

pub fn scenario(case: Case, _: String) -> String {
    let asks_modern = case.asked.as_deref() == Some(MODERN);
    let first = if asks_modern { "tools/call" } else { "initialize" };
    let goes_on = case.then.starts_with("20");
    let fill = match &case.asked {
        Some(asked) => json!({"endpoint": "{{A}}", "protocolVersion": asked}),
        None => json!("{{A}}"),
    };
    let expect = match goes_on {
        true => json!({"ok": true, "text": "hi"}),
        false => {
            let error = json!({"$contains": case.says});
            json!({"ok": false, "outcome": case.then, "isError": case.then == "refused", "error": error})
        }
    };
    let call = json!({"call": "echo", "args": {"text": "hi"}, "expect": expect, "times": 1 + u8::from(goes_on)});
    let health = json!({"health": "kali", "expect": [{"protocolVersion": case.then}]});
    let event = json!({"kind": "call_finished", "protocolVersion": case.then});
    let (steps, events) = match goes_on {
        true => (json!([call, health]), json!({"$contains": event})),
        false => (json!([call]), json!({"$len": {"$gt": 0}})),
    };
    json!({
        "name": case.name,
        "manifest": {"runId": "r1", "slotFills": {"kali": fill}},
        "servers": {"A": {
            "era": "both", "sessions": false, "rules": [{"on": {"rpc": first, "nth": 1}, "do": [case.answer.action()]}]
        }},
        "steps": steps,
        "events": events,
        "received": {"A": {"counts": counts(&case, asks_modern, goes_on)}},
    })
    .to_string()
}

/// How many requests of each method the server has seen.
fn counts(case: &Case, asks_modern: bool, goes_on: bool) -> Value {
    let is_modern = case.then == MODERN;
    let agreed = case.answer.result.is_some();
    let calls = match (goes_on, asks_modern) {
        (false, false) => 0,
        (false, true) => 1,
        (true, true) if !agreed => 3,
        (true, _) => 2,
    };
    let handshakes = match (goes_on, asks_modern) {
        (false, asks_modern) => u8::from(!asks_modern),
        (true, true) => u8::from(!is_modern),
        (true, false) => 1 + u8::from(!is_modern && !agreed),
    };
    let mut counts = case.received.clone();
    counts.insert("tools/call".into(), calls.into());
    counts.insert("initialize".into(), handshakes.into());
    counts.into()
}
