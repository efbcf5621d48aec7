//! The servers of a slot, and the way of a call from one to the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Serialize;

use crate::attempt::tell_notes;
use crate::background::Background;
use crate::cancel::{CancelToken, Scope};
use crate::failover::{ServerState, Standing};
use crate::manifest::SlotSpec;
use crate::mcp::{Server, ServerLimits};
use crate::outcome::ServerRole;
use crate::redact::Redactor;
use crate::run_secrets::RunSecrets;
use crate::timeline::{Draft, EventKind, Timeline, Timestamp};

/// What verifi knows of one server of a slot.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerHealth {
    /// Which of the slot's servers: the first is the primary, all others are fallbacks.
    pub server: ServerRole,
    /// Its MCP endpoint, without the query.
    pub endpoint: Arc<str>,
    /// What it is taken for.
    pub state: ServerState,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Why it is dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The revision of MCP that was agreed on, once there was a handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<&'static str>,
}

/// The servers of one slot in one process.
pub(crate) struct Servers {
    pub(crate) slot: Arc<str>,
    pub(crate) list: Vec<Arc<Server>>,
    pub(crate) standing: Standing,
    timeline: Arc<Timeline>,
    background: Arc<Background>,
    /// Stopped when the run is closed.
    closing: CancelToken,
    retry_primary_after: Option<Duration>,
    /// A probe of the primary is due: one at a time.
    is_probing: AtomicBool,
}

/// What the servers of a slot need of their run.
pub(crate) struct Surroundings {
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) background: Arc<Background>,
    pub(crate) closing: CancelToken,
    pub(crate) limits: ServerLimits,
    pub(crate) retry_primary_after: Option<Duration>,
    pub(crate) secrets: Arc<RunSecrets>,
}

impl Servers {
    /// `slot` is scrubbed.
    pub(crate) fn new(slot: &Arc<str>, spec: &SlotSpec, around: Surroundings) -> Arc<Servers> {
        let Surroundings { timeline, background, closing, limits, retry_primary_after, secrets } = around;
        let server = |spec| Server::new(spec, limits, background.clone(), &secrets);
        Arc::new(Servers {
            slot: slot.clone(),
            list: spec.servers.iter().map(server).collect(),
            standing: Standing::new(spec.servers.len()),
            timeline,
            background,
            closing,
            retry_primary_after,
            is_probing: AtomicBool::new(false),
        })
    }

    pub(crate) fn role(index: usize) -> ServerRole {
        if index == 0 { ServerRole::Primary } else { ServerRole::Fallback }
    }

    /// The server could not be reached. `reason` is scrubbed.
    pub(crate) fn failed(self: &Arc<Self>, index: usize, reason: &str) {
        self.list[index].catalog.stale();
        if self.standing.failed(index, reason) && index == 0 {
            self.probe_later();
        }
    }

    /// The connection to it failed: it may come back as another that knows no session of before.
    pub(crate) fn lost(&self, index: usize) {
        self.list[index].retire_session();
    }

    /// No server is left: tells it, once until one answers.
    pub(crate) fn tell_if_none_lives(&self, error: &str) {
        if self.standing.none_lives() && self.standing.tell_none() {
            self.timeline.record(Draft::new(EventKind::NoHealthyTool).slot(&self.slot).error(error));
        }
    }

    /// A call is about to use the server: if it is a fallback, that is told, once a run.
    pub(crate) fn tell_fallback(&self, index: usize) {
        // A list that the primary refuses goes on to the next server, too: that is no failover.
        let Some(reason) = self.standing.dead_reason(0) else { return };
        if index > 0 && self.standing.tell_fallback() {
            self.timeline.record(
                Draft::new(EventKind::FallbackUsed)
                    .slot(&self.slot)
                    .server(ServerRole::Primary, self.list[0].shown())
                    .fallback(self.list[index].shown())
                    .error(&reason),
            );
        }
    }

    /// Tries the primary again in the background, by a handshake alone, until it answers (rule 6.7).
    fn probe_later(self: &Arc<Self>) {
        let Some(delay) = self.retry_primary_after else { return };
        if self.closing.is_cancelled() || self.is_probing.swap(true, Ordering::Relaxed) {
            return;
        }
        let servers: Weak<Servers> = Arc::downgrade(self);
        self.background.after(delay, move || {
            if let Some(servers) = servers.upgrade() {
                servers.probe();
            }
        });
    }

    fn probe(self: &Arc<Self>) {
        const LIMIT: Duration = Duration::from_secs(10);
        self.is_probing.store(false, Ordering::Relaxed);
        if self.closing.is_cancelled() || !self.standing.is_dead(0) {
            return;
        }
        let scope = Scope::new(LIMIT);
        let _attachment = self.closing.attach(&scope);
        self.list[0].retire_session();
        match self.list[0].probe(&scope) {
            Ok(()) if self.standing.revived(0) => {
                let restored = Draft::new(EventKind::PrimaryRestored).slot(&self.slot);
                self.timeline.record(restored.server(ServerRole::Primary, self.list[0].shown()));
            }
            Ok(()) => {}
            Err(_) => self.probe_later(),
        }
    }

    pub(crate) fn health(&self) -> Vec<ServerHealth> {
        let known = self.standing.list().into_iter();
        let servers = self.list.iter().zip(known).enumerate();
        let health = servers.map(|(index, (server, known))| ServerHealth {
            server: Servers::role(index),
            endpoint: server.shown().clone(),
            state: known.state,
            since: known.since,
            reason: known.reason,
            protocol_version: server.revision().map(|revision| revision.as_str()),
        });
        health.collect()
    }

    /// Tells what the server's list of tools gave cause to say.
    pub(crate) fn tell_notes(&self, index: usize, redactor: &Redactor) {
        tell_notes(&self.timeline, redactor, &self.slot, Servers::role(index), &self.list[index]);
    }

    /// Whether running the tool twice does no harm, as far as the server has said.
    pub(crate) fn may_repeat(&self, index: usize, tool: &str) -> bool {
        self.list[index].catalog.may_repeat(tool)
    }
}

/// The way of one call through the servers of its slot.
pub(crate) struct Walk<'a> {
    servers: &'a Arc<Servers>,
    plan: std::vec::IntoIter<usize>,
    /// All servers are dead: each is tried again.
    is_last_resort: bool,
    is_first: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(servers: &'a Arc<Servers>) -> Walk<'a> {
        let (plan, is_last_resort) = servers.standing.plan();
        Walk { servers, plan: plan.into_iter(), is_last_resort, is_first: true }
    }

    /// The server answered, whatever it said.
    pub(crate) fn answered(&self, index: usize) {
        if self.is_last_resort {
            self.servers.standing.revived(index);
        } else {
            self.servers.standing.answered(index);
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    /// The next server to try.
    fn next(&mut self) -> Option<usize> {
        let passes = self.is_last_resort || std::mem::replace(&mut self.is_first, false);
        // One that another call has found dead in the meantime is not tried in vain.
        self.plan.find(|index| passes || !self.servers.standing.is_dead(*index))
    }
}
