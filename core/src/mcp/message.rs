//! JSON-RPC 2.0 messages: written as text, read as borrowed pieces of the text that came.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The text of a request. `members`: those of its `params`, as JSON text without the braces.
pub(super) fn request(id: u64, method: &str, members: &str) -> String {
    let id = id.to_string();
    [r#"{"jsonrpc":"2.0","id":"#, &id, r#","method":""#, method, r#"","params":{"#, members, "}}"].concat()
}

/// The text of a notification.
pub(super) fn notification(method: &str, params: Option<&str>) -> String {
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
    }
}

/// The text of the answer to a request of the server's. `id` is as it came.
pub(super) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The text of an error in answer to a request of the server's.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, quoted(message))
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    // Strings always serialize.
    serde_json::to_string(text).unwrap_or_default()
}

/// A message from the server. The parts are JSON text.
#[derive(Debug)]
pub(super) enum Message<'a> {
    Result { id: Option<&'a str>, result: &'a str },
    Error { id: Option<&'a str>, error: &'a str },
    Request { id: &'a str, method: Cow<'a, str>, params: Option<&'a str> },
    Notification { method: Cow<'a, str>, params: Option<&'a str> },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads one message. A `null` member is one that is not there: some servers add `"error": null` to a result.
    pub(super) fn parse(text: &'a str) -> Result<Message<'a>, String> {
        let envelope: Envelope = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let id = envelope.id.map(RawValue::get);
        match (envelope.method, id) {
            (Some(method), Some(id)) => {
                return Ok(Message::Request { id, method, params: envelope.params.map(RawValue::get) });
            }
            (Some(method), None) => {
                return Ok(Message::Notification { method, params: envelope.params.map(RawValue::get) });
            }
            (None, _) => {}
        }
        match (envelope.result, envelope.error) {
            (_, Some(error)) => Ok(Message::Error { id, error: error.get() }),
            (Some(result), None) => Ok(Message::Result { id, result: result.get() }),
            (None, None) => Err("a JSON-RPC message with neither result nor error".into()),
        }
    }
}

/// Whether the id of an answer is that of the request, as a number or as the string of the same number.
pub(super) fn is_id(answered: Option<&str>, asked: u64) -> bool {
    answered.is_some_and(|text| {
        let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        digits.parse() == Ok(asked)
    })
}

/// The error object of an answer.
pub(super) struct RpcError {
    pub(super) code: Option<String>,
    pub(super) message: String,
}

impl RpcError {
    pub(super) fn parse(error: &str) -> RpcError {
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
        }
        let text = |value: &RawValue| match value.get().strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(token) => crate::json::unescape(token).into_owned(),
            None => crate::json::compact(value.get()),
        };
        match serde_json::from_str::<Object>(error) {
            Ok(object) => RpcError {
                code: object.code.map(|code| code.get().to_string()),
                message: object.message.map(text).unwrap_or_default(),
            },
            Err(_) => RpcError { code: None, message: crate::json::compact(error) },
        }
    }
}

impl RpcError {
    pub(super) fn has_code(&self, code: i64) -> bool {
        self.code.as_ref().is_some_and(|text| text.trim_matches('"').parse() == Ok(code))
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.code {
            Some(code) => write!(f, "{} (code {code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}
