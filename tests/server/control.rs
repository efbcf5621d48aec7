//! Commands to a running server, as JSON: what a test does to it from outside, between its own steps.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::action::Condition;
use crate::{Script, Server};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Command {
    #[serde(rename = "do")]
    verb: Option<Verb>,
    #[serde(rename = "await")]
    condition: Option<Condition>,
    release: Option<String>,
    script: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Verb {
    Stop,
    Kill,
    Refuse,
    Open,
    FillBacklog,
    Drop,
    Reset,
    Forget,
    Record,
}

/// Carries out a command: `{"do": "stop" | "kill" | "refuse" | "open" | "fillBacklog" | "drop" | "reset" | "forget" |
/// "record"}`, `{"await": CONDITION}`, `{"release": GATE}` or `{"script": SCRIPT}`. The result is the record, or true.
pub fn command(server: &Server, text: &str) -> Result<Value, String> {
    let command: Command = serde_json::from_str(text).map_err(|e| format!("{text}: {e}"))?;
    if let Some(condition) = command.condition {
        let arrived = server.wait(&condition, Duration::from_millis(condition.limit_ms));
        return if arrived { Ok(true.into()) } else { Err(format!("waited in vain: {text}")) };
    }
    if let Some(gate) = command.release {
        server.release(&gate);
    }
    if let Some(script) = command.script {
        server.set_script(Script::parse(script.get())?);
    }
    match command.verb {
        Some(verb) => perform(server, verb),
        None => Ok(true.into()),
    }
}

fn perform(server: &Server, verb: Verb) -> Result<Value, String> {
    match verb {
        Verb::Stop => server.stop(),
        Verb::Kill => server.kill(),
        Verb::Refuse => server.refuse(),
        Verb::Open => server.open().map_err(|e| e.to_string())?,
        Verb::FillBacklog => server.fill_backlog().map_err(|e| e.to_string())?,
        Verb::Drop => server.drop_connections(),
        Verb::Reset => server.reset_connections(),
        Verb::Forget => server.forget_sessions(),
        Verb::Record => return Ok(server.record()),
    }
    Ok(true.into())
}

/// Where the server is: the first line that the program prints.
pub fn describe(server: &Server) -> Value {
    let mut all = json!({"port": server.port(), "url": server.url()});
    if let Some(path) = server.ca_file() {
        all["ca"] = path.to_string_lossy().into();
    }
    all
}
