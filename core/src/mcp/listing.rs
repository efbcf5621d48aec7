//! The tools of a server, page by page.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ask::Ask;
use super::catalog;
use super::client::{Server, rpc_error_text};
use super::elements::elements;
use super::failure::Failure;
use super::message;
use super::request::Response;
use crate::cancel::Scope;
use crate::tools::RawTool;

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
    #[serde(borrow)]
    ttl_ms: Option<&'a RawValue>,
}

/// What a page says beside its tools.
struct PageEnd {
    next_cursor: Option<String>,
    fresh_until: Option<Instant>,
    is_modern: bool,
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
    /// All tools of the server, each name once (rule 3.10). A list that its server calls fresh is not asked for again.
    pub(crate) fn list(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Vec<RawTool>>, ListFailure> {
        match self.catalog.fresh() {
            Some(tools) => Ok(tools),
            None => self.ask_for_list(scope),
        }
    }

    pub(super) fn ask_for_list(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Vec<RawTool>>, ListFailure> {
        let mut cursors = Cursors::default();
        let mut names = HashSet::new();
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut fresh_until: Option<Option<Instant>> = None;
        for _ in 1..MOST_PAGES {
            let page = self.list_page(scope, cursor.as_deref(), &mut |tool: RawTool| {
                if names.insert(tool.name.clone()) {
                    tools.push(tool);
                }
            })?;
            // The list is as fresh as its stalest page.
            fresh_until = Some(fresh_until.map_or(page.fresh_until, |until| until.min(page.fresh_until)));
            cursor = cursors.follow(page.next_cursor)?;
            if cursor.is_none() {
                return Ok(match page.is_modern {
                    true => self.catalog.take_modern(tools, fresh_until.flatten()),
                    false => self.catalog.take(tools),
                });
            }
        }
        Err(ListFailure::Refused(format!("the list does not end within {MOST_PAGES} pages")))
    }

    fn list_page(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        cursor: Option<&str>,
        found: &mut dyn FnMut(RawTool),
    ) -> Result<PageEnd, ListFailure> {
        let members = cursor.map(|cursor| format!(r#""cursor":{}"#, message::quoted(cursor))).unwrap_or_default();
        let Response { reply, is_modern } =
            self.request(scope, Ask::new("tools/list", members)).map_err(ListFailure::Failed)?;
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
        let fresh_until = catalog::fresh_until(page.ttl_ms.map(RawValue::get));
        Ok(PageEnd { next_cursor: page.next_cursor, fresh_until, is_modern })
    }
}
