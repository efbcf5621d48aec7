//! `server TEXT WAIT_MS`: the server that all clients of the bench are measured against. It prints its URL and serves
//! until its input ends.
//!
//! A thread has a connection, and what the tools answer is made once, so that little is measured but the client. Which
//! of them answers how: see [`tools`]. TEXT is the file with the output of a scan, WAIT_MS how long the slow tool takes.

use std::collections::HashMap;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use socket2::{Domain, Socket, Type};

/// So many connections may come at once without one that is lost and sent again a second later.
const BACKLOG: i32 = 4096;
const STACK: usize = 64 * 1024;
const BUFFER: usize = 8 * 1024;
const SMALL: usize = 64;

const SESSION: &str = "mcp-session-id: bench\r\n";

/// How a tool answers.
struct Tool {
    form: Form,
    wait: Duration,
    /// The response behind its id.
    tail: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Form {
    Json,
    Events,
}

impl Tool {
    fn new(form: Form, wait: Duration, text: &str) -> Tool {
        let text = serde_json::Value::from(text);
        let tail = format!(r#","result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#);
        Tool { form, wait, tail: tail.into_bytes() }
    }
}

/// Every tool by its name.
fn tools(scan: &str, wait: Duration) -> HashMap<&'static str, Tool> {
    let small = "x".repeat(SMALL);
    HashMap::from([
        ("small", Tool::new(Form::Json, Duration::ZERO, &small)),
        ("events", Tool::new(Form::Events, Duration::ZERO, &small)),
        ("slow", Tool::new(Form::Json, wait, &small)),
        ("scan", Tool::new(Form::Json, Duration::ZERO, scan)),
        ("scan16", Tool::new(Form::Json, Duration::ZERO, &scan.repeat(16))),
    ])
}

/// What counts of a message.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: &'a str,
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    name: Option<&'a str>,
    #[serde(rename = "protocolVersion")]
    version: Option<&'a str>,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// Where the head of the request ends, and its body.
#[derive(Clone, Copy)]
struct Bounds {
    body: usize,
    end: usize,
}

impl Connection {
    /// Reads a request, which is at the beginning of the buffer; `None` when the client has closed.
    fn read(&mut self) -> io::Result<Option<Bounds>> {
        loop {
            if let Some(bounds) = bounds(&self.buffer[..self.filled])
                && bounds.end <= self.filled
            {
                return Ok(Some(bounds));
            }
            if self.filled == self.buffer.len() {
                self.buffer.resize(2 * self.filled, 0);
            }
            match self.stream.read(&mut self.buffer[self.filled..])? {
                0 => return Ok(None),
                more => self.filled += more,
            }
        }
    }

    fn serve(&mut self, tools: &HashMap<&'static str, Tool>) -> io::Result<()> {
        while let Some(bounds) = self.read()? {
            let request = &self.buffer[..bounds.end];
            if request.starts_with(b"POST ") {
                answer(&self.stream, &request[bounds.body..], tools)?;
            } else if request.starts_with(b"DELETE ") {
                (&self.stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
            } else {
                (&self.stream).write_all(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")?;
            }
            self.buffer.copy_within(bounds.end..self.filled, 0);
            self.filled -= bounds.end;
        }
        Ok(())
    }
}

fn bounds(bytes: &[u8]) -> Option<Bounds> {
    let body = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let length = bytes[..body].split(|&byte| byte == b'\n').find_map(content_length).unwrap_or(0);
    Some(Bounds { body, end: body + length })
}

fn content_length(line: &[u8]) -> Option<usize> {
    let (name, value) = line.split_at_checked("content-length:".len())?;
    let value = name.eq_ignore_ascii_case(b"content-length:").then_some(value)?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Answers a message.
fn answer(stream: &TcpStream, body: &[u8], tools: &HashMap<&'static str, Tool>) -> io::Result<()> {
    let message: Message = serde_json::from_slice(body)?;
    let Some(id) = message.id else {
        return (&*stream).write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    };
    let params = message.params.as_ref();
    let tool = params.and_then(|params| params.name).and_then(|name| tools.get(name));
    match (message.method, tool) {
        ("tools/call", Some(tool)) => {
            if !tool.wait.is_zero() {
                thread::sleep(tool.wait);
            }
            respond(stream, tool.form, id.get(), &tool.tail)
        }
        ("initialize", _) => {
            let version = params.and_then(|params| params.version).unwrap_or("2025-11-25");
            let more = r#""capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}"#;
            let tail = format!(r#","result":{{"protocolVersion":"{version}",{more}}}}}"#);
            respond(stream, Form::Json, id.get(), tail.as_bytes())
        }
        ("tools/list", _) => respond(stream, Form::Json, id.get(), list(tools).as_bytes()),
        _ => {
            let tail = br#","error":{"code":-32601,"message":"no such method or tool"}}"#;
            respond(stream, Form::Json, id.get(), tail)
        }
    }
}

fn list(tools: &HashMap<&'static str, Tool>) -> String {
    let tools: Vec<_> =
        tools.keys().map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).collect();
    format!(r#","result":{{"tools":[{}]}}}}"#, tools.join(","))
}

/// Writes the response at once: what is large is not copied.
fn respond(mut stream: &TcpStream, form: Form, id: &str, tail: &[u8]) -> io::Result<()> {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id}"#);
    let length = start.len() + tail.len();
    let (head, end) = match form {
        Form::Json => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
            (format!("{head}\r\n{SESSION}content-length: {length}\r\n\r\n{start}"), "")
        }
        Form::Events => {
            let event = "event: message\ndata: ";
            let size = event.len() + length + 2;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
            (format!("{head}\r\n{SESSION}\r\n{size:x}\r\n{event}{start}"), "\n\n\r\n0\r\n\r\n")
        }
    };
    let mut parts = [IoSlice::new(head.as_bytes()), IoSlice::new(tail), IoSlice::new(end.as_bytes())];
    let mut parts = &mut parts[..];
    while !parts.is_empty() {
        match stream.write_vectored(parts)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut parts, written),
        }
    }
    Ok(())
}

fn listen() -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn accept(listener: &TcpListener, tools: &Arc<HashMap<&'static str, Tool>>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let tools = Arc::clone(tools);
        thread::Builder::new().stack_size(STACK).spawn(move || {
            let served = stream
                .set_nodelay(true)
                .and_then(|()| Connection { stream, buffer: vec![0; BUFFER], filled: 0 }.serve(&tools));
            // Clients that end are no fault; a message that is none is.
            if let Err(error) = served
                && error.kind() == io::ErrorKind::InvalidData
            {
                eprintln!("bench server: {error}");
            }
        })?;
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, wait] = &arguments[..] else { return Err("TEXT and WAIT_MS are missing".into()) };
    let wait = Duration::from_millis(wait.parse()?);
    let tools = Arc::new(tools(&std::fs::read_to_string(text)?, wait));
    let listener = listen()?;
    println!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        if let Err(error) = accept(&listener, &tools) {
            eprintln!("bench server: {error}");
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench server: {error}");
            ExitCode::FAILURE
        }
    }
}
