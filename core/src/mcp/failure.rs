//! Why a request got no response.

use super::answer::BodyHead;
use crate::cancel::Stop;
use crate::http::{Fault, FaultKind};

/// Why a request got no response.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Stopped {
        stop: Stop,
        sent: bool,
        /// What was waited for, when it was not the server.
        awaited: Option<String>,
    },
    /// `lost`: the connection failed, so that the server may have lost its sessions, too.
    Unreachable {
        reason: String,
        head: BodyHead,
        sent: bool,
        lost: bool,
    },
    /// There is no token to send the request with.
    NoToken {
        reason: String,
        head: BodyHead,
        /// Whether the call was sent before, with another.
        sent: bool,
    },
    CancelledByServer {
        reason: String,
    },
    TooLarge {
        limit: u64,
    },
    /// The server asked for what verifi cannot give.
    InputRequired {
        reason: String,
    },
}

impl Failure {
    pub(super) fn stopped(stop: Stop) -> Failure {
        Failure::Stopped { stop, sent: false, awaited: None }
    }

    /// The server answered, but not with a response.
    pub(super) fn answered(reason: String) -> Failure {
        Failure::answered_with(reason, BodyHead::default())
    }

    pub(super) fn answered_with(reason: String, head: BodyHead) -> Failure {
        Failure::Unreachable { reason, head, sent: true, lost: false }
    }

    /// The server answered so that the call was certainly not run.
    pub(super) fn unsent(reason: String) -> Failure {
        Failure::Unreachable { reason, head: BodyHead::default(), sent: false, lost: false }
    }

    /// The server names the revisions that it speaks, and verifi speaks none of them.
    pub(super) fn unknown_revisions(names: &str) -> Failure {
        Failure::unsent(format!("the server speaks {names}, which verifi does not"))
    }

    /// A fault of verifi's own.
    pub(crate) fn internal() -> Failure {
        Failure::answered("verifi failed, which is a fault in verifi".into())
    }

    /// Whether the connection failed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Failure::Unreachable { lost: true, .. })
    }

    pub(super) fn is_stop(&self) -> bool {
        matches!(self, Failure::Stopped { .. })
    }

    /// The failure of a handshake, as that of a call that was not sent for it.
    pub(super) fn before_the_call(self) -> Failure {
        match self {
            Failure::Stopped { stop, awaited, .. } => Failure::Stopped { stop, sent: false, awaited },
            Failure::Unreachable { reason, head, lost, .. } => {
                Failure::Unreachable { reason: format!("handshake: {reason}"), head, sent: false, lost }
            }
            // Says for itself what it is about.
            Failure::NoToken { reason, head, .. } => Failure::NoToken { reason, head, sent: false },
            Failure::CancelledByServer { reason } => {
                Failure::unsent(format!("handshake: cancelled by the server: {reason}"))
            }
            Failure::TooLarge { limit } => {
                Failure::unsent(format!("handshake: the answer is larger than {limit} bytes (maxResponseBytes)"))
            }
            Failure::InputRequired { reason } => Failure::unsent(format!("handshake: {reason}")),
        }
    }

    /// The failure of something that followed the call, which may have run.
    pub(super) fn after_the_call(self) -> Failure {
        match self {
            Failure::Stopped { stop, awaited, .. } => Failure::Stopped { stop, sent: true, awaited },
            Failure::Unreachable { reason, head, lost, .. } => Failure::Unreachable { reason, head, sent: true, lost },
            Failure::NoToken { reason, head, .. } => Failure::NoToken { reason, head, sent: true },
            other => other,
        }
    }

    /// The failure of fetching a token at `url`, as that of a call that was not sent for it.
    pub(super) fn of_token(self, url: &str) -> Failure {
        let url = format!("token: {url}");
        match self {
            Failure::Unreachable { reason, head, .. } => {
                Failure::NoToken { reason: format!("{url}: {reason}"), head, sent: false }
            }
            Failure::Stopped { stop, .. } => Failure::Stopped { stop, sent: false, awaited: Some(url) },
            other => other,
        }
    }

    /// The failure of an attempt to mend another.
    pub(super) fn because_of(self, first: &Failure) -> Failure {
        match (self, first) {
            (Failure::Unreachable { reason, head, lost, .. }, Failure::Unreachable { reason: first, .. }) => {
                Failure::Unreachable { reason: format!("{first}, and resuming it: {reason}"), head, sent: true, lost }
            }
            (other, _) => other,
        }
    }

    pub(super) fn explained(self, told: &str) -> Failure {
        match self {
            Failure::Unreachable { reason, head, sent, lost } => {
                Failure::Unreachable { reason: format!("{reason}, {told}"), head, sent, lost }
            }
            other => other,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        match fault.kind {
            FaultKind::Stopped(stop) => Failure::Stopped { stop, sent: fault.sent, awaited: None },
            FaultKind::Failed(reason) => {
                Failure::Unreachable { reason, head: BodyHead::default(), sent: fault.sent, lost: true }
            }
        }
    }
}
