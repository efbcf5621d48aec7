//! Journals as others would write them.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A journal of these events, made by what the format says and by none of verifi's own code.
pub fn sealed(events: &[Value]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (mut prev, mut text) = ("0".repeat(64), String::new());
    for event in events {
        let (mut rest, seq) = (event.clone(), &event["seq"]);
        rest.as_object_mut().unwrap().remove("seq");
        let rest = rest.to_string();
        let body = format!("{{\"seq\":{seq},{},\"prev\":\"{prev}\"", &rest[1..rest.len() - 1]);
        prev = hex(&Sha256::digest(body.as_bytes()));
        text.push_str(&format!("{body},\"hash\":\"{prev}\"}}\n"));
    }
    text
}

/// An event as it must be at the very least, and these members more.
pub fn event(seq: u64, kind: &str, more: Value) -> Value {
    let mut event = json!({"seq": seq, "ts": "2026-12-02T01:02:03.004Z", "runId": "r1", "kind": kind});
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}
