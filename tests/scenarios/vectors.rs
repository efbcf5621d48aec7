//! The vector files as scenarios: each case one.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::scenario::Scenario;

#[derive(Deserialize)]
struct File<Case> {
    cases: Vec<Case>,
}

/// The scenarios of all vector files.
pub fn scenarios(vectors: &Path) -> Result<Vec<Scenario>, String> {
    Ok([
        each(vectors, "flatten", flatten)?,
        each(vectors, "sse", sse)?,
        each(vectors, "manifest", manifest)?,
        each(vectors, "redact", redact)?,
        each(vectors, "secrets", secrets)?,
    ]
    .concat())
}

/// Reads a vector file; `make` gives the members of each case's scenario, the second argument being its number.
fn each<Case: DeserializeOwned>(
    vectors: &Path,
    topic: &str,
    make: fn(Case, String) -> String,
) -> Result<Vec<Scenario>, String> {
    let path = vectors.join(format!("{topic}.json"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file: File<Case> = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let numbered = file.cases.into_iter().zip(1..);
    numbered.map(|(case, number)| Scenario::parse(topic, &make(case, format!("case {number}")))).collect()
}

/// A scenario with one server that answers every call by `action`.
fn answering(name: &str, action: &str, steps: &Value) -> String {
    let rule = format!(r#"{{"on":{{"rpc":"tools/call"}},"do":[{action}]}}"#);
    let name = json!(name);
    format!(r#"{{"name":{name},"sharesDriver":true,"servers":{{"A":{{"rules":[{rule}]}}}},"steps":{steps}}}"#)
}

#[derive(Deserialize)]
struct Flatten {
    result: Box<RawValue>,
    text: Value,
    #[serde(rename = "isError")]
    is_error: bool,
    error: Option<Value>,
}

fn flatten(case: Flatten, number: String) -> String {
    let error = case.error.unwrap_or_else(|| json!({"$absent": true}));
    let expect = json!({"ok": !case.is_error, "isError": case.is_error, "text": case.text, "error": error});
    // The result stays text: its members keep their order.
    let action = format!(r#"{{"result":{}}}"#, case.result.get());
    answering(&number, &action, &json!([{"call": "any", "expect": expect}]))
}

#[derive(Deserialize)]
struct Sse {
    name: String,
    chunks: Vec<String>,
    #[serde(default)]
    split_every_byte: bool,
    text: Option<String>,
    error: Option<String>,
    #[serde(default)]
    unreachable: bool,
}

fn sse(case: Sse, _: String) -> String {
    let expect = if case.unreachable {
        json!({"ok": false, "isError": false, "outcome": "unreachable"})
    } else if let Some(error) = &case.error {
        json!({"ok": false, "isError": true, "outcome": "refused", "error": error})
    } else {
        json!({"ok": true, "text": case.text})
    };
    let chunks: Vec<String> = case.chunks.iter().map(|chunk| with_real_ids(chunk)).collect();
    let with = if case.split_every_byte { json!({"pieces": 1}) } else { json!({}) };
    let action = json!({"sse": chunks, "with": with}).to_string();
    answering(&case.name, &action, &json!([{"call": "any", "expect": expect}]))
}

/// In the vectors 7 is the call's id; other numbers are those of other calls.
fn with_real_ids(chunk: &str) -> String {
    let chunk = chunk.replace(r#""id":"7""#, r#""id":{{id:string}}"#).replace(r#""id":7"#, r#""id":{{id}}"#);
    (0..10).fold(chunk, |chunk, other| {
        chunk.replace(&format!(r#""id":{other},"#), &format!(r#""id":{{{{id:other}}}}{other},"#))
    })
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
    manifest: Box<RawValue>,
    servers: Option<Map<String, Value>>,
    error: Option<String>,
}

fn manifest(case: Manifest, _: String) -> String {
    let mut steps = Vec::new();
    for (slot, endpoints) in case.servers.into_iter().flatten() {
        let endpoints: Vec<&str> = endpoints.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let shown = endpoints.iter().map(|url| json!({"endpoint": url.split('?').next(), "state": "unused"}));
        steps.push(json!({"health": slot, "expect": shown.collect::<Vec<_>>()}));
        steps.push(json!({"mcp": slot, "expect": {"name": slot, "endpoint": endpoints.first()}}));
    }
    let error = case.error.map(|member| json!({"kind": "manifest", "message": {"$contains": member}}));
    let open_error = error.map(|error| format!(r#","openError":{error}"#)).unwrap_or_default();
    let (name, steps) = (json!(case.name), json!(steps));
    let manifest = case.manifest.get();
    format!(r#"{{"name":{name},"sharesDriver":true,"manifest":{manifest},"steps":{steps}{open_error}}}"#)
}

#[derive(Deserialize)]
struct Redact {
    text: String,
    secrets: Vec<String>,
    out: String,
}

fn redact(case: Redact, number: String) -> String {
    let step = json!({"redact": {"text": case.text, "secrets": case.secrets}, "expect": case.out});
    json!({"name": number, "sharesDriver": true, "steps": [step]}).to_string()
}

#[derive(Deserialize)]
struct Secrets {
    env: Value,
    secrets: Value,
}

fn secrets(case: Secrets, number: String) -> String {
    let step = json!({"collect": case.env, "expect": case.secrets});
    json!({"name": number, "sharesDriver": true, "steps": [step]}).to_string()
}
