//! The tools of the demo's servers: they really do what they are asked, within a short allow list.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// What `run_command` may start. No shell is involved: the words of the command are its arguments as they stand.
const ALLOWED: [&str; 7] = ["cat", "date", "getent", "id", "nproc", "openssl", "uname"];

/// A JSON-RPC error: its code and message.
type Refusal = (i64, String);

pub fn definitions() -> Value {
    json!([
        {
            "name": "run_command",
            "description": format!("Runs one of {}, without a shell", ALLOWED.join(", ")),
            "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
        {
            "name": "check_port",
            "description": "Says whether a TCP port of this machine is open",
            "inputSchema": {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]},
        },
    ])
}

pub fn call(name: &Value, arguments: &Value, workspace: &Path) -> Result<Value, Refusal> {
    match name.as_str() {
        Some("run_command") => Ok(content(run_command(&arguments["command"], workspace))),
        Some("check_port") => Ok(content(check_port(&arguments["port"]))),
        _ => Err((-32602, format!("Unknown tool: {}", name.as_str().unwrap_or("?")))),
    }
}

fn content(outcome: Result<String, String>) -> Value {
    let is_error = outcome.is_err();
    let text = outcome.unwrap_or_else(|text| text);
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

/// Runs the command and answers as a Kali box does: the command, its exit status, its output.
fn run_command(command: &Value, workspace: &Path) -> Result<String, String> {
    let command = command.as_str().ok_or("command: a string is needed")?;
    let mut words = command.split_whitespace();
    let program = words.next().filter(|program| ALLOWED.contains(program)).ok_or("not on the allow list")?;
    let words: Vec<&str> = words.collect();
    if program == "cat" && words.iter().any(|word| word.contains('/')) {
        return Err("cat reads files of the workspace alone".to_owned());
    }
    let run = Command::new(program).args(words).current_dir(workspace).stdin(Stdio::null()).output();
    let (code, output) = match run {
        Ok(run) => {
            let text = [run.stdout, run.stderr].concat();
            (run.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => (127, format!("{program}: {error}\n")),
    };
    Ok(format!("$ {command}\n(exit {code})\n{output}"))
}

fn check_port(port: &Value) -> Result<String, String> {
    let port = port.as_u64().and_then(|port| u16::try_from(port).ok()).ok_or("port: a number is needed")?;
    match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        Ok(_) => Ok(format!("{port}/tcp open")),
        Err(error) => Err(format!("{port}/tcp closed: {error}")),
    }
}
