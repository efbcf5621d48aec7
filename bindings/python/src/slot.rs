//! A slot's handle, and calls that are under way.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use verifi::{Arguments, CallOptions, CancelToken, ListOptions, Progress, ProgressFn, ToolDefinition};

use crate::convert::{json, limit};
use crate::errors::raised;
use crate::exit;
use crate::outlet::Waiter;
use crate::result::ToolResult;
use crate::run::Held;
use crate::waiting::{Inbox, block, is_main_thread};

/// A slot of a run, which it keeps open.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct Slot {
    slot: verifi::Slot,
    _run: Held,
}

/// A call or a list that is under way.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct Call {
    cancel: CancelToken,
}

#[pymethods]
impl Call {
    /// Cancels it, unless it is done.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.cancel.cancel());
    }
}

/// The arguments as JSON text, or why there are none.
#[derive(FromPyObject)]
enum Given {
    #[pyo3(transparent)]
    Json(String),
    #[pyo3(transparent)]
    Invalid((String,)),
}

impl From<Given> for Arguments {
    fn from(given: Given) -> Arguments {
        match given {
            Given::Json(text) => Arguments::json(text),
            Given::Invalid((reason,)) => Arguments::invalid(reason),
        }
    }
}

impl Slot {
    pub(crate) fn new(slot: verifi::Slot, run: Held) -> Slot {
        Slot { slot, _run: run }
    }
}

#[pymethods]
impl Slot {
    #[getter]
    fn name(&self) -> &str {
        self.slot.name()
    }

    #[getter]
    fn endpoint(&self) -> &str {
        self.slot.endpoint()
    }

    /// Calls a tool and waits for its result.
    fn call(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: Given,
        timeout: Option<f64>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<ToolResult> {
        let mut options = options(timeout, on_progress);
        let result = if is_main_thread(py)? {
            let (inbox, cancel) = (Inbox::new(), CancelToken::new());
            options.cancel = Some(cancel.clone());
            let done = inbox.clone();
            py.detach(|| self.slot.call_then(tool, arguments, options, move |result| done.put(result)));
            inbox.wait(py, &cancel)?
        } else {
            block(py, || self.slot.call_with(tool, arguments, options))
        };
        Ok(ToolResult::new(py, result))
    }

    /// Starts a call, whose result the waiter is told.
    fn start(
        &self,
        py: Python<'_>,
        tool: &str,
        arguments: Given,
        timeout: Option<f64>,
        on_progress: Option<Py<PyAny>>,
        waiter: Waiter,
    ) -> Call {
        let cancel = CancelToken::new();
        let options = CallOptions { cancel: Some(cancel.clone()), ..options(timeout, on_progress) };
        let told = move |result| waiter.tell(|py| Ok(Py::new(py, ToolResult::new(py, result))?.into_any()));
        py.detach(|| self.slot.call_then(tool, arguments, options, told));
        Call { cancel }
    }

    /// The tools' names and definitions.
    fn definitions(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Vec<(String, String)>> {
        let mut options = ListOptions { timeout: limit(timeout), cancel: None };
        let listed = if is_main_thread(py)? {
            let (inbox, cancel) = (Inbox::new(), CancelToken::new());
            options.cancel = Some(cancel.clone());
            let done = inbox.clone();
            py.detach(|| self.slot.tool_definitions_then(options, move |listed| done.put(listed)));
            inbox.wait(py, &cancel)?
        } else {
            block(py, || self.slot.tool_definitions_with(options))
        };
        pairs(listed)
    }

    /// Starts to list; the waiter is told the pairs, or why there are none.
    fn start_definitions(&self, py: Python<'_>, timeout: Option<f64>, waiter: Waiter) -> Call {
        let cancel = CancelToken::new();
        let options = ListOptions { timeout: limit(timeout), cancel: Some(cancel.clone()) };
        let told = move |listed| waiter.tell(|py| Ok(pairs(listed)?.into_pyobject(py)?.unbind()));
        py.detach(|| self.slot.tool_definitions_then(options, told));
        Call { cancel }
    }

    fn health(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.slot.health()))
    }
}

fn pairs(listed: Result<Vec<ToolDefinition>, verifi::Error>) -> PyResult<Vec<(String, String)>> {
    let tools = listed.map_err(|error| raised(&error))?;
    Ok(tools.into_iter().map(|tool| (tool.name, tool.json)).collect())
}

fn options(timeout: Option<f64>, on_progress: Option<Py<PyAny>>) -> CallOptions {
    CallOptions { timeout: limit(timeout), on_progress: on_progress.map(reporting), ..CallOptions::default() }
}

/// Reports progress to a Python callable. What it raises goes to `sys.unraisablehook`.
fn reporting(callback: Py<PyAny>) -> ProgressFn {
    Arc::new(move |progress| {
        let Some(_pass) = exit::pass() else { return };
        Python::attach(|py| {
            let reported = shown(py, progress).and_then(|progress| callback.call1(py, (progress,)));
            if let Err(error) = reported {
                error.write_unraisable(py, Some(callback.bind(py)));
            }
        });
    })
}

/// The progress as the package's own type.
fn shown(py: Python<'_>, progress: Progress) -> PyResult<Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Progress { progress, total, message, .. } = progress;
    TYPE.import(py, "verifi._types", "Progress")?.call1((progress, total, message))
}
