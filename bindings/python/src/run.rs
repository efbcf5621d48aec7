//! A run's handle.

use std::ops::Deref;
use std::sync::Arc;
use std::thread;

use pyo3::prelude::*;
use verifi::RunOptions;

use crate::convert::json;
use crate::errors::raised;
use crate::events::Subscription;
use crate::exit;
use crate::outlet::Waiter;
use crate::slot::Slot;

/// An open run.
#[pyclass(frozen, module = "verifi._verifi")]
pub(crate) struct Run {
    handle: Held,
}

/// A hold on a run. The last one closes it when it is collected, which may take a while: Python does not wait.
#[derive(Clone)]
pub(crate) struct Held(Arc<verifi::Run>);

impl Deref for Held {
    type Target = verifi::Run;

    fn deref(&self) -> &verifi::Run {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) == 1 {
            Python::try_attach(|py| py.detach(|| self.0.close()));
        }
    }
}

#[pymethods]
impl Run {
    #[new]
    fn new(py: Python<'_>, manifest: &str, options: &str) -> PyResult<Run> {
        let options = RunOptions::from_json(options).map_err(|error| raised(&error))?;
        let run = py.detach(|| verifi::Run::open(manifest, options));
        let run = Arc::new(run.map_err(|error| raised(&error))?);
        exit::opened(&run);
        Ok(Run { handle: Held(run) })
    }

    #[getter]
    fn id(&self) -> &str {
        self.handle.id()
    }

    #[getter]
    fn slot_names(&self) -> Vec<&str> {
        self.handle.slot_names()
    }

    fn slot(&self, name: &str) -> PyResult<Slot> {
        let slot = self.handle.mcp(name).map_err(|error| raised(&error))?;
        Ok(Slot::new(slot, self.handle.clone()))
    }

    fn ledger(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.handle.ledger()))
    }

    fn events(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.handle.events().iter().map(|event| json(&**event)).collect())
    }

    /// The events from that `seq` on, or from the next one.
    fn subscribe(&self, py: Python<'_>, since: Option<u64>) -> Subscription {
        let subscription = py.detach(|| match since {
            Some(seq) => self.handle.subscribe_from(seq),
            None => self.handle.subscribe(),
        });
        Subscription::new(subscription)
    }

    fn log(&self, py: Python<'_>, line: &str) {
        py.detach(|| self.handle.log(line));
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.handle.close());
    }

    /// Closes it on a thread of its own and tells the waiter.
    fn start_close(&self, py: Python<'_>, waiter: Waiter) {
        let close = |waiter: Waiter| {
            // No `Held`: dropped on a thread of verifi's it would ask for Python.
            let run = self.handle.0.clone();
            move || {
                run.close();
                waiter.tell(|py| Ok(py.None()));
            }
        };
        let started = thread::Builder::new().name("verifi-close".into()).spawn(close(waiter.clone_ref(py)));
        if started.is_err() {
            py.detach(close(waiter));
        }
    }
}
