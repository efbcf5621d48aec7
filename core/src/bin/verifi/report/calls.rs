//! The calls of a run as tables.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use super::gather::{Call, Gathered};
use super::html::{Bytes, Count, Millis, Safe};

/// Up to so many calls all of them have a row; of more, those that failed and the slowest have.
const ALL: usize = 1000;
const MOST_FAILED: usize = 500;
const SLOWEST: usize = 50;

type InSlot<'r> = (&'r Arc<str>, &'r Call);

/// Which calls have a row to go to.
pub struct Rows<'r> {
    failed: Vec<InSlot<'r>>,
    more_failed: usize,
    others: Vec<InSlot<'r>>,
    title: String,
    seqs: HashSet<u64>,
}

impl<'r> Rows<'r> {
    pub fn of(run: &'r Gathered) -> Rows<'r> {
        let (mut failed, mut others): (Vec<InSlot>, Vec<InSlot>) = run.calls().partition(|(_, call)| call.failed());
        let more_failed = failed.len().saturating_sub(MOST_FAILED);
        failed.sort_by_key(|(_, call)| call.seq);
        failed.truncate(MOST_FAILED);
        let title = if failed.len() + others.len() <= ALL {
            format!("The {} calls that did not fail", Count(others.len() as u64))
        } else {
            others.sort_by(|a, b| b.1.latency_ms.unwrap_or(0.0).total_cmp(&a.1.latency_ms.unwrap_or(0.0)));
            others.truncate(SLOWEST);
            format!("The {} slowest calls that did not fail", Count(others.len() as u64))
        };
        others.sort_by_key(|(_, call)| call.seq);
        let seqs = failed.iter().chain(&others).map(|(_, call)| call.seq).collect();
        Rows { failed, more_failed, others, title, seqs }
    }

    pub fn has(&self, call: &Call) -> bool {
        self.seqs.contains(&call.seq)
    }

    pub fn write(&self, html: &mut String) {
        if !self.failed.is_empty() {
            let _ = write!(
                html,
                "<section><h3>What failed</h3><div class=wide><table class=calls>{HEAD}<th>error</thead><tbody>"
            );
            for (slot, call) in &self.failed {
                row(slot, call, html);
                let _ = write!(html, "<td class=error><bdi>{}</bdi>", Safe(call.error.as_deref().unwrap_or_default()));
            }
            let _ = write!(html, "</tbody></table></div>");
            if self.more_failed > 0 {
                let _ = write!(html, "<p class=hint>And {} more.</p>", Count(self.more_failed as u64));
            }
            let _ = write!(html, "</section>");
        }
        if !self.others.is_empty() {
            let title = &self.title;
            let _ = write!(
                html,
                "<details><summary>{title}</summary><div class=wide><table class=calls>{HEAD}<th class=n>evidence</thead><tbody>"
            );
            for (slot, call) in &self.others {
                row(slot, call, html);
                let _ = write!(html, "<td class=n>{}", Bytes(call.evidence_bytes));
            }
            let _ = write!(html, "</tbody></table></div></details>");
        }
    }
}

const HEAD: &str = "<thead><tr><th>time<th>slot<th>tool<th>server<th>outcome<th class=n>latency";

fn row(slot: &str, call: &Call, html: &mut String) {
    let clock = call.start.to_string();
    let (time, seq) = (clock.get(11..23).unwrap_or_default(), call.seq);
    let server = call.server.map_or("", |server| server.as_str());
    let outcome = call.outcome.map_or("has not ended", |outcome| outcome.as_str());
    let latency = call.latency_ms.map(|latency| Millis(latency).to_string()).unwrap_or_default();
    let (slot, tool) = (Safe(slot), Safe(&call.tool));
    let _ = write!(
        html,
        "<tr id=c{seq}><td class=time>{time}<td><bdi>{slot}</bdi><td><bdi>{tool}</bdi><td>{server}\
         <td class={outcome_class}>{outcome}<td class=n>{latency}",
        outcome_class = if call.failed() { "failed" } else { "fine" },
    );
}
