//! `scripted-server [--port N] [--sse] [--stay] [SCRIPT.json | -]`: a scripted MCP server as a program.
//!
//! It prints where it is as one JSON line and serves until its standard input ends (`--stay`: until it is killed). Each
//! line of its input is a command (`{"do": "record"}`, see `tests/README.md`), answered with one line. With `-` the
//! first line is the script.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use verifi_tests::{Port, Script, Server, command, describe};

#[derive(Default)]
struct Options {
    port: u16,
    sse: bool,
    stay: bool,
    script: Option<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--port" => {
                    let port = arguments.next().and_then(|port| port.parse().ok());
                    options.port = port.ok_or("--port: a number is missing")?;
                }
                "--sse" => options.sse = true,
                "--stay" => options.stay = true,
                flag if flag.starts_with("--") => return Err(format!("{flag}: no such option")),
                _ => options.script = Some(argument),
            }
        }
        Ok(options)
    }

    fn script(&self) -> Result<Script, String> {
        let text = match self.script.as_deref() {
            None => "{}".to_owned(),
            Some("-") => io::stdin().lines().next().and_then(Result::ok).unwrap_or_default(),
            Some(path) => std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?,
        };
        let mut script = Script::parse(&text)?;
        script.traits.sse |= self.sse;
        Ok(script)
    }
}

fn run() -> Result<(), String> {
    let options = Options::parse(std::env::args().skip(1))?;
    let script = options.script()?;
    let port = Port::hold(script.traits.ipv6, options.port).map_err(|e| e.to_string())?;
    let server = Server::start_on(port, script)?;
    say(&describe(&server));
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        match command(&server, &line) {
            Ok(value) => say(&json!({"ok": value})),
            Err(error) => say(&json!({"error": error})),
        }
    }
    if options.stay {
        loop {
            std::thread::park();
        }
    }
    Ok(())
}

fn say(value: &Value) {
    // Nobody reads any more: the end of the input follows.
    let _ = writeln!(io::stdout(), "{value}");
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scripted-server: {error}");
            ExitCode::FAILURE
        }
    }
}
