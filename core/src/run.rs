//! A run: a manifest that was opened, its slots, its books.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::manifest;
use crate::options::RunOptions;
use crate::redact::{Redactor, collect_run_secrets_from};
use crate::run_secrets::RunSecrets;
use crate::slot::Slot;
use crate::state::RunShared;
use crate::timeline::{Draft, Event, EventKind, Ledger, Subscription};

/// One scan job: the slots that the platform bound to it, its ledger and its timeline.
///
/// Usable from any thread. Dropping it closes it. A child after `fork` has the same slots with connections, sessions,
/// ledger, timeline and journal of its own, which begin empty; its parent's go on undisturbed. The child's journal is a
/// file beside its parent's, `PATH.PID`: what the child calls must be on the books as well, and two processes cannot
/// write one chain.
pub struct Run {
    shared: Arc<RunShared>,
}

impl Run {
    /// Opens a run from the manifest's JSON text. It connects to nothing yet.
    ///
    /// What is scrubbed from all that the run's servers say: the secrets of this process's environment (see
    /// [`collect_run_secrets`](crate::collect_run_secrets)), `options.secrets`, the headers of the manifest, and the
    /// client secrets in it with each token that comes for them.
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
        let secrets = collect_run_secrets_from(&environment).into_iter().chain(options.secrets.drain(..));
        let mut secrets: Vec<Zeroizing<String>> = secrets.map(Zeroizing::new).collect();
        secrets.extend(manifest.secrets());
        let redactor = Redactor::for_run(&secrets);
        manifest.scrub(&redactor);
        if !manifest.wants_tokens() {
            // Nothing will come that the redactor does not know yet.
            secrets.clear();
        }
        let secrets = RunSecrets::new(redactor, secrets);
        let id: Arc<str> = manifest.run_id.as_str().into();
        if let Some(journal) = &mut options.journal {
            // A child may have gone to another folder before it opens its own.
            *journal = path::absolute(&journal)
                .map_err(|error| Error::new(ErrorKind::Options, format!("journal: {error}")))?;
        }
        Ok(Run { shared: Arc::new(RunShared::open(id, options, secrets, manifest)?) })
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
            let line = live.redactor().scrub_str(line);
            self.shared.state().timeline.record(Draft::new(EventKind::Log).message(&line));
        }
    }

    /// Ends the run: calls under way come back as cancelled (those that still wait for a thread as rejected), sessions are
    /// ended with their servers, `run_finished` is recorded, and the run's own copies of its secrets are zeroed; those in
    /// HTTP headers are freed. Ledger and timeline can still be read; later calls are rejected. Takes 2 s at the most. A
    /// second call does nothing, and does not wait for the first.
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
