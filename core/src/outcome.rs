//! How a call ended, and which server it was put to.

use crate::names::named;

named! {
    /// How a call ended.
    pub enum Outcome {
        /// The tool ran and answered.
        Ok = "ok",
        /// The tool ran and reported an error of its own.
        ToolError = "tool_error",
        /// The server answered with a JSON-RPC error.
        Refused = "refused",
        /// No answer came: DNS, connect, TLS, HTTP status, or a body that was cut or is not MCP.
        Unreachable = "unreachable",
        /// The deadline passed.
        TimedOut = "timed_out",
        /// The caller cancelled the call.
        Cancelled = "cancelled",
        /// verifi did not send the call, or did not take its answer.
        Rejected = "rejected",
    }
}

named! {
    /// Which of a slot's servers.
    pub enum ServerRole {
        /// The first one of the slot.
        Primary = "primary",
        /// Any later one.
        Fallback = "fallback",
    }
}
