//! The other side: a small program that has one face of verifi and does as it is told, line by line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a driver keeps of the environment that the tests run in: what programs need to run at all, nothing that verifi
/// would act on.
const KEPT: [&str; 12] = [
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "NODE_PATH",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "RUST_BACKTRACE",
];

/// How long a driver may take to end when it is told so.
const END: Duration = Duration::from_secs(10);

/// A running driver.
pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

/// What a driver answers to a command.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// The value, as text.
    pub ok: Option<Box<RawValue>>,
    /// `{"kind", "message"}`.
    pub error: Option<Value>,
    /// What was reported while a call ran.
    pub progress: Option<Value>,
    /// The face cannot express the command.
    #[serde(default)]
    pub unsupported: bool,
}

impl Driver {
    /// Starts the program with its arguments, and with `env` beside what it needs to run.
    pub fn start(command: &[String], env: &BTreeMap<String, Value>) -> Result<Driver, String> {
        let (program, arguments) = command.split_first().ok_or("the driver's command is empty")?;
        let kept = KEPT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let given =
            env.iter().map(|(name, value)| Ok((name, env_value(value)?))).collect::<Result<Vec<_>, String>>()?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(kept)
            .envs(given)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{program}: {e}"))?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                lines.map_while(|line| sender.send(line).ok()).for_each(drop);
            });
        }
        let stderr = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Ok(Driver { input: child.stdin.take(), child, lines, stderr })
    }

    /// Sends a command and waits for its answer, up to `deadline`.
    pub fn ask(&mut self, fields: &[&str], deadline: Instant) -> Result<Reply, String> {
        let line = fields.iter().map(|field| escape(field)).collect::<Vec<_>>().join("\t") + "\n";
        let input = self.input.as_mut().ok_or("the driver has ended")?;
        let sent = input.write_all(line.as_bytes()).and_then(|()| input.flush());
        sent.map_err(|e| format!("{}: the driver is gone: {e}", fields[0]))?;
        let left = deadline.saturating_duration_since(Instant::now());
        let answer = self.lines.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("`{}` was not answered in time", short(&line)),
            RecvTimeoutError::Disconnected => format!("the driver died in `{}`", short(&line)),
        })?;
        serde_json::from_str(&answer).map_err(|e| format!("`{}` answered {}: {e}", short(&line), short(&answer)))
    }

    /// The most memory that it had at once, in MB, as Linux counts it.
    pub fn peak_mb(&self) -> Option<f64> {
        let peak = status_line(&self.child.id().to_string(), "VmHWM:")?;
        Some(peak.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
    }

    /// Job control: stops its process, or lets it go on; done when that is so.
    pub fn control(&self, what: &str) -> Result<(), String> {
        let (signal, is_stopped) = match what {
            "stop" => ("STOP", true),
            "continue" => ("CONT", false),
            _ => return Err(format!("{what}: neither stop nor continue")),
        };
        let id = self.child.id().to_string();
        let status = Command::new("sh").args(["-c", "kill -$0 $1", signal, &id]).status().map_err(|e| e.to_string())?;
        let stopped = || status_line(&id, "State:").is_some_and(|state| state.starts_with('T'));
        let end = Instant::now() + END;
        while status.success() && stopped() != is_stopped && Instant::now() < end {
            // Nobody tells: there is only to look.
            thread::sleep(Duration::from_millis(1));
        }
        if stopped() == is_stopped { Ok(()) } else { Err(format!("the driver does not {what}")) }
    }

    /// Ends it: the status must be 0, and nobody may have panicked.
    pub fn end(mut self) -> Result<(), String> {
        self.input = None;
        let deadline = Instant::now() + END;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                // Its output ends when it does; then there is nothing left to wait for but the status itself.
                Ok(None) if Instant::now() < deadline => drop(self.lines.recv_timeout(Duration::from_millis(2))),
                _ => break Err("it did not end when its input did"),
            }
        };
        let stderr = self.kill();
        match status {
            Ok(status) if status.success() && !stderr.contains("panicked at") => Ok(()),
            Ok(status) => Err(format!("the driver ended with {status}: {}", tail(&stderr))),
            Err(what) => Err(format!("the driver: {what}: {}", tail(&stderr))),
        }
    }

    /// Kills it, if it still runs: what it had written to its standard error.
    pub fn kill(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().and_then(|stderr| stderr.join().ok()).unwrap_or_default()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What Linux says of a process under a name.
fn status_line(id: &str, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_owned())
}

/// A value of the environment: a string, or `{"latin1": …}`.
fn env_value(value: &Value) -> Result<OsString, String> {
    match (value, value["latin1"].as_str()) {
        (Value::String(text), _) => Ok(text.into()),
        (_, Some(bytes)) => Ok(OsString::from_vec(bytes.chars().map(|c| c as u8).collect())),
        _ => Err(format!("env {value}: neither a string nor latin1")),
    }
}

/// A field of a command: no TAB, LF, CR or NUL is left in it.
fn escape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    for character in field.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            other => out.push(other),
        }
    }
    out
}

fn short(text: &str) -> String {
    text.trim_end().chars().take(200).collect()
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
