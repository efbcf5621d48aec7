//! Journals, read without a run.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::convert::json;
use crate::errors::raised;

/// What came of checking a journal, as JSON.
#[pyfunction]
pub(crate) fn verify_journal(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let verification = py.detach(|| verifi::verify_journal(&path)).map_err(|error| raised(&error))?;
    Ok(json(&verification))
}

/// The events of a journal, one after the other.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct JournalReader {
    reader: Mutex<verifi::JournalReader>,
}

#[pymethods]
impl JournalReader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<JournalReader> {
        let reader = py.detach(|| verifi::read_journal(&path)).map_err(|error| raised(&error))?;
        Ok(JournalReader { reader: Mutex::new(reader) })
    }

    /// The next event as JSON; none at the end of the file.
    fn next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let next = py.detach(|| self.reader.lock().unwrap_or_else(PoisonError::into_inner).next());
        match next {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(json(&event))),
            Some(Err(error)) => Err(raised(&error)),
        }
    }
}
