//! Which server next. A server that could not be reached is dead for the rest of the run; when all are, each call tries
//! them all again, so that a restart is found.

use std::sync::Mutex;

use serde::Serialize;

use crate::lock::Lock;
use crate::timeline::Timestamp;

/// The servers that a call goes to, in order: those that live, or all when none does, which is told as well.
fn plan(dead: impl Iterator<Item = bool> + Clone) -> (Vec<usize>, bool) {
    let all_dead = dead.clone().all(|dead| dead);
    let plan = dead.enumerate().filter(|(_, dead)| all_dead || !dead).map(|(server, _)| server);
    (plan.collect(), all_dead)
}

/// What verifi knows of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    /// No call has ended on it yet.
    Unused,
    /// It answered the last time.
    Healthy,
    /// It could not be reached: calls go past it while another lives.
    Dead,
}

#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) state: ServerState,
    pub(crate) since: Option<Timestamp>,
    pub(crate) reason: Option<String>,
}

impl Known {
    fn healthy() -> Known {
        Known { state: ServerState::Healthy, since: Some(Timestamp::now()), reason: None }
    }
}

/// The state of a slot's servers.
pub(crate) struct Standing {
    inner: Mutex<Inner>,
}

struct Inner {
    servers: Vec<Known>,
    /// Whether `mcp.fallback_used` was told: once a run.
    told_fallback: bool,
    /// Whether `mcp.no_healthy_tool` was told since a server last answered.
    told_none: bool,
}

impl Standing {
    pub(crate) fn new(servers: usize) -> Standing {
        let unused = Known { state: ServerState::Unused, since: None, reason: None };
        Standing { inner: Mutex::new(Inner { servers: vec![unused; servers], told_fallback: false, told_none: false }) }
    }

    /// The servers to try, in order, and whether that is because none lives.
    pub(crate) fn plan(&self) -> (Vec<usize>, bool) {
        let inner = self.inner.locked();
        plan(inner.servers.iter().map(|known| known.state == ServerState::Dead))
    }

    pub(crate) fn none_lives(&self) -> bool {
        self.inner.locked().servers.iter().all(|known| known.state == ServerState::Dead)
    }

    pub(crate) fn is_dead(&self, server: usize) -> bool {
        self.inner.locked().servers[server].state == ServerState::Dead
    }

    /// Why the server is dead, if it is.
    pub(crate) fn dead_reason(&self, server: usize) -> Option<String> {
        self.inner.locked().servers[server].reason.clone()
    }

    /// The server answered. That brings a dead one back only when it was looked for: the late answer to a call of before
    /// does not, or calls would go to and fro.
    pub(crate) fn answered(&self, server: usize) {
        let mut inner = self.inner.locked();
        inner.told_none = false;
        if inner.servers[server].state == ServerState::Unused {
            inner.servers[server] = Known::healthy();
        }
    }

    /// A server that was tried again has answered. True when it was dead before.
    pub(crate) fn revived(&self, server: usize) -> bool {
        let mut inner = self.inner.locked();
        inner.told_none = false;
        let was_dead = inner.servers[server].state == ServerState::Dead;
        if inner.servers[server].state != ServerState::Healthy {
            inner.servers[server] = Known::healthy();
        }
        was_dead
    }

    /// The server could not be reached. `reason` is scrubbed. True when it was not dead before.
    pub(crate) fn failed(&self, server: usize, reason: &str) -> bool {
        let mut inner = self.inner.locked();
        let known = &mut inner.servers[server];
        let is_news = known.state != ServerState::Dead;
        let since = if is_news { Some(Timestamp::now()) } else { known.since };
        *known = Known { state: ServerState::Dead, since, reason: Some(reason.to_string()) };
        is_news
    }

    /// Whether the use of a fallback must still be told. True once.
    pub(crate) fn tell_fallback(&self) -> bool {
        !std::mem::replace(&mut self.inner.locked().told_fallback, true)
    }

    /// Whether it must be told that no server is left. True once until a server answers.
    pub(crate) fn tell_none(&self) -> bool {
        !std::mem::replace(&mut self.inner.locked().told_none, true)
    }

    pub(crate) fn list(&self) -> Vec<Known> {
        self.inner.locked().servers.clone()
    }
}

#[cfg(test)]
mod tests {
    // Rules 6.1, 6.3.
    #[test]
    fn the_living_come_in_order_and_all_when_none_lives() {
        let plan = |dead: &[bool]| super::plan(dead.iter().copied());
        assert_eq!(plan(&[false]), (vec![0], false));
        assert_eq!(plan(&[true]), (vec![0], true));
        assert_eq!(plan(&[false, false]), (vec![0, 1], false));
        assert_eq!(plan(&[true, false, false]), (vec![1, 2], false));
        assert_eq!(plan(&[false, true, false]), (vec![0, 2], false));
        assert_eq!(plan(&[true, true, true]), (vec![0, 1, 2], true));
    }
}
