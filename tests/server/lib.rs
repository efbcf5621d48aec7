//! A scriptable MCP server for the tests of every face: each byte that it sends, and when, is the test's to choose, and
//! everything that it receives is recorded. `tests/README.md` describes its scripts.

mod action;
mod connection;
mod control;
mod exchange;
pub mod json;
mod listener;
pub mod matching;
mod mcp;
mod modern;
mod payload;
mod peers;
mod prebuilt;
mod request;
#[path = "../scenarios/mod.rs"]
pub mod scenarios;
mod script;
mod server;
mod shared;
mod socket;
mod tls;
mod tools;

pub use action::Condition;
pub use control::{command, describe};
pub use request::Request;
pub use script::{Match, Script};
pub use server::{Port, Server};
pub use shared::{Connection, Side};
