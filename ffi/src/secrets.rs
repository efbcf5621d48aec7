//! What is a secret, and text without them.

use std::collections::BTreeMap;

use crate::boundary::{self, Fault, Out};
use crate::error::verifi_error;
use crate::status::verifi_status;
use crate::str::verifi_str;
use crate::text::verifi_text;

/// `text` with `[REDACTED]` in the place of every occurrence of every one of the `count` secrets, as they stand;
/// occurrences that overlap are replaced together. Secrets shorter than 4 characters are skipped. It takes time in
/// proportion to the text and the secrets. A run does this, and more, by itself to all that its servers say. The caller
/// frees the result.
///
/// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8, VERIFI_INVALID_ARGUMENT for a count that is none.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_secrets_redact(
    text: verifi_str,
    secrets: *const verifi_str,
    count: usize,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        let secrets = boundary::array(secrets, count, "secrets", &text)?;
        let secrets = secrets.iter().map(|secret| secret.read("secrets")).collect::<Result<Vec<_>, _>>()?;
        out.give(verifi_text::new(verifi_core::redact(text.read("text")?, &secrets)))
    })
}

/// The values of an environment whose names say that they are secrets, as a JSON array of strings. `environment` is a JSON
/// object of strings; empty text stands for the environment of this process, whose secrets a run finds by itself. The
/// caller frees the text.
///
/// Errors: VERIFI_NULL_ARGUMENT, VERIFI_INVALID_UTF8, VERIFI_INVALID_ARGUMENT for what is no JSON object of strings.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_secrets_collect(
    environment: verifi_str,
    out: *mut *mut verifi_text,
    error: *mut *mut verifi_error,
) -> verifi_status {
    boundary::status(error, || {
        let out = Out::new(out, "out")?;
        let secrets = match environment.read("environment")? {
            "" => verifi_core::collect_run_secrets(),
            json => verifi_core::collect_run_secrets_from(variables(json)?),
        };
        out.give(verifi_text::json(&secrets)?)
    })
}

fn variables(json: &str) -> Result<BTreeMap<String, String>, Fault> {
    // serde_json's own message could show a value.
    serde_json::from_str(json).map_err(|_| Fault::Argument("environment", "is not a JSON object of strings".into()))
}
