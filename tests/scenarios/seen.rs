//! What must be seen at the end of a scenario, and what was seen in a form that is the same in every run.

use serde_json::{Map, Value};

use super::place::Places;
use super::run::Running;
use super::scenario::{Received, Script};
use crate::matching::matches;

/// Checks the end: events, ledger, what each server received, memory.
pub fn check(script: &Script, running: &Running, events: &Value, ledger: &Value) -> Result<(), String> {
    numbered(events)?;
    if let Some(expected) = &script.events {
        matches(expected, Some(events)).map_err(|what| format!("events: {what}\n  in {}", kinds(events)))?;
    }
    if let Some(expected) = &script.ledger {
        matches(expected, Some(ledger)).map_err(|what| format!("ledger: {what}\n  in {ledger}"))?;
    }
    for (name, expected) in &script.received {
        let record = running.places.server(name)?.record();
        expected.check(&record).map_err(|what| format!("received by {name}: {what}\n  in {}", requests(&record)))?;
    }
    if let Some(expected) = &script.peak_mb {
        matches(expected, running.driver.peak_mb().map(Value::from).as_ref())
            .map_err(|what| format!("peakMb: {what}"))?;
    }
    Ok(())
}

/// Every timeline, whatever the scenario is about, is numbered without a gap.
fn numbered(events: &Value) -> Result<(), String> {
    let mut seqs = events.as_array().into_iter().flatten().map(|event| event["seq"].as_u64().unwrap_or(0));
    let Some(first) = seqs.next() else { return Err("events: there are none".to_owned()) };
    match seqs.enumerate().find(|(index, seq)| *seq != first + 1 + *index as u64) {
        None => Ok(()),
        Some((index, seq)) => Err(format!("events: [{}] has seq {seq} after {}", index + 1, first + index as u64)),
    }
}

impl Received {
    fn check(&self, record: &Value) -> Result<(), String> {
        let all = record["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (name, expected) in &self.counts {
            let http = name.chars().all(|c| c.is_ascii_uppercase());
            let key = if http { "method" } else { "rpc" };
            let count = all.iter().filter(|request| request[key] == name.as_str()).count();
            matches(expected, Some(&count.into())).map_err(|what| format!("{name}: {what}"))?;
        }
        if let Some(expected) = &self.requests {
            matches(expected, Some(&record["requests"])).map_err(|what| format!("requests: {what}"))?;
        }
        if let Some(expected) = &self.connections {
            let count = record["connections"].as_array().map(Vec::len).unwrap_or(0);
            matches(expected, Some(&count.into())).map_err(|what| format!("connections: {what}"))?;
        }
        if let Some(expected) = &self.closings {
            matches(expected, Some(&record["connections"])).map_err(|what| format!("closings: {what}"))?;
        }
        Ok(())
    }
}

fn kinds(events: &Value) -> String {
    let kind = |event: &Value| event["kind"].as_str().unwrap_or("?").to_owned();
    events.as_array().into_iter().flatten().map(kind).collect::<Vec<_>>().join(", ")
}

fn requests(record: &Value) -> String {
    let one = |request: &Value| {
        let rpc = request["rpc"].as_str().unwrap_or("-");
        format!("{} {} {rpc} on connection {}", request["method"], request["target"], request["connection"])
    };
    record["requests"].as_array().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
}

/// What was seen, without times and ports. When calls ran at once, the order of events and results is left out, too.
pub fn normal(seen: &Value, places: &Places, concurrent: bool) -> Value {
    let mut normal = without_chance(seen, places, concurrent);
    if concurrent {
        normal["events"].as_array_mut().into_iter().for_each(|values| sort(values));
        let steps = normal["steps"].as_array_mut().into_iter().flatten();
        steps.filter_map(Value::as_array_mut).for_each(|values| sort(values));
    }
    normal
}

fn sort(values: &mut [Value]) {
    values.sort_by_cached_key(Value::to_string);
}

fn without_chance(value: &Value, places: &Places, concurrent: bool) -> Value {
    let inner = |value: &Value| without_chance(value, places, concurrent);
    match value {
        Value::String(text) => places.unfill(text).into(),
        Value::Array(items) => items.iter().map(inner).collect(),
        Value::Object(members) => {
            let normal = members.iter().map(|(name, value)| {
                let left_out = match name.as_str() {
                    "ts" | "since" | "latencyMs" | "head" => true,
                    "seq" | "callId" => concurrent,
                    _ => false,
                };
                (name.clone(), if left_out { Value::from("*") } else { inner(value) })
            });
            Value::Object(normal.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}
