//! Looking names up and opening sockets, both of which can be stopped while they block.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::wire::{Phase, Wire};
use crate::cancel::{Interrupt, Stop};

/// Connecting takes at most this long, name lookup and TLS handshake included (rule 2.5).
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A host with several addresses: one that does not answer leaves time for the next.
const ADDRESS_LIMIT: Duration = Duration::from_secs(4);

/// As many as ureq passes on.
const MOST_ADDRESSES: usize = 16;

/// Stands for the address of a connection that is kept.
pub(super) const NOT_LOOKED_UP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

pub(super) struct Lookup(pub(super) Arc<Wire>);

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lookup")
    }
}

impl Resolver for Lookup {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        // ureq looks the name up before it looks for a kept connection: then there is nothing to look up.
        if self.0.has_socket() {
            found.push(NOT_LOOKED_UP);
            return Ok(found);
        }
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(ureq::Error::HostNotFound);
        };
        let Some(target) = DefaultResolver::host_and_port(scheme, authority) else {
            return Err(ureq::Error::HostNotFound);
        };
        if let Ok(address) = target.parse::<SocketAddr>() {
            found.push(address);
            return Ok(found);
        }
        self.0.enter(Phase::Resolving);
        self.0.connect_within(CONNECT_LIMIT);
        for address in self.look_up(target)?.into_iter().take(MOST_ADDRESSES) {
            found.push(address);
        }
        if found.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(found) }
    }
}

enum Looked {
    Up(io::Result<Vec<SocketAddr>>),
    Stopped,
}

impl Interrupt for Sender<Looked> {
    fn interrupt(&self) {
        // Nobody listens any more when the lookup is done.
        let _ = self.send(Looked::Stopped);
    }
}

impl Lookup {
    /// The system's lookup can't be stopped: it runs on a thread of its own, which is left behind when time is over.
    fn look_up(&self, target: String) -> io::Result<Vec<SocketAddr>> {
        let (sender, receiver) = mpsc::channel();
        let scope = self.0.scope();
        let _entered = match &scope {
            Some(scope) => Some(scope.enter(Arc::new(sender.clone())).map_err(stopped)?),
            None => None,
        };
        let limit = self.0.remaining().map_err(stopped)?;
        thread::Builder::new().name("verifi-lookup".into()).stack_size(256 * 1024).spawn(move || {
            let _ = sender.send(Looked::Up(target.to_socket_addrs().map(Iterator::collect)));
        })?;
        match receiver.recv_timeout(limit) {
            Ok(Looked::Up(found)) => found,
            Ok(Looked::Stopped) => Err(stopped(Stop::Cancelled)),
            Err(_) => Err(stopped(Stop::Deadline)),
        }
    }
}

/// The error that stands for a stop on its way through ureq. The exchange asks its scope what really happened.
pub(super) fn stopped(stop: Stop) -> io::Error {
    match stop {
        Stop::Deadline => io::Error::new(io::ErrorKind::TimedOut, "time is over"),
        // Not `Interrupted`, which std tries again, nor a kind that ureq takes for the end of a body.
        Stop::Cancelled | Stop::Closed => io::Error::other("stopped"),
    }
}

struct Dialing(Socket);

impl Interrupt for Dialing {
    fn interrupt(&self) {
        // On a socket that is still connecting this ends the attempt at once.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

/// Opens a connection to the first address that takes one.
pub(super) fn dial(wire: &Wire, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no address");
    for (index, address) in addresses.iter().enumerate() {
        let left = wire.remaining().map_err(stopped)?;
        let limit = if index + 1 < addresses.len() { left.min(ADDRESS_LIMIT) } else { left };
        match dial_one(wire, *address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = io::Error::new(error.kind(), format!("{address}: {error}")),
        }
    }
    Err(last)
}

/// The system counts in whole milliseconds, and may end a wait just before its time: then the rest is waited for, so
/// that the end of the time and a failure are not confused.
fn sit_out(wire: &Wire, error: &io::Error) {
    const GRAIN: Duration = Duration::from_millis(5);
    if error.kind() == io::ErrorKind::TimedOut
        && let Ok(left) = wire.remaining()
        && left < GRAIN
    {
        thread::sleep(left);
    }
}

fn dial_one(wire: &Wire, address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    // A call may wait for hours: a host that has vanished meanwhile is noticed, and no NAT forgets the connection.
    socket.set_tcp_keepalive(
        &TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(15)),
    )?;
    let dialing = Arc::new(Dialing(socket));
    let scope = wire.scope();
    let entered = match &scope {
        Some(scope) => Some(scope.enter(dialing.clone()).map_err(stopped)?),
        None => None,
    };
    dialing.0.connect_timeout(&SockAddr::from(address), limit).inspect_err(|error| sit_out(wire, error))?;
    drop(entered);
    match Arc::try_unwrap(dialing) {
        Ok(Dialing(socket)) => Ok(TcpStream::from(socket)),
        Err(_) => Err(stopped(Stop::Cancelled)),
    }
}
