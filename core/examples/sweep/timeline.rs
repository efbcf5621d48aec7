//! The run's events and its ledger, shown.

use verifi::{Event, EventKind, Ledger, Subscription, Usage};

use crate::screen::{Colour, Row, Screen, milliseconds, size};

/// Shows each event when it happens, until the run has finished. Gives how often a failover was announced.
pub fn show(events: Subscription, screen: &Screen) -> usize {
    let mut failovers = 0;
    for event in events {
        match event.kind {
            EventKind::CallFinished => call(&event, screen),
            EventKind::Log => screen.note(Colour::Plain, event.message.as_deref().unwrap_or_default()),
            EventKind::FallbackUsed => {
                failovers += 1;
                failover(&event, screen);
            }
            EventKind::NoHealthyTool => screen.announce("no server is left"),
            _ => (),
        }
    }
    failovers
}

fn call(event: &Event, screen: &Screen) {
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

fn failover(event: &Event, screen: &Screen) {
    let slot = event.slot.as_deref().unwrap_or_default();
    let fallback = event.fallback.as_deref().unwrap_or_default();
    let reason = event.error.as_deref().unwrap_or_default();
    screen.announce(&format!("{slot} has lost its primary server and goes on with {fallback} ({reason})"));
}

/// Shows the ledger as a table. Whether its rows add up to its totals is told apart, for the demo to fail if not.
pub fn ledger(ledger: &Ledger, screen: &Screen) -> bool {
    let mut rows = vec![["slot", "tool", "calls", "failed", "evidence", "latency"].map(str::to_owned)];
    let mut sums = (0, 0, 0, 0.0);
    for (slot, used) in ledger.slots() {
        for (tool, usage) in used.tools() {
            rows.push(row(slot, tool, usage));
            sums.0 += usage.tool_calls();
            sums.1 += usage.failures();
            sums.2 += usage.evidence_bytes();
            sums.3 += usage.latency_ms();
        }
    }
    let total = ledger.usage();
    rows.push(row("total", "", total));
    screen.table(&rows);
    sums.0 == total.tool_calls()
        && sums.1 == total.failures()
        && sums.2 == total.evidence_bytes()
        && (sums.3 - total.latency_ms()).abs() < 0.001
}

fn row(slot: &str, tool: &str, usage: Usage) -> [String; 6] {
    let (calls, failed) = (usage.tool_calls().to_string(), usage.failures().to_string());
    let (bytes, latency) = (size(usage.evidence_bytes()), milliseconds(usage.latency_ms()));
    [slot.to_owned(), tool.to_owned(), calls, failed, bytes, latency]
}
