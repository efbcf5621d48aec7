//! The two servers: how each is started, and which of its tools gives which kind of answer.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A server that we did not write. README.md beside this file says what each answers on the wire.
#[derive(Clone, Copy, Debug)]
pub enum Server {
    Everything,
    FastMcp,
}

/// A call and its text.
pub struct Case {
    pub tool: &'static str,
    pub arguments: Value,
    pub text: String,
}

impl Case {
    fn new(tool: &'static str, arguments: Value, text: impl Into<String>) -> Case {
        Case { tool, arguments, text: text.into() }
    }
}

impl Server {
    pub fn command(self, port: u16) -> Command {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        match self {
            Server::Everything => {
                let package = "interop/node_modules/@modelcontextprotocol/server-everything";
                let mut command = Command::new("node");
                command.arg(tests.join(package).join("dist/index.js")).arg("streamableHttp");
                command.env("PORT", port.to_string());
                command
            }
            Server::FastMcp => {
                let mut command = Command::new(python(tests));
                command.arg(tests.join("interop/fastmcp_server.py")).arg(port.to_string());
                command
            }
        }
    }

    pub fn tools(self) -> &'static [&'static str] {
        match self {
            Server::Everything => &["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"],
            Server::FastMcp => &["echo", "add", "fail", "picture", "report", "ports", "scan"],
        }
    }

    pub fn echo(self, message: &str) -> Case {
        let text = match self {
            Server::Everything => format!("Echo: {message}"),
            Server::FastMcp => message.to_owned(),
        };
        Case::new("echo", json!({"message": message}), text)
    }

    pub fn sum(self, a: i64, b: i64) -> Case {
        let arguments = json!({"a": a, "b": b});
        match self {
            Server::Everything => Case::new("get-sum", arguments, format!("The sum of {a} and {b} is {}.", a + b)),
            Server::FastMcp => Case::new("add", arguments, (a + b).to_string()),
        }
    }

    pub fn structured(self) -> Case {
        match self {
            Server::Everything => Case::new(
                "get-structured-content",
                json!({"location": "Chicago"}),
                r#"{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}"#,
            ),
            Server::FastMcp => Case::new("ports", json!({}), r#"{"open":[22,443]}"#),
        }
    }

    /// Arguments that the tool's schema does not allow; the text is a part of the complaint.
    pub fn wrong_arguments(self) -> Case {
        let complaint = match self {
            Server::Everything => "expected string, received number at message",
            Server::FastMcp => "Input should be a valid string",
        };
        Case::new("echo", json!({"message": 7}), complaint)
    }

    /// A tool that is not there; the text is a part of the complaint.
    pub fn unknown_tool(self) -> Case {
        let complaint = match self {
            Server::Everything => "Tool nikto not found",
            Server::FastMcp => "Unknown tool: 'nikto'",
        };
        Case::new("nikto", json!({}), complaint)
    }

    /// A tool that gives a PNG among its content; the text is left out.
    pub fn picture(self) -> Case {
        let tool = match self {
            Server::Everything => "get-tiny-image",
            Server::FastMcp => "picture",
        };
        Case::new(tool, json!({}), "")
    }

    /// A tool that gives a resource of text among its content; the text is that of the resource.
    pub fn resource(self) -> Case {
        match self {
            Server::Everything => {
                let arguments = json!({"resourceType": "Text", "resourceId": 1});
                Case::new("get-resource-reference", arguments, "Resource 1: This is a plaintext resource")
            }
            Server::FastMcp => Case::new("report", json!({}), "port 443 open"),
        }
    }

    /// A tool that takes `steps` steps of 100 ms each and reports its progress.
    pub fn slow(self, steps: u32) -> Case {
        match self {
            Server::Everything => {
                let seconds = f64::from(steps) / 10.0;
                let text = format!("Long running operation completed. Duration: {seconds} seconds, Steps: {steps}.");
                let arguments = json!({"duration": seconds, "steps": steps});
                Case::new("trigger-long-running-operation", arguments, text)
            }
            Server::FastMcp => Case::new("scan", json!({"steps": steps, "step_ms": 100}), format!("{steps} steps")),
        }
    }
}

/// The interpreter of the project's own environment.
fn python(tests: &Path) -> PathBuf {
    tests.join("../.venv/bin/python")
}
