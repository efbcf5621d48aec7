//! A connection's bytes, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConnection;
use socket2::SockRef;

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

/// A connection's bytes.
pub struct Socket {
    stream: Arc<TcpStream>,
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
    pub fn new(stream: Arc<TcpStream>, tls: Option<ServerConnection>) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_LIMIT))?;
        Ok(Socket {
            stream,
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
        let limit = limit.map(|limit| limit.max(Duration::from_millis(1)));
        if limit != self.limit && self.stream.set_read_timeout(limit).is_err() {
            return Got::Closed;
        }
        self.limit = limit;
        let read = match &mut self.tls {
            None => (&*self.stream).read(&mut self.buffer),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut &*self.stream).read(&mut self.buffer),
        };
        match read {
            Ok(0) => Got::Closed,
            Ok(length) => {
                self.pending.extend_from_slice(&self.buffer[..length]);
                Got::Bytes
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Got::Nothing,
            Err(_) => Got::Closed,
        }
    }

    /// Writes all of it: one `write` call as long as the kernel takes it.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            None => (&*self.stream).write_all(bytes),
            Some(tls) => {
                let mut wire = &*self.stream;
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
            let _ = tls.write_tls(&mut &*self.stream);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Makes the end of the connection a reset; it comes when the last owner lets go.
    pub fn reset(&mut self) {
        self.reset = true;
        reset_on_close(&self.stream);
    }
}

/// Makes closing `stream` a reset.
pub fn reset_on_close(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
