//! One MCP server: its session, its messages, its answers.

mod answer;
mod client;
mod content;
mod dialogue;
mod elements;
mod handshake;
mod listing;
mod message;
mod pick;
mod session;

pub(crate) use answer::{BodyHead, Reply};
pub(crate) use client::{Failure, Server, ServerLimits, ToolCall, rpc_error_text};
pub(crate) use content::flatten;
pub(crate) use listing::ListFailure;
