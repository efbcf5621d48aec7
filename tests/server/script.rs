//! What a server is told to do. The empty script, `{}`, is a well-behaved server of the handshake era.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::action::Action;
use crate::matching::matches;
use crate::request::Request;

/// A server's whole script, as read from JSON.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What holds for the server as a whole.
    pub traits: Traits,
    /// What it does otherwise than a well-behaved server, the first that fits a request first.
    pub rules: Vec<Rule>,
}

/// What holds for the server as a whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Traits {
    /// Answers to calls come as event streams.
    pub sse: bool,
    /// `initialize` gives a session id, and every other request must carry it.
    pub sessions: bool,
    /// Accepts any `accept`, `content-type`, session and order of requests.
    pub lenient: bool,
    /// Whether it has a handshake.
    pub era: Era,
    /// The protocol versions that it speaks; asked for another, it offers the last.
    pub versions: Vec<String>,
    /// The `tools` of `tools/list`, as a JSON array; by default those that it has.
    #[serde(skip)]
    pub tools: Option<Box<RawValue>>,
    /// How many tools a page of `tools/list` has; by default all.
    pub page: Option<usize>,
    /// What becomes of an idle connection.
    pub keep_alive: Option<KeepAlive>,
    /// Speaks TLS, with a certificate of the given kind.
    pub tls: Option<Certificate>,
    /// Listens on `::1` in place of `127.0.0.1`.
    pub ipv6: bool,
    /// How it begins.
    pub listen: Listen,
    /// Answers every `tools/call` with the same result, without looking at it or recording it: for benchmarks.
    pub prebuilt: Option<Prebuilt>,
    /// Answers 413 as soon as it has the head of too large a request.
    pub refuses: Option<Refusal>,
}

impl Default for Traits {
    fn default() -> Traits {
        let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
        Traits {
            sse: false,
            sessions: true,
            lenient: false,
            era: Era::Handshake,
            versions: versions.map(str::to_owned).to_vec(),
            tools: None,
            page: None,
            keep_alive: None,
            tls: None,
            ipv6: false,
            listen: Listen::Open,
            prebuilt: None,
            refuses: None,
        }
    }
}

/// Which eras of the protocol a server speaks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Era {
    /// The one up to 2025-11-25.
    #[default]
    Handshake,
    /// 2026-07-28 alone.
    Modern,
    /// Both: what a client says decides.
    Both,
}

/// What becomes of an idle connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeepAlive {
    /// After so long the connection is over.
    pub ms: u64,
    /// Says so in each answer, in whole seconds: `keep-alive: timeout=N`.
    #[serde(default)]
    pub header: bool,
    /// How the client learns of the end.
    #[serde(default)]
    pub end: IdleEnd,
}

/// How the client learns that an idle connection is over.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum IdleEnd {
    /// At once: the connection is closed.
    #[default]
    Close,
    /// At once: the connection is reset.
    Reset,
    /// When it sends the next request: the connection is closed without an answer.
    CloseOnRequest,
    /// When it sends the next request: the connection is reset.
    ResetOnRequest,
}

/// The certificate that a TLS server shows. All are signed by the CA of [`crate::Server::ca_file`].
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Certificate {
    /// For `localhost`, 127.0.0.1 and ::1.
    Good,
    /// For `elsewhere.example`.
    WrongName,
    /// For the right names, but over since 2020.
    Expired,
}

/// How a server begins.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub enum Listen {
    /// Takes connections.
    #[default]
    Open,
    /// Holds its port but refuses connections.
    Refuse,
    /// Its backlog is full and stays so: connecting hangs.
    Full,
}

/// Who announces too long a body is told so at once; nothing of the body is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refusal {
    /// Bytes that are not too many.
    pub over: usize,
    /// Whether the connection is then closed; else it stays until the client closes it.
    #[serde(default)]
    pub closes: bool,
    /// The answer as it goes over the wire; by default 413.
    #[serde(default = "too_large")]
    pub answer: String,
}

fn too_large() -> String {
    "HTTP/1.1 413 Content Too Large\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\ntoo large".to_owned()
}

/// The fixed answer of a benchmark server.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prebuilt {
    /// How many bytes of text a result has.
    pub bytes: usize,
    /// How long a call takes.
    #[serde(default)]
    pub delay_ms: u64,
    /// What follows the id in the answer: made at the first call.
    #[serde(skip)]
    pub tail: OnceLock<Vec<u8>>,
}

/// Which requests, and what is done with them.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The requests that it is for.
    pub on: Match,
    /// What is done, in order. When none of it has answered, the usual answer follows.
    pub actions: Vec<Action>,
}

/// Which requests. Members that are not given fit all.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Match {
    /// The HTTP method.
    pub method: Option<String>,
    /// The JSON-RPC method.
    pub rpc: Option<String>,
    /// The tool of a `tools/call`.
    pub tool: Option<String>,
    /// Path, without the query.
    pub path: Option<String>,
    /// Headers, names in lower case, as [`crate::matching`] has it.
    pub headers: Option<Value>,
    /// The JSON body, as [`crate::matching`] has it.
    pub body: Option<Value>,
    /// Whether its connection has carried a request before.
    pub reused: Option<bool>,
    /// Of those that fit so far, the nth alone (1, 2 …); for rules only.
    pub nth: Option<u64>,
    /// Of those that fit so far, from the nth on; for rules only.
    pub from: Option<u64>,
    /// Of those that fit so far, up to the nth; for rules only.
    pub to: Option<u64>,
}

impl Match {
    /// Whether the request fits, whatever its place in the order.
    pub fn fits(&self, request: &Request) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|w| Some(w) == found);
        same(&self.method, Some(&request.method))
            && same(&self.rpc, request.rpc())
            && same(&self.tool, request.tool())
            && same(&self.path, Some(request.path()))
            && self.reused.is_none_or(|reused| reused == (request.on_connection > 1))
            && self.headers.as_ref().is_none_or(|headers| matches(headers, request.to_json().get("headers")).is_ok())
            && self.body.as_ref().is_none_or(|body| matches(body, request.json.as_ref()).is_ok())
    }

    /// Whether the nth of the requests that fit is meant.
    pub fn counts(&self, nth: u64) -> bool {
        self.nth.is_none_or(|wanted| wanted == nth)
            && self.from.is_none_or(|from| from <= nth)
            && self.to.is_none_or(|to| nth <= to)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    #[serde(default)]
    on: Match,
    #[serde(rename = "do")]
    actions: Vec<Box<RawValue>>,
}

impl Script {
    /// Reads a script; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Script, String> {
        let mut members: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(|e| e.to_string())?;
        for kept_as_text in ["rules", "tools", "about"] {
            members.remove(kept_as_text);
        }
        let raw: RawMembers = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let mut traits: Traits = serde_json::from_value(Value::Object(members)).map_err(|e| e.to_string())?;
        traits.tools = raw.tools;
        let rules = raw.rules.into_iter().map(Rule::from_text).collect::<Result<_, _>>()?;
        Ok(Script { traits, rules })
    }
}

/// The members whose text must stay as it is.
#[derive(Deserialize)]
struct RawMembers {
    #[serde(default)]
    rules: Vec<RuleText>,
    tools: Option<Box<RawValue>>,
}

impl Rule {
    fn from_text(text: RuleText) -> Result<Rule, String> {
        let actions = text.actions.iter().map(|action| Action::parse(action)).collect::<Result<_, _>>()?;
        Ok(Rule { on: text.on, actions })
    }
}
