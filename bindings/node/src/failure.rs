//! Errors on their way to JavaScript, which makes its own classes of them.

use serde::Serialize;
use verifi::Error;

/// An error whose `code` is the name of its kind.
pub type Failure = napi::Error<String>;

pub fn failure(error: &Error) -> Failure {
    napi::Error::new(error.kind().as_str().to_owned(), error.message())
}

/// The JSON text of one of verifi's own values.
pub fn json(value: &impl Serialize) -> napi::Result<String> {
    serde_json::to_string(value).map_err(|error| napi::Error::from_reason(error.to_string()))
}
