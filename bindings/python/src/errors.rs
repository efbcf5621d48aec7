//! The core's errors as the exceptions of `verifi._errors`.

use pyo3::prelude::*;
use verifi::ErrorKind;

pyo3::import_exception!(verifi._errors, VerifiError);
pyo3::import_exception!(verifi._errors, ManifestError);
pyo3::import_exception!(verifi._errors, OptionsError);
pyo3::import_exception!(verifi._errors, SlotNotFilledError);
pyo3::import_exception!(verifi._errors, ListToolsError);
pyo3::import_exception!(verifi._errors, JournalError);

/// The exception for an error of the core.
pub(crate) fn raised(error: &verifi::Error) -> PyErr {
    let message = error.message().to_owned();
    match error.kind() {
        ErrorKind::Manifest => ManifestError::new_err(message),
        ErrorKind::Options => OptionsError::new_err(message),
        ErrorKind::SlotNotFilled => SlotNotFilledError::new_err(message),
        ErrorKind::ListTools => ListToolsError::new_err(message),
        ErrorKind::Journal => JournalError::new_err(message),
        // A kind that this face does not know yet. The suite holds the exceptions against the core's list of kinds.
        _ => VerifiError::new_err(message),
    }
}
