//! The vector files as scenarios: each case one.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::eras;
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
        each(vectors, "encodings", encodings)?,
        each(vectors, "secrets", secrets)?,
        each(vectors, "eras", eras::scenario)?,
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

/// What more a case says (headers, versions, secrets) is not to be seen from outside.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    manifest: Option<Box<RawValue>>,
    text: Option<String>,
    #[serde(default)]
    env: Map<String, Value>,
    servers: Option<Map<String, Value>>,
    shown: Option<Map<String, Value>>,
    error: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
}

fn manifest(case: Manifest, _: String) -> String {
    let manifest = match (&case.manifest, &case.text) {
        (Some(manifest), _) => format!(r#""manifest":{manifest}"#),
        (None, text) => format!(r#""manifestText":{}"#, json!(text)),
    };
    let error = case.error.as_ref().map(|member| format!(r#","openError":{}"#, manifest_error(member, &case)));
    let steps = Value::Array(case.servers.iter().flatten().flat_map(|(slot, urls)| looks(slot, urls, &case)).collect());
    let (name, env, shared) = (json!(case.name), json!(case.env), case.env.is_empty());
    let error = error.unwrap_or_default();
    format!(r#"{{"name":{name},"sharesDriver":{shared},"env":{env},{manifest},"steps":{steps}{error}}}"#)
}

/// The steps that look at a slot.
fn looks(slot: &str, urls: &Value, case: &Manifest) -> [Value; 2] {
    let shown = case.shown.as_ref().and_then(|shown| shown.get(slot)).unwrap_or(urls);
    let health = shown.as_array().into_iter().flatten().map(|url| json!({"endpoint": url, "state": "unused"}));
    [
        json!({"health": slot, "expect": health.collect::<Vec<_>>()}),
        json!({"mcp": slot, "expect": {"name": slot, "endpoint": urls[0]}}),
    ]
}

/// The error begins with the member.
fn manifest_error(member: &str, case: &Manifest) -> Value {
    let first = format!("^{}: ", regex_lite::escape(member));
    let never: Vec<Value> = case.never.iter().map(|text| json!({"$contains": text})).collect();
    json!({"kind": "manifest", "message": {"$regex": first, "$contains": case.says, "$not": {"$any": never}}})
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
struct Encodings {
    name: String,
    text: String,
    secrets: Vec<String>,
    out: String,
}

/// What a run with these secrets makes of a text that a tool answers.
fn encodings(case: Encodings, _: String) -> String {
    let result = json!({"result": {"content": [{"type": "text", "text": case.text}]}});
    let server = json!({"rules": [{"on": {"rpc": "tools/call"}, "do": [result]}]});
    json!({
        "name": case.name, "sharesDriver": true, "servers": {"A": server}, "options": {"secrets": case.secrets},
        "steps": [{"call": "any", "expect": {"ok": true, "text": case.out}}],
    })
    .to_string()
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
