//! A tool's result as the text that a harness reads.

use crate::json::{self, Cursor};

/// What a harness reads of a result.
pub(crate) struct Content<'a> {
    pub(crate) text: Text<'a>,
    pub(crate) is_error: bool,
}

/// A text out of a result.
pub(crate) enum Text<'a> {
    /// What this string stands for, which is given as its token without the quotes.
    Token(&'a str),
    /// Made of several parts, or of what is no string.
    Made(String),
}

impl Text<'_> {
    fn into_string(self) -> String {
        match self {
            Text::Token(token) => json::unescape(token).into_owned(),
            Text::Made(text) => text,
        }
    }
}

/// Flattens the JSON text of a `tools/call` result (rule 2.4): the text of text blocks, the compact JSON of all others,
/// joined by LF; without blocks, the structured content. What is not of the protocol's shape is given as it is.
pub(crate) fn flatten(result: &str) -> Content<'_> {
    read(result).unwrap_or_else(|| Content { text: Text::Made(json::compact(result)), is_error: false })
}

/// None when the result is no object, or has a member that counts twice.
fn read(result: &str) -> Option<Content<'_>> {
    let mut cursor = Cursor::new(result);
    if !cursor.enter_object() {
        return None;
    }
    let (mut content, mut structured, mut is_error) = (None, None, None);
    while let Some(name) = cursor.name() {
        let is_first = match &*name {
            "content" => content.replace(blocks(&mut cursor)).is_none(),
            "structuredContent" => structured.replace(cursor.value()).is_none(),
            "isError" => is_error.replace(cursor.value()).is_none(),
            _ => {
                cursor.value();
                true
            }
        };
        if !is_first {
            return None;
        }
    }
    let structured = || structured.filter(|value| *value != "null").map(json::compact).unwrap_or_default();
    let text = content.flatten().unwrap_or_else(|| Text::Made(structured()));
    Some(Content { text, is_error: is_error == Some("true") })
}

/// The text of all blocks. None when there is no block.
fn blocks<'a>(cursor: &mut Cursor<'a>) -> Option<Text<'a>> {
    if !cursor.enter_array() {
        let other = cursor.value();
        return (other != "null").then(|| Text::Made(json::compact(other)));
    }
    let mut joined: Option<Text> = None;
    while cursor.has_element() {
        let block = block(cursor);
        joined = Some(match joined {
            None => block,
            Some(before) => {
                let mut text = before.into_string();
                text.push('\n');
                text.push_str(&block.into_string());
                Text::Made(text)
            }
        });
    }
    joined
}

fn block<'a>(cursor: &mut Cursor<'a>) -> Text<'a> {
    let place = cursor.place();
    match text_token(cursor) {
        Some(token) => Text::Token(token),
        None => Text::Made(json::compact(cursor.since(place))),
    }
}

/// Passes a block. The string that it holds if it is of text, without its quotes.
fn text_token<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    if !cursor.enter_object() {
        cursor.value();
        return None;
    }
    let (mut kind, mut text, mut is_clear) = (None, None, true);
    while let Some(name) = cursor.name() {
        let value = cursor.value();
        is_clear &= match &*name {
            "type" => kind.replace(value).is_none(),
            "text" => text.replace(value).is_none(),
            _ => true,
        };
    }
    let text = text.filter(|_| is_clear && kind == Some(r#""text""#))?;
    text.strip_prefix('"')?.strip_suffix('"')
}
