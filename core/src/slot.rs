//! A slot: the one way to a tool.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::arguments::Arguments;
use crate::call::Call;
use crate::call_options::{CallOptions, ListOptions};
use crate::cancel::CancelToken;
use crate::error::{Error, ErrorKind};
use crate::listing::Listing;
use crate::result::ToolResult;
use crate::servers::ServerHealth;
use crate::state::{RunShared, SlotShared};
use crate::tools::ToolDefinition;

/// A named capability of a run, and the servers that the manifest bound to it.
///
/// Clones, and slots of the same name of the same run, are the same: one session with each server, one failover state.
/// Usable from any thread, also after the run is closed: its calls are then rejected.
#[derive(Clone)]
pub struct Slot {
    pub(crate) run: Arc<RunShared>,
    pub(crate) shared: Arc<SlotShared>,
}

impl Slot {
    /// The slot's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The MCP endpoint of the slot's first server, with its query.
    pub fn endpoint(&self) -> &str {
        &self.shared.endpoint
    }

    /// Calls a tool and waits for its result, at most the run's time limit (300 s unless set) for each server that is
    /// tried. Never fails and never panics: see [`ToolResult`]. It blocks this thread alone and may
    /// be used on a thread that drives an async runtime, if that is what you want.
    pub fn call(&self, tool: &str, arguments: impl Into<Arguments>) -> ToolResult {
        self.call_with(tool, arguments, CallOptions::default())
    }

    /// [`call`](Self::call) with options.
    pub fn call_with(&self, tool: &str, arguments: impl Into<Arguments>, options: CallOptions) -> ToolResult {
        Call::new(&self.run, &self.shared, tool, arguments.into(), options, None).run()
    }

    /// Calls a tool on a thread of verifi's own. The call is under way when this returns, whether the future is polled
    /// or not; dropping the future cancels it. Works in any async runtime, and in none.
    pub fn call_async(&self, tool: &str, arguments: impl Into<Arguments>) -> CallFuture {
        self.call_async_with(tool, arguments, CallOptions::default())
    }

    /// [`call_async`](Self::call_async) with options.
    pub fn call_async_with(&self, tool: &str, arguments: impl Into<Arguments>, options: CallOptions) -> CallFuture {
        let dropped = CancelToken::new();
        let (sender, receiver) = oneshot::channel();
        let call = Call::new(&self.run, &self.shared, tool, arguments.into(), options, Some(dropped.clone()));
        call.run_in_background(move |result| {
            // Nobody is left to take the result of a future that was dropped.
            let _ = sender.send(result);
        });
        CallFuture { receiver, dropped }
    }

    /// Calls a tool on a thread of verifi's own and gives `done` the result, exactly once. `done` runs on that thread,
    /// on the one that cancels the call, or, when the call is not sent at all, before this returns; it must not block.
    pub fn call_then(
        &self,
        tool: &str,
        arguments: impl Into<Arguments>,
        options: CallOptions,
        done: impl FnOnce(ToolResult) + Send + 'static,
    ) {
        Call::new(&self.run, &self.shared, tool, arguments.into(), options, None).run_in_background(done);
    }

    /// The names of the slot's tools, following the list to its end. Waits like [`call`](Self::call).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ListTools`] when no server gave a list; the message has each server's cause in order.
    pub fn list_tools(&self) -> Result<Vec<String>, Error> {
        self.list_tools_with(ListOptions::default())
    }

    /// [`list_tools`](Self::list_tools) with options.
    ///
    /// # Errors
    ///
    /// As those of `list_tools`.
    pub fn list_tools_with(&self, options: ListOptions) -> Result<Vec<String>, Error> {
        self.tool_definitions_with(options).map(names)
    }

    /// [`list_tools`](Self::list_tools) on a thread of verifi's own. Dropping the future cancels it.
    pub fn list_tools_async(&self) -> ListFuture<Vec<String>> {
        self.list_tools_async_with(ListOptions::default())
    }

    /// [`list_tools_async`](Self::list_tools_async) with options.
    pub fn list_tools_async_with(&self, options: ListOptions) -> ListFuture<Vec<String>> {
        self.list_in_background(options, names)
    }

    /// The definitions of the slot's tools. Waits like [`call`](Self::call).
    ///
    /// # Errors
    ///
    /// As those of [`list_tools`](Self::list_tools).
    pub fn tool_definitions(&self) -> Result<Vec<ToolDefinition>, Error> {
        self.tool_definitions_with(ListOptions::default())
    }

    /// [`tool_definitions`](Self::tool_definitions) with options.
    ///
    /// # Errors
    ///
    /// As those of [`list_tools`](Self::list_tools).
    pub fn tool_definitions_with(&self, options: ListOptions) -> Result<Vec<ToolDefinition>, Error> {
        Listing::new(&self.run, &self.shared, options, None).run()
    }

    /// [`tool_definitions`](Self::tool_definitions) on a thread of verifi's own. Dropping the future cancels it.
    pub fn tool_definitions_async(&self) -> ListFuture<Vec<ToolDefinition>> {
        self.tool_definitions_async_with(ListOptions::default())
    }

    /// [`tool_definitions_async`](Self::tool_definitions_async) with options.
    pub fn tool_definitions_async_with(&self, options: ListOptions) -> ListFuture<Vec<ToolDefinition>> {
        self.list_in_background(options, |tools| tools)
    }

    /// Lists the tools on a thread of verifi's own and gives `done` the outcome, exactly once, as
    /// [`call_then`](Self::call_then) does.
    pub fn tool_definitions_then(
        &self,
        options: ListOptions,
        done: impl FnOnce(Result<Vec<ToolDefinition>, Error>) + Send + 'static,
    ) {
        Listing::new(&self.run, &self.shared, options, None).run_in_background(done);
    }

    fn list_in_background<T: Send + 'static>(
        &self,
        options: ListOptions,
        shape: fn(Vec<ToolDefinition>) -> T,
    ) -> ListFuture<T> {
        let dropped = CancelToken::new();
        let (sender, receiver) = oneshot::channel();
        Listing::new(&self.run, &self.shared, options, Some(dropped.clone())).run_in_background(move |outcome| {
            // Nobody is left to take the outcome of a future that was dropped.
            let _ = sender.send(outcome.map(shape));
        });
        ListFuture { receiver, dropped }
    }

    /// What verifi knows of each of the slot's servers, in the order in which they are tried. Of a closed run: what was
    /// known, without the protocol version; nothing if the slot was never used.
    pub fn health(&self) -> Vec<ServerHealth> {
        self.shared.servers(&self.run, self.run.state()).map(|servers| servers.health()).unwrap_or_default()
    }
}

fn names(tools: Vec<ToolDefinition>) -> Vec<String> {
    tools.into_iter().map(|tool| tool.name).collect()
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A call that is under way. Dropping it cancels the call.
#[must_use = "dropping the future cancels the call"]
#[derive(Debug)]
pub struct CallFuture {
    receiver: oneshot::Receiver<ToolResult>,
    dropped: CancelToken,
}

impl Future for CallFuture {
    type Output = ToolResult;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResult> {
        Pin::new(&mut self.receiver)
            .poll(context)
            .map(|received| received.unwrap_or_else(|_| ToolResult::rejected("the call was lost".into(), 0.0)))
    }
}

impl Drop for CallFuture {
    fn drop(&mut self) {
        self.dropped.cancel();
    }
}

/// A list of tools that is under way. Dropping it cancels it.
#[must_use = "dropping the future cancels the request"]
#[derive(Debug)]
pub struct ListFuture<T> {
    receiver: oneshot::Receiver<Result<T, Error>>,
    dropped: CancelToken,
}

impl<T> Future for ListFuture<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, Error>> {
        Pin::new(&mut self.receiver).poll(context).map(|received| {
            received.unwrap_or_else(|_| Err(Error::new(ErrorKind::ListTools, "tools/list failed: it was lost")))
        })
    }
}

impl<T> Drop for ListFuture<T> {
    fn drop(&mut self) {
        self.dropped.cancel();
    }
}
