//! A run: a manifest that was opened, its slots, its books.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use zeroize::Zeroize;

use crate::background::Background;
use crate::cancel::{CancelToken, Stop};
use crate::error::{Error, ErrorKind};
use crate::lock::Lock;
use crate::manifest::{self, Manifest};
use crate::mcp::ServerLimits;
use crate::options::{Replay, RunOptions};
use crate::process::PerProcess;
use crate::redact::{Redactor, collect_run_secrets_from};
use crate::servers::{Servers, Surroundings};
use crate::slot::Slot;
use crate::timeline::{Draft, Event, EventKind, Journal, Ledger, Past, Subscription, Timeline};
use crate::tools::ToolDefinition;

/// One scan job: the slots that the platform bound to it, its ledger and its timeline.
///
/// Usable from any thread. Dropping it closes it. A child after `fork` has the same slots with connections, sessions,
/// ledger, timeline and journal of its own, which begin empty; its parent's go on undisturbed. The child's journal is a
/// file beside its parent's, `PATH.PID`: what the child calls must be on the books as well, and two processes cannot
/// write one chain.
pub struct Run {
    shared: Arc<RunShared>,
}

/// Held while a forked child makes its state.
static FIRST_USE: PerProcess<Mutex<()>> = PerProcess::new();

pub(crate) struct RunShared {
    id: Arc<str>,
    /// The id in events, scrubbed.
    shown_id: Arc<str>,
    pub(crate) options: RunOptions,
    slots: BTreeMap<Arc<str>, Arc<SlotShared>>,
    /// What holds secrets: given up, and so zeroed, when the run is closed.
    live: RwLock<Option<Arc<Live>>>,
    opened_by: u32,
    states: PerProcess<RunState>,
}

/// What a run needs as long as it is open.
pub(crate) struct Live {
    pub(crate) redactor: Redactor,
    manifest: Manifest,
}

/// A run's state in one process.
pub(crate) struct RunState {
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) background: Arc<Background>,
    /// All calls under way.
    pub(crate) calls: CancelToken,
}

pub(crate) struct SlotShared {
    pub(crate) name: Arc<str>,
    /// Its name in events, scrubbed.
    pub(crate) shown: Arc<str>,
    pub(crate) endpoint: String,
    replay: Option<Replay>,
    servers: PerProcess<Mutex<Option<Arc<Servers>>>>,
}

impl Run {
    /// Opens a run from the manifest's JSON text. It connects to nothing yet.
    ///
    /// What is scrubbed from all that the run's servers say: the secrets of this process's environment (see
    /// [`collect_run_secrets`](crate::collect_run_secrets)), `options.secrets`, and the headers of the manifest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Manifest`](crate::ErrorKind::Manifest) and [`ErrorKind::Options`](crate::ErrorKind::Options): the
    /// message names the member and what is wrong with it. [`ErrorKind::Journal`](crate::ErrorKind::Journal) when the
    /// journal cannot be opened, is in use by another run, belongs to another run, or does not hold; the message names
    /// the file and, of one that does not hold, the line.
    pub fn open(manifest_json: &str, options: RunOptions) -> Result<Run, Error> {
        Run::open_with_environment(manifest_json, options, std::env::vars_os())
    }

    /// [`open`](Self::open) with another environment than this process's own, for its secrets and for the manifest's
    /// `${env:NAME}`: some hosts give each of their threads one, or guard theirs by a lock of their own. Proxies and
    /// authorities are those of the process all the same.
    ///
    /// # Errors
    ///
    /// As those of `open`.
    pub fn open_with_environment(
        manifest_json: &str,
        mut options: RunOptions,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Run, Error> {
        options.check()?;
        let environment: HashMap<OsString, OsString> = environment.into_iter().collect();
        let mut manifest = manifest::parse(manifest_json, &|name| environment.get(OsStr::new(name)).cloned())?;
        let mut secrets = collect_run_secrets_from(&environment);
        secrets.append(&mut options.secrets);
        secrets.extend(manifest.secrets().iter().map(|secret| secret.to_string()));
        let redactor = Redactor::for_run(&secrets);
        secrets.zeroize();
        for server in manifest.slots.values_mut().flat_map(|slot| &mut slot.servers) {
            server.endpoint.scrub(&redactor);
        }
        let id: Arc<str> = manifest.run_id.as_str().into();
        if let Some(journal) = &mut options.journal {
            // A child may have gone to another folder before it opens its own.
            *journal = path::absolute(&journal)
                .map_err(|error| Error::new(ErrorKind::Options, format!("journal: {error}")))?;
        }
        let shown_id: Arc<str> = redactor.scrub_str(&id).into();
        let state = RunState::open(&shown_id, &options)?;
        let slots = manifest.slots.iter().map(|(name, spec)| {
            let name: Arc<str> = name.as_str().into();
            let endpoint = spec.servers.first().map(|server| server.endpoint.full().to_string()).unwrap_or_default();
            let shown = redactor.scrub_str(&name).into();
            let servers = PerProcess::new();
            let shared = SlotShared { name: name.clone(), shown, endpoint, replay: spec.replay, servers };
            (name, Arc::new(shared))
        });
        let shared = RunShared {
            id,
            shown_id,
            options,
            slots: slots.collect(),
            live: RwLock::new(Some(Arc::new(Live { redactor, manifest }))),
            opened_by: process::id(),
            states: PerProcess::with(state),
        };
        Ok(Run { shared: Arc::new(shared) })
    }

    /// The run's id, as the manifest has it.
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// The slot of that name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SlotNotFilled`](crate::ErrorKind::SlotNotFilled) when the manifest has no server for it.
    pub fn mcp(&self, slot: &str) -> Result<Slot, Error> {
        match self.shared.slots.get(slot) {
            Some(shared) => Ok(Slot { run: self.shared.clone(), shared: shared.clone() }),
            None => Err(manifest::slot_not_filled(slot, self.shared.slots.keys().map(AsRef::as_ref))),
        }
    }

    /// The names of the slots that the manifest fills, sorted.
    pub fn slot_names(&self) -> Vec<&str> {
        self.shared.slots.keys().map(AsRef::as_ref).collect()
    }

    /// What the run has used so far.
    pub fn ledger(&self) -> Ledger {
        self.shared.state().timeline.ledger()
    }

    /// The run's latest 10 000 events, in order.
    pub fn events(&self) -> Vec<Arc<Event>> {
        self.shared.state().timeline.events()
    }

    /// The run's events from now on, until it is closed.
    pub fn subscribe(&self) -> Subscription {
        self.shared.state().timeline.subscribe()
    }

    /// The run's events from that `seq` on, those of the past as far as they are kept; 1 is the first.
    pub fn subscribe_from(&self, seq: u64) -> Subscription {
        self.shared.state().timeline.subscribe_from(seq)
    }

    /// Puts a line of the harness's own on the timeline, scrubbed. On a closed run it does nothing.
    pub fn log(&self, line: &str) {
        if let Some(live) = self.shared.live() {
            let line = live.redactor.scrub_str(line);
            self.shared.state().timeline.record(Draft::new(EventKind::Log).message(&line));
        }
    }

    /// Ends the run: calls under way come back as cancelled, sessions are ended with their servers, `run_finished` is
    /// recorded, and secrets are zeroed. Ledger and timeline can still be read; later calls are rejected. Takes 2 s at
    /// the most. A second call does nothing.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl RunShared {
    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn state(&self) -> &RunState {
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

    fn close(&self) {
        const LIMIT: Duration = Duration::from_secs(2);
        const ANSWER: Duration = Duration::from_millis(500);
        let Some(live) = self.take_live() else { return };
        let Some(state) = self.states.get() else { return };
        state.calls.stop_all(Stop::Closed);
        state.calls.wait_idle(ANSWER);
        for servers in self.slots.values().filter_map(|slot| slot.made()) {
            for server in servers.list.iter().filter(|server| server.has_session()) {
                let server = server.clone();
                state.background.chore(LIMIT, move |scope| server.close(scope));
            }
        }
        state.background.end(LIMIT - ANSWER);
        for servers in self.slots.values().filter_map(|slot| slot.made()) {
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
        RunState { timeline, background: Arc::default(), calls: CancelToken::new() }
    }
}

impl SlotShared {
    /// The slot's servers in this process, made at first use; none when the run was closed before.
    pub(crate) fn servers(&self, run: &RunShared) -> Option<Arc<Servers>> {
        let mut made = self.servers.get_or_make(Mutex::default).locked();
        if made.is_none() {
            let live = run.live()?;
            let state = run.state();
            let around = Surroundings {
                timeline: state.timeline.clone(),
                background: state.background.clone(),
                closing: state.calls.clone(),
                limits: ServerLimits {
                    max_response_bytes: run.options.max_response_bytes,
                    elicitation: run.options.elicitation,
                },
                retry_primary_after: run.options.retry_primary_after,
            };
            *made = Some(Servers::new(&self.shown, live.manifest.slots.get(&*self.name)?, around));
        }
        made.clone()
    }

    fn made(&self) -> Option<Arc<Servers>> {
        self.servers.get()?.locked().clone()
    }

    pub(crate) fn replay(&self, run: &RunShared) -> Replay {
        self.replay.unwrap_or(run.options.replay)
    }
}

impl Live {
    pub(crate) fn scrub_tool(&self, name: &str, json: &str) -> ToolDefinition {
        ToolDefinition {
            name: self.redactor.scrub_str(name).into_owned(),
            json: self.redactor.scrub_json(json).into_owned(),
        }
    }
}
