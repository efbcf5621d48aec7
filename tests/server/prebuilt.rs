//! The fast path: the same answer to every `tools/call`, without parsing, recording or locking. A benchmark measures the
//! client beside it, not the server.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::request::find;
use crate::script::Prebuilt;
use crate::shared::Shared;
use crate::socket::{Got, Socket};

/// Above this size head and body are written apart: copying them together would cost more than the second write.
const TOGETHER: usize = 64 * 1024;

/// Answers the request at the beginning of `pending` if it is a complete `tools/call`; false if it is not.
pub fn answer(socket: &mut Socket, shared: &Shared, prebuilt: &Prebuilt, sse: bool) -> bool {
    let Some((id, end)) = call(&socket.pending) else { return false };
    socket.pending.drain(..end);
    shared.unrecorded.fetch_add(1, Ordering::Relaxed);
    let gone = prebuilt.delay_ms > 0 && socket.read(Some(Duration::from_millis(prebuilt.delay_ms))) == Got::Closed;
    if !gone {
        // When it fails, the next read says so.
        let _ = write(socket, &id, tail(prebuilt), sse);
    }
    true
}

/// The id of a complete `tools/call` at the beginning of `bytes`, and where it ends.
fn call(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let length = content_length(&bytes[..head])?;
    let body = bytes.get(head..head + length)?;
    find(body, br#""method":"tools/call""#)?;
    let id = &body[find(body, br#""id":"#)? + 5..];
    let id = &id[..id.iter().position(|byte| matches!(byte, b',' | b'}'))?];
    Some((id.to_vec(), head + length))
}

fn content_length(head: &[u8]) -> Option<usize> {
    let name = b"content-length:";
    let line = head
        .split(|&byte| byte == b'\n')
        .find(|line| line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name))?;
    std::str::from_utf8(&line[name.len()..]).ok()?.trim().parse().ok()
}

fn write(socket: &mut Socket, id: &[u8], tail: &[u8], sse: bool) -> std::io::Result<()> {
    let start: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    let json = start.len() + id.len() + tail.len();
    let mut out = Vec::with_capacity(256 + json.min(TOGETHER));
    if sse {
        let event = b"event: message\ndata: ".len() + json + 2;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
        out.extend_from_slice(format!("{head}\r\n\r\n{event:x}\r\nevent: message\ndata: ").as_bytes());
    } else {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        out.extend_from_slice(format!("{head} {json}\r\n\r\n").as_bytes());
    }
    out.extend_from_slice(start);
    out.extend_from_slice(id);
    let end: &[u8] = if sse { b"\n\n\r\n0\r\n\r\n" } else { b"" };
    if tail.len() > TOGETHER {
        socket.write(&out)?;
        socket.write(tail)?;
        return if end.is_empty() { Ok(()) } else { socket.write(end) };
    }
    out.extend_from_slice(tail);
    out.extend_from_slice(end);
    socket.write(&out)
}

/// What follows the id.
fn tail(prebuilt: &Prebuilt) -> &[u8] {
    prebuilt.tail.get_or_init(|| {
        let text = "x".repeat(prebuilt.bytes);
        format!(r#","result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#).into_bytes()
    })
}
