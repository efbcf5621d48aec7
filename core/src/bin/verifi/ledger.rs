//! `verifi ledger`: what runs have used.

use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use verifi::{Ledger, read_journal};

use crate::screen::{Screen, milliseconds, size};
use crate::{Failure, complain, view};

/// The sum of several runs.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Total {
    tool_calls: u64,
    failures: u64,
    evidence_bytes: u64,
    latency_ms: f64,
}

impl Total {
    fn add(&mut self, ledger: &Ledger) {
        let usage = ledger.usage();
        self.tool_calls = self.tool_calls.saturating_add(usage.tool_calls());
        self.failures = self.failures.saturating_add(usage.failures());
        self.evidence_bytes = self.evidence_bytes.saturating_add(usage.evidence_bytes());
        self.latency_ms += usage.latency_ms();
    }
}

/// One journal's ledger in JSON.
#[derive(Serialize)]
struct Entry<'a> {
    file: String,
    #[serde(flatten)]
    ledger: &'a Ledger,
}

#[derive(Serialize)]
struct All<'a> {
    runs: Vec<Entry<'a>>,
    total: Total,
}

/// The ledgers of journals, and whether each holds to its end.
struct Ledgers<'a> {
    found: Vec<(&'a Path, Ledger)>,
    total: Total,
    code: ExitCode,
}

pub fn run(journals: &[PathBuf], screen: &Screen) -> Result<ExitCode, Failure> {
    let Ledgers { found, total, code } = fold_all(journals);
    for (path, ledger) in &found {
        if journals.len() > 1 {
            screen.line(&format!("{}: run {}", path.display(), ledger.run_id()));
        }
        screen.table(&view::ledger(ledger));
        if let Some(error) = ledger.journal_error() {
            screen.announce(&format!("the journal could not be written for a time: {error}"));
        }
        if journals.len() > 1 {
            screen.line("");
        }
    }
    if journals.len() > 1 {
        let Total { tool_calls, failures, evidence_bytes, latency_ms } = total;
        let (evidence, latency) = (size(evidence_bytes), milliseconds(latency_ms));
        let runs = found.len();
        screen.line(&format!("{runs} journals: {tool_calls} calls, {failures} failed, {evidence}, {latency}"));
    }
    screen.end()?;
    Ok(code)
}

pub fn run_as_json(journals: &[PathBuf]) -> Result<ExitCode, Failure> {
    let Ledgers { found, total, code } = fold_all(journals);
    let entry = |(path, ledger)| Entry { file: Path::display(path).to_string(), ledger };
    let runs: Vec<Entry> = found.iter().map(|(path, ledger)| entry((*path, ledger))).collect();
    let json = serde_json::to_string(&All { runs, total }).map_err(io::Error::other)?;
    writeln!(stdout(), "{json}")?;
    Ok(code)
}

/// What of a journal does not hold is not counted, and said.
fn fold_all(journals: &[PathBuf]) -> Ledgers<'_> {
    let mut ledgers = Ledgers { found: Vec::new(), total: Total::default(), code: ExitCode::SUCCESS };
    for path in journals {
        let (ledger, fault) = match read_journal(path) {
            Ok(journal) => fold(journal),
            Err(error) => (None, Some(error)),
        };
        if let Some(ledger) = ledger {
            ledgers.total.add(&ledger);
            ledgers.found.push((path, ledger));
        }
        if let Some(fault) = fault {
            ledgers.code = complain(&fault);
        }
    }
    ledgers
}

fn fold(journal: verifi::JournalReader) -> (Option<Ledger>, Option<verifi::Error>) {
    let mut ledger: Option<Ledger> = None;
    for event in journal {
        match event {
            Ok(event) => ledger.get_or_insert_with(|| Ledger::new(event.run_id.clone())).fold(&event),
            Err(fault) => return (ledger, Some(fault)),
        }
    }
    (ledger, None)
}
