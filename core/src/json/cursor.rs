//! Reading JSON text from front to back, each byte once.

use std::borrow::Cow;

use super::{is_space, run, string_end, unescape};

/// A place in a JSON text, before a value, a name or an end.
pub(crate) struct Cursor<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(json: &'a str) -> Cursor<'a> {
        Cursor { json, at: 0 }
    }

    /// Goes into an object. False, and nothing happens, where none begins.
    pub(crate) fn enter_object(&mut self) -> bool {
        self.pass(b'{')
    }

    /// Goes into an array. False, and nothing happens, where none begins.
    pub(crate) fn enter_array(&mut self) -> bool {
        self.pass(b'[')
    }

    /// Passes the name of the next member of an object; none, and the object is left, at its end.
    pub(crate) fn name(&mut self) -> Option<Cow<'a, str>> {
        if !self.has_more(b'}') {
            return None;
        }
        let name = self.value();
        self.pass(b':');
        Some(unescape(name.get(1..name.len().saturating_sub(1)).unwrap_or_default()))
    }

    /// Whether an array goes on; if not, it is left.
    pub(crate) fn has_element(&mut self) -> bool {
        self.has_more(b']')
    }

    /// Passes a value.
    pub(crate) fn value(&mut self) -> &'a str {
        self.skip_space();
        let start = self.at;
        self.at += value_length(&self.json.as_bytes()[start..]);
        &self.json[start..self.at]
    }

    /// Where the next token begins.
    pub(crate) fn place(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// What was passed since then.
    pub(crate) fn since(&self, place: usize) -> &'a str {
        &self.json[place..self.at]
    }

    fn has_more(&mut self, end: u8) -> bool {
        self.pass(b',');
        if self.pass(end) {
            return false;
        }
        // Text that is no JSON ends somewhere, too.
        !matches!(self.json.as_bytes().get(self.at), None | Some(b'}' | b']' | b',' | b':'))
    }

    fn pass(&mut self, byte: u8) -> bool {
        self.skip_space();
        let passes = self.json.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(passes);
        passes
    }

    fn skip_space(&mut self) {
        self.at += run(&self.json.as_bytes()[self.at..], is_space);
    }
}

/// How long the value is at the start of `bytes`; nothing where none begins.
fn value_length(bytes: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += string_end(&bytes[at..]).map_or(bytes.len() - at, |end| end + 1),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth == 0 => return at,
            byte if is_space(*byte) || depth > 0 => {
                at += 1;
                continue;
            }
            _ => at += run(&bytes[at..], |b| !is_space(b) && !b"{}[]:,\"".contains(&b)),
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(json: &str) -> Option<Vec<(String, &str)>> {
        let mut cursor = Cursor::new(json);
        if !cursor.enter_object() {
            return None;
        }
        let mut members = Vec::new();
        while let Some(name) = cursor.name() {
            members.push((name.into_owned(), cursor.value()));
        }
        Some(members)
    }

    fn elements(json: &str) -> Option<Vec<&str>> {
        let mut cursor = Cursor::new(json);
        if !cursor.enter_array() {
            return None;
        }
        let mut elements = Vec::new();
        while cursor.has_element() {
            elements.push(cursor.value());
        }
        Some(elements)
    }

    // Rule 2.4.
    #[test]
    fn members_and_elements_are_pieces_of_the_text() {
        let json = r#" { "a\"" : "}],\\" , "b":[1,{"c":[]}], "c" :null,"\u0064":-0.50 } "#;
        let found = members(json).unwrap();
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(found, [("a\"", r#""}],\\""#), ("b", r#"[1,{"c":[]}]"#), ("c", "null"), ("d", "-0.50")]);
        assert_eq!(members("[]"), None);
        assert_eq!(members("{ }"), Some(vec![]));
        assert_eq!(
            elements(r#" [ [ "]" ,2] , "a,b" ,{ }, true,12 ] "#),
            Some(vec![r#"[ "]" ,2]"#, r#""a,b""#, "{ }", "true", "12"])
        );
        assert_eq!(elements("[ ]"), Some(vec![]));
        assert_eq!(elements("{}"), None);
    }

    // Rule 2.4.
    #[test]
    fn what_is_left_is_passed() {
        let mut cursor = Cursor::new(r#"[ {"a":[1]} ,2]"#);
        assert!(cursor.enter_array() && cursor.has_element());
        let place = cursor.place();
        assert!(cursor.enter_object());
        assert_eq!(cursor.name().as_deref(), Some("a"));
        assert!(cursor.enter_array() && cursor.has_element());
        assert_eq!(cursor.value(), "1");
        assert!(!cursor.has_element());
        assert_eq!(cursor.name(), None);
        assert_eq!(cursor.since(place), r#"{"a":[1]}"#);
        assert!(cursor.has_element());
        assert_eq!(cursor.value(), "2");
        assert!(!cursor.has_element());
    }

    // Rule 2.1.
    #[test]
    fn text_that_is_no_json_gives_something_and_no_panic() {
        let broken =
            ["", "\"", "\"\\", "\"\\u12", "\"é\\", "\\", "\"\\ué\"", "\"abc", "é\"é", ",,", ":", "}", "]", "{1"];
        for text in broken {
            for text in [format!("[{text}"), format!("{{{text}"), format!("{{\"a\":{text}"), format!("[1{text},2")] {
                members(&text);
                elements(&text);
            }
        }
    }
}
