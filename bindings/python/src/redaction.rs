//! Redaction without a run.

use std::collections::HashMap;
use std::ffi::OsString;

use pyo3::prelude::*;

/// The text with every occurrence of every secret replaced.
#[pyfunction]
pub(crate) fn redact(py: Python<'_>, text: &str, secrets: Vec<String>) -> String {
    py.detach(|| verifi::redact(text, &secrets))
}

/// The secrets in an environment, or in that of this process.
#[pyfunction]
pub(crate) fn collect_run_secrets(env: Option<HashMap<OsString, OsString>>) -> Vec<String> {
    match env {
        None => verifi::collect_run_secrets(),
        Some(env) => verifi::collect_run_secrets_from(env),
    }
}

/// Replaces secrets in any number of texts, in every form that a run looks for.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct Redactor {
    redactor: verifi::Redactor,
}

#[pymethods]
impl Redactor {
    #[new]
    fn new(py: Python<'_>, secrets: Vec<String>) -> Redactor {
        py.detach(|| Redactor { redactor: verifi::Redactor::for_run(&secrets) })
    }

    fn redact(&self, py: Python<'_>, text: &str) -> String {
        py.detach(|| self.redactor.scrub_str(text).into_owned())
    }
}
