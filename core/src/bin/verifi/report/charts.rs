//! Latency and evidence per tool, and the ledger.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use verifi::{Ledger, Usage};

use super::gather::Gathered;
use super::html::{Bytes, Count, Millis, Safe};

/// So many tools are drawn; the table has them all.
const MOST_TOOLS: usize = 20;

struct Tool {
    slot: Arc<str>,
    name: Arc<str>,
    /// Sorted.
    latencies: Vec<f64>,
    bytes: u64,
}

impl Tool {
    fn quantile(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}

fn tools(run: &Gathered) -> Vec<Tool> {
    let mut found: BTreeMap<(Arc<str>, Arc<str>), Tool> = BTreeMap::new();
    for (slot, call) in run.calls().filter(|(_, call)| call.server.is_some()) {
        let (slot, name) = (slot.clone(), call.tool.clone());
        let tool =
            found.entry((slot.clone(), name.clone())).or_insert(Tool { slot, name, latencies: Vec::new(), bytes: 0 });
        tool.latencies.extend(call.latency_ms);
        tool.bytes += call.evidence_bytes;
    }
    let mut tools: Vec<Tool> = found.into_values().collect();
    tools.iter_mut().for_each(|tool| tool.latencies.sort_by(f64::total_cmp));
    tools
}

/// Both charts, side by side where there is room.
pub fn charts(run: &Gathered, html: &mut String) {
    let mut tools = tools(run);
    let _ = write!(html, "<div class=charts>");
    tools.sort_by(|a, b| b.quantile(0.5).total_cmp(&a.quantile(0.5)));
    latency(&tools, html);
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.bytes));
    evidence(&tools, html);
    let _ = write!(html, "</div>");
}

/// From the fastest call to the slowest, on a scale on which each step is ten times the one before.
fn latency(tools: &[Tool], html: &mut String) {
    let measured: Vec<&Tool> = tools.iter().filter(|tool| !tool.latencies.is_empty()).collect();
    let all = || measured.iter().flat_map(|tool| [tool.quantile(0.0), tool.quantile(1.0)]);
    let low = all().fold(f64::INFINITY, f64::min).max(0.1).log10().floor();
    let high = all().fold(0.1, f64::max).log10().ceil().max(low + 1.0);
    let at = |millis: f64| ((millis.max(0.1).log10() - low) / (high - low) * 100.0).clamp(0.0, 100.0);
    let _ = write!(html, "<section class=chart><h3>Latency per tool</h3>");
    let _ = write!(html, "<div class='line scale'><span></span><div class=plot>");
    let steps: Vec<f64> = (low as i32..=high as i32).map(|power| 10_f64.powi(power)).collect();
    for (number, step) in steps.iter().enumerate() {
        let minor = if number % 2 == 1 { " class=minor" } else { "" };
        let label =
            Millis(*step).to_string().replace(".0", "").replace("1 min 40 s", "100 s").replace("16 min 40 s", "1000 s");
        let _ = write!(html, "<i{minor} style='left:{:.2}%'>{label}</i>", at(*step));
    }
    let _ = write!(html, "</div><span></span></div>");
    for tool in measured.iter().take(MOST_TOOLS) {
        let [least, quarter, half, three, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| tool.quantile(share));
        let _ = write!(html, "<div class=line>{}<div class=plot>", name(tool));
        for step in &steps {
            let _ = write!(html, "<u style='left:{:.2}%'></u>", at(*step));
        }
        let span = |class: &str, from: f64, to: f64| {
            format!("<i class={class} style='left:{:.2}%;width:{:.2}%'></i>", at(from), at(to) - at(from))
        };
        let (whisker, range) = (span("whisker", least, most), span("range", quarter, three));
        let middle = at(half);
        let title = format!(
            "{} calls: fastest {}, median {}, slowest {}",
            Count(tool.latencies.len() as u64),
            Millis(least),
            Millis(half),
            Millis(most)
        );
        let _ = write!(html, "{whisker}{range}<i class=median style='left:{middle:.2}%'></i><s title='{title}'></s>");
        let _ = write!(html, "</div><span class=value>{}</span></div>", Millis(half));
    }
    more(measured.len(), html);
    let _ =
        write!(html, "<p class=hint>Line: fastest to slowest. Box: the middle half. Number: the median.</p></section>");
}

fn evidence(tools: &[Tool], html: &mut String) {
    let most = tools.iter().map(|tool| tool.bytes).max().unwrap_or(0).max(1) as f64;
    let _ = write!(html, "<section class=chart><h3>Evidence per tool</h3>");
    for tool in tools.iter().take(MOST_TOOLS) {
        let width = tool.bytes as f64 / most * 100.0;
        let _ = write!(
            html,
            "<div class=line>{}<div class=plot><i class=amount style='width:{width:.2}%'></i></div>",
            name(tool)
        );
        let _ = write!(html, "<span class=value>{}</span></div>", Bytes(tool.bytes));
    }
    more(tools.len(), html);
    let _ = write!(html, "<p class=hint>Scrubbed text that the tools returned, in UTF-8.</p></section>");
}

fn name(tool: &Tool) -> String {
    format!("<span class=name><bdi>{}</bdi> <small><bdi>{}</bdi></small></span>", Safe(&tool.name), Safe(&tool.slot))
}

fn more(tools: usize, html: &mut String) {
    if tools > MOST_TOOLS {
        let _ = write!(html, "<p class=hint>{} more are in the ledger.</p>", Count((tools - MOST_TOOLS) as u64));
    }
}

/// The ledger as a table.
pub fn ledger(ledger: &Ledger, html: &mut String) {
    let _ = write!(
        html,
        "<div class=wide><table class=ledger><thead><tr><th>slot and tool<th class=n>calls<th class=n>failed\
         <th class=n>evidence<th class=n>latency</thead>"
    );
    for (slot, used) in ledger.slots() {
        let _ = write!(html, "<tbody><tr class=sum><td><bdi>{}</bdi>{}", Safe(slot), cells(used.usage()));
        for (tool, usage) in used.tools() {
            let _ = write!(html, "<tr><td class=tool><bdi>{}</bdi>{}", Safe(tool), cells(usage));
        }
        let _ = write!(html, "</tbody>");
    }
    let _ = write!(html, "<tfoot><tr><td>total{}</tfoot></table></div>", cells(ledger.usage()));
}

pub fn cells(usage: Usage) -> String {
    let failed = match usage.failures() {
        0 => "<td class=n>0".to_owned(),
        failures => format!("<td class='n failed'>{}", Count(failures)),
    };
    let (calls, bytes, latency) =
        (Count(usage.tool_calls()), Bytes(usage.evidence_bytes()), Millis(usage.latency_ms()));
    format!("<td class=n>{calls}{failed}<td class=n>{bytes}<td class=n>{latency}")
}
