//! HTTP, and the only place that knows ureq: requests over kept connections, each within its scope.

mod buffers;
mod connector;
mod dial;
mod exchange;
mod lanes;
mod proxy;
mod roots;
pub(crate) mod sse;
mod wire;

pub(crate) use exchange::{Client, Fault, FaultKind, Method, Request, Resend, Response, add_standing_headers};
