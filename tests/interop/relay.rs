//! A TCP relay between verifi and a server: it counts the connections, keeps what verifi sent, and can cut them.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::sent::Sent;

#[derive(Default)]
struct Seen {
    accepted: usize,
    open: Vec<TcpStream>,
    sent: Vec<Sent>,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap());
        self.changed.notify_all();
    }
}

pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Relay {
    /// Relays to `target` for as long as the test process lives. A connection that finds no server there ends at once.
    pub fn to(target: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                for_thread.update(|seen| seen.accepted += 1);
                if let Ok(server) = TcpStream::connect(target) {
                    relay(client, server, Arc::clone(&for_thread));
                }
            }
        });
        Relay { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections verifi has opened so far.
    pub fn connections(&self) -> usize {
        self.shared.seen.lock().unwrap().accepted
    }

    /// The requests that verifi has sent so far, in order.
    pub fn sent(&self) -> Vec<Sent> {
        self.shared.seen.lock().unwrap().sent.clone()
    }

    /// How many of them have this JSON-RPC method.
    pub fn count(&self, rpc: &str) -> usize {
        self.shared.seen.lock().unwrap().sent.iter().filter(|sent| sent.rpc() == rpc).count()
    }

    /// Waits until one that fits was sent.
    pub fn wait_for(&self, what: &str, fits: impl Fn(&Sent) -> bool) {
        self.wait(|seen| seen.sent.iter().any(&fits), what);
    }

    /// Waits until a connection has ended.
    pub fn wait_for_an_end(&self) {
        self.wait(|seen| seen.open.len() < seen.accepted, "the end of a connection");
    }

    /// Waits until no connection is open any more.
    pub fn wait_until_idle_connections_end(&self) {
        self.wait(|seen| seen.open.is_empty(), "the end of all connections");
    }

    /// Ends the connections that are open.
    pub fn cut(&self) {
        for client in &self.shared.seen.lock().unwrap().open {
            // It may have ended by itself just now.
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    fn wait(&self, mut done: impl FnMut(&Seen) -> bool, what: &str) {
        let seen = self.shared.seen.lock().unwrap();
        let limit = Duration::from_secs(15);
        let (_seen, waited) = self.shared.changed.wait_timeout_while(seen, limit, |seen| !done(seen)).unwrap();
        assert!(!waited.timed_out(), "waited {limit:?} in vain for {what}");
    }
}

/// Copies both ways on threads of their own. When either side ends, both do.
fn relay(client: TcpStream, server: TcpStream, shared: Arc<Shared>) {
    for socket in [&client, &server] {
        socket.set_nodelay(true).unwrap();
    }
    let peer = client.peer_addr().unwrap();
    let kept = client.try_clone().unwrap();
    shared.update(|seen| seen.open.push(kept));
    let (to_client, from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let for_requests = Arc::clone(&shared);
    let mut unread = Vec::new();
    thread::spawn(move || {
        copy(client, server, |bytes| {
            unread.extend_from_slice(bytes);
            while let Some((sent, length)) = Sent::parse(&unread) {
                unread.drain(..length);
                for_requests.update(|seen| seen.sent.push(sent));
            }
        });
    });
    thread::spawn(move || {
        copy(from_server, to_client, |_| ());
        shared.update(|seen| seen.open.retain(|open| open.peer_addr().is_ok_and(|other| other != peer)));
    });
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut note: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        note(&buffer[..length]);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for socket in [from, to] {
        // It may be closed already, which is what is wanted.
        let _ = socket.shutdown(Shutdown::Both);
    }
}
