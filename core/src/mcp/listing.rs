//! The tools of a server, page by page.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Failure, Server, rpc_error_text};
use super::elements::elements;
use super::message;
use crate::cancel::Scope;
use crate::http::Resend;
use crate::lock::Lock;
use crate::tools::{RawTool, ToolHints};

const MOST_PAGES: usize = 1000;

/// Why there is no list.
pub(crate) enum ListFailure {
    /// The server answered, with an error or with something that is no list.
    Refused(String),
    Failed(Failure),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
    next_cursor: Option<String>,
}

/// Which page comes next.
#[derive(Default)]
struct Cursors {
    seen: HashSet<String>,
}

impl Cursors {
    /// The cursor to follow. One that was followed already is an error, but for the empty one: some servers mean the end
    /// by it, others a page.
    fn follow(&mut self, next: Option<String>) -> Result<Option<String>, ListFailure> {
        let Some(cursor) = next else { return Ok(None) };
        if self.seen.insert(cursor.clone()) {
            return Ok(Some(cursor));
        }
        match cursor.is_empty() {
            true => Ok(None),
            false => Err(ListFailure::Refused("the server gives the same nextCursor again".into())),
        }
    }
}

impl Server {
    /// All tools of the server, each name once (rule 3.10).
    pub(crate) fn list(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Vec<RawTool>, ListFailure> {
        let mut cursors = Cursors::default();
        let mut names = HashSet::new();
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 1..MOST_PAGES {
            let next = self.list_page(scope, cursor.as_deref(), &mut |tool: RawTool| {
                if names.insert(tool.name.clone()) {
                    tools.push(tool);
                }
            })?;
            cursor = cursors.follow(next)?;
            if cursor.is_none() {
                *self.tools.locked() =
                    tools.iter().map(|tool| (tool.name.clone(), ToolHints::of(&tool.json))).collect();
                return Ok(tools);
            }
        }
        Err(ListFailure::Refused(format!("the list does not end within {MOST_PAGES} pages")))
    }

    fn list_page(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        cursor: Option<&str>,
        found: &mut dyn FnMut(RawTool),
    ) -> Result<Option<String>, ListFailure> {
        let params = match cursor {
            Some(cursor) => format!(r#"{{"cursor":{}}}"#, message::quoted(cursor)),
            None => "{}".into(),
        };
        let reply = self
            .request(scope, "tools/list", |_| params.clone(), None, Resend::Unanswered)
            .map_err(ListFailure::Failed)?;
        if reply.is_error() {
            return Err(ListFailure::Refused(rpc_error_text(reply.text())));
        }
        let no_list = |error| ListFailure::Refused(format!("the answer is no list of tools: {error}"));
        let page: Page = serde_json::from_str(reply.text()).map_err(no_list)?;
        elements(page.tools.get(), |tool| {
            if let Some(tool) = RawTool::parse(tool) {
                found(tool);
            }
            true
        })
        .map_err(no_list)?;
        Ok(page.next_cursor)
    }
}
