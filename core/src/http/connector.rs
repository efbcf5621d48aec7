//! The connections that ureq uses. One write a request, one probe of a kept connection, buffers of the size of the
//! traffic, and a socket that another thread can shut down.

use std::fmt;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, Either, NextTimeout, RustlsConnector, Transport,
};

use super::buffers::ConnectionBuffers;
use super::dial::{CONNECT_LIMIT, NOT_LOOKED_UP, dial, stopped};
use super::wire::{Phase, Wire};

/// What comes is used as it comes, but for lines: those of the head, and the sizes of chunks.
const LONGEST_UNREAD: usize = 512 * 1024;

/// While the server takes nothing of a request, whether it has answered is looked at so often.
const LOOK: Duration = Duration::from_millis(250);

/// Goes through a proxy where there is one.
#[derive(Debug, Default)]
pub(super) struct Tunnel(ConnectProxyConnector);

impl<In: Transport> Connector<In> for Tunnel {
    type Out = <ConnectProxyConnector as Connector<In>>::Out;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, ureq::Error> {
        match chained {
            Some(transport) => Ok(Some(Either::A(transport))),
            None if details.config.proxy().is_none() => Ok(None),
            None => self.open::<In>(details),
        }
    }
}

impl Tunnel {
    /// Takes much of the stack, which calls without a proxy, a thousand at once perhaps, should not have to touch.
    #[inline(never)]
    fn open<In: Transport>(
        &self,
        details: &ConnectionDetails,
    ) -> Result<Option<<ConnectProxyConnector as Connector<In>>::Out>, ureq::Error> {
        Connector::<In>::connect(&self.0, details, None)
    }
}

/// Opens the socket.
pub(super) struct Dial(pub(super) Arc<Wire>);

impl<In: Transport> Connector<In> for Dial {
    type Out = Either<In, Tcp>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, ureq::Error> {
        if let Some(transport) = chained {
            return Ok(Some(Either::A(transport)));
        }
        let wire = &self.0;
        wire.connect_within(CONNECT_LIMIT);
        let looked_up;
        let addresses = match details.addrs.first() {
            // The kept connection turned out to be closed after all.
            Some(address) if *address == NOT_LOOKED_UP => {
                looked_up = details.resolver.resolve(details.uri, details.config, details.timeout)?;
                &looked_up
            }
            _ => &details.addrs,
        };
        wire.enter(Phase::Connecting);
        let stream = Arc::new(dial(wire, addresses)?);
        wire.opened(&stream).map_err(stopped)?;
        wire.enter(Phase::Securing);
        let mut buffers = ConnectionBuffers::default();
        buffers.make_room(wire.room());
        let transport =
            Tcp { wire: wire.clone(), stream, buffers, read_timeout: None, write_timeout: None, refused: false };
        Ok(Some(Either::B(transport)))
    }
}

/// TLS, with one configuration for all connections of a client.
pub(super) struct Secure(pub(super) Arc<RustlsConnector>);

impl<In: Transport> Connector<In> for Secure {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, ureq::Error> {
        match chained {
            Some(transport) if !details.needs_tls() || transport.is_tls() => Ok(Some(Either::A(transport))),
            chained => self.secure(details, chained),
        }
    }
}

impl Secure {
    /// Takes much of the stack, as `Tunnel::open` does.
    #[inline(never)]
    fn secure<In: Transport>(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<<RustlsConnector as Connector<In>>::Out>, ureq::Error> {
        self.0.connect(details, chained)
    }
}

/// Notes that the connection stands.
pub(super) struct Connected {
    pub(super) wire: Arc<Wire>,
    pub(super) proxied: bool,
}

impl<In: Transport> Connector<In> for Connected {
    type Out = In;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<In>, ureq::Error> {
        // To reach a proxy ureq runs this chain with a configuration that has none: that is not yet the server.
        if details.config.proxy().is_some() == self.proxied {
            self.wire.connected();
        }
        Ok(chained)
    }
}

pub(super) struct Tcp {
    wire: Arc<Wire>,
    stream: Arc<TcpStream>,
    buffers: ConnectionBuffers,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    /// The server has answered before it had the whole request, and gets no more of it.
    refused: bool,
}

impl Tcp {
    /// Sends what is held back.
    fn flush(&mut self) -> Result<(), ureq::Error> {
        let mut rest = self.buffers.held();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() && !self.refused {
            let step = step(self.write_timeout, self.wire.sending().map_err(stopped)?.min(LOOK));
            if self.write_timeout != Some(step) {
                self.stream.set_write_timeout(Some(step))?;
                self.write_timeout = Some(step);
            }
            match (&*self.stream).write(rest) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(sent) => rest = &rest[sent..],
                Err(error) if is_retried(&error) => self.refused = answered(&self.stream).is_some_and(is_refusal),
                // Nothing more can be sent, and what was said before is heard.
                Err(_) if answered(&self.stream).is_some_and(|status| status != IDLE) => self.refused = true,
                Err(error) => return Err(error.into()),
            }
        }
        self.buffers.sent();
        Ok(())
    }

    fn receive(&mut self) -> Result<usize, ureq::Error> {
        if self.buffers.unread() > LONGEST_UNREAD {
            return Err(io::Error::other("a line without end").into());
        }
        if self.wire.arrived_only() && arrived(&self.stream)? == Arrived::Nothing {
            return Err(io::Error::from(io::ErrorKind::WouldBlock).into());
        }
        loop {
            let step = step(self.read_timeout, self.wire.remaining().map_err(stopped)?);
            if self.read_timeout != Some(step) {
                self.stream.set_read_timeout(Some(step))?;
                self.read_timeout = Some(step);
            }
            match (&*self.stream).read(self.buffers.input_append_buf()) {
                Ok(amount) => return Ok(amount),
                Err(error) if is_retried(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// How long one system call may block: the whole time that is left when the socket is set to that already, or to
/// something near it; else the largest power of two below it. So a kept connection needs no call to set it, a call that
/// waits for long wakes up a few times at most, and no deadline is passed by more than a millisecond.
fn step(set: Option<Duration>, left: Duration) -> Duration {
    match set {
        Some(set) if set <= left && left < set * 4 => set,
        _ => {
            let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 24);
            Duration::from_millis(1 << millis.ilog2())
        }
    }
}

/// A signal, or the end of a step.
fn is_retried(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[derive(PartialEq, Eq)]
enum Arrived {
    Nothing,
    Data,
    End,
}

/// What is there to read, without waiting and without reading it.
fn arrived(stream: &TcpStream) -> io::Result<Arrived> {
    let mut byte = [MaybeUninit::uninit()];
    loop {
        return match SockRef::from(stream).recv_with_flags(&mut byte, libc::MSG_PEEK | libc::MSG_DONTWAIT) {
            Ok(0) => Ok(Arrived::End),
            Ok(_) => Ok(Arrived::Data),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Arrived::Nothing),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

/// 408: what a server says on a connection that it has seen idle, as a rule before the request.
const IDLE: [u8; 3] = *b"408";

/// Nobody need read the rest of a request that is refused, nor will: RFC 9112, section 9.5. Who takes it is not held up
/// by an early head of his.
fn is_refusal(status: [u8; 3]) -> bool {
    matches!(status[0], b'3'..=b'5') && status != IDLE
}

/// The status of an answer that is there already, unless it is an interim one. Over TLS there is no telling.
fn answered(stream: &TcpStream) -> Option<[u8; 3]> {
    // "HTTP/1.1 413"
    let mut line = [0; 12];
    // Since something is there, this does not wait.
    let is_there =
        matches!(arrived(stream), Ok(Arrived::Data)) && stream.peek(&mut line).is_ok_and(|it| it == line.len());
    let [version @ .., first, second, third] = line;
    let is_final = version.starts_with(b"HTTP/1.") && matches!(first, b'2'..=b'5');
    (is_there && is_final).then_some([first, second, third])
}

impl Transport for Tcp {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        if self.buffers.hold(amount) { self.flush() } else { Ok(()) }
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        self.flush()?;
        let amount = self.receive()?;
        if amount == 0 {
            // A stop shuts the socket down, which looks like its end.
            if let Some(stop) = self.wire.scope().and_then(|scope| scope.stopped()) {
                return Err(stopped(stop).into());
            }
        } else {
            self.wire.answering();
        }
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// ureq asks when it puts a connection away and again when it takes it out: only the second is worth a system call.
    fn is_open(&mut self) -> bool {
        if self.refused {
            return false;
        }
        if self.wire.phase() != Phase::Idle {
            self.buffers.shrink();
            return true;
        }
        self.buffers.make_room(self.wire.room());
        matches!(arrived(&self.stream), Ok(Arrived::Nothing))
    }
}

impl Drop for Tcp {
    fn drop(&mut self) {
        self.wire.closed();
    }
}

impl fmt::Debug for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tcp").field("peer", &self.stream.peer_addr().ok()).finish()
    }
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secure")
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connected")
    }
}
