//! A tool's result as the text that a harness reads.

use crate::json;

/// What a harness reads of a result.
pub(crate) struct Content<'a> {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// The JSON string that alone makes the text, without its quotes, if one does.
    pub(crate) token: Option<&'a str>,
}

/// Flattens the JSON text of a `tools/call` result (rule 2.4): the text of text blocks, the compact JSON of all others,
/// joined by LF; without blocks, the structured content. What is not of the protocol's shape is given as it is.
pub(crate) fn flatten(result: &str) -> Content<'_> {
    let Some([content, structured, is_error]) = json::members(result, ["content", "structuredContent", "isError"])
    else {
        return Content { text: json::compact(result), is_error: false, token: None };
    };
    let blocks = content.map(|content| json::elements(content).ok_or(content));
    let (text, token) = match blocks.map(|blocks| blocks.map(join)) {
        None | Some(Ok(None)) => (structured.map(json::compact).unwrap_or_default(), None),
        Some(Ok(Some(joined))) => joined,
        Some(Err(other)) => (json::compact(other), None),
    };
    Content { text, is_error: is_error == Some("true"), token }
}

/// The text of all blocks, and the token of the only one; none when there is no block.
fn join<'a>(blocks: impl Iterator<Item = &'a str>) -> Option<(String, Option<&'a str>)> {
    let mut joined: Option<(String, Option<&str>)> = None;
    for block in blocks {
        let token = text_token(block);
        let text = token.map_or_else(|| json::compact(block), |token| json::unescape(token).into_owned());
        joined = Some(match joined {
            None => (text, token),
            Some((mut joined, _)) => {
                joined.push('\n');
                joined.push_str(&text);
                (joined, None)
            }
        });
    }
    joined
}

/// The string that a text block holds, without its quotes.
fn text_token(block: &str) -> Option<&str> {
    let [kind, text] = json::members(block, ["type", "text"])?;
    if kind != Some(r#""text""#) {
        return None;
    }
    text?.strip_prefix('"')?.strip_suffix('"')
}
