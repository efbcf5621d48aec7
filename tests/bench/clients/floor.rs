//! `floor URL SECRETS`: the client that does what the wire asks for and nothing else. It looks into no answer but for its
//! end, and scrubs nothing.

mod turns;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::thread;

use turns::{Times, Turn};

const HEAD: &str = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
const SESSION: &str = "mcp-session-id: bench\r\nmcp-protocol-version: 2025-11-25\r\n";
const BUFFER: usize = 8 * 1024;

struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    fn open(host: &str) -> Result<Connection, String> {
        let stream = TcpStream::connect(host).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Connection { stream, answer: vec![0; BUFFER] })
    }

    /// Sends a request and reads the answer to its end.
    fn exchange(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream.write_all(request).map_err(|error| error.to_string())?;
        let (mut filled, mut end) = (0, None);
        loop {
            match self.stream.read(&mut self.answer[filled..]) {
                Ok(0) => return Err("the server has closed".into()),
                Ok(more) => filled += more,
                Err(error) => return Err(error.to_string()),
            }
            let answer = &self.answer[..filled];
            end = end.or_else(|| End::find(answer));
            match end {
                Some(End::At(length)) if filled >= length => return Ok(()),
                Some(End::At(length)) => self.answer.resize(length.max(BUFFER), 0),
                Some(End::LastChunk) if answer.ends_with(b"\r\n0\r\n\r\n") => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Where an answer ends.
#[derive(Clone, Copy)]
enum End {
    At(usize),
    LastChunk,
}

impl End {
    fn find(answer: &[u8]) -> Option<End> {
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let text = std::str::from_utf8(&answer[..head]).ok()?;
        match text.split_once("content-length: ") {
            Some((_, rest)) => rest.lines().next()?.parse().ok().map(|length: usize| End::At(head + length)),
            None => Some(End::LastChunk),
        }
    }
}

struct Floor {
    host: String,
    connections: Vec<Connection>,
}

impl Floor {
    fn open(host: &str) -> Result<Floor, String> {
        let mut connection = Connection::open(host)?;
        let client = r#""capabilities":{},"clientInfo":{"name":"floor","version":"1"}"#;
        let params = format!(r#"{{"protocolVersion":"2025-11-25",{client}}}"#);
        let hello = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
        connection.exchange(&request(host, "", &hello))?;
        connection.exchange(&request(host, SESSION, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#))?;
        Ok(Floor { host: host.to_owned(), connections: vec![connection] })
    }

    fn turn(&mut self, turn: &Turn) -> Result<Times, String> {
        while self.connections.len() < turn.width {
            self.connections.push(Connection::open(&self.host)?);
        }
        let params = format!(r#"{{"name":"{}","arguments":{{"n":1}}}}"#, turn.tool);
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let call = request(&self.host, SESSION, &call);
        if turn.width == 1 {
            return calls(&mut self.connections[0], &call, turn.count);
        }
        thread::scope(|scope| {
            let threads: Vec<_> = self.connections[..turn.width]
                .iter_mut()
                .map(|connection| scope.spawn(|| calls(connection, &call, turn.each())))
                .collect();
            Times::of_all(threads.into_iter().map(|thread| thread.join().expect("nothing panics")))
        })
    }
}

fn request(host: &str, session: &str, body: &str) -> Vec<u8> {
    format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\n{HEAD}\r\n{session}content-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn calls(connection: &mut Connection, request: &[u8], count: usize) -> Result<Times, String> {
    let mut times = Times::default();
    for _ in 0..count {
        let begin = times.begin();
        connection.exchange(request)?;
        times.keep(begin, String::new());
    }
    Ok(times)
}

fn run() -> Result<(), String> {
    let (url, _) = turns::place(std::env::args().skip(1))?;
    let host = url.strip_prefix("http://").ok_or("an http URL is meant")?;
    let mut floor = Floor::open(host)?;
    turns::take(|turn| floor.turn(turn))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("floor: {error}");
            ExitCode::FAILURE
        }
    }
}
