//! An MCP server for the demo, on the standard library alone: one thread a connection, answers in JSON.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::{io, thread};

use serde_json::{Value, json};

use crate::tools;

/// The largest request that the server reads.
const LIMIT: usize = 1 << 20;

struct Shared {
    workspace: Box<Path>,
    dead: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

impl Server {
    /// Listens on a free port of 127.0.0.1. The tools run in `workspace`.
    pub fn start(workspace: &Path) -> io::Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let connections = Mutex::default();
        let shared = Arc::new(Shared { workspace: workspace.into(), dead: AtomicBool::new(false), connections });
        let for_thread = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(listener, &for_thread));
        Ok(Server { address, shared, acceptor })
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Ends as a crash would: the port is closed and every connection cut.
    pub fn kill(self) {
        self.shared.dead.store(true, Ordering::SeqCst);
        // Wakes the thread that waits in accept, so that it lets go of the port.
        let _ = TcpStream::connect(self.address);
        let _ = self.acceptor.join();
        for connection in self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// Takes ownership of the listener, so that the port is closed when it returns.
fn accept(listener: TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming().map_while(Result::ok) {
        if shared.dead.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(clone) = connection.try_clone() {
            shared.connections.lock().unwrap_or_else(PoisonError::into_inner).push(clone);
        }
        let shared = Arc::clone(shared);
        // A connection that breaks ends its thread and concerns nobody else.
        thread::spawn(move || serve(&connection, &shared));
    }
}

fn serve(connection: &TcpStream, shared: &Shared) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    while let Some((method, body)) = read_request(&mut reader)? {
        let answer = match method.as_str() {
            "POST" => answer(&body, &shared.workspace),
            "DELETE" => response("200 OK", ""),
            _ => response("405 Method Not Allowed", ""),
        };
        let mut writer = connection;
        writer.write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// The method and body of the next request, or none when the client has closed the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(usize::MAX);
        }
    }
    if length > LIMIT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((method, body)))
}

fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nmcp-session-id: demo\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn answer(body: &[u8], workspace: &Path) -> String {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return response("400 Bad Request", "");
    };
    if request.get("id").is_none() {
        return response("202 Accepted", "");
    }
    let params = &request["params"];
    let outcome = match request["method"].as_str() {
        Some("initialize") => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "sweep-demo", "version": "1"},
        })),
        Some("tools/list") => Ok(json!({"tools": tools::definitions()})),
        Some("tools/call") => tools::call(&params["name"], &params["arguments"], workspace),
        _ => Err((-32601, "Method not found".to_owned())),
    };
    let answer = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": request["id"], "result": result}),
        Err((code, message)) => {
            json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
        }
    };
    response("200 OK", &answer.to_string())
}
