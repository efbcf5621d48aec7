//! `verifi._verifi`: what the written package `verifi` cannot do in Python. It converts values, waits and cancels, and
//! decides nothing.

mod convert;
mod errors;
mod events;
mod exit;
mod journal;
mod outlet;
mod redaction;
mod result;
mod run;
mod slot;
mod waiting;

use pyo3::prelude::*;

/// The native part of verifi. Use the package `verifi`.
#[pymodule(gil_used = true)]
mod _verifi {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::convert::report;
    #[pymodule_export]
    use super::events::Subscription;
    #[pymodule_export]
    use super::exit::{close_all, forked, shut};
    #[pymodule_export]
    use super::journal::{JournalReader, verify_journal};
    #[pymodule_export]
    use super::outlet::Outlet;
    #[pymodule_export]
    use super::redaction::{Redactor, collect_run_secrets, redact};
    #[pymodule_export]
    use super::result::{ToolResult, restore_result};
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::slot::{Call, Slot};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SDK_VERSION", verifi::SDK_VERSION)?;
        module.add("VERSION", verifi::VERSION)
    }
}
