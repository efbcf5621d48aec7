//! The native half of the npm package `verifi`. `../lib` is the other half, and its only user.
//!
//! It converts values and threads and decides nothing. Texts that have a schema of their own (manifest, options,
//! ledger, events) pass as JSON. What ends later than the call that began it is told to JavaScript as a notice, under
//! the number that JavaScript gave it: see [`outlet`].

mod failure;
mod journal;
/// Public, as `redaction`, since nothing registers its function in a build for tests, and it would pass for dead code.
pub mod notice;
mod outlet;
pub mod redaction;
mod run;
mod slot;
mod subscription;

use napi_derive::napi;

/// The version that verifi names in the MCP handshake.
#[napi]
pub const SDK_VERSION: &str = verifi::SDK_VERSION;

/// The version of this package.
#[napi]
pub const VERSION: &str = verifi::VERSION;
