//! One connection: requests are read one after the other, recorded, and answered.

use std::sync::Arc;
use std::time::Duration;

use crate::exchange::Exchange;
use crate::prebuilt;
use crate::request::{BodyLength, Head, Request, dechunk};
use crate::script::{IdleEnd, KeepAlive, Refusal, Script};
use crate::shared::{Shared, Side};
use crate::socket::{Got, Link, Socket};

/// What becomes of a connection after a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    /// It stays.
    Keep,
    /// The server ends it.
    Close,
    /// The client has ended it.
    Gone,
}

/// Serves a connection until one of the two ends it.
pub fn serve(shared: &Arc<Shared>, link: Arc<Link>, number: u64) {
    let tls = match shared.tls.clone().map(rustls::ServerConnection::new).transpose() {
        Ok(tls) => tls,
        Err(error) => return shared.change(|state| state.faults.push(format!("TLS: {error}"))),
    };
    let Ok(mut socket) = Socket::new(link, tls) else { return shared.closed(number, Side::Client) };
    let mut served = 0;
    let side = loop {
        let script = shared.script();
        let Some(request) = next_request(&mut socket, shared, &script) else { break idle_end(&mut socket, &script) };
        served += 1;
        let request = request.on(number, served);
        // It may have been replaced while the connection was idle.
        let script = shared.script();
        let (request, rule) = shared.received(request, &script);
        match Exchange::new(shared, &script, &mut socket, request).perform(rule) {
            Flow::Keep => {}
            Flow::Gone => break Side::Client,
            Flow::Close => break Side::Server,
        }
    };
    if side == Side::Server {
        socket.close();
    }
    // Whoever ends connections waits for this one to be gone.
    drop(socket);
    shared.closed(number, side);
}

/// The connection ended without a further request: who did it?
fn idle_end(socket: &mut Socket, script: &Script) -> Side {
    match (socket.ended_by_server, &script.traits.keep_alive) {
        (false, _) => Side::Client,
        (true, Some(KeepAlive { end: IdleEnd::Reset | IdleEnd::ResetOnRequest, .. })) => {
            socket.reset();
            Side::Server
        }
        (true, _) => Side::Server,
    }
}

/// The next request, or `None` when the connection is over.
fn next_request(socket: &mut Socket, shared: &Shared, script: &Script) -> Option<Request> {
    let keep_alive = script.traits.keep_alive.as_ref();
    loop {
        if let Some(prebuilt) = &script.traits.prebuilt
            && prebuilt::answer(socket, shared, prebuilt, script.traits.sse)
        {
            continue;
        }
        if let Some(refusal) = &script.traits.refuses
            && refusal.is_for(&socket.pending)
        {
            refuse(socket, shared, refusal);
            return None;
        }
        if let Some(request) = take_request(&mut socket.pending) {
            return Some(request);
        }
        if socket.pending.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
            // TLS, as a rule. When it cannot be told, the client is gone.
            let _ = socket.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            socket.ended_by_server = true;
            return None;
        }
        let limit = keep_alive.map(|keep_alive| Duration::from_millis(keep_alive.ms));
        match socket.read(limit) {
            Got::Bytes => {}
            Got::Closed => return None,
            Got::Nothing if !socket.pending.is_empty() => {}
            Got::Nothing => {
                socket.ended_by_server = true;
                if keep_alive.is_some_and(|it| matches!(it.end, IdleEnd::CloseOnRequest | IdleEnd::ResetOnRequest)) {
                    socket.ended_by_server = socket.read(None) == Got::Bytes;
                }
                return None;
            }
        }
    }
}

/// Answers a request of which the head is all that was read.
fn refuse(socket: &mut Socket, shared: &Shared, refusal: &Refusal) {
    const LIMIT: Duration = Duration::from_secs(20);
    let _ = socket.write(refusal.answer.as_bytes());
    socket.ended_by_server = refusal.closes;
    if !refusal.closes {
        socket.outlast(shared.address.port(), LIMIT);
    }
}

impl Refusal {
    fn is_for(&self, pending: &[u8]) -> bool {
        Head::parse(pending).is_some_and(|head| matches!(head.body(), BodyLength::Bytes(length) if length > self.over))
    }
}

/// Takes a complete request from the bytes that were read.
fn take_request(pending: &mut Vec<u8>) -> Option<Request> {
    let head = Head::parse(pending)?;
    let (body, end) = match head.body() {
        BodyLength::Bytes(length) => (pending.get(head.length..head.length + length)?.to_vec(), head.length + length),
        BodyLength::Chunked => {
            let (body, length) = dechunk(&pending[head.length..])?;
            (body, head.length + length)
        }
    };
    pending.drain(..end);
    let json = serde_json::from_slice(&body).ok();
    Some(Request {
        number: 0,
        connection: 0,
        on_connection: 0,
        at: Duration::ZERO,
        method: head.method,
        target: head.target,
        headers: head.headers,
        body,
        json,
    })
}

impl Request {
    fn on(mut self, connection: u64, on_connection: u64) -> Request {
        self.connection = connection;
        self.on_connection = on_connection;
        self
    }
}
