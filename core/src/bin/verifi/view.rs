//! How an event and a ledger look on the screen.

use verifi::{Event, Ledger, Usage};

use crate::screen::{Row, Screen, milliseconds, size};

/// A call that has ended.
pub fn call(event: &Event, screen: &Screen) {
    screen.row(&Row {
        time: &event.ts.to_string(),
        slot: event.slot.as_deref().unwrap_or_default(),
        server: event.server.map_or("", |server| server.as_str()),
        tool: event.tool.as_deref().unwrap_or_default(),
        outcome: event.outcome.map_or("", |outcome| outcome.as_str()),
        latency_ms: event.latency_ms.unwrap_or_default(),
        bytes: event.evidence_bytes.unwrap_or_default(),
    });
}

pub fn failover(event: &Event, screen: &Screen) {
    let slot = event.slot.as_deref().unwrap_or_default();
    let fallback = event.fallback.as_deref().unwrap_or_default();
    let reason = event.error.as_deref().unwrap_or_default();
    screen.announce(&format!("{slot} has lost its primary server and goes on with {fallback} ({reason})"));
}

/// The rows of a ledger's table, its head and its total among them.
pub fn ledger(ledger: &Ledger) -> Vec<[String; 6]> {
    let mut rows = vec![["slot", "tool", "calls", "failed", "evidence", "latency"].map(str::to_owned)];
    for (slot, used) in ledger.slots() {
        rows.extend(used.tools().map(|(tool, usage)| row(slot, tool, usage)));
    }
    rows.push(row("total", "", ledger.usage()));
    rows
}

fn row(slot: &str, tool: &str, usage: Usage) -> [String; 6] {
    let (calls, failed) = (usage.tool_calls().to_string(), usage.failures().to_string());
    let (bytes, latency) = (size(usage.evidence_bytes()), milliseconds(usage.latency_ms()));
    [slot.to_owned(), tool.to_owned(), calls, failed, bytes, latency]
}
