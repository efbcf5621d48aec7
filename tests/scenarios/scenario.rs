//! The text of scenarios, as data.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One scenario, before the servers' places are known.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// `file: name`, as reports have it.
    pub title: String,
    /// Its JSON text.
    pub text: String,
    /// What is needed before it runs.
    pub plan: Plan,
}

/// What is needed before a scenario runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub name: String,
    /// Name → script.
    #[serde(default)]
    pub servers: BTreeMap<String, Box<RawValue>>,
    /// Runs when no other does: for narrow limits of time.
    #[serde(default)]
    pub alone: bool,
    /// What is seen differs from run to run, and is not dumped.
    #[serde(default)]
    pub chance: bool,
    /// What the faces of one form alone can express; both if absent.
    pub form: Option<String>,
    /// After so long the scenario has failed.
    #[serde(default = "limit")]
    pub limit_ms: u64,
    /// A process of its own, or one that other scenarios have used.
    #[serde(default)]
    pub shares_driver: bool,
}

fn limit() -> u64 {
    20_000
}

#[derive(Deserialize)]
struct File {
    scenarios: Vec<Box<RawValue>>,
}

/// The scenarios of all `*.json` files in a directory, in the order of their names.
pub fn load(directory: &Path) -> Result<Vec<Scenario>, String> {
    let entries = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let topic = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file: File = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        for scenario in file.scenarios {
            all.push(Scenario::parse(&topic, scenario.get())?);
        }
    }
    Ok(all)
}

impl Scenario {
    /// Reads one scenario of a topic.
    pub fn parse(topic: &str, text: &str) -> Result<Scenario, String> {
        let plan: Plan = serde_json::from_str(text).map_err(|e| format!("{topic}: {e}: {text}"))?;
        // Mistakes are found before anything runs.
        serde_json::from_str::<Script>(text).map_err(|e| format!("{topic}: {}: {e}", plan.name))?;
        Ok(Scenario { title: format!("{topic}: {}", plan.name), text: text.to_owned(), plan })
    }
}

/// What happens in a scenario, read when the servers' places are in its text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    #[serde(rename = "name")]
    _name: Value,
    #[serde(rename = "about")]
    _about: Option<Value>,
    #[serde(rename = "rules", default)]
    _rules: Value,
    #[serde(rename = "servers", default)]
    _servers: Value,
    #[serde(rename = "alone", default)]
    _alone: Value,
    #[serde(rename = "chance", default)]
    _chance: Value,
    #[serde(rename = "form")]
    _form: Option<Value>,
    #[serde(rename = "limitMs", default)]
    _limit_ms: Value,
    #[serde(rename = "sharesDriver", default)]
    _shares_driver: Value,
    /// By default: slot `kali` on server A, with B as its fallback if there is a B.
    pub manifest: Option<Box<RawValue>>,
    /// The manifest as text that may be no JSON.
    pub manifest_text: Option<String>,
    /// The run's options.
    pub options: Option<Box<RawValue>>,
    /// The environment of the driver: a string, or `{"latin1": …}` for bytes.
    #[serde(default)]
    pub env: BTreeMap<String, Value>,
    /// The error of opening the run; then there are no steps.
    pub open_error: Option<Value>,
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The run's events, after it was closed.
    pub events: Option<Value>,
    /// The run's ledger, after it was closed.
    pub ledger: Option<Value>,
    /// Server → what it must have received.
    #[serde(default)]
    pub received: BTreeMap<String, Received>,
    /// The most memory that the driver had at once, in MB.
    pub peak_mb: Option<Value>,
}

/// What a server must have received. Each member is an expectation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Received {
    /// JSON-RPC method or, in capitals, HTTP method → how often; those not named may have come.
    #[serde(default)]
    pub counts: BTreeMap<String, Value>,
    /// The requests, in the order of arrival.
    pub requests: Option<Value>,
    /// How many connections were opened.
    pub connections: Option<Value>,
    /// The connections themselves.
    pub closings: Option<Value>,
}

/// One step: a verb, and what must come of it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Step {
    /// A tool to call; its result is what comes of it.
    pub call: Option<String>,
    /// With `call`: the name under which the call is started and left to run.
    pub start: Option<String>,
    /// A started call to wait for.
    pub wait: Option<String>,
    /// A started call to cancel.
    pub cancel: Option<String>,
    /// Takes a slot: `{"name", "endpoint"}`, or an error.
    pub mcp: Option<String>,
    pub list: Option<String>,
    pub definitions: Option<String>,
    pub health: Option<String>,
    pub ledger: Option<bool>,
    pub events: Option<bool>,
    pub await_event: Option<String>,
    pub log: Option<String>,
    pub close: Option<bool>,
    /// `{"text", "secrets"}`.
    pub redact: Option<Redact>,
    /// An environment to collect secrets from.
    pub collect: Option<Box<RawValue>>,
    pub version: Option<bool>,
    /// Opens the run again, with these options.
    pub open: Option<Box<RawValue>>,
    /// A journal to check.
    pub verify: Option<String>,
    /// A journal to read: its events, or the error in their place.
    pub read: Option<String>,
    /// A file to look at or, with `do`, to change.
    pub file: Option<String>,
    /// `stop` or `continue`: the driver's process, as a shell's job control does it.
    pub process: Option<String>,
    /// A server to command: with `do`, `await`, `release` or `script`.
    pub server: Option<String>,
    #[serde(rename = "do")]
    pub verb: Option<Value>,
    #[serde(rename = "await")]
    pub condition: Option<Box<RawValue>>,
    pub release: Option<String>,
    pub script: Option<Box<RawValue>>,

    /// The slot of a call; by default `kali`.
    pub slot: Option<String>,
    /// The tool's arguments; by default `{}`.
    pub args: Option<Box<RawValue>>,
    /// The arguments as text that may be no JSON.
    pub args_text: Option<String>,
    pub timeout_ms: Option<u64>,
    /// So many times, one after the other.
    pub times: Option<usize>,
    /// So many times, all at once.
    pub parallel: Option<usize>,

    /// What comes of it, every time.
    pub expect: Option<Value>,
    /// What comes of all times, as an array.
    pub results: Option<Value>,
    /// The error: `{"kind", "message"}`.
    pub error: Option<Value>,
    /// The progress that was reported; asking for it makes the call ask for progress.
    pub progress: Option<Value>,
    /// Texts that the driver's reply has in it, verbatim: digits are not read as numbers.
    #[serde(default)]
    pub verbatim: Vec<String>,
    /// The step takes at most so long.
    pub within_ms: Option<u64>,
    /// The step takes at least so long.
    pub at_least_ms: Option<u64>,
}

/// A text and the secrets to take out of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redact {
    pub text: String,
    pub secrets: Box<RawValue>,
}
