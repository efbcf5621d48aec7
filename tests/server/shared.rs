//! What the threads of a server share: its script, its record, its sessions, and the wait for any of them to change.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::action::{Action, Condition};
use crate::listener::Listener;
use crate::peers::wait_until_told;
use crate::request::Request;
use crate::script::{Match, Script};
use crate::socket::Link;

/// How long the threads of connections that were ended may take to let go of them.
const DROP_LIMIT: Duration = Duration::from_secs(2);

/// What the threads of a server share.
pub struct Shared {
    pub address: SocketAddr,
    pub base_url: String,
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Calls that were answered with the prebuilt answer and not recorded.
    pub unrecorded: AtomicU64,
    script: RwLock<Arc<Script>>,
    state: Mutex<State>,
    changed: Condvar,
    started: Instant,
    listener: Weak<Mutex<Listener>>,
}

/// Everything that changes while a server runs.
#[derive(Default)]
pub struct State {
    /// Every request, in the order of arrival.
    pub requests: Vec<Arc<Request>>,
    /// Every connection; number 1 is at 0.
    pub connections: Vec<Connection>,
    /// What went wrong with the script itself: a test that sees one has failed.
    pub faults: Vec<String>,
    /// The sessions that the server knows.
    pub sessions: BTreeMap<String, Session>,
    /// How many sessions there have been.
    pub sessions_made: u64,
    /// The server is going.
    pub stopping: bool,
    gates: BTreeSet<String>,
    counts: Vec<u64>,
    links: BTreeMap<u64, Arc<Link>>,
}

/// A session of the handshake era.
pub struct Session {
    /// The version agreed on.
    pub version: String,
    /// Whether `notifications/initialized` has come.
    pub initialized: bool,
}

/// A connection that the server has seen.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// How many requests came on it.
    pub requests: u64,
    /// When it was taken, since the start of the server.
    pub opened: Duration,
    /// When and by whom it was ended.
    pub closed: Option<(Duration, Side)>,
}

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// Who sends requests.
    Client,
    /// Who answers.
    Server,
}

impl Shared {
    pub fn new(
        script: Script,
        address: SocketAddr,
        tls: Option<Arc<rustls::ServerConfig>>,
        listener: Weak<Mutex<Listener>>,
    ) -> Shared {
        let scheme = if tls.is_some() { "https" } else { "http" };
        Shared {
            address,
            base_url: format!("{scheme}://{address}"),
            tls,
            unrecorded: AtomicU64::new(0),
            state: Mutex::new(State { counts: vec![0; script.rules.len()], ..State::default() }),
            script: RwLock::new(Arc::new(script)),
            changed: Condvar::new(),
            started: Instant::now(),
            listener,
        }
    }

    /// The state, for a short look or change. A thread that panicked has left it whole.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn script(&self) -> Arc<Script> {
        self.script.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces rules and traits; what needs a listener (TLS, address) stays.
    pub fn set_script(&self, script: Script) {
        self.state().counts = vec![0; script.rules.len()];
        *self.script.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(script);
    }

    /// Time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Changes the state and wakes whoever waits for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state());
        self.changed.notify_all();
        result
    }

    /// Takes no more connections.
    pub fn refuse(&self) {
        if let Some(listener) = self.listener.upgrade() {
            listener.lock().unwrap_or_else(PoisonError::into_inner).refuse();
        }
    }

    /// Opens a gate, for good.
    pub fn release(&self, gate: &str) {
        self.change(|state| state.gates.insert(gate.to_owned()));
    }

    /// Waits until the condition holds; false when `limit` has passed first, or the server goes.
    pub fn wait(&self, condition: &Condition, limit: Duration) -> bool {
        self.wait_for(|state| state.holds(condition), limit)
    }

    /// Waits until `holds`; false when `limit` has passed first, or the server goes.
    pub fn wait_for(&self, holds: impl Fn(&State) -> bool, limit: Duration) -> bool {
        let guard = self.state();
        let (state, _) = self
            .changed
            .wait_timeout_while(guard, limit, |state| !state.stopping && !holds(state))
            .unwrap_or_else(PoisonError::into_inner);
        holds(&state)
    }

    /// A connection was taken: its number.
    pub fn opened(&self, link: &Arc<Link>) -> u64 {
        let opened = self.now();
        self.change(|state| {
            state.connections.push(Connection { opened, ..Connection::default() });
            let number = state.connections.len() as u64;
            state.links.insert(number, link.clone());
            number
        })
    }

    /// A connection is over.
    pub fn closed(&self, number: u64, by: Side) {
        let at = self.now();
        self.change(|state| {
            state.links.remove(&number);
            state.connections[number as usize - 1].closed.get_or_insert((at, by));
        });
    }

    /// Records a request and gives it its number and the actions of the rule that it falls under, with how often that
    /// rule's requests have come.
    pub fn received(&self, mut request: Request, script: &Script) -> (Arc<Request>, Option<(Vec<Action>, u64)>) {
        request.at = self.now();
        self.change(|state| {
            request.number = state.requests.len() as u64 + 1;
            state.connections[request.connection as usize - 1].requests += 1;
            let mut chosen = None;
            for (index, rule) in script.rules.iter().enumerate().filter(|(_, rule)| rule.on.fits(&request)) {
                // A script that was replaced in this very moment has other counts.
                let Some(count) = state.counts.get_mut(index) else { continue };
                *count += 1;
                if chosen.is_none() && rule.on.counts(*count) {
                    chosen = Some((rule.actions.clone(), *count));
                }
            }
            let request = Arc::new(request);
            state.requests.push(request.clone());
            (request, chosen)
        })
    }

    /// Ends every connection, by a reset or in order, and waits until it is gone for its client too.
    pub fn drop_connections(&self, end: fn(&Link)) {
        let at = self.now();
        let (last, clients) = self.change(|state| {
            let clients: Vec<u16> = state.links.values().filter_map(|link| link.client()).collect();
            for (&number, link) in &state.links {
                state.connections[number as usize - 1].closed.get_or_insert((at, Side::Server));
                end(link);
            }
            (state.links.keys().last().copied().unwrap_or(0), clients)
        });
        self.wait_for(|state| state.links.keys().next().is_none_or(|&first| first > last), DROP_LIMIT);
        wait_until_told(&clients, self.address.port(), DROP_LIMIT);
    }

    /// The record as JSON: what the control channel gives.
    pub fn to_json(&self) -> Value {
        let state = self.state();
        let connections: Vec<Value> = state.connections.iter().map(Connection::to_json).collect();
        json!({
            "requests": state.requests.iter().map(|request| request.to_json()).collect::<Vec<_>>(),
            "connections": connections,
            "faults": state.faults,
            "unrecorded": self.unrecorded.load(Ordering::Relaxed),
        })
    }
}

impl State {
    /// Whether the condition holds.
    pub fn holds(&self, condition: &Condition) -> bool {
        let arrived = |wanted: &Match| self.requests.iter().filter(|request| wanted.fits(request)).count();
        condition.request.as_ref().is_none_or(|wanted| arrived(wanted) >= condition.count)
            && condition.gate.as_ref().is_none_or(|gate| self.gates.contains(gate))
            && condition.client_closed.is_none_or(|count| self.closed_by(Side::Client) >= count)
            && condition.closed.is_none_or(|count| self.closed_by(Side::Client) + self.closed_by(Side::Server) >= count)
            && condition.server_closed.is_none_or(|count| self.closed_by(Side::Server) >= count)
    }

    /// How many connections that side has closed.
    fn closed_by(&self, side: Side) -> usize {
        self.connections.iter().filter(|connection| connection.closed.is_some_and(|(_, by)| by == side)).count()
    }
}

impl Connection {
    fn to_json(&self) -> Value {
        let mut all = json!({"requests": self.requests, "openedMs": self.opened.as_secs_f64() * 1e3});
        if let Some((at, by)) = self.closed {
            all["closedMs"] = (at.as_secs_f64() * 1e3).into();
            all["closedBy"] = if by == Side::Client { "client".into() } else { "server".into() };
        }
        all
    }
}
