//! Parameters of tools that 2026-07-28 mirrors into headers (`basic/transports/streamable-http`, "Custom Headers from
//! Tool Parameters"): which they are, and how a value becomes one that is safe to send. Pure.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::encode::base64_into;
use crate::json;

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";

/// A parameter that goes into a header, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Param {
    header: HeaderName,
    /// The names of the properties that lead to it.
    path: Vec<String>,
}

/// The parameters that a tool's definition wants in headers.
///
/// # Errors
///
/// Why the definition breaks the rules for them, so that the tool must not be listed.
pub(super) fn of_definition(definition: &str) -> Result<Vec<Param>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Definition<'a> {
        #[serde(borrow)]
        input_schema: Option<&'a RawValue>,
    }
    // Hardly any tool has one.
    if !definition.contains(ANNOTATION) {
        return Ok(Vec::new());
    }
    let definition: Definition = serde_json::from_str(definition).map_err(|error| error.to_string())?;
    let Some(schema) = definition.input_schema else { return Ok(Vec::new()) };
    let schema: Value = serde_json::from_str(schema.get()).map_err(|error| format!("its inputSchema: {error}"))?;
    let mut search = Search::default();
    search.schema(&schema, Some(&mut Vec::new()))?;
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    found: Vec<Param>,
    names: HashSet<String>,
}

impl Search {
    /// Looks at a schema and all that are in it. `path` leads to it through `properties` alone; none if something else is
    /// on the way.
    fn schema(&mut self, schema: &Value, mut path: Option<&mut Vec<String>>) -> Result<(), String> {
        match schema {
            Value::Object(members) => {
                if let Some(name) = members.get(ANNOTATION) {
                    self.annotated(name, schema, path.as_deref())?;
                }
                for (keyword, value) in members {
                    match (keyword.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            for (name, property) in properties {
                                if let Some(path) = path.as_deref_mut() {
                                    path.push(name.clone());
                                }
                                self.schema(property, path.as_deref_mut())?;
                                path.as_deref_mut().map(Vec::pop);
                            }
                        }
                        ("$defs" | "definitions" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                            named.values().try_for_each(|schema| self.schema(schema, None))?;
                        }
                        // Data, not schemas.
                        ("default" | "const" | "enum" | "examples" | ANNOTATION, _) => {}
                        _ => self.schema(value, None)?,
                    }
                }
                Ok(())
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.schema(schema, None)),
            _ => Ok(()),
        }
    }

    fn annotated(&mut self, name: &Value, schema: &Value, path: Option<&Vec<String>>) -> Result<(), String> {
        let Some(name) = name.as_str() else { return Err(format!("{ANNOTATION} is no string")) };
        let shown = name.escape_debug();
        let header = HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes());
        let header = match header {
            Ok(header) if !name.is_empty() => header,
            _ => return Err(format!("{ANNOTATION} \"{shown}\" is not the name of a header")),
        };
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Err(format!("{ANNOTATION} \"{shown}\" is not on a property that `properties` alone lead to"));
        };
        if !is_primitive(&schema["type"]) {
            return Err(format!("{ANNOTATION} \"{shown}\" is on a property that is no integer, string or boolean"));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("{ANNOTATION} \"{shown}\" is there twice"));
        }
        self.found.push(Param { header, path: path.clone() });
        Ok(())
    }
}

/// `integer`, `string` or `boolean`, and perhaps `null` beside it: then the header is left out.
fn is_primitive(kind: &Value) -> bool {
    let is_one = |kind: &Value| matches!(kind.as_str(), Some("integer" | "string" | "boolean"));
    match kind {
        Value::Array(kinds) => match kinds.as_slice() {
            [one, null] | [null, one] if null == "null" => is_one(one),
            [one] => is_one(one),
            _ => false,
        },
        kind => is_one(kind),
    }
}

/// Adds the headers of a call's arguments, which are a JSON object.
pub(super) fn add_headers(params: &[Param], arguments: &str, headers: &mut HeaderMap) {
    for param in params {
        if let Some(text) = value_at(arguments, &param.path).and_then(as_text)
            && let Some(value) = header_value(&text)
        {
            headers.insert(param.header.clone(), value);
        }
    }
}

/// The value at the end of the path, as JSON text.
fn value_at<'a>(arguments: &'a str, path: &[String]) -> Option<&'a str> {
    path.iter().try_fold(arguments, |object, name| {
        let members: HashMap<Cow<str>, &RawValue> = serde_json::from_str(object).ok()?;
        members.get(name.as_str()).map(|value| value.get())
    })
}

/// A string as it is, `true`, `false`, and an integer in decimal. What else a tool is given is for it to refuse.
fn as_text(value: &str) -> Option<Cow<'_, str>> {
    /// Beyond it, two integers may be the same number to the server.
    const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;
    match value.as_bytes().first()? {
        b'"' => Some(json::unescape(value.strip_prefix('"')?.strip_suffix('"')?)),
        b't' | b'f' => Some(value.into()),
        b'-' | b'0'..=b'9' => match value.parse::<f64>() {
            // `4.2e1` and `42.0` are 42.
            Ok(number) if number.fract() == 0.0 && number.abs() <= LARGEST_EXACT => {
                Some((number as i64).to_string().into())
            }
            _ => Some(value.into()),
        },
        _ => None,
    }
}

/// A text as the value of a header: as it stands when that is safe, else in the form `=?base64?…?=`.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let is_visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let is_padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let is_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if is_visible && !is_padded && !is_encoded {
        return HeaderValue::from_str(text).ok();
    }
    let mut encoded = "=?base64?".to_string();
    base64_into(&mut encoded, text.as_bytes());
    encoded.push_str("?=");
    HeaderValue::from_str(&encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        header_value(text).expect("every text has a form").to_str().expect("visible characters").to_string()
    }

    // Rule 3.3.
    #[test]
    fn unsafe_values_are_in_base64() {
        for (text, sent) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a b\tc", "a b\tc"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("a\r\nX: b", "=?base64?YQ0KWDogYg==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?half", "=?base64?half"),
            ("\0", "=?base64?AA==?="),
            ("\u{7f}ab", "=?base64?f2Fi?="),
        ] {
            assert_eq!(shown(text), sent);
        }
    }

    // Rule 3.3.
    #[test]
    fn values_are_found_at_their_path_and_nowhere_else() {
        let definition = r#"{"name":"t","inputSchema":{"type":"object","properties":{
            "a":{"type":"object","properties":{"b":{"type":"integer","x-mcp-header":"B"}}},
            "s":{"type":["string","null"],"x-mcp-header":"S"},
            "yes":{"type":"boolean","x-mcp-header":"Yes"}}}}"#;
        let params = of_definition(definition).expect("a good definition");
        let headers = |arguments: &str| {
            let mut headers = HeaderMap::new();
            add_headers(&params, arguments, &mut headers);
            let text = |name: &str| headers.get(name).map(|value| value.to_str().expect("ASCII").to_string());
            [text("mcp-param-b"), text("mcp-param-s"), text("mcp-param-yes")]
        };
        let some = |text: &str| Some(text.to_string());
        assert_eq!(headers(r#"{"a":{"b":42.0},"s":"x","yes":false}"#), [some("42"), some("x"), some("false")]);
        assert_eq!(headers(r#"{"a":{"b":-7},"s":null,"b":1}"#), [some("-7"), None, None]);
        assert_eq!(headers(r#"{"a":7,"s":"\u4e16"}"#), [None, some("=?base64?5LiW?="), None]);
        assert_eq!(headers(r#"{"a":{"b":1e400},"s":{"x":1}}"#), [some("1e400"), None, None]);
        assert_eq!(
            headers(r#"{"a":{"b":9007199254740993},"s":"1","s":"2"}"#),
            [some("9007199254740993"), some("2"), None]
        );
    }

    // Rule 3.3.
    #[test]
    fn a_definition_that_breaks_the_rules_says_which() {
        let with = |properties: &str| format!(r#"{{"name":"t","inputSchema":{{"type":"object",{properties}}}}}"#);
        for (properties, says) in [
            (r#""properties":{"a":{"type":"string","x-mcp-header":""}}"#, "not the name of a header"),
            (r#""properties":{"a":{"type":"string","x-mcp-header":"a b"}}"#, "not the name of a header"),
            (r#""properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}"#, "not the name of a header"),
            (r#""properties":{"a":{"type":"string","x-mcp-header":7}}"#, "no string"),
            (r#""properties":{"a":{"type":"number","x-mcp-header":"A"}}"#, "no integer, string or boolean"),
            (r#""properties":{"a":{"type":"object","x-mcp-header":"A"}}"#, "no integer, string or boolean"),
            (r#""properties":{"a":{"x-mcp-header":"A"}}"#, "no integer, string or boolean"),
            (
                r#""properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}"#,
                "twice",
            ),
            (r#""properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}"#, "alone lead to"),
            (r#""oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]"#, "alone lead to"),
            (r#""$defs":{"d":{"type":"string","x-mcp-header":"A"}}"#, "alone lead to"),
            (r#""x-mcp-header":"A""#, "alone lead to"),
        ] {
            let error = of_definition(&with(properties)).expect_err(properties);
            assert!(error.contains(says), "{properties}: {error}");
        }
        for properties in [
            r#""properties":{"x-mcp-header":{"type":"string"}}"#,
            r#""properties":{"a":{"type":"object","default":{"x-mcp-header":""}}}"#,
            r#""properties":{"a":{"type":"array","items":{"properties":{"x-mcp-header":{"type":"string"}}}}}"#,
        ] {
            assert_eq!(of_definition(&with(properties)), Ok(Vec::new()), "{properties}");
        }
    }
}
