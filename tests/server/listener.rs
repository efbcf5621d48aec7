//! The port: open, refusing, or with a full backlog. It is held all the while, so that nobody else gets it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use socket2::{Domain, Socket, Type};

use crate::connection;
use crate::shared::Shared;
use crate::socket::Link;

/// Enough for a connection, compression included; what is not touched costs nothing.
const STACK: usize = 1024 * 1024;
const BACKLOG: i32 = 4096;

/// A bound port.
pub struct Listener {
    socket: Socket,
    accepting: Option<JoinHandle<()>>,
    /// Connections that fill the backlog.
    fillers: Vec<Socket>,
    listening: bool,
}

impl Listener {
    /// Binds `port` (0: any) of the loopback; connections are refused.
    pub fn bind(ipv6: bool, port: u16) -> io::Result<Listener> {
        let ip = if ipv6 { IpAddr::from(Ipv6Addr::LOCALHOST) } else { IpAddr::from(Ipv4Addr::LOCALHOST) };
        let chosen = bind(SocketAddr::new(ip, port))?;
        // Linux lets go of a port that it has chosen itself when listening ends; not of one that was asked for.
        let socket = bind(address(&chosen)?)?;
        Ok(Listener { socket, accepting: None, fillers: Vec::new(), listening: false })
    }

    /// Where it is bound.
    pub fn address(&self) -> io::Result<SocketAddr> {
        address(&self.socket)
    }

    /// Takes connections and serves each on a thread of its own.
    pub fn open(&mut self, shared: &Arc<Shared>) -> io::Result<()> {
        self.refuse();
        self.socket.listen(BACKLOG)?;
        self.listening = true;
        let listener = TcpListener::from(self.socket.try_clone()?);
        let shared = shared.clone();
        self.accepting = Some(thread::Builder::new().stack_size(STACK).spawn(move || accept(&listener, &shared))?);
        Ok(())
    }

    /// Takes no more connections: they are refused. The port stays ours.
    pub fn refuse(&mut self) {
        if self.listening {
            // On Linux this ends listening, and wakes the thread that accepts; the address stays bound. On a socket that
            // does not listen it would end the connections that are taken later.
            let _ = self.socket.shutdown(std::net::Shutdown::Both);
        }
        self.listening = false;
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        self.fillers.clear();
    }

    /// Listens, but with a backlog that is full: connecting neither succeeds nor fails.
    pub fn fill(&mut self) -> io::Result<()> {
        self.refuse();
        self.socket.listen(0)?;
        self.listening = true;
        let address = self.socket.local_addr()?;
        for _ in 0..4 {
            let filler = Socket::new(address.domain(), Type::STREAM, None)?;
            filler.set_nonblocking(true)?;
            // The first is taken into the backlog; those after it wait, as everybody does from now on.
            let _ = filler.connect(&address);
            self.fillers.push(filler);
        }
        Ok(())
    }
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn address(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept() {
        let link = Arc::new(Link::new(stream));
        let number = shared.opened(&link);
        let served = shared.clone();
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || connection::serve(&served, link, number));
        if let Err(error) = thread {
            shared.change(|state| state.faults.push(format!("connection {number}: no thread: {error}")));
        }
    }
}
