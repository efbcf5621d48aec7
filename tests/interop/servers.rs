//! The servers: how each is started, and which of its tools gives which kind of answer.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A server that we did not write. README.md beside this file says what each answers on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Server {
    Everything,
    FastMcp,
    PythonSdk,
    RustSdk,
    TypeScript1,
    TypeScript2,
    /// The same, refusing the handshake.
    TypeScript2Strict,
}

impl Server {
    pub const COUNT: usize = 7;
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

    /// With a label by which the server remembers it.
    pub fn labelled(mut self, label: &str) -> Case {
        self.arguments["label"] = label.into();
        self
    }
}

impl Server {
    pub fn command(self, port: u16) -> Command {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop");
        let node = |script: &str| program("node".into(), [here.join(script)]);
        let python = |script: &str| program(here.join("../../.venv/bin/python"), [here.join(script)]);
        let mut command = match self {
            Server::Everything => {
                let mut command = node("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
                command.arg("streamableHttp").env("PORT", port.to_string());
                return command;
            }
            Server::FastMcp => python("fastmcp_server.py"),
            Server::PythonSdk => python("python_server.py"),
            Server::RustSdk => program(here.join("../../target/interop/debug/rmcp-server"), []),
            Server::TypeScript1 => node("typescript1_server.mjs"),
            Server::TypeScript2 | Server::TypeScript2Strict => node("typescript2_server.mjs"),
        };
        command.arg(port.to_string());
        match self {
            Server::TypeScript2 => command.arg("stateless"),
            Server::TypeScript2Strict => command.arg("reject"),
            _ => &mut command,
        };
        command
    }

    pub fn tools(self) -> &'static [&'static str] {
        match self {
            Server::Everything => &["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"],
            _ => &["echo", "add", "picture", "report", "ports", "scan"],
        }
    }

    pub fn echo(self, message: &str) -> Case {
        let text = match self {
            Server::Everything => format!("Echo: {message}"),
            _ => message.to_owned(),
        };
        Case::new("echo", json!({"message": message}), text)
    }

    pub fn sum(self, a: i64, b: i64) -> Case {
        let arguments = json!({"a": a, "b": b});
        match self {
            Server::Everything => Case::new("get-sum", arguments, format!("The sum of {a} and {b} is {}.", a + b)),
            _ => Case::new("add", arguments, (a + b).to_string()),
        }
    }

    pub fn structured(self) -> Case {
        let text = match self {
            Server::Everything => {
                let text = r#"{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}"#;
                return Case::new("get-structured-content", json!({"location": "Chicago"}), text);
            }
            Server::PythonSdk => "{\n  \"open\": [\n    22,\n    443\n  ]\n}",
            _ => r#"{"open":[22,443]}"#,
        };
        Case::new("ports", json!({}), text)
    }

    /// Arguments that the tool's schema does not allow; the text is a part of the complaint.
    pub fn wrong_arguments(self) -> Case {
        let complaint = match self {
            Server::FastMcp | Server::PythonSdk => "Input should be a valid string",
            Server::RustSdk => "invalid type: integer `7`, expected a string",
            _ => "expected string, received number",
        };
        Case::new("echo", json!({"message": 7}), complaint)
    }

    /// A tool that is not there; the text is a part of the complaint.
    pub fn unknown_tool(self) -> Case {
        let complaint = match self {
            Server::FastMcp => "Unknown tool: 'nikto'",
            Server::PythonSdk => "Unknown tool: nikto",
            Server::RustSdk => "tool not found (code -32602)",
            Server::TypeScript2 | Server::TypeScript2Strict => "Tool nikto not found (code -32602)",
            Server::Everything | Server::TypeScript1 => "Tool nikto not found",
        };
        Case::new("nikto", json!({}), complaint)
    }

    /// Whether an unknown tool is a JSON-RPC error, and not the result of a tool that failed.
    pub fn refuses_unknown_tools(self) -> bool {
        matches!(self, Server::RustSdk | Server::TypeScript2 | Server::TypeScript2Strict)
    }

    /// Whether it asks a client that has not said that it can be asked.
    pub fn asks_who_cannot_answer(self) -> bool {
        !matches!(self, Server::TypeScript1 | Server::TypeScript2)
    }

    /// A tool that gives a PNG among its content; the text is left out.
    pub fn picture(self) -> Case {
        let tool = match self {
            Server::Everything => "get-tiny-image",
            _ => "picture",
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
            _ => Case::new("report", json!({}), "port 443 open"),
        }
    }

    /// A tool whose parameters go into headers, too.
    pub fn locate(self, region: &str, depth: i64) -> Case {
        Case::new("locate", json!({"region": region, "depth": depth}), format!("{depth} {region}"))
    }

    /// A tool that waits until the slow call with the label was cancelled.
    pub fn stopped(self, label: &str) -> Case {
        Case::new("stopped", json!({"label": label}), label)
    }

    /// A slow call whose stream the server resumes. The everything server does so only when the call has ended by then,
    /// half a second after the end of the stream, and the Rust SDK only when it has not, after the three that it asks for.
    pub fn slow_and_resumable(self) -> Case {
        match self {
            Server::Everything => self.slow(3),
            _ => self.slow(45),
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
            _ => Case::new("scan", json!({"steps": steps, "step_ms": 100}), format!("{steps} steps")),
        }
    }
}

fn program<const N: usize>(path: PathBuf, arguments: [PathBuf; N]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments);
    command
}
