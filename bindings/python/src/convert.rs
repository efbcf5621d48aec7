//! Values from one language to the other.

use std::time::Duration;

use pyo3::prelude::*;
use serde::Serialize;

use crate::exit;

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

/// Calls `done(value, error)` from a thread of verifi's, unless the interpreter is about to end. What it raises has
/// nobody to go to but `sys.unraisablehook`.
pub(crate) fn tell<T>(done: &Py<PyAny>, outcome: impl FnOnce(Python<'_>) -> PyResult<T>)
where
    T: for<'py> IntoPyObject<'py>,
{
    let Some(_pass) = exit::pass() else { return };
    Python::attach(|py| {
        let told = match outcome(py) {
            Ok(value) => done.call1(py, (value, py.None())),
            Err(error) => done.call1(py, (py.None(), error.into_value(py))),
        };
        if let Err(error) = told {
            error.write_unraisable(py, Some(done.bind(py)));
        }
    });
}

/// Gives an exception that nobody waits for to `sys.unraisablehook`.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, error: Bound<'_, PyAny>, callback: Bound<'_, PyAny>) {
    PyErr::from_value(error).write_unraisable(py, Some(&callback));
}
