//! The scripted server itself, seen from a raw socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use verifi_tests::{Server, Side, command};

/// A client that knows HTTP just well enough.
struct Client(TcpStream);

impl Client {
    fn new(server: &Server) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Client(stream)
    }

    fn send(&mut self, headers: &str, body: &str) {
        let accept = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
        let length = body.len();
        let request =
            format!("POST /mcp HTTP/1.1\r\nhost: x\r\n{accept}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.0.write_all(request.as_bytes()).unwrap();
    }

    /// Everything up to `end`.
    fn until(&mut self, end: &str) -> String {
        let mut all = Vec::new();
        let mut byte = [0];
        while !all.ends_with(end.as_bytes()) && self.0.read(&mut byte).unwrap() == 1 {
            all.push(byte[0]);
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Everything up to the end of the connection, and how it ended.
    fn rest(&mut self) -> (String, std::io::Result<usize>) {
        let mut all = Vec::new();
        let end = self.0.read_to_end(&mut all);
        (String::from_utf8_lossy(&all).into_owned(), end)
    }

    fn shake_hands(&mut self) -> String {
        self.send("", r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}"#);
        let answer = self.until("}}}");
        let session = answer.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let header = format!("mcp-session-id: {session}\r\n");
        self.send(&header, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(self.until("\r\n\r\n").starts_with("HTTP/1.1 202"));
        header
    }
}

fn call(id: u32, tool: &str, arguments: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        .to_string()
}

fn lenient(rules: Value) -> Server {
    Server::from_json(&json!({"lenient": true, "rules": rules}).to_string()).unwrap()
}

#[test]
fn the_empty_script_is_a_strict_server() {
    let server = Server::from_json("{}").unwrap();
    let mut client = Client::new(&server);
    client.send("", &call(1, "echo", json!({"text": "hi"})));
    assert!(client.until("\"}}").contains("Missing session ID"));
    let session = client.shake_hands();
    client.send(&session, &call(2, "echo", json!({"text": "hi"})));
    assert!(
        client
            .until("}]}}")
            .ends_with(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hi"}]}}"#)
    );
    server.forget_sessions();
    client.send(&session, &call(3, "echo", json!({})));
    assert!(client.until("\"}}").starts_with("HTTP/1.1 404"));
    let record = server.record();
    assert_eq!(record["requests"].as_array().unwrap().len(), 5);
    assert_eq!(record["requests"][3]["tool"], "echo");
    assert_eq!(server.connections().len(), 1);
    assert_eq!(server.faults(), Vec::<String>::new());
}

#[test]
fn a_rule_falls_on_the_nth_request_that_fits() {
    let server = lenient(json!([
        {"on": {"tool": "echo", "nth": 2}, "do": [{"error": {"code": -1, "message": "second"}}]},
        {"on": {"body": {"id": 9}}, "do": [{"result": {"n": "{{n}}", "id": "{{id:string}}"}}]}
    ]));
    let mut client = Client::new(&server);
    client.send("", &call(1, "echo", json!({"text": "hi"})));
    assert!(client.until("}}").contains("hi"));
    client.send("", &call(2, "echo", json!({})));
    assert!(client.until("}}").contains("second"));
    client.send("", &call(9, "add", json!({})));
    let answer = client.until("}}");
    assert!(answer.ends_with(r#""id":9,"result":{"id":"9","n":1}}"#), "{answer}");
}

#[test]
fn bodies_are_cut_split_and_reset_where_the_script_says() {
    let server = lenient(json!([
        {"on": {"tool": "cut"}, "do": [{"answer": {"body": "0123456789", "cut": 4}}, "close"]},
        {"on": {"tool": "reset"}, "do": [{"answer": {"body": "0123456789", "cut": 4, "pieces": 1}}, "reset"]},
        {"on": {"tool": "chunks"}, "do": [{"sse": ["ab", {"data": {"id": "{{id}}"}}], "with": {"pieces": [1, 50]}}]},
        {"on": {"tool": "gzip"}, "do": [{"sse": [{"data": "x"}], "with": {"gzip": true}}]}
    ]));
    let mut client = Client::new(&server);
    client.send("", &call(1, "cut", json!({})));
    let (text, end) = client.rest();
    assert!(text.ends_with("content-length: 10\r\n\r\n0123") && end.is_ok(), "{text} {end:?}");

    let mut client = Client::new(&server);
    client.send("", &call(1, "reset", json!({})));
    let (_, end) = client.rest();
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);

    let mut client = Client::new(&server);
    client.send("", &call(5, "chunks", json!({})));
    let answer = client.until("0\r\n\r\n");
    assert!(
        answer.contains("\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\ne\r\n1e\r\nvent: message\ndata: {\"id\":5}\n\n\r\n0"),
        "{answer}"
    );

    client.send("", &call(6, "gzip", json!({})));
    assert!(client.until("0\r\n\r\n").contains("content-encoding: gzip"));
    assert!(server.wait(&serde_json::from_value(json!({"request": {"tool": "gzip"}})).unwrap(), Duration::ZERO));
}

#[test]
fn an_ask_waits_for_its_answer_and_a_gate_for_the_test() {
    let server = lenient(json!([{"on": {"tool": "ask"}, "do": [
        {"sse": [{"ask": {"jsonrpc": "2.0", "id": "p1", "method": "ping"}}, {"await": {"gate": "go"}}, {"result": {}}]}
    ]}]));
    let mut client = Client::new(&server);
    client.send("", &call(1, "ask", json!({})));
    client.until("\"ping\"}\n\n");
    let mut other = Client::new(&server);
    other.send("", r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#);
    assert!(other.until("\r\n\r\n").starts_with("HTTP/1.1 202"));
    server.release("go");
    assert!(client.until("0\r\n\r\n").contains(r#""id":1,"result":{}"#));
}

#[test]
fn a_port_refuses_hangs_and_comes_back() {
    let server = Server::from_json(r#"{"listen": "refuse"}"#).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200)).map_err(|e| e.kind());
    assert_eq!(connect().unwrap_err(), std::io::ErrorKind::ConnectionRefused);
    server.open().unwrap();
    let mut client = Client(connect().unwrap());
    client.shake_hands();
    server.kill();
    assert_eq!(client.rest().1.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(connect().unwrap_err(), std::io::ErrorKind::ConnectionRefused);
    server.fill_backlog().unwrap();
    assert_eq!(connect().unwrap_err(), std::io::ErrorKind::TimedOut);
    server.open().unwrap();
    assert!(connect().is_ok());
}

#[test]
fn it_sees_who_closed() {
    let server = lenient(json!([{"on": {"tool": "hang"}, "do": ["hang"]}]));
    let mut client = Client::new(&server);
    client.send("", &call(1, "hang", json!({})));
    assert_eq!(command(&server, r#"{"await": {"request": {"tool": "hang"}}}"#), Ok(true.into()));
    drop(client);
    assert_eq!(command(&server, r#"{"await": {"clientClosed": 1}}"#), Ok(true.into()));
    let mut client = Client::new(&server);
    client.send("", &call(1, "echo", json!({})));
    client.until("}]}}");
    server.drop_connections();
    assert_eq!(client.rest().0, "");
    let sides: Vec<Side> = server.connections().iter().filter_map(|c| Some(c.closed?.1)).collect();
    assert_eq!(sides, [Side::Client, Side::Server]);
}

#[test]
fn an_idle_connection_ends_as_the_script_says() {
    let server = Server::from_json(r#"{"lenient": true, "keepAlive": {"ms": 1000, "header": true}}"#).unwrap();
    let mut client = Client::new(&server);
    let begin = Instant::now();
    client.send("", &call(1, "echo", json!({})));
    assert!(client.until("\r\n\r\n").contains("keep-alive: timeout=1\r\n"));
    assert!(client.rest().1.is_ok());
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_thousand_connections_and_prebuilt_answers() {
    let server = Server::from_json(r#"{"prebuilt": {"bytes": 8, "delayMs": 200}}"#).unwrap();
    let mut clients: Vec<Client> = (0..1000).map(|_| Client::new(&server)).collect();
    clients.iter_mut().for_each(|client| client.send("", &call(77, "any", json!({}))));
    let begin = Instant::now();
    for client in &mut clients {
        assert!(client.until("}]}}").ends_with(r#""id":77,"result":{"content":[{"type":"text","text":"xxxxxxxx"}]}}"#));
    }
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(server.record()["unrecorded"], 1000);
}

#[test]
fn the_program_is_driven_by_lines() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scripted-server"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let mut ask = |line: &str| {
        writeln!(input, "{line}").unwrap();
        serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap()
    };
    let place = ask(r#"{"lenient": true, "sse": true}"#);
    let mut client = Client(TcpStream::connect(("127.0.0.1", place["port"].as_u64().unwrap() as u16)).unwrap());
    client.send("", &call(1, "echo", json!({"text": "hi"})));
    assert!(client.until("0\r\n\r\n").contains("event: message\ndata: {\"jsonrpc\""));
    assert_eq!(ask(r#"{"do": "record"}"#)["ok"]["requests"][0]["body"]["params"]["name"], "echo");
    assert!(ask(r#"{"do": "nonsense"}"#)["error"].as_str().unwrap().contains("nonsense"));
    drop(input);
    assert!(program.wait().unwrap().success());
}
