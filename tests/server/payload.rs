//! What a script writes: bytes, made from text, JSON or byte values, with places for what the request brought.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;

/// Bytes to send. In a script: a string (UTF-8), `{"json": …}` (compact), `{"latin1": "\u00ff"}` (one byte a
/// character), `{"repeat": PAYLOAD, "times": n}`, `{"gzip": PAYLOAD}`, or an array of these, one after the other.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Text or JSON; the only kind in which `{{id}}` and its like are replaced.
    Text(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// The same again and again.
    Repeat(Box<Payload>, usize),
    /// One after the other.
    Join(Vec<Payload>),
    /// Compressed.
    Gzip(Box<Payload>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    json: Option<Box<RawValue>>,
    latin1: Option<String>,
    repeat: Option<Box<RawValue>>,
    times: Option<usize>,
    gzip: Option<Box<RawValue>>,
}

impl Payload {
    /// Reads a payload from a script.
    pub fn parse(raw: &RawValue) -> Result<Payload, String> {
        match raw.get().as_bytes().first() {
            Some(b'"') => Ok(Payload::Text(json::string(raw).unwrap_or_default())),
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
                items.iter().map(|item| Payload::parse(item)).collect::<Result<_, _>>().map(Payload::Join)
            }
            _ => {
                let parts = serde_json::from_str(raw.get()).map_err(|e| format!("payload {raw}: {e}"))?;
                Payload::from_parts(parts).unwrap_or_else(|| Err(format!("payload {raw}: of no known kind")))
            }
        }
    }

    fn from_parts(parts: Parts) -> Option<Result<Payload, String>> {
        if let Some(value) = parts.json {
            return Some(Ok(Payload::Text(json::compact(value.get()))));
        }
        if let Some(text) = parts.latin1 {
            let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
            return Some(bytes.map(Payload::Bytes).map_err(|_| "latin1: a character above U+00FF".to_owned()));
        }
        if let Some(what) = parts.repeat {
            let times = parts.times?;
            return Some(Payload::parse(&what).map(|what| Payload::Repeat(Box::new(what), times)));
        }
        let what = parts.gzip?;
        Some(Payload::parse(&what).map(|what| Payload::Gzip(Box::new(what))))
    }

    /// The bytes, with the places filled.
    pub fn render(&self, fill: &Fill) -> Vec<u8> {
        match self {
            Payload::Text(text) => fill.apply(text).into_bytes(),
            Payload::Bytes(bytes) => bytes.clone(),
            Payload::Repeat(what, times) => what.render(fill).repeat(*times),
            Payload::Join(parts) => parts.iter().flat_map(|part| part.render(fill)).collect(),
            Payload::Gzip(what) => gzip(&what.render(fill)),
        }
    }
}

/// The bytes as one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to a Vec does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Names and the JSON text that stands for them. `{{name}}` is replaced by that text, and `"{{name}}"`, with its
/// quotes, too: so a place fits where JSON wants a value.
#[derive(Clone, Debug, Default)]
pub struct Fill {
    places: Vec<(String, String)>,
}

impl Fill {
    /// Adds a place and its JSON text.
    pub fn set(&mut self, name: &str, json: String) {
        self.places.push((name.to_owned(), json));
    }

    /// The text with every known place filled.
    pub fn apply(&self, text: &str) -> String {
        if !text.contains("{{") {
            return text.to_owned();
        }
        let mut out = text.to_owned();
        for (name, json) in &self.places {
            out = out.replace(&format!("\"{{{{{name}}}}}\""), json).replace(&format!("{{{{{name}}}}}"), json);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(text: &str) -> Vec<u8> {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let mut fill = Fill::default();
        fill.set("id", "7".to_owned());
        Payload::parse(&raw).unwrap().render(&fill)
    }

    #[test]
    fn every_kind_of_payload() {
        assert_eq!(payload(r#""a{{id}}""#), b"a7");
        assert_eq!(payload(r#"{"json": {"id": "{{id}}", "b": 1}}"#), br#"{"id":7,"b":1}"#);
        assert_eq!(payload(r#"{"latin1": "\u00ff"}"#), [0xff]);
        assert_eq!(payload(r#"[{"repeat": "[", "times": 3}, "]"]"#), b"[[[]");
        assert_eq!(payload(r#"{"gzip": "x"}"#)[..2], [0x1f, 0x8b]);
    }
}
