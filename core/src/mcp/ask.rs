//! A request of verifi's and the forms that it has in the two eras.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::client::ToolCall;
use super::elicitation::capabilities;
use super::message;
use super::params::{self, Param};
use super::session::Revision;
use crate::SDK_VERSION;
use crate::http::Resend;
use crate::json;
use crate::options::Elicitation;
use crate::progress::ProgressFn;

pub(super) const CLIENT_NAME: &str = "verifi-harness-sdk";

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A request before it has an id and the form of an era.
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    /// The members of its `params`, as JSON text without the braces.
    members: String,
    call: Option<&'a ToolCall<'a>>,
    /// What of the call's arguments goes into headers, too.
    pub(super) params: Arc<[Param]>,
    /// What the answer to an interim result adds to the members.
    pub(super) answers: Option<String>,
}

impl<'a> Ask<'a> {
    /// `members`: those of its `params`, as JSON text without the braces.
    pub(super) fn new(method: &'static str, members: String) -> Ask<'a> {
        Ask { method, members, call: None, params: Arc::default(), answers: None }
    }

    pub(super) fn call(call: &'a ToolCall<'a>, params: Arc<[Param]>) -> Ask<'a> {
        const AROUND: usize = 32;
        let mut members = String::with_capacity(call.tool.len() + call.arguments.len() + AROUND);
        members.push_str(r#""name":""#);
        json::escape_into(&mut members, call.tool);
        members.push_str(r#"","arguments":"#);
        members.push_str(call.arguments);
        Ask { call: Some(call), params, ..Ask::new("tools/call", members) }
    }

    /// The tool that it calls, if it does.
    pub(super) fn tool(&self) -> Option<&'a str> {
        self.call.map(|call| call.tool)
    }

    pub(super) fn progress(&self) -> Option<&'a ProgressFn> {
        self.call.and_then(|call| call.progress)
    }

    pub(super) fn resend(&self) -> Resend {
        self.call.map_or(Resend::Unanswered, |call| call.resend)
    }

    /// Its text in a session.
    pub(super) fn in_session(&self, id: u64) -> String {
        let members = &self.members;
        match self.progress() {
            Some(_) => message::request(id, self.method, &format!(r#"{members},"_meta":{{"progressToken":{id}}}"#)),
            None => message::request(id, self.method, members),
        }
    }

    /// Its text where there are no sessions (2026-07-28, `basic/index`, "`_meta`").
    pub(super) fn alone(&self, id: u64, revision: Revision, elicitation: Elicitation) -> String {
        const KEYS: &str = "io.modelcontextprotocol/";
        let (version, capabilities) = (revision.as_str(), capabilities(elicitation));
        let client = format!(r#"{{"name":"{CLIENT_NAME}","version":"{SDK_VERSION}"}}"#);
        let token = self.progress().map(|_| format!(r#","progressToken":{id}"#)).unwrap_or_default();
        let meta = format!(
            r#""_meta":{{"{KEYS}protocolVersion":"{version}","{KEYS}clientInfo":{client},"{KEYS}clientCapabilities":{capabilities}{token}}}"#
        );
        let parts = [Some(self.members.as_str()), self.answers.as_deref(), Some(&meta)];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        message::request(id, self.method, &parts.join(","))
    }

    /// The headers that repeat there what the text says (2026-07-28, `basic/transports/streamable-http`, "Request
    /// Metadata").
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(METHOD, HeaderValue::from_static(self.method));
        if let Some(call) = self.call {
            if let Some(name) = params::header_value(call.tool) {
                headers.insert(NAME, name);
            }
            params::add_headers(&self.params, call.arguments, &mut headers);
        }
        headers
    }
}
