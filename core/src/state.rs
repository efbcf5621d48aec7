//! What a run has in memory: as long as it is open, in each process, and for each of its slots.

use std::collections::BTreeMap;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use crate::background::Background;
use crate::cancel::{CancelToken, Stop};
use crate::error::Error;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::mcp::ServerLimits;
use crate::options::{Replay, RunOptions};
use crate::process::PerProcess;
use crate::redact::Redactor;
use crate::run_secrets::RunSecrets;
use crate::servers::{Servers, Surroundings};
use crate::spare;
use crate::timeline::{Draft, EventKind, Journal, Past, Timeline};
use crate::tools::{RawTool, ToolDefinition};

/// What a call on a run is told that has ended.
pub(crate) const CLOSED: &str = "the run is closed";

/// Held while a forked child makes its state.
static FIRST_USE: PerProcess<Mutex<()>> = PerProcess::new();

/// What a run's handles have in common.
pub(crate) struct RunShared {
    pub(crate) id: Arc<str>,
    /// The id in events, scrubbed.
    shown_id: Arc<str>,
    pub(crate) options: RunOptions,
    pub(crate) slots: BTreeMap<Arc<str>, Arc<SlotShared>>,
    /// What holds secrets: given up, and so zeroed, when the run is closed.
    live: RwLock<Option<Arc<Live>>>,
    opened_by: u32,
    states: PerProcess<RunState>,
}

/// What a run needs as long as it is open.
pub(crate) struct Live {
    secrets: Arc<RunSecrets>,
    manifest: Manifest,
    _spare: spare::Lease,
}

/// A run's state in one process.
pub(crate) struct RunState {
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) background: Arc<Background>,
    /// All calls under way.
    pub(crate) calls: CancelToken,
    /// By slot, each made at its first use.
    servers: Mutex<BTreeMap<Arc<str>, Arc<Servers>>>,
}

/// What a slot's handles have in common.
pub(crate) struct SlotShared {
    pub(crate) name: Arc<str>,
    /// Its name in events, scrubbed.
    pub(crate) shown: Arc<str>,
    pub(crate) endpoint: String,
    replay: Option<Replay>,
}

impl RunShared {
    /// `manifest` is that of the run `id`, its endpoints scrubbed.
    pub(crate) fn open(
        id: Arc<str>,
        options: RunOptions,
        secrets: Arc<RunSecrets>,
        manifest: Manifest,
    ) -> Result<RunShared, Error> {
        let redactor = secrets.redactor();
        let shown_id: Arc<str> = redactor.scrub_str(&id).into();
        let state = RunState::open(&shown_id, &options)?;
        let slots = manifest.slots.iter().map(|(name, spec)| {
            let name: Arc<str> = name.as_str().into();
            let endpoint = spec.servers.first().map(|server| server.endpoint.full().to_string()).unwrap_or_default();
            let shown = redactor.scrub_str(&name).into();
            let shared = SlotShared { name: name.clone(), shown, endpoint, replay: spec.replay };
            (name, Arc::new(shared))
        });
        Ok(RunShared {
            id,
            shown_id,
            options,
            slots: slots.collect(),
            live: RwLock::new(Some(Arc::new(Live { secrets, manifest, _spare: spare::Lease::new() }))),
            opened_by: process::id(),
            states: PerProcess::with(state),
        })
    }

    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finding it is a system call: a call does so once.
    pub(crate) fn state(&self) -> &Arc<RunState> {
        if let Some(state) = self.states.get() {
            return state;
        }
        // Of two threads of a forked child one must not make a file in vain.
        let _one = FIRST_USE.get_or_make(Mutex::default).locked();
        self.states.get_or_make(|| RunState::open_in_child(&self.shown_id, &self.options))
    }

    fn take_live(&self) -> Option<Arc<Live>> {
        if process::id() == self.opened_by {
            return self.live.write().unwrap_or_else(PoisonError::into_inner).take();
        }
        // In a forked child a reader that no longer exists may hold the lock.
        self.live.try_write().ok().and_then(|mut live| live.take())
    }

    pub(crate) fn close(&self) {
        const LIMIT: Duration = Duration::from_secs(2);
        const ANSWER: Duration = Duration::from_millis(500);
        let Some(live) = self.take_live() else { return };
        let Some(state) = self.states.get() else { return };
        state.calls.stop_all(Stop::Closed);
        state.calls.wait_idle(ANSWER);
        let made: Vec<_> = state.servers.locked().values().cloned().collect();
        for servers in &made {
            for server in servers.list.iter().filter(|server| server.has_session()) {
                let server = server.clone();
                state.background.chore(LIMIT, move |scope| server.close(scope));
            }
        }
        state.background.end(LIMIT - ANSWER);
        for servers in &made {
            servers.list.iter().for_each(|server| server.forget_secrets());
        }
        state.timeline.record(Draft::new(EventKind::RunFinished));
        drop(live);
    }
}

impl RunState {
    fn open(id: &Arc<str>, options: &RunOptions) -> Result<RunState, Error> {
        let Some(path) = &options.journal else { return Ok(RunState::new(id, Past::new(id), None)) };
        let (journal, past) = Journal::open(path, options.sync, id)?;
        Ok(RunState::new(id, past, Some(journal)))
    }

    /// In a child that was forked while the run was open. There is nobody to return an error to: it goes where a journal
    /// tells of all its troubles.
    fn open_in_child(id: &Arc<str>, options: &RunOptions) -> RunState {
        let Some(path) = &options.journal else { return RunState::new(id, Past::new(id), None) };
        match Journal::open_beside(path, options.sync, id) {
            Ok((journal, past)) => RunState::new(id, past, Some(journal)),
            Err(error) => RunState::new(id, Past::new(id), Some(Journal::unopened(path, &error))),
        }
    }

    fn new(id: &Arc<str>, past: Past, journal: Option<Journal>) -> RunState {
        let timeline = Arc::new(Timeline::open(id, past, journal));
        RunState { timeline, background: Arc::default(), calls: CancelToken::new(), servers: Mutex::default() }
    }
}

impl SlotShared {
    /// The slot's servers, made at first use; none when the run was closed before.
    pub(crate) fn servers(&self, run: &RunShared, state: &RunState) -> Option<Arc<Servers>> {
        let mut made = state.servers.locked();
        if let Some(servers) = made.get(&self.name) {
            return Some(servers.clone());
        }
        let live = run.live()?;
        let around = Surroundings {
            timeline: state.timeline.clone(),
            background: state.background.clone(),
            closing: state.calls.clone(),
            limits: ServerLimits {
                max_response_bytes: run.options.max_response_bytes,
                elicitation: run.options.elicitation,
            },
            retry_primary_after: run.options.retry_primary_after,
            secrets: live.secrets.clone(),
        };
        let servers = Servers::new(&self.shown, live.manifest.slots.get(&*self.name)?, around);
        made.insert(self.name.clone(), servers.clone());
        Some(servers)
    }

    pub(crate) fn replay(&self, run: &RunShared) -> Replay {
        self.replay.unwrap_or(run.options.replay)
    }
}

impl Live {
    /// What scrubs a text that has come: see [`RunSecrets::redactor`].
    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        self.secrets.redactor()
    }

    pub(crate) fn scrub_tools(&self, tools: &[RawTool]) -> Vec<ToolDefinition> {
        let redactor = self.redactor();
        let scrubbed = tools.iter().map(|tool| ToolDefinition {
            name: redactor.scrub_str(&tool.name).into_owned(),
            json: redactor.scrub_json(&tool.json).into_owned(),
        });
        scrubbed.collect()
    }
}
