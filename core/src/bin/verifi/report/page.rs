//! The page as a whole.

use std::fmt::Write;

use super::calls::Rows;
use super::gather::Gathered;
use super::html::{Bytes, Count, Millis, Safe, counted};
use super::{charts, timeline};
use crate::verify;

const STYLE: &str = include_str!("style.css");

/// It loads nothing and runs nothing, and the browser is told to hold it to that.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub fn page(runs: &[Gathered]) -> String {
    let mut html = String::new();
    let title = match runs {
        [run] => format!("Run {}", run.run_id),
        _ => counted(runs.len() as u64, "run"),
    };
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\
         <meta http-equiv=Content-Security-Policy content=\"{POLICY}\">\
         <meta name=viewport content='width=device-width, initial-scale=1'><meta name=color-scheme content='light dark'>\
         <title>{}</title><style>{STYLE}</style></head><body><main>",
        Safe(&title)
    );
    if runs.len() > 1 {
        all(runs, &mut html);
    }
    for run in runs {
        article(run, &mut html);
    }
    let _ = writeln!(html, "</main></body></html>");
    html
}

/// Several runs in a table, with their sum.
fn all(runs: &[Gathered], html: &mut String) {
    let _ = write!(
        html,
        "<header><h1>{}</h1></header><div class=wide><table class=ledger><thead><tr><th>run<th>journal<th class=n>calls\
         <th class=n>failed<th class=n>evidence<th class=n>latency</thead><tbody>",
        counted(runs.len() as u64, "run")
    );
    let mut sums = (0, 0, 0, 0.0);
    for run in runs {
        let usage = run.ledger.usage();
        let (id, file) = (Safe(&run.run_id), Safe(&run.file));
        let _ = write!(html, "<tr><td><bdi>{id}</bdi><td><bdi>{file}</bdi>{}", charts::cells(usage));
        sums.0 += usage.tool_calls();
        sums.1 += usage.failures();
        sums.2 += usage.evidence_bytes();
        sums.3 += usage.latency_ms();
    }
    let (calls, failed, bytes, latency) = (Count(sums.0), Count(sums.1), Bytes(sums.2), Millis(sums.3));
    let _ = write!(
        html,
        "</tbody><tfoot><tr><td>total<td><td class=n>{calls}<td class=n>{failed}<td class=n>{bytes}\
         <td class=n>{latency}</tfoot></table></div>"
    );
}

fn article(run: &Gathered, html: &mut String) {
    let _ = write!(html, "<article>");
    head(run, html);
    tiles(run, html);
    if run.slots.is_empty() && run.marks.is_empty() {
        let _ = write!(html, "<p class=hint>Nothing has happened in this run.</p></article>");
        return;
    }
    let rows = Rows::of(run);
    let _ = write!(html, "<section><h2>Timeline</h2>");
    timeline::timeline(run, &rows, html);
    let _ = write!(html, "</section>");
    if !run.slots.is_empty() {
        charts::charts(run, html);
        let _ = write!(html, "<section><h2>Ledger</h2>");
        charts::ledger(&run.ledger, html);
        let _ = write!(html, "</section>");
        rows.write(html);
    }
    let _ = write!(html, "</article>");
}

fn head(run: &Gathered, html: &mut String) {
    let shown = |timestamp: verifi::Timestamp| timestamp.to_string().replace('T', " ").replace('Z', " UTC");
    let verification = &run.verification;
    let (class, sign) = match (verification.ok, verification.missing, run.ledger.journal_error()) {
        (false, ..) => ("bad", "✕ The chain is broken"),
        (true, 0, None) => ("good", "✓ The chain holds"),
        (true, ..) => ("gap", "! The chain holds, and the journal had a failure"),
    };
    let said = verify::in_words(verification);
    let _ = write!(
        html,
        "<header><h1>Run <bdi>{}</bdi></h1><p class=when>{} to {}</p>\
         <p class='chain {class}'><b>{sign}</b><span>{}</span></p>",
        Safe(&run.run_id),
        shown(run.span.0),
        shown(run.span.1),
        Safe(&said)
    );
    if let Some(error) = run.ledger.journal_error() {
        let _ = write!(
            html,
            "<p class='chain gap'><b>! The journal could not be written</b><span>{}</span></p>",
            Safe(error)
        );
    }
    let _ = write!(html, "</header>");
}

fn tiles(run: &Gathered, html: &mut String) {
    let usage = run.ledger.usage();
    let took = run.span.1.unix_millis().saturating_sub(run.span.0.unix_millis()) as f64;
    let state = match (run.is_finished, run.openings.len()) {
        (true, 0 | 1) => "finished".to_owned(),
        (true, times) => format!("finished, opened {times} times"),
        (false, _) => "not finished".to_owned(),
    };
    let share = match usage.tool_calls() {
        0 => "of none".to_owned(),
        calls => format!("{:.1} % of all", usage.failures() as f64 / calls as f64 * 100.0),
    };
    let failed = if usage.failures() > 0 { " class=failed" } else { "" };
    let slots = counted(run.slots.len() as u64, "slot");
    let _ = write!(html, "<dl class=tiles><div><dt>calls<dd>{}<small>{slots}</small></div>", Count(usage.tool_calls()));
    let _ = write!(html, "<div{failed}><dt>failed<dd>{}<small>{share}</small></div>", Count(usage.failures()));
    let _ = write!(html, "<div><dt>evidence<dd>{}<small>scrubbed text</small></div>", Bytes(usage.evidence_bytes()));
    let _ = write!(html, "<div><dt>in tools<dd>{}<small>all calls added up</small></div>", Millis(usage.latency_ms()));
    let _ = write!(html, "<div><dt>took<dd>{}<small>{state}</small></div></dl>", Millis(took));
}
