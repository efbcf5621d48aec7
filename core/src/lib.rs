//! The one metered way from a security-scan harness to its tools.
//!
//! A harness opens a [`Run`] from the manifest that the platform gave it, takes a *slot* and calls tools on it. A call
//! never fails in the Rust sense: whatever happens comes back as a [`ToolResult`], and every call that was put to a
//! server is on the run's ledger and timeline.

mod error;
#[cfg_attr(not(test), expect(dead_code, reason = "the run uses it"))]
mod manifest;
mod member;
mod names;
#[cfg_attr(not(test), expect(dead_code, reason = "the run uses it"))]
mod options;
mod outcome;
#[cfg_attr(not(test), expect(dead_code, reason = "the run uses it"))]
mod timeline;

pub use error::{Error, ErrorKind};
pub use options::{Elicitation, Replay, RunOptions};
pub use outcome::{Outcome, ServerRole};
pub use timeline::{Event, EventKind, Ledger, Next, NextEvent, SlotLedger, Subscription, Timestamp, Usage};
mod json;
mod redact;

pub use redact::{Redactor, Scrubbed, collect_run_secrets, collect_run_secrets_from, redact};

/// The version that verifi names in the MCP handshake (`clientInfo.version`). It is the version of the SDK's wire
/// behaviour, not of this package: see [`VERSION`].
pub const SDK_VERSION: &str = "1.0.0";

/// The version of this package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
