//! A tool's result as the text that a harness reads.

use crate::json::{self, Cursor};
use crate::spare;

/// What a harness reads of a result.
pub(crate) struct Content<'a> {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// Where the text is from, if one string alone makes it.
    pub(crate) source: Option<Source<'a>>,
}

/// A JSON string.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Without its quotes.
    pub(crate) token: &'a str,
    /// It is escaped as verifi would do it.
    pub(crate) is_canonical: bool,
}

/// Flattens the JSON text of a `tools/call` result (rule 2.4): the text of text blocks, the compact JSON of all others,
/// joined by LF; without blocks, the structured content. What is not of the protocol's shape is given as it is.
pub(crate) fn flatten(result: &str) -> Content<'_> {
    read(result).unwrap_or_else(|| Content { text: json::compact(result), is_error: false, source: None })
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
    let Joined { text, source } = content.flatten().unwrap_or_else(|| Joined { text: structured(), source: None });
    Some(Content { text, is_error: is_error == Some("true"), source })
}

/// The text of all blocks, and where that of the only one is from.
struct Joined<'a> {
    text: String,
    source: Option<Source<'a>>,
}

/// None when there is no block.
fn blocks<'a>(cursor: &mut Cursor<'a>) -> Option<Joined<'a>> {
    if !cursor.enter_array() {
        let other = cursor.value();
        return (other != "null").then(|| Joined { text: json::compact(other), source: None });
    }
    let mut joined: Option<Joined> = None;
    while cursor.has_element() {
        let block = block(cursor);
        joined = Some(match joined {
            None => block,
            Some(Joined { mut text, .. }) => {
                text.push('\n');
                text.push_str(&block.text);
                Joined { text, source: None }
            }
        });
    }
    joined
}

fn block<'a>(cursor: &mut Cursor<'a>) -> Joined<'a> {
    let place = cursor.place();
    match text_token(cursor) {
        Some(token) => {
            let (text, is_canonical) = json::unescape_noting(token, spare::string);
            Joined { text: text.into_owned(), source: Some(Source { token, is_canonical }) }
        }
        None => Joined { text: json::compact(cursor.since(place)), source: None },
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
