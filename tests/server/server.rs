//! The server as a test holds it.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::action::Condition;
use crate::listener::Listener;
use crate::request::Request;
use crate::script::{Listen, Script};
use crate::shared::{Connection, Shared};
use crate::socket::Link;
use crate::tls::{CaFile, Tls};

/// A running server; stopped, with all its connections, when dropped. Every method works from any thread.
pub struct Server {
    shared: Arc<Shared>,
    listener: Arc<Mutex<Listener>>,
    ca_file: Option<CaFile>,
}

/// A port that is held for a server that starts later, so that scripts can name each other's ports.
pub struct Port(Listener);

impl Port {
    /// Holds `port` (0: any) of `127.0.0.1` or, with `ipv6`, of `::1`. Connections are refused.
    pub fn hold(ipv6: bool, port: u16) -> io::Result<Port> {
        Listener::bind(ipv6, port).map(Port)
    }

    /// Its number.
    pub fn number(&self) -> io::Result<u16> {
        Ok(self.0.address()?.port())
    }
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(script: Script) -> Result<Server, String> {
        let port = Port::hold(script.traits.ipv6, 0).map_err(|e| e.to_string())?;
        Server::start_on(port, script)
    }

    /// Starts a server from the text of a script, on a free port.
    pub fn from_json(script: &str) -> Result<Server, String> {
        Server::start(Script::parse(script)?)
    }

    /// Starts a server on a port that is held.
    pub fn start_on(port: Port, script: Script) -> Result<Server, String> {
        let address = port.0.address().map_err(|e| e.to_string())?;
        let tls = script.traits.tls.map(Tls::new).transpose()?;
        let listen = script.traits.listen;
        let (config, ca_file) = tls.map(|tls| (tls.config, tls.ca_file)).unzip();
        let listener = Arc::new(Mutex::new(port.0));
        let shared = Arc::new(Shared::new(script, address, config, Arc::downgrade(&listener)));
        let server = Server { shared, listener, ca_file };
        let started = match listen {
            Listen::Open => server.listener().open(&server.shared),
            Listen::Full => server.listener().fill(),
            Listen::Refuse => Ok(()),
        };
        started.map_err(|e| e.to_string())?;
        Ok(server)
    }

    fn listener(&self) -> MutexGuard<'_, Listener> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `http://127.0.0.1:PORT`: an endpoint for a manifest.
    pub fn url(&self) -> &str {
        &self.shared.base_url
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.shared.address.port()
    }

    /// The PEM file that makes a client trust the server's certificates; `None` without TLS.
    pub fn ca_file(&self) -> Option<&PathBuf> {
        self.ca_file.as_ref().map(CaFile::path)
    }

    /// Dies: all connections are reset, new ones refused, sessions forgotten. The port stays held.
    pub fn kill(&self) {
        self.listener().refuse();
        self.shared.drop_connections(Link::reset);
        self.forget_sessions();
    }

    /// Goes in order: all connections are closed, new ones refused, sessions forgotten. The port stays held.
    pub fn stop(&self) {
        self.listener().refuse();
        self.shared.drop_connections(Link::close);
        self.forget_sessions();
    }

    /// Takes no new connections; those that are there stay.
    pub fn refuse(&self) {
        self.listener().refuse();
    }

    /// Takes connections again, on the same port.
    pub fn open(&self) -> io::Result<()> {
        self.listener().open(&self.shared)
    }

    /// Connecting neither succeeds nor fails from now on.
    pub fn fill_backlog(&self) -> io::Result<()> {
        self.listener().fill()
    }

    /// Ends all connections in order; new ones are taken.
    pub fn drop_connections(&self) {
        self.shared.drop_connections(Link::close);
    }

    /// Resets all connections; new ones are taken.
    pub fn reset_connections(&self) {
        self.shared.drop_connections(Link::reset);
    }

    /// Forgets all sessions, as a restart would.
    pub fn forget_sessions(&self) {
        self.shared.change(|state| state.sessions.clear());
    }

    /// Opens a gate that a script awaits, for good.
    pub fn release(&self, gate: &str) {
        self.shared.release(gate);
    }

    /// Replaces rules and traits; TLS and address stay as they are.
    pub fn set_script(&self, script: Script) {
        self.shared.set_script(script);
    }

    /// Waits until the condition holds; false when `limit` has passed first.
    pub fn wait(&self, condition: &Condition, limit: Duration) -> bool {
        self.shared.wait(condition, limit)
    }

    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared.state().requests.clone()
    }

    /// Every connection so far.
    pub fn connections(&self) -> Vec<Connection> {
        self.shared.state().connections.clone()
    }

    /// What went wrong with the script itself: a test that sees any has failed.
    pub fn faults(&self) -> Vec<String> {
        self.shared.state().faults.clone()
    }

    /// The whole record as JSON.
    pub fn record(&self) -> Value {
        self.shared.to_json()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|state| state.stopping = true);
        self.listener().refuse();
        self.shared.drop_connections(Link::close);
    }
}
