//! `ToolResult`.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyString, PyTuple};
use verifi::{Outcome, RawJson, ServerRole};

/// The result of a tool call.
///
/// There is one for every call, whatever happened to it, and all text in it is scrubbed of the run's secrets. It never
/// changes, can be pickled, and threads may share it.
///
/// Attributes:
///     ok: The tool ran and answered. False means that it failed, was refused or was not reached.
///     text: The content of the answer as text.
///     is_error: The server reported the failure. False when no answer came.
///     latency_ms: How long the whole call took, in milliseconds, failover included.
///     error: What went wrong; set exactly when `ok` is False.
///     outcome: "ok", "tool_error", "refused", "unreachable", "timed_out", "cancelled" or "rejected".
///     server: "primary" or "fallback", whichever answered; None when none did.
///     may_have_run: The call was sent and its fate is unknown: the tool may have run, or still run.
///     redactions: How many occurrences of secrets were replaced.
///     raw: The JSON-RPC result or error object as `json.loads` gives it, parsed at first use; None without an answer.
///         RecursionError when it nests deeper than Python reads.
///     raw_json: The same as the JSON text that the server sent: every digit of a number is kept.
#[pyclass(frozen, module = "verifi")]
pub(crate) struct ToolResult {
    #[pyo3(get)]
    ok: bool,
    text: Text,
    #[pyo3(get)]
    is_error: bool,
    #[pyo3(get)]
    latency_ms: f64,
    #[pyo3(get)]
    error: Option<Py<PyString>>,
    outcome: Outcome,
    server: Option<ServerRole>,
    #[pyo3(get)]
    may_have_run: bool,
    #[pyo3(get)]
    redactions: u64,
    /// What the raw answer is made from when it is asked for; None without one, and in a result that was pickled.
    source: Option<RawJson>,
    raw_json: PyOnceLock<Option<Py<PyString>>>,
    raw: PyOnceLock<Py<PyAny>>,
}

/// A text, which may be large: Python's string is made when it is asked for, and is then the only copy.
///
/// Hardly anybody waits for the lock, since whoever has it keeps the interpreter. `PyOnceLock` would let go of it at the
/// first use, and every call would have to get it twice.
struct Text(Mutex<Form>);

enum Form {
    Given(String),
    Made(Py<PyString>),
}

impl Text {
    fn new(given: String) -> Text {
        Text(Mutex::new(Form::Given(given)))
    }

    fn of(made: Py<PyString>) -> Text {
        Text(Mutex::new(Form::Made(made)))
    }

    /// MemoryError when there is no room for it; then it can be asked for again.
    fn get(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        let mut form = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let made = match &mut *form {
            Form::Made(made) => return Ok(made.clone_ref(py)),
            Form::Given(given) => {
                let made = PyString::from_bytes(py, given.as_bytes())?.unbind();
                verifi::reuse(std::mem::take(given));
                made
            }
        };
        *form = Form::Made(made.clone_ref(py));
        Ok(made)
    }
}

/// How much of a text is shown.
const SHOWN: usize = 200;

impl ToolResult {
    pub(crate) fn new(py: Python<'_>, mut result: verifi::ToolResult) -> ToolResult {
        let (text, source) = result.take_evidence();
        let error = result.error.take();
        ToolResult {
            ok: result.ok,
            text: Text::new(text),
            is_error: result.is_error,
            latency_ms: result.latency_ms,
            error: error.map(|error| PyString::new(py, &error).unbind()),
            outcome: result.outcome,
            server: result.server,
            may_have_run: result.may_have_run,
            redactions: result.redactions,
            source,
            raw_json: PyOnceLock::new(),
            raw: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl ToolResult {
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        self.text.get(py)
    }

    #[getter]
    fn outcome(&self) -> &'static str {
        self.outcome.as_str()
    }

    #[getter]
    fn server(&self) -> Option<&'static str> {
        self.server.map(ServerRole::as_str)
    }

    #[getter]
    fn raw_json(&self, py: Python<'_>) -> PyResult<Option<Py<PyString>>> {
        let json = self.raw_json.get_or_try_init(py, || {
            let Some(source) = &self.source else { return Ok(None) };
            // Not as a string's own UTF-8, which it would keep.
            let text = match source.needs_text() {
                true => Some(self.text.get(py)?.bind(py).encode_utf8()?),
                false => None,
            };
            let text = text.as_ref().map_or("", |text| std::str::from_utf8(text.as_bytes()).unwrap_or_default());
            Ok::<_, PyErr>(Some(PyString::from_bytes(py, source.with_text(text).as_bytes())?.unbind()))
        })?;
        Ok(json.as_ref().map(|json| json.clone_ref(py)))
    }

    #[getter]
    fn raw(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(text) = self.raw_json(py)? else { return Ok(None) };
        let loads = || {
            let json = py.import(intern!(py, "json"))?;
            json.call_method1(intern!(py, "loads"), (text,)).map(Bound::unbind)
        };
        self.raw.get_or_try_init(py, loads).map(|raw| Some(raw.clone_ref(py)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, shown) = match &self.error {
            Some(error) => ("error", error.clone_ref(py)),
            None => ("text", self.text.get(py)?),
        };
        let shown = shown.bind(py).to_string_lossy();
        let cut: String = shown.chars().take(SHOWN).collect();
        let dots = if cut.len() < shown.len() { "..." } else { "" };
        let cut = PyString::new(py, &(cut + dots)).repr()?;
        Ok(format!("ToolResult(outcome='{}', {name}={cut}, latency_ms={:.1})", self.outcome.as_str(), self.latency_ms))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.import(intern!(py, "verifi._verifi"))?.getattr(intern!(py, "restore_result"))?;
        let parts = (
            (self.ok, self.text.get(py)?, self.is_error, self.latency_ms, &self.error),
            (self.outcome(), self.server(), self.may_have_run, self.redactions, self.raw_json(py)?),
        );
        Ok((restore, parts.into_pyobject(py)?))
    }
}

type First = (bool, Py<PyString>, bool, f64, Option<Py<PyString>>);
type Second = (String, Option<String>, bool, u64, Option<Py<PyString>>);

/// A result that was pickled.
#[pyfunction]
pub(crate) fn restore_result(py: Python<'_>, first: First, second: Second) -> PyResult<ToolResult> {
    let (ok, text, is_error, latency_ms, error) = first;
    let (outcome, server, may_have_run, redactions, raw) = second;
    let unknown = |name: String| PyValueError::new_err(format!("this version of verifi does not know '{name}'"));
    let server = server.map(|name| ServerRole::from_name(&name).ok_or_else(|| unknown(name))).transpose()?;
    let raw_json = PyOnceLock::new();
    raw_json.get_or_init(py, || raw);
    Ok(ToolResult {
        ok,
        text: Text::of(text),
        is_error,
        latency_ms,
        error,
        outcome: Outcome::from_name(&outcome).ok_or_else(|| unknown(outcome))?,
        server,
        may_have_run,
        redactions,
        source: None,
        raw_json,
        raw: PyOnceLock::new(),
    })
}
