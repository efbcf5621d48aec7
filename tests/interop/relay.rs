//! A TCP relay between verifi and a server: it counts the connections and keeps all that verifi sent.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Seen {
    accepted: usize,
    open: usize,
    sent: Vec<u8>,
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

    /// How often `text` occurs in what verifi sent.
    pub fn count(&self, text: &str) -> usize {
        occurrences(&self.shared.seen.lock().unwrap().sent, text)
    }

    /// Waits until `text` was sent that often.
    pub fn wait_for(&self, text: &str, times: usize) {
        self.wait(|seen| occurrences(&seen.sent, text) >= times, text);
    }

    /// The body of the `number`th request, from 0, as far as it was sent.
    pub fn body(&self, number: usize) -> Option<String> {
        let sent = String::from_utf8_lossy(&self.shared.seen.lock().unwrap().sent).into_owned();
        let request = sent.split("POST /mcp ").nth(number + 1)?;
        Some(request.split_once("\r\n\r\n")?.1.to_owned())
    }

    /// Waits until a connection has ended.
    pub fn wait_for_an_end(&self) {
        self.wait(|seen| seen.open < seen.accepted, "the end of a connection");
    }

    /// Waits until no connection is open any more.
    pub fn wait_until_idle_connections_end(&self) {
        self.wait(|seen| seen.open == 0, "the end of all connections");
    }

    fn wait(&self, mut done: impl FnMut(&Seen) -> bool, what: &str) {
        let seen = self.shared.seen.lock().unwrap();
        let limit = Duration::from_secs(15);
        let (_seen, waited) = self.shared.changed.wait_timeout_while(seen, limit, |seen| !done(seen)).unwrap();
        assert!(!waited.timed_out(), "waited {limit:?} in vain for {what}");
    }
}

fn occurrences(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

/// Copies both ways on threads of their own. When either side ends, both do.
fn relay(client: TcpStream, server: TcpStream, shared: Arc<Shared>) {
    shared.update(|seen| seen.open += 1);
    for socket in [&client, &server] {
        socket.set_nodelay(true).unwrap();
    }
    let (to_client, from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let for_requests = Arc::clone(&shared);
    thread::spawn(move || copy(client, server, |bytes| for_requests.update(|seen| seen.sent.extend_from_slice(bytes))));
    thread::spawn(move || {
        copy(from_server, to_client, |_| ());
        shared.update(|seen| seen.open -= 1);
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
