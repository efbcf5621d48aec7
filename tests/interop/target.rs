//! A server, and the revision in which verifi is to speak to it.

use serde_json::{Value, json};

use crate::servers::Server;

/// What is tested: a server and what the manifest says of it.
#[derive(Clone, Copy)]
pub struct Target {
    pub server: Server,
    /// The fill's `protocolVersion`.
    asked: Option<&'static str>,
    era: Era,
}

/// How verifi and the server get on.
#[derive(Clone, Copy, PartialEq)]
enum Era {
    /// By a handshake, which opens a session.
    Session,
    /// By a handshake; the server keeps nothing of it.
    Handshake,
    /// By a handshake that the server refuses: it is of 2026-07-28.
    Found,
    /// As the manifest says, without a handshake.
    Modern,
}

pub const MODERN: &str = "2026-07-28";

impl Target {
    /// A manifest that says nothing of versions, and a server with sessions.
    pub const fn plain(server: Server) -> Target {
        Target { server, asked: None, era: Era::Session }
    }

    pub const fn asking(server: Server, version: &'static str) -> Target {
        Target { server, asked: Some(version), era: Era::Session }
    }

    pub const fn without_sessions(server: Server, version: &'static str) -> Target {
        Target { server, asked: Some(version), era: Era::Handshake }
    }

    pub const fn modern(server: Server) -> Target {
        Target { server, asked: Some(MODERN), era: Era::Modern }
    }

    /// A manifest that says nothing, and a server that knows no handshake.
    pub const fn found_modern(server: Server) -> Target {
        Target { server, asked: None, era: Era::Found }
    }

    /// The slot's fill.
    pub fn fill(self, endpoint: &str) -> Value {
        match self.asked {
            Some(version) => json!({"endpoint": endpoint, "protocolVersion": version}),
            None => json!(endpoint),
        }
    }

    /// The version that both agree on.
    pub fn version(self) -> &'static str {
        match self.era {
            Era::Session | Era::Handshake => self.asked.unwrap_or("2024-11-05"),
            Era::Found | Era::Modern => MODERN,
        }
    }

    pub fn is_modern(self) -> bool {
        self.version() == MODERN
    }

    /// How often verifi sends `initialize` to a server that stays where it is.
    pub fn handshakes(self) -> usize {
        usize::from(self.era != Era::Modern)
    }

    /// The same when it was once started anew: only a session is lost with it.
    pub fn handshakes_with_a_restart(self) -> usize {
        self.handshakes() + usize::from(self.era == Era::Session)
    }
}
