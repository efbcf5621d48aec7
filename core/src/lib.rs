//! The one metered way from a security-scan harness to its tools.
//!
//! A harness opens a [`Run`] from the manifest that the platform gave it, takes a *slot* and calls tools on it. A call
//! never fails in the Rust sense: whatever happens comes back as a [`ToolResult`], and every call that was put to a
//! server is on the run's ledger and timeline.

mod arguments;
mod attempt;
mod background;
mod bounds;
mod call;
mod call_options;
mod cancel;
mod encode;
mod error;
mod evidence;
mod failover;
mod http;
mod json;
mod listing;
mod lock;
mod manifest;
mod mcp;
mod member;
mod names;
mod options;
mod outcome;
mod process;
mod progress;
mod raw;
mod redact;
mod result;
mod run;
mod run_secrets;
mod servers;
mod slot;
mod spare;
mod state;
mod timeline;
mod tools;

pub use arguments::Arguments;
pub use call_options::{CallOptions, ListOptions};
pub use cancel::CancelToken;
pub use error::{Error, ErrorKind};
pub use failover::ServerState;
pub use options::{Elicitation, Replay, RunOptions};
pub use outcome::{Outcome, ServerRole};
pub use progress::{Progress, ProgressFn};
pub use raw::RawJson;
pub use redact::{Redactor, Scrubbed, collect_run_secrets, collect_run_secrets_from, redact};
pub use result::ToolResult;
pub use run::Run;
pub use servers::ServerHealth;
pub use slot::{CallFuture, ListFuture, Slot};
pub use spare::reuse;
pub use timeline::{
    Event, EventKind, JournalFault, JournalReader, JournalSync, Ledger, Next, NextEvent, SlotLedger, Subscription,
    Timestamp, Usage, Verification, read_journal, verify_journal,
};
pub use tools::ToolDefinition;

/// The version that verifi names in the MCP handshake (`clientInfo.version`). It is the version of the SDK's wire
/// behaviour, not of this package: see [`VERSION`].
pub const SDK_VERSION: &str = "1.0.0";

/// The version of this package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
