//! Redaction outside a run.

use napi_derive::napi;
use verifi::Redactor;

/// Finds the same secrets in any number of texts.
#[napi]
pub struct NativeRedactor {
    redactor: Redactor,
}

#[napi]
impl NativeRedactor {
    #[napi(constructor)]
    pub fn new(secrets: Vec<String>) -> NativeRedactor {
        NativeRedactor { redactor: Redactor::plain(&secrets) }
    }

    /// The text without secrets; null when there is none in it, and so no need to make a new string.
    #[napi]
    pub fn redact(&self, text: String) -> Option<String> {
        let scrubbed = self.redactor.scrub(text);
        (scrubbed.redactions > 0).then_some(scrubbed.text)
    }
}

/// The values that are secrets, of an environment given as pairs of name and value.
#[napi]
pub fn collect_secrets(environment: Vec<(String, String)>) -> Vec<String> {
    verifi::collect_run_secrets_from(environment)
}
