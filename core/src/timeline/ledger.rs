//! What a run used.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::event::{Event, EventKind};
use crate::outcome::Outcome;

/// What a run used: in all, per slot, and per tool of a slot. It is a fold of the run's events and nothing else, and it
/// only ever grows. A call that a failover sent to a second server is two calls: both did work.
///
/// As JSON: `{"runId", "toolCalls", "failures", "evidenceBytes", "latencyMs", "slots": {NAME: {…, "tools": {NAME: {…}}}}}`
/// with the four counters at each level, and `"journalError"` in a run whose journal could not be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    run_id: Arc<str>,
    #[serde(flatten)]
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journal_error: Option<String>,
    slots: BTreeMap<Arc<str>, SlotLedger>,
}

/// What one slot of a run used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotLedger {
    #[serde(flatten)]
    usage: Usage,
    tools: BTreeMap<Arc<str>, Usage>,
}

/// The four counters. None of them wraps: at its end it stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    tool_calls: u64,
    failures: u64,
    evidence_bytes: u64,
    /// Microseconds, so that sums are exact in any order; milliseconds in JSON.
    #[serde(rename = "latencyMs", serialize_with = "write_millis", deserialize_with = "read_millis")]
    latency: u64,
}

impl Ledger {
    /// The ledger of a run that has not called anything yet.
    pub fn new(run_id: impl Into<Arc<str>>) -> Ledger {
        Ledger { run_id: run_id.into(), usage: Usage::default(), journal_error: None, slots: BTreeMap::new() }
    }

    /// Counts an event in. Of calls, only [`EventKind::CallFinished`] counts.
    pub fn fold(&mut self, event: &Event) {
        match event.kind {
            EventKind::CallFinished => self.count(event),
            EventKind::JournalFailed => self.journal_error = event.error.clone(),
            _ => (),
        }
    }

    fn count(&mut self, event: &Event) {
        let used = Usage::of(event);
        let slot = self.slots.entry(event.slot.clone().unwrap_or_default()).or_default();
        let tool = slot.tools.entry(event.tool.clone().unwrap_or_default()).or_default();
        for usage in [&mut self.usage, &mut slot.usage, tool] {
            usage.add(used);
        }
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// What the run used in all.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Why the run's journal could not be written, if that ever happened.
    pub fn journal_error(&self) -> Option<&str> {
        self.journal_error.as_deref()
    }

    /// The slots that were called, sorted by name.
    pub fn slots(&self) -> impl Iterator<Item = (&str, &SlotLedger)> {
        self.slots.iter().map(|(name, slot)| (&**name, slot))
    }

    /// What the slot of that name used, if it was called.
    pub fn slot(&self, name: &str) -> Option<&SlotLedger> {
        self.slots.get(name)
    }
}

impl SlotLedger {
    /// What the slot used in all.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The tools that were called, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Usage)> {
        self.tools.iter().map(|(name, usage)| (&**name, *usage))
    }

    /// What the tool of that name used, if it was called.
    pub fn tool(&self, name: &str) -> Option<Usage> {
        self.tools.get(name).copied()
    }
}

impl Usage {
    /// How many calls were put to a server.
    pub fn tool_calls(self) -> u64 {
        self.tool_calls
    }

    /// How many of them did not end well.
    pub fn failures(self) -> u64 {
        self.failures
    }

    /// How many bytes of text the tools gave, scrubbed, in UTF-8.
    pub fn evidence_bytes(self) -> u64 {
        self.evidence_bytes
    }

    /// How long the calls took, one after the other, in milliseconds, to the microsecond.
    pub fn latency_ms(self) -> f64 {
        self.latency as f64 / 1000.0
    }

    fn of(event: &Event) -> Usage {
        Usage {
            tool_calls: 1,
            failures: u64::from(event.outcome != Some(Outcome::Ok)),
            evidence_bytes: event.evidence_bytes.unwrap_or(0),
            latency: micros(event.latency_ms.unwrap_or(0.0)),
        }
    }

    fn add(&mut self, more: Usage) {
        self.tool_calls = self.tool_calls.saturating_add(more.tool_calls);
        self.failures = self.failures.saturating_add(more.failures);
        self.evidence_bytes = self.evidence_bytes.saturating_add(more.evidence_bytes);
        self.latency = self.latency.saturating_add(more.latency);
    }
}

/// Rounded, since a number that went through JSON may come back with its last bit changed. What is no time is none.
fn micros(millis: f64) -> u64 {
    (millis * 1000.0).round() as u64
}

fn write_millis<S: Serializer>(micros: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*micros as f64 / 1000.0)
}

fn read_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    f64::deserialize(deserializer).map(micros)
}
