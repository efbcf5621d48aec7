//! What a server says of its tools.

use serde::Deserialize;

/// The definition of a tool, as its server gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: String,
    /// The whole definition in MCP's form, as JSON text: `name`, `description`, `inputSchema`, `annotations` and what
    /// else the server adds. Secrets are scrubbed.
    pub json: String,
}

/// A definition as it came.
#[derive(Debug)]
pub(crate) struct RawTool {
    pub(crate) name: String,
    pub(crate) json: String,
}

impl RawTool {
    /// None when it has no name: it cannot be called.
    pub(crate) fn parse(json: &str) -> Option<RawTool> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let Named { name } = serde_json::from_str(json).ok()?;
        Some(RawTool { name, json: json.to_string() })
    }
}

/// The hints of a tool that tell whether a call may be repeated. Absent means no, as in MCP.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ToolHints {
    read_only_hint: bool,
    idempotent_hint: bool,
}

impl ToolHints {
    pub(crate) fn of(definition: &str) -> ToolHints {
        #[derive(Deserialize)]
        struct Annotated {
            annotations: Option<ToolHints>,
        }
        let annotated: Option<Annotated> = serde_json::from_str(definition).ok();
        annotated.and_then(|tool| tool.annotations).unwrap_or_default()
    }

    /// Whether running it twice does no more than running it once.
    pub(crate) fn may_repeat(self) -> bool {
        self.read_only_hint || self.idempotent_hint
    }
}
