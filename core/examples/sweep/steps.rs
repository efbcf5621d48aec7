//! What the sweep does, and how a harness runs a step.

use serde_json::{Value, json};
use verifi::{Slot, ToolResult};

pub enum Step {
    Command(&'static str),
    /// A tool that looks at the port of the primary server.
    CheckPort,
    /// A tool that no server has.
    Missing(&'static str),
}

/// What the primary server answers, as long as it is there.
pub const BEFORE: [Step; 7] = [
    Step::Command("uname -sr"),
    Step::Command("openssl version"),
    Step::Command("getent hosts localhost"),
    Step::CheckPort,
    Step::Command("cat target.conf"),
    Step::Command("openssl base64 -A -in target.conf"),
    Step::Missing("nikto"),
];

/// What comes after its end.
pub const AFTER: [Step; 7] = [
    Step::Command("getent services https"),
    Step::CheckPort,
    Step::Command("openssl ciphers -v"),
    Step::Command("cat no-such-file"),
    Step::Command("nmap -sV localhost"),
    Step::Command("id -un"),
    Step::Command("date -u"),
];

/// Makes the call of a step and says in a line what came of it.
pub fn take(step: &Step, kali: &Slot, run_id: &str, port: u16) -> (ToolResult, String) {
    match step {
        Step::Command(command) => exec(kali, run_id, command),
        Step::CheckPort => plain(kali, "check_port", json!({"port": port})),
        Step::Missing(tool) => plain(kali, tool, json!({})),
    }
}

/// Runs a command on the box. Its exit status counts, not just that the call succeeded: `run_command` answers
/// `$ COMMAND`, `(exit N)` and the output.
fn exec(kali: &Slot, run_id: &str, command: &str) -> (ToolResult, String) {
    let result = kali.call("run_command", json!({"command": command, "timeout": 285, "workspace": run_id}));
    let line = match unwrap(result.text()) {
        Some((0, output)) => format!("{command}: {}", summary(output)),
        Some((code, output)) => format!("{command}: exit {code}, {}", summary(output)),
        None => format!("{command}: {}", summary(result.error.as_deref().unwrap_or(result.text()))),
    };
    (result, line)
}

fn plain(kali: &Slot, tool: &str, arguments: Value) -> (ToolResult, String) {
    let result = kali.call(tool, arguments);
    let line = format!("{tool}: {}", summary(result.error.as_deref().unwrap_or(result.text())));
    (result, line)
}

/// The exit status and output in the text of a `run_command`.
fn unwrap(text: &str) -> Option<(i32, &str)> {
    let (_command, rest) = text.strip_prefix("$ ")?.split_once('\n')?;
    let (code, output) = rest.strip_prefix("(exit ")?.split_once(")\n")?;
    Some((code.parse().ok()?, output))
}

/// The first line, without the white space that lines up columns, and how many more there are.
fn summary(output: &str) -> String {
    let mut lines = output.lines();
    let first: Vec<&str> = lines.next().unwrap_or("no output").split_whitespace().collect();
    let first = first.join(" ");
    match lines.count() {
        0 => first,
        1 => format!("{first} (and 1 more line)"),
        more => format!("{first} (and {more} more lines)"),
    }
}
