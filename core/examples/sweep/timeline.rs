//! The run's events and its ledger, shown as the command `verifi` shows them.

use verifi::{EventKind, Ledger, Subscription};

use crate::screen::{Colour, Screen};
use crate::view;

/// Shows each event when it happens, until the run has finished. Gives how often a failover was announced.
pub fn show(events: Subscription, screen: &Screen) -> usize {
    let mut failovers = 0;
    for event in events {
        match event.kind {
            EventKind::CallFinished => view::call(&event, screen),
            EventKind::Log => screen.note(Colour::Plain, event.message.as_deref().unwrap_or_default()),
            EventKind::FallbackUsed => {
                failovers += 1;
                view::failover(&event, screen);
            }
            EventKind::NoHealthyTool => screen.announce("no server is left"),
            _ => (),
        }
    }
    failovers
}

/// Shows the ledger as a table. Whether its rows add up to its totals is told apart, for the demo to fail if not.
pub fn ledger(ledger: &Ledger, screen: &Screen) -> bool {
    screen.table(&view::ledger(ledger));
    let mut sums = (0, 0, 0, 0.0);
    for (_, usage) in ledger.slots().flat_map(|(_, used)| used.tools()) {
        sums.0 += usage.tool_calls();
        sums.1 += usage.failures();
        sums.2 += usage.evidence_bytes();
        sums.3 += usage.latency_ms();
    }
    let total = ledger.usage();
    sums.0 == total.tool_calls()
        && sums.1 == total.failures()
        && sums.2 == total.evidence_bytes()
        && (sums.3 - total.latency_ms()).abs() < 0.001
}
