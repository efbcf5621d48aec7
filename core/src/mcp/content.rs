//! A tool's result as the text that a harness reads.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::elements::elements;
use crate::json;

pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

#[derive(Deserialize)]
struct ToolResult<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(borrow, rename = "isError")]
    is_error: Option<&'a RawValue>,
}

/// Flattens the JSON text of a `tools/call` result (rule 2.4): the text of text blocks, the compact JSON of all others,
/// joined by LF; without blocks, the structured content. What is not of the protocol's shape is given as it is.
pub(crate) fn flatten(result: &str) -> Content {
    let Ok(parts) = serde_json::from_str::<ToolResult>(result) else {
        return Content { text: json::compact(result), is_error: false };
    };
    let is_error = parts.is_error.is_some_and(|value| value.get() == "true");
    let structured = || parts.structured.map(|value| json::compact(value.get())).unwrap_or_default();
    let text = match parts.content.map(|content| (content.get(), join(content.get()))) {
        None | Some((_, Ok(None))) => structured(),
        Some((_, Ok(Some(text)))) => text,
        Some((other, Err(_))) => json::compact(other),
    };
    Content { text, is_error }
}

/// The text of all blocks; none when there is no block.
fn join(blocks: &str) -> Result<Option<String>, serde_json::Error> {
    let mut joined: Option<String> = None;
    elements(blocks, |block| {
        let text = block_text(block);
        match &mut joined {
            None => joined = Some(text),
            Some(joined) => {
                joined.push('\n');
                joined.push_str(&text);
            }
        }
        true
    })?;
    Ok(joined)
}

fn block_text(block: &str) -> String {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        r#type: Option<&'a RawValue>,
        #[serde(borrow)]
        text: Option<&'a RawValue>,
    }
    let text = serde_json::from_str::<Block>(block).ok().and_then(|block| {
        let is_text = block.r#type.is_some_and(|name| name.get() == r#""text""#);
        let token = block.text?.get().strip_prefix('"')?.strip_suffix('"')?;
        is_text.then(|| json::unescape(token).into_owned())
    });
    text.unwrap_or_else(|| json::compact(block))
}
