//! The arguments of a call.

use serde_json::Value;
use serde_json::value::RawValue;

/// The arguments of a call: a JSON object. Anything else is no error here: the call is rejected, because a call always has
/// a result.
///
/// ```
/// use serde_json::json;
/// use verifi::Arguments;
///
/// let plain = Arguments::from(json!({"command": "nmap -sV example.com"}));
/// let exact = Arguments::json(r#"{"seed": 123456789012345678901234567890}"#);
/// ```
#[derive(Clone)]
pub struct Arguments(Result<String, String>);

impl Arguments {
    /// No arguments: an empty object.
    pub fn none() -> Arguments {
        Arguments(Ok("{}".into()))
    }

    /// Arguments as JSON text, which is sent as it is: numbers keep every digit. Empty text and `null` mean
    /// none.
    pub fn json(text: impl Into<String>) -> Arguments {
        let text = text.into();
        match text.trim() {
            "" | "null" => Arguments::none(),
            trimmed if trimmed.len() == text.len() => Arguments(check(trimmed).map(|()| text)),
            trimmed => Arguments(check(trimmed).map(|()| trimmed.to_string())),
        }
    }

    /// Arguments that could not be made, and why. The call is rejected and shows on the timeline.
    pub fn invalid(reason: impl Into<String>) -> Arguments {
        Arguments(Err(reason.into()))
    }

    pub(crate) fn into_text(self) -> Result<String, String> {
        self.0
    }
}

fn check(text: &str) -> Result<(), String> {
    match serde_json::from_str::<&RawValue>(text) {
        Err(error) => Err(format!("the arguments are not JSON: {error}")),
        Ok(_) if text.starts_with('{') => Ok(()),
        Ok(_) => Err("the arguments are not a JSON object".into()),
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Arguments {
        Arguments::from(&value)
    }
}

impl From<&Value> for Arguments {
    fn from(value: &Value) -> Arguments {
        match value {
            Value::Null => Arguments::none(),
            Value::Object(_) => Arguments(Ok(value.to_string())),
            _ => Arguments::invalid("the arguments are not a JSON object"),
        }
    }
}

impl From<()> for Arguments {
    fn from((): ()) -> Arguments {
        Arguments::none()
    }
}

/// The arguments may hold secrets, which are not shown.
impl std::fmt::Debug for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Arguments")
    }
}
