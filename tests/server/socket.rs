//! A connection's bytes, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustls::ServerConnection;
use socket2::SockRef;

use crate::peers::wait_until_told;

/// How long a write may take before the client counts as gone.
const WRITE_LIMIT: Duration = Duration::from_secs(60);

/// How much is read at once.
const READ: usize = 16 * 1024;

/// What came of reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Got {
    /// There is more in [`Socket::pending`].
    Bytes,
    /// The client has closed, or is gone.
    Closed,
    /// Nothing came in time.
    Nothing,
}

/// A connection as the whole server holds it: able to end it.
pub struct Link {
    stream: TcpStream,
    ended: AtomicBool,
}

impl Link {
    /// Takes a fresh connection.
    pub fn new(stream: TcpStream) -> Link {
        Link { stream, ended: AtomicBool::new(false) }
    }

    /// Ends the connection in order. From now on its thread sees it as closed.
    pub fn close(&self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Ends the connection by a reset, which comes when its thread has let go of it.
    pub fn reset(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.reset_on_close();
        // Wakes its thread without a word to the client.
        let _ = self.stream.shutdown(Shutdown::Read);
    }

    fn reset_on_close(&self) {
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// The client's port, unless it is gone.
    pub fn client(&self) -> Option<u16> {
        self.stream.peer_addr().ok().map(|address| address.port())
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

/// A connection's bytes.
pub struct Socket {
    link: Arc<Link>,
    tls: Option<Box<ServerConnection>>,
    /// What was read and not yet used.
    pub pending: Vec<u8>,
    /// The server has let the connection go while it was idle.
    pub ended_by_server: bool,
    reset: bool,
    buffer: Box<[u8]>,
    /// The read timeout that the kernel knows of.
    limit: Option<Duration>,
}

impl Socket {
    /// Takes a fresh connection.
    pub fn new(link: Arc<Link>, tls: Option<ServerConnection>) -> io::Result<Socket> {
        link.stream.set_nodelay(true)?;
        link.stream.set_write_timeout(Some(WRITE_LIMIT))?;
        Ok(Socket {
            link,
            tls: tls.map(Box::new),
            pending: Vec::new(),
            ended_by_server: false,
            reset: false,
            buffer: vec![0; READ].into_boxed_slice(),
            limit: None,
        })
    }

    /// Reads what is there into `pending`, waiting for it up to `limit`, or for ever.
    pub fn read(&mut self, limit: Option<Duration>) -> Got {
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            match self.read_once(left) {
                _ if self.link.has_ended() => return Got::Closed,
                Ok(0) => return Got::Closed,
                Ok(length) => {
                    self.pending.extend_from_slice(&self.buffer[..length]);
                    return Got::Bytes;
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Got::Nothing;
                }
                // The process was stopped and goes on: signal(7).
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Got::Closed,
            }
        }
    }

    fn read_once(&mut self, limit: Option<Duration>) -> io::Result<usize> {
        let limit = limit.map(|limit| limit.max(Duration::from_millis(1)));
        if limit != self.limit {
            self.link.stream.set_read_timeout(limit)?;
            self.limit = limit;
        }
        match &mut self.tls {
            None => (&self.link.stream).read(&mut self.buffer),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut &self.link.stream).read(&mut self.buffer),
        }
    }

    /// Waits until the client has closed the connection, without reading.
    pub fn outlast(&self, server: u16, limit: Duration) {
        let client = self.link.client();
        wait_until_told(client.as_slice(), server, limit);
    }

    /// Writes all of it: one `write` call as long as the kernel takes it.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.link.has_ended() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        match &mut self.tls {
            None => (&self.link.stream).write_all(bytes),
            Some(tls) => {
                let mut wire = &self.link.stream;
                let mut stream = rustls::Stream::new(&mut **tls, &mut wire);
                stream.write_all(bytes)?;
                stream.flush()
            }
        }
    }

    /// Ends the connection in order, unless it is to be reset.
    pub fn close(&mut self) {
        if self.reset {
            return;
        }
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = tls.write_tls(&mut &self.link.stream);
        }
        let _ = self.link.stream.shutdown(Shutdown::Both);
    }

    /// Makes the end of the connection a reset; it comes when the last owner lets go.
    pub fn reset(&mut self) {
        self.reset = true;
        self.link.reset_on_close();
    }
}
