//! The tools that every scripted server has.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::exchange::{Ended, Exchange};
use crate::json;
use crate::mcp::{complete, reply, reply_error};

/// Names and what they do, for `tools/list`.
const TOOLS: [(&str, &str); 11] = [
    ("echo", "its argument `text`; without one, all its arguments as JSON"),
    ("add", "the sum of `a` and `b`"),
    ("fail", "a tool error with `text`"),
    ("slow", "`done`, after `ms`"),
    ("progress", "`done`, after `n` progress notifications, one every `interval` ms"),
    ("big", "`bytes` bytes of text"),
    ("image", "an image block"),
    ("resource", "an embedded resource and a link to one"),
    ("structured", "structured content alone, with numbers of many digits"),
    ("blocks", "two text blocks"),
    ("empty", "no content"),
];

/// The definitions of the tools as a JSON array.
pub fn definitions() -> String {
    let tools = TOOLS
        .map(|(name, does)| format!(r#"{{"name":"{name}","description":"{does}","inputSchema":{{"type":"object"}}}}"#));
    format!("[{}]", tools.join(","))
}

/// Runs the tool that the request names, and answers.
pub fn call(exchange: &mut Exchange) -> Result<(), Ended> {
    let request = exchange.request.clone();
    let none = Map::new();
    let arguments = request.arguments().unwrap_or(&none);
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or(0);
    let text = arguments.get("text").and_then(Value::as_str);
    let result = match request.tool().unwrap_or_default() {
        "echo" => json::text_result(text.unwrap_or(&Value::from(arguments.clone()).to_string()), false),
        "add" => {
            let sum: f64 = ["a", "b"].iter().filter_map(|name| arguments.get(*name)?.as_f64()).sum();
            json::text_result(&sum.to_string(), false)
        }
        "fail" => json::text_result(text.unwrap_or("failed"), true),
        "slow" => {
            exchange.pause(Duration::from_millis(number("ms")))?;
            json::text_result("done", false)
        }
        "progress" => return progress(exchange, number("n"), number("interval")),
        "big" => json::text_result(&"x".repeat(number("bytes") as usize), false),
        "image" => r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#.to_owned(),
        "resource" => {
            let resource = r#"{"type":"resource","resource":{"uri":"file:///r","text":"inside"}}"#;
            format!(r#"{{"content":[{resource},{{"type":"resource_link","uri":"file:///x","name":"x"}}]}}"#)
        }
        "structured" => {
            r#"{"content":[],"structuredContent":{"open":[22,443],"big":12345678901234567890123,"exact":1.10}}"#
                .to_owned()
        }
        "blocks" => r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#.to_owned(),
        "empty" => r#"{"content":[]}"#.to_owned(),
        other => return reply_error(exchange, &json::error(-32602, &format!("Unknown tool: {other}"))),
    };
    reply(exchange, &result)
}

/// Progress needs a stream, and a token to be for.
fn progress(exchange: &mut Exchange, steps: u64, interval: u64) -> Result<(), Ended> {
    let Some(token) = exchange.request.token() else {
        exchange.pause(Duration::from_millis(steps * interval))?;
        return reply(exchange, &json::text_result("done", false));
    };
    exchange.begin_events(&[])?;
    for step in 1..=steps {
        exchange.pause(Duration::from_millis(interval))?;
        let params =
            format!(r#"{{"progressToken":{token},"progress":{step},"total":{steps},"message":"step {step}"}}"#);
        exchange.event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#))?;
    }
    let done = complete(exchange, &json::text_result("done", false));
    let done = json::response(&exchange.request.id(), &done);
    exchange.event(&done)?;
    exchange.end()
}
