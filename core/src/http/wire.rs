//! What one connection and the exchange that uses it tell each other. ureq stands between the two and passes nothing
//! through, so they share this.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::cancel::{Entered, Interrupt, Scope, Stop};
use crate::lock::Lock;

/// How far an exchange has come, for the text of its error and for what may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Nothing was done yet.
    Idle,
    Resolving,
    Connecting,
    Securing,
    /// Connected; no byte of the request was sent.
    Ready,
    /// Some or all of the request was sent; no byte of the answer has come.
    Sent,
    Answering,
}

#[derive(Default)]
pub(super) struct Wire {
    state: Mutex<WireState>,
}

#[derive(Default)]
struct WireState {
    scope: Option<Arc<Scope>>,
    entered: Option<Entered>,
    socket: Option<Arc<TcpStream>>,
    phase: Option<Phase>,
    reused: bool,
    /// What the request needs of its buffer at once.
    room: usize,
    /// A limit of the present step, besides that of the scope.
    until: Option<Instant>,
    sent_at: Option<Instant>,
    /// Set while nothing may block: only what has already arrived is read.
    arrived_only: bool,
}

impl Wire {
    /// An exchange begins: stopping `scope` shuts the kept connection down.
    pub(super) fn begin(&self, scope: &Arc<Scope>, room: usize) -> Result<(), Stop> {
        let mut state = self.state.locked();
        let entered = match &state.socket {
            Some(socket) => Some(scope.enter(socket.clone())?),
            None => None,
        };
        *state = WireState {
            scope: Some(scope.clone()),
            entered,
            socket: state.socket.take(),
            phase: Some(Phase::Idle),
            room,
            ..WireState::default()
        };
        state.reused = state.socket.is_some();
        Ok(())
    }

    /// The exchange is over. True when the connection is kept.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state.locked();
        state.entered = None;
        state.scope = None;
        state.phase = None;
        state.socket.is_some()
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.state.locked().phase = Some(phase);
    }

    pub(super) fn phase(&self) -> Phase {
        self.state.locked().phase.unwrap_or(Phase::Idle)
    }

    pub(super) fn room(&self) -> usize {
        self.state.locked().room
    }

    pub(super) fn scope(&self) -> Option<Arc<Scope>> {
        self.state.locked().scope.clone()
    }

    /// Connecting begins: name lookup, socket and TLS must be done within `limit`.
    pub(super) fn connect_within(&self, limit: Duration) {
        self.state.locked().until.get_or_insert_with(|| Instant::now() + limit);
    }

    /// The rest of the answer must have come within `limit`.
    pub(super) fn answer_within(&self, limit: Duration) {
        self.state.locked().until = Some(Instant::now() + limit);
    }

    pub(super) fn connected(&self) {
        let mut state = self.state.locked();
        state.until = None;
        state.phase = Some(Phase::Ready);
    }

    /// The socket is open: from here on, stopping the exchange shuts it down.
    pub(super) fn opened(&self, socket: &Arc<TcpStream>) -> Result<(), Stop> {
        let mut state = self.state.locked();
        state.socket = Some(socket.clone());
        // The guard of before goes first, or it would take this one away when it is dropped.
        state.entered = None;
        if let Some(scope) = &state.scope {
            state.entered = Some(scope.enter(socket.clone())?);
        }
        Ok(())
    }

    /// The socket is closed.
    pub(super) fn closed(&self) {
        self.state.locked().socket = None;
    }

    /// How long the next step may take.
    pub(super) fn remaining(&self) -> Result<Duration, Stop> {
        self.state.locked().remaining(Instant::now())
    }

    /// Some of the request is about to be sent, within the time given back.
    pub(super) fn sending(&self) -> Result<Duration, Stop> {
        let now = Instant::now();
        let mut state = self.state.locked();
        if matches!(state.phase, Some(Phase::Ready | Phase::Idle)) {
            state.phase = Some(Phase::Sent);
            state.sent_at.get_or_insert(now);
        }
        state.remaining(now)
    }

    /// Some of the answer has come.
    pub(super) fn answering(&self) {
        let mut state = self.state.locked();
        if state.phase == Some(Phase::Sent) {
            state.phase = Some(Phase::Answering);
        }
    }

    pub(super) fn has_socket(&self) -> bool {
        self.state.locked().socket.is_some()
    }

    pub(super) fn set_arrived_only(&self, arrived_only: bool) {
        self.state.locked().arrived_only = arrived_only;
    }

    pub(super) fn arrived_only(&self) -> bool {
        self.state.locked().arrived_only
    }

    /// Whether the request was sent on a kept connection that ended at once, before a byte of the answer: then the
    /// server had closed it in the meantime. One that works on a call for a while and then goes away is another matter.
    pub(super) fn ended_at_reuse(&self) -> bool {
        const AT_ONCE: Duration = Duration::from_secs(1);
        let state = self.state.locked();
        let at_once = state.sent_at.is_none_or(|sent| sent.elapsed() < AT_ONCE);
        state.reused && at_once && state.phase.is_some_and(|phase| phase < Phase::Answering)
    }

    /// Whether the limit on connecting has passed, rather than that of the whole exchange.
    pub(super) fn connect_timed_out(&self) -> bool {
        self.state.locked().until.is_some_and(|until| until <= Instant::now())
    }
}

impl WireState {
    fn remaining(&self, now: Instant) -> Result<Duration, Stop> {
        let left = match &self.scope {
            Some(scope) => scope.remaining_at(now)?,
            // Outside an exchange nothing waits.
            None => Duration::from_millis(1),
        };
        match self.until {
            None => Ok(left),
            Some(until) => match until.checked_duration_since(now) {
                Some(connect) if !connect.is_zero() => Ok(left.min(connect)),
                _ => Err(Stop::Deadline),
            },
        }
    }
}

impl Interrupt for TcpStream {
    fn interrupt(&self) {
        // It fails only when the socket is no longer connected, and then nothing is blocked on it.
        let _ = self.shutdown(Shutdown::Both);
    }
}
