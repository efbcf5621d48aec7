//! One MCP server: its session, its messages, its answers.

mod answer;
mod ask;
mod auth;
mod catalog;
mod client;
mod content;
mod dialogue;
mod elements;
mod elicitation;
mod era;
mod failure;
mod handshake;
mod interim;
mod listen;
mod listing;
mod message;
mod params;
mod pick;
mod post;
mod request;
mod resume;
mod session;
mod shared;
mod token;

pub(crate) use answer::{Apart, BodyHead, Reply};
pub(crate) use catalog::Note;
pub(crate) use client::{Server, ServerLimits, ToolCall, rpc_error_text};
pub(crate) use content::{Content, Text, flatten};
pub(crate) use failure::Failure;
pub(crate) use listing::ListFailure;
