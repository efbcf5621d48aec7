//! The run as a picture: a row for each slot, a bar for each call.

use std::fmt::Write;
use std::sync::Arc;

use verifi::{Outcome, ServerRole};

use super::calls::Rows;
use super::gather::{Call, Gathered, Mark, MarkKind};
use super::html::{Bytes, Count, Millis, Safe, counted};
use super::scale::Scale;

/// How many calls that went on at the same time are drawn one below the other; more lie on each other.
const MOST_LANES: usize = 12;
/// In pixels.
const LANE: usize = 15;
/// With more calls than that a slot's row shows how many there were at each time.
const MOST_BARS: usize = 12_000;
const COLUMNS: usize = 300;

/// The picture.
pub fn timeline(run: &Gathered, rows: &Rows, html: &mut String) {
    let scale = scale(run);
    let _ = write!(html, "<div class=picture>");
    axis(run, &scale, html);
    for (slot, calls) in &run.slots {
        row(run, slot, calls, &scale, rows, html);
    }
    run_row(run, &scale, html);
    let _ = write!(html, "</div>");
    legend(html);
}

fn scale(run: &Gathered) -> Scale {
    let calls = run.calls().map(|(_, call)| (call.start.unix_millis() as f64, call.end_ms()));
    let marks = run.marks.iter().map(|mark| mark.at.unix_millis() as f64).map(|at| (at, at));
    Scale::new(calls.chain(marks).collect())
}

fn axis(run: &Gathered, scale: &Scale, html: &mut String) {
    let origin = run.span.0.unix_millis() as f64;
    let _ = write!(html, "<div class='row axis'><div class=who>since the beginning</div><div class=track>");
    let mut last = String::new();
    for (number, tick) in scale.ticks().into_iter().enumerate() {
        let at = scale.at(origin + tick);
        let label = if tick == 0.0 { "0".to_owned() } else { Millis(tick).to_string().replace(".0", "") };
        // After a long pause seconds no longer show; and beyond the edge there is no room.
        if label == last || at > 95.0 {
            continue;
        }
        let minor = if number % 2 == 1 { " class=minor" } else { "" };
        let _ = write!(html, "<i{minor} style='left:{at:.2}%'><span>{label}</span></i>");
        last = label;
    }
    let _ = write!(html, "</div></div>");
}

fn row(run: &Gathered, slot: &Arc<str>, calls: &[Call], scale: &Scale, rows: &Rows, html: &mut String) {
    let failed = calls.iter().filter(|call| call.failed()).count() as u64;
    let lanes = Lanes::of(calls);
    let is_dense = calls.len() > MOST_BARS;
    let height = if is_dense { 4 * LANE } else { lanes.count * LANE } + 6;
    let failures = if failed > 0 { format!(", <em>{} failed</em>", Count(failed)) } else { String::new() };
    let (name, count) = (Safe(slot), counted(calls.len() as u64, "call"));
    let _ = write!(html, "<div class=row><div class=who><b><bdi>{name}</bdi></b> <span>{count}{failures}</span></div>");
    let _ = write!(html, "<div class=track style='height:{height}px'>");
    cuts(scale, html);
    if is_dense {
        columns(calls, scale, html);
    } else {
        for (call, lane) in calls.iter().zip(&lanes.of_call) {
            bar(run, call, *lane, scale, rows, html);
        }
    }
    for mark in run.marks.iter().filter(|mark| mark.slot.as_ref() == Some(slot)) {
        put(mark, scale, html);
    }
    let _ = write!(html, "</div></div>");
}

/// Which of the calls of a slot lie below which.
struct Lanes {
    of_call: Vec<usize>,
    count: usize,
}

impl Lanes {
    fn of(calls: &[Call]) -> Lanes {
        let mut free_from: Vec<f64> = Vec::new();
        let mut of_call = Vec::with_capacity(calls.len());
        for call in calls {
            let start = call.start.unix_millis() as f64;
            let free = free_from.iter().position(|from| *from <= start);
            let lane = match free {
                Some(lane) => lane,
                None if free_from.len() < MOST_LANES => {
                    free_from.push(0.0);
                    free_from.len() - 1
                }
                None => MOST_LANES - 1,
            };
            free_from[lane] = call.end_ms();
            of_call.push(lane);
        }
        Lanes { of_call, count: free_from.len().max(1) }
    }
}

fn bar(run: &Gathered, call: &Call, lane: usize, scale: &Scale, rows: &Rows, html: &mut String) {
    let (left, right) = (scale.at(call.start.unix_millis() as f64), scale.at(call.end_ms()));
    let (width, top) = (right - left, lane * LANE + 3);
    let class = class_of(call);
    let (fallback, side) = (if call.server == Some(ServerRole::Fallback) { " f" } else { "" }, side(left));
    let tip = tip(run, call);
    let style = format!("left:{left:.3}%;width:{width:.3}%;top:{top}px");
    let _ = match rows.has(call) {
        true => {
            let seq = call.seq;
            write!(
                html,
                "<a class='c {class}{fallback}{side}' href='#c{seq}' style='{style}' aria-label=\"{}\"></a>",
                Safe(&tip)
            )
        }
        false => {
            write!(html, "<i class='c {class}{fallback}{side}' style='{style}' aria-label=\"{}\"></i>", Safe(&tip))
        }
    };
}

fn class_of(call: &Call) -> &'static str {
    match call.outcome {
        Some(Outcome::Ok) => "ok",
        Some(Outcome::ToolError | Outcome::Refused) => "no",
        Some(_) => "bad",
        None => "open",
    }
}

/// In the right half of the picture its text opens to the left.
fn side(left: f64) -> &'static str {
    if left > 50.0 { " r" } else { "" }
}

fn tip(run: &Gathered, call: &Call) -> String {
    let mut tip = format!("{}\n", call.tool);
    let outcome = call.outcome.map_or("has not ended", |outcome| outcome.as_str());
    let _ = match call.server {
        Some(server) => write!(tip, "{outcome}, {server} server"),
        None => write!(tip, "{outcome}, not sent"),
    };
    if let Some(latency) = call.latency_ms.filter(|_| call.server.is_some()) {
        let _ = write!(tip, ", {}", Millis(latency));
    }
    if call.evidence_bytes > 0 {
        let _ = write!(tip, ", {} of evidence", Bytes(call.evidence_bytes));
    }
    let since = call.start.unix_millis().saturating_sub(run.span.0.unix_millis());
    let clock = call.start.to_string();
    let _ =
        write!(tip, "\n{} UTC, {} after the beginning", clock.get(11..23).unwrap_or_default(), Millis(since as f64));
    if let Some(error) = &call.error {
        let shown: String = error.chars().take(200).collect();
        let _ = write!(tip, "\n{shown}");
    }
    tip
}

/// How many calls began at each time, for more than can be told apart.
fn columns(calls: &[Call], scale: &Scale, html: &mut String) {
    let mut counts = vec![(0_u64, 0_u64); COLUMNS];
    for call in calls {
        let column = scale.at(call.start.unix_millis() as f64) / 100.0 * COLUMNS as f64;
        if let Some((all, failed)) = counts.get_mut((column as usize).min(COLUMNS - 1)) {
            *all += 1;
            *failed += u64::from(call.failed());
        }
    }
    let most = counts.iter().map(|(all, _)| *all).max().unwrap_or(1).max(1) as f64;
    let width = 100.0 / COLUMNS as f64;
    for (column, (all, failed)) in counts.into_iter().enumerate().filter(|(_, (all, _))| *all > 0) {
        let (left, height, share) =
            (column as f64 * width, all as f64 / most * 100.0, failed as f64 / all as f64 * 100.0);
        let side = side(left);
        let label = format!("{}, {} failed", counted(all, "call"), Count(failed));
        let style = format!("left:{left:.2}%;width:{width:.2}%;height:{height:.1}%;--share:{share:.1}%");
        let _ = write!(html, "<i class='c col{side}' style='{style}' aria-label=\"{label}\"></i>");
    }
}

fn cuts(scale: &Scale, html: &mut String) {
    for (at, millis) in scale.cuts() {
        let _ = write!(html, "<i class=cut style='left:{at:.2}%' title='{} without events'></i>", Millis(millis));
    }
}

/// What belongs to the run as a whole: openings, lines of the harness, the journal.
fn run_row(run: &Gathered, scale: &Scale, html: &mut String) {
    let notes = run.marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Note)).count() + run.more_notes;
    let notes = counted(notes as u64, "log line");
    let _ = write!(html, "<div class='row run'><div class=who><b>run</b> <span>{notes}</span></div><div class=track>");
    for (at, millis) in scale.cuts() {
        let _ = write!(html, "<i class=cut style='left:{at:.2}%'><span>{}</span></i>", Millis(millis));
    }
    for mark in run.marks.iter().filter(|mark| mark.slot.is_none()) {
        put(mark, scale, html);
    }
    let _ = write!(html, "</div></div>");
}

fn put(mark: &Mark, scale: &Scale, html: &mut String) {
    let at = scale.at(mark.at.unix_millis() as f64);
    let side = side(at);
    let (class, sign) = match mark.kind {
        MarkKind::Failover => ("failover", "⇣"),
        MarkKind::NoServer => ("none", "✕"),
        MarkKind::Restored => ("back", "⇡"),
        MarkKind::Journal => ("journal", "!"),
        MarkKind::Opened => ("opened", ""),
        MarkKind::Finished => ("finished", ""),
        MarkKind::Note => ("note", ""),
    };
    let clock = mark.at.to_string();
    let text = format!("{}\n{} UTC", mark.text, clock.get(11..23).unwrap_or_default());
    let text = Safe(&text);
    let _ = write!(
        html,
        "<a class='m {class}{side}' style='left:{at:.3}%' tabindex=0 aria-label=\"{text}\"><b>{sign}</b></a>"
    );
}

fn legend(html: &mut String) {
    let _ = write!(
        html,
        "<p class=legend><span><i class='c ok'></i>ok</span><span><i class='c no'></i>tool error, refused</span>\
         <span><i class='c bad'></i>unreachable, timed out, cancelled, rejected</span>\
         <span><i class='c ok f'></i>on a fallback server</span><span><i class='c open'></i>has not ended</span>\
         <span><b class=sign>⇣</b>failover</span><span><b class=sign>✕</b>no server left</span></p>"
    );
}
