//! JSON as text: what is sent must keep the order of members and every digit, so it is never taken apart.

use serde_json::Value;
use serde_json::value::RawValue;

/// The text without the white space between tokens; strings stay as they are.
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for character in text.chars() {
        if in_string {
            out.push(character);
            if escaped {
                escaped = false;
            } else if character == '\\' {
                escaped = true;
            } else if character == '"' {
                in_string = false;
            }
        } else if !matches!(character, ' ' | '\n' | '\r' | '\t') {
            in_string = character == '"';
            out.push(character);
        }
    }
    out
}

/// The text as a JSON string, quotes included.
pub fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// What `raw` holds as a string, if it is one.
pub fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A JSON-RPC response; `id` and `result` are JSON text.
pub fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A JSON-RPC error response; `id` and `error` are JSON text.
pub fn error_response(id: &str, error: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A JSON-RPC error object.
pub fn error(code: i64, message: &str) -> String {
    format!(r#"{{"code":{code},"message":{}}}"#, quoted(message))
}

/// A tool's result with one text block.
pub fn text_result(text: &str, is_error: bool) -> String {
    let tail = if is_error { r#","isError":true"# } else { "" };
    format!(r#"{{"content":[{{"type":"text","text":{}}}]{tail}}}"#, quoted(text))
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn white_space_goes_but_not_in_strings() {
        assert_eq!(compact("{ \"a b\" : [ 1 ,\n \"\\\" x\" ] }"), r#"{"a b":[1,"\" x"]}"#);
    }
}
