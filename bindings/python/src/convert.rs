//! Values from one language to the other.

use std::time::Duration;

use pyo3::prelude::*;
use serde::Serialize;

/// The core's own JSON of a value: it is the same in every language.
pub(crate) fn json(value: &impl Serialize) -> String {
    // The core's types have nothing that JSON lacks.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// A time limit; None is the run's own. The package has checked it.
pub(crate) fn limit(seconds: Option<f64>) -> Option<Duration> {
    /// As good as none, and far from what clocks cannot count.
    const LONGEST: f64 = 1e9;
    seconds.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, LONGEST)))
}

/// Gives an exception that nobody waits for to `sys.unraisablehook`.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, error: Bound<'_, PyAny>, callback: Bound<'_, PyAny>) {
    PyErr::from_value(error).write_unraisable(py, Some(&callback));
}
