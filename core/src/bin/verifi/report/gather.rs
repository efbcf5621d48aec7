//! What the page shows of a journal.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use verifi::{Event, EventKind, Ledger, Outcome, ServerRole, Timestamp, Verification, read_journal, verify_journal};

/// How many lines of the harness are marked, and how many errors are kept: more than anyone reads.
const MOST_NOTES: usize = 1000;

pub struct Gathered {
    pub file: String,
    pub run_id: Arc<str>,
    /// Of the first and the last event.
    pub span: (Timestamp, Timestamp),
    pub openings: Vec<Timestamp>,
    pub is_finished: bool,
    /// In the order of their beginning, by slot.
    pub slots: BTreeMap<Arc<str>, Vec<Call>>,
    pub marks: Vec<Mark>,
    /// The harness's own lines that were left out.
    pub more_notes: usize,
    pub ledger: Ledger,
    pub verification: Verification,
}

/// A call, or what was to be one and was never sent.
pub struct Call {
    pub seq: u64,
    pub tool: Arc<str>,
    pub server: Option<ServerRole>,
    pub start: Timestamp,
    /// Of a call whose end nobody saw, that is not known.
    pub latency_ms: Option<f64>,
    /// None while it goes on.
    pub outcome: Option<Outcome>,
    pub evidence_bytes: u64,
    pub error: Option<String>,
}

pub enum MarkKind {
    Failover,
    NoServer,
    Restored,
    Journal,
    Opened,
    Finished,
    Note,
}

/// Something that happened at a moment.
pub struct Mark {
    pub at: Timestamp,
    /// None: the run as a whole.
    pub slot: Option<Arc<str>>,
    pub kind: MarkKind,
    pub text: String,
}

impl Call {
    pub fn end_ms(&self) -> f64 {
        self.start.unix_millis() as f64 + self.latency_ms.unwrap_or(0.0)
    }

    pub fn failed(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome != Outcome::Ok)
    }
}

impl Gathered {
    pub fn read(path: &Path) -> Result<Gathered, verifi::Error> {
        let verification = verify_journal(path)?;
        let mut gathering = Gathering::new(path, verification);
        // A line that does not hold is what the verification tells of.
        for event in read_journal(path)?.map_while(Result::ok) {
            gathering.take(event);
        }
        Ok(gathering.run)
    }

    pub fn calls(&self) -> impl Iterator<Item = (&Arc<str>, &Call)> {
        self.slots.iter().flat_map(|(slot, calls)| calls.iter().map(move |call| (slot, call)))
    }
}

struct Gathering {
    run: Gathered,
    last_seq: u64,
    notes: usize,
    /// Where the calls are that have not ended.
    under_way: HashMap<u64, (Arc<str>, usize)>,
    /// How many attempts have failed whose `tool_error` has not come, by slot and tool.
    failed: HashMap<(Arc<str>, Arc<str>), u64>,
}

impl Gathering {
    fn new(path: &Path, verification: Verification) -> Gathering {
        let zero = Timestamp::default();
        let run = Gathered {
            file: path.display().to_string(),
            run_id: Arc::default(),
            span: (zero, zero),
            openings: Vec::new(),
            is_finished: false,
            slots: BTreeMap::new(),
            marks: Vec::new(),
            more_notes: 0,
            ledger: Ledger::new(""),
            verification,
        };
        Gathering { run, last_seq: 0, notes: 0, under_way: HashMap::new(), failed: HashMap::new() }
    }

    fn take(&mut self, event: Event) {
        if self.last_seq == 0 {
            self.run.run_id = event.run_id.clone();
            self.run.span.0 = event.ts;
            self.run.ledger = Ledger::new(event.run_id.clone());
        }
        if event.seq > self.last_seq + 1 {
            let missing = event.seq - self.last_seq - 1;
            self.mark(&event, MarkKind::Journal, format!("{missing} events are missing here"));
        }
        self.last_seq = event.seq;
        self.run.span.1 = event.ts;
        self.run.is_finished = event.kind == EventKind::RunFinished;
        self.run.ledger.fold(&event);
        let error = event.error.clone().unwrap_or_default();
        match event.kind {
            EventKind::CallStarted => self.call_started(&event),
            EventKind::CallFinished => self.call_finished(event),
            EventKind::ToolError => self.tool_error(event),
            EventKind::FallbackUsed => {
                let fallback = event.fallback.as_deref().unwrap_or_default().to_owned();
                self.mark(&event, MarkKind::Failover, format!("goes on with {fallback}: {error}"));
            }
            EventKind::NoHealthyTool => self.mark(&event, MarkKind::NoServer, format!("no server is left: {error}")),
            EventKind::PrimaryRestored => self.mark(&event, MarkKind::Restored, "back on the primary server".into()),
            EventKind::JournalFailed => {
                self.mark(&event, MarkKind::Journal, format!("the journal could not be written: {error}"));
            }
            EventKind::RunStarted => {
                self.run.openings.push(event.ts);
                let text = if self.run.openings.len() == 1 { "opened" } else { "opened again" };
                self.mark(&event, MarkKind::Opened, text.into());
            }
            EventKind::RunFinished => self.mark(&event, MarkKind::Finished, "finished".into()),
            EventKind::Log if self.notes == MOST_NOTES => self.run.more_notes += 1,
            EventKind::Log => {
                self.notes += 1;
                let text = event.message.clone().unwrap_or_default();
                self.mark(&event, MarkKind::Note, text);
            }
            _ => (),
        }
    }

    fn mark(&mut self, event: &Event, kind: MarkKind, text: String) {
        self.run.marks.push(Mark { at: event.ts, slot: event.slot.clone(), kind, text });
    }

    fn call_started(&mut self, event: &Event) {
        let slot = event.slot.clone().unwrap_or_default();
        let calls = self.run.slots.entry(slot.clone()).or_default();
        self.under_way.insert(event.seq, (slot, calls.len()));
        calls.push(Call {
            seq: event.seq,
            tool: event.tool.clone().unwrap_or_default(),
            server: event.server,
            start: event.ts,
            latency_ms: None,
            outcome: None,
            evidence_bytes: 0,
            error: None,
        });
    }

    fn call_finished(&mut self, event: Event) {
        let Some((slot, at)) = event.call_id.and_then(|id| self.under_way.remove(&id)) else { return };
        if let Some(call) = self.run.slots.get_mut(&slot).and_then(|calls| calls.get_mut(at)) {
            call.latency_ms = event.latency_ms;
            call.outcome = event.outcome;
            call.evidence_bytes = event.evidence_bytes.unwrap_or(0);
            call.error = event.error;
            if call.failed() {
                *self.failed.entry((slot, call.tool.clone())).or_default() += 1;
            }
        }
    }

    /// Of a call that was sent the attempts have told already.
    fn tool_error(&mut self, event: Event) {
        let (slot, tool) = (event.slot.unwrap_or_default(), event.tool.unwrap_or_default());
        if self.failed.remove(&(slot.clone(), tool.clone())).is_some() {
            return;
        }
        self.run.slots.entry(slot).or_default().push(Call {
            seq: event.seq,
            tool,
            server: None,
            start: event.ts,
            latency_ms: Some(0.0),
            outcome: event.outcome,
            evidence_bytes: 0,
            error: event.error,
        });
    }
}
