//! A server, and the revision in which verifi is to speak to it.

use serde_json::{Value, json};

use crate::sent::Sent;
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
    /// By a handshake, after the server has refused a request without one.
    Fallback,
    /// Without one, as the manifest says.
    Modern,
    /// Without one, after the server has refused it.
    Found,
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

    /// A manifest that says that the server is modern, which it is not.
    pub const fn not_modern(server: Server) -> Target {
        Target { server, asked: Some(MODERN), era: Era::Fallback }
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
            Era::Fallback => "2025-11-25",
            Era::Modern | Era::Found => MODERN,
        }
    }

    pub fn is_modern(self) -> bool {
        self.version() == MODERN
    }

    pub fn has_session(self) -> bool {
        matches!(self.era, Era::Session | Era::Fallback)
    }

    /// Whether the server ends a call that is cancelled, and keeps a record of it.
    pub fn sees_cancellation(self) -> bool {
        self.server != Server::Everything && self.era != Era::Handshake
    }

    /// How often verifi sends `initialize` to a server that stays where it is.
    pub fn handshakes(self) -> usize {
        usize::from(self.era != Era::Modern)
    }

    /// The same when it was once started anew: only a session is lost with it.
    pub fn handshakes_with_a_restart(self) -> usize {
        self.handshakes() + usize::from(self.has_session())
    }

    /// Checks all that was sent: each request is of the era, but for one that found it out, and of the session.
    pub fn assert_fitting(self, sent: &[Sent]) {
        sent.iter().for_each(Sent::assert_well_formed);
        let finds_out = match self.era {
            Era::Fallback => sent[0].is_modern(),
            Era::Found => sent[0].rpc() == "initialize",
            _ => true,
        };
        assert!(finds_out, "{:?}", sent[0]);
        let of_era = &sent[usize::from(matches!(self.era, Era::Fallback | Era::Found))..];
        assert!(of_era.iter().all(|sent| sent.is_modern() == self.is_modern()), "{sent:#?}");
        if !self.is_modern() {
            self.assert_one_session(of_era);
        }
    }

    fn assert_one_session(self, sent: &[Sent]) {
        let methods: Vec<&str> = sent.iter().map(Sent::rpc).collect();
        assert_eq!(methods[..2], ["initialize", "notifications/initialized"]);
        assert_eq!(sent[0].body["params"]["protocolVersion"], self.version());
        let id = sent[1].header("mcp-session-id");
        assert_eq!(id.is_some_and(|id| !id.is_empty()), self.has_session());
        let version = Some(self.version()).filter(|version| *version >= "2025-06-18");
        for sent in &sent[1..] {
            assert_ne!(sent.rpc(), "initialize");
            let carried = (sent.header("mcp-session-id"), sent.header("mcp-protocol-version"));
            assert_eq!(carried, (id, version), "{sent:?}");
        }
    }
}
