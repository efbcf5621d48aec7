//! Kept connections. A lane is a ureq agent that holds one connection at the most, so that whether it is kept, how old
//! it is and who uses it is known here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::transport::{Connector, RustlsConnector};
use ureq::{Agent, ProxyProtocol};

use super::connector::{Connected, Dial, Secure, Tunnel};
use super::dial::Lookup;
use super::exchange::Response;
use super::wire::Wire;
use super::{proxy, roots};
use crate::lock::Lock;

/// Node and uvicorn close an idle connection after 5 s; a little less avoids the race.
const LONGEST_IDLE: Duration = Duration::from_secs(4);

pub(super) const USER_AGENT: &str = concat!("verifi/", env!("CARGO_PKG_VERSION"));

const LONGEST_LINE_OVER_TLS: usize = 64 * 1024;

/// How many connections wait for the end of their stream. A server that leaves its streams open gets no more than these.
const MOST_PARKED: usize = 64;

/// How many parked connections are looked at for one that can be used.
const MOST_LOOKED_AT: usize = 8;

pub(super) struct Lane {
    pub(super) agent: Agent,
    pub(super) wire: Arc<Wire>,
    idle_since: Instant,
    keep: Duration,
}

impl Lane {
    /// What the server says of how long it keeps the connection (`Keep-Alive: timeout=N`).
    pub(super) fn keep_for(&mut self, server: Option<Duration>) {
        self.keep = match server {
            // The server's clock runs from its last byte, before ours; a second is taken off, half of a short time.
            Some(limit) => (limit - (limit / 2).min(Duration::from_secs(1))).min(LONGEST_IDLE),
            None => LONGEST_IDLE,
        };
    }

    fn is_fresh(&self) -> bool {
        self.idle_since.elapsed() < self.keep
    }
}

#[derive(Default)]
pub(super) struct Lanes {
    /// The longest unused in front.
    idle: Mutex<VecDeque<Lane>>,
    /// Answered over a stream whose end had not come yet. The end is read when the connection is wanted again.
    parked: Mutex<VecDeque<Response>>,
    setup: OnceCell<(Config, Arc<RustlsConnector>)>,
}

impl Lanes {
    /// A kept connection, the last used first, or a lane without one.
    pub(super) fn take(&self, uri: &Uri) -> Result<Lane, String> {
        loop {
            let lane = self.idle.locked().pop_back();
            match lane {
                Some(lane) if lane.is_fresh() => return Ok(lane),
                // The ones below are older still.
                Some(_) => self.idle.locked().clear(),
                None => break,
            }
        }
        match self.unpark() {
            Some(lane) => Ok(lane),
            None => self.fresh(uri),
        }
    }

    /// A lane without a connection.
    pub(super) fn fresh(&self, uri: &Uri) -> Result<Lane, String> {
        let (config, tls) = self.setup.get_or_try_init(|| setup(uri))?;
        let wire = Arc::new(Wire::default());
        let connector =
            ().chain(Tunnel::default())
                .chain(Dial(wire.clone()))
                .chain(Secure(tls.clone()))
                .chain(Connected { wire: wire.clone(), proxied: config.proxy().is_some() });
        let agent = Agent::with_parts(config.clone(), connector, Lookup(wire.clone()));
        Ok(Lane { agent, wire, idle_since: Instant::now(), keep: LONGEST_IDLE })
    }

    /// Puts a lane back whose exchange is over.
    pub(super) fn put(&self, mut lane: Lane) {
        if !lane.keep.is_zero() {
            lane.idle_since = Instant::now();
            let mut idle = self.idle.locked();
            while idle.front().is_some_and(|lane| !lane.is_fresh()) {
                idle.pop_front();
            }
            idle.push_back(lane);
        }
    }

    pub(super) fn park(&self, response: Response) {
        let mut parked = self.parked.locked();
        while parked.len() >= MOST_PARKED || parked.front().is_some_and(|oldest| oldest.parked_for() >= LONGEST_IDLE) {
            parked.pop_front();
        }
        parked.push_back(response);
    }

    /// A parked connection whose stream has ended by now, the youngest first.
    fn unpark(&self) -> Option<Lane> {
        let mut waiting = Vec::new();
        let mut found = None;
        while found.is_none() && waiting.len() < MOST_LOOKED_AT {
            let Some(mut response) = self.next_parked() else { break };
            if response.drain() {
                found = response.into_lane();
            } else {
                waiting.push(response);
            }
        }
        self.parked.locked().extend(waiting.into_iter().rev());
        found
    }

    fn next_parked(&self) -> Option<Response> {
        let mut parked = self.parked.locked();
        while parked.front().is_some_and(|response| response.parked_for() >= LONGEST_IDLE) {
            parked.pop_front();
        }
        parked.pop_back()
    }

    /// Closes every connection that is not in use.
    pub(super) fn clear(&self) {
        self.idle.locked().clear();
        self.parked.locked().clear();
    }
}

fn setup(uri: &Uri) -> Result<(Config, Arc<RustlsConnector>), String> {
    let proxy = proxy::from_environment(uri)?;
    let to_proxy = proxy.as_ref().is_some_and(|proxy| proxy.protocol() == ProxyProtocol::Https);
    let https = to_proxy || uri.scheme_str() == Some("https");
    // Over TLS ureq writes into a buffer of its own, which a line of the head must fit into.
    let line = if https { LONGEST_LINE_OVER_TLS } else { 16 * 1024 };
    let builder = Agent::config_builder()
        // A status is an answer, with a body that is wanted.
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(1)
        .max_idle_connections_per_host(1)
        .max_idle_age(Duration::from_secs(3600))
        .input_buffer_size(16 * 1024)
        .output_buffer_size(line)
        .user_agent(USER_AGENT)
        .proxy(proxy);
    let builder = if https { builder.tls_config(roots::tls_config()) } else { builder };
    Ok((builder.build(), Arc::new(RustlsConnector::default())))
}
