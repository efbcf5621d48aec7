//! Reading a JSON document that a user wrote, so that every error names the member that it is about.
//!
//! Values are looked at where they stand in the text: what is not asked for is neither copied nor interpreted, however
//! deep it nests. Of a name that comes twice the last one counts, as with `JSON.parse`, which read these documents
//! before. An error never shows a value, since any value may be a secret.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind};

/// The largest number that every language can read back from JSON (`Number.MAX_SAFE_INTEGER`).
const LARGEST: u64 = (1 << 53) - 1;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Shape {
    fn of(raw: &RawValue) -> Shape {
        match raw.get().bytes().next() {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b'"') => Shape::String,
            Some(b't' | b'f') => Shape::Boolean,
            Some(b'n') => Shape::Null,
            _ => Shape::Number,
        }
    }

    fn with_article(self) -> &'static str {
        match self {
            Shape::Null => "null",
            Shape::Boolean => "a boolean",
            Shape::Number => "a number",
            Shape::String => "a string",
            Shape::Array => "an array",
            Shape::Object => "an object",
        }
    }
}

/// A value in the document, and the way to it.
pub(crate) struct Member<'a> {
    kind: ErrorKind,
    path: String,
    raw: &'a RawValue,
}

impl<'a> Member<'a> {
    /// The whole document. `kind` is that of every error about it, and names it in those about the whole.
    pub(crate) fn root(kind: ErrorKind, json: &'a str) -> Result<Member<'a>, Error> {
        match serde_json::from_str(json) {
            Ok(raw) => Ok(Member { kind, path: String::new(), raw }),
            Err(fault) => Err(Error::new(kind, format!("{}: not JSON: {fault}", kind.as_str()))),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::of(self.raw)
    }

    /// An error about this member: `slotFills.kali: WHAT`.
    pub(crate) fn error(&self, what: impl std::fmt::Display) -> Error {
        let path = if self.path.is_empty() { self.kind.as_str() } else { &self.path };
        Error::new(self.kind, format!("{path}: {what}"))
    }

    /// The error that the member is something else than `wanted`.
    pub(crate) fn unexpected(&self, wanted: &str) -> Error {
        self.error(format_args!("must be {wanted}, not {}", self.shape().with_article()))
    }

    pub(crate) fn object(&self) -> Result<Object<'a>, Error> {
        if self.shape() != Shape::Object {
            return Err(self.unexpected("an object"));
        }
        Ok(Object { kind: self.kind, path: self.path.clone(), fields: self.decode()? })
    }

    pub(crate) fn list(&self) -> Result<Vec<Member<'a>>, Error> {
        if self.shape() != Shape::Array {
            return Err(self.unexpected("an array"));
        }
        let items: Vec<&'a RawValue> = self.decode()?;
        let member = |(at, raw)| Member { kind: self.kind, path: format!("{}[{at}]", self.path), raw };
        Ok(items.into_iter().enumerate().map(member).collect())
    }

    pub(crate) fn string(&self) -> Result<String, Error> {
        match self.shape() {
            Shape::String => self.decode(),
            _ => Err(self.unexpected("a string")),
        }
    }

    /// A positive whole number, however it is written (`300000`, `3e5`, `300000.0`).
    pub(crate) fn positive(&self) -> Result<u64, Error> {
        if self.shape() != Shape::Number {
            return Err(self.unexpected("a number"));
        }
        let text = self.raw.get();
        let whole = text.parse().ok().or_else(|| text.parse().ok().and_then(whole));
        whole
            .filter(|number| (1..=LARGEST).contains(number))
            .ok_or_else(|| self.error(format_args!("must be a whole number from 1 to {LARGEST}")))
    }

    /// The document was read once and is JSON; what is left to fail is an escape such as `\ud800` alone.
    fn decode<T: serde::Deserialize<'a>>(&self) -> Result<T, Error> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.error("holds text that is not valid Unicode"))
    }
}

/// The members of an object.
pub(crate) struct Object<'a> {
    kind: ErrorKind,
    path: String,
    fields: BTreeMap<String, &'a RawValue>,
}

impl<'a> Object<'a> {
    /// The member of that name. One that is `null` is as good as absent.
    pub(crate) fn get(&self, name: &str) -> Option<Member<'a>> {
        let raw = *self.fields.get(name)?;
        let member = Member { kind: self.kind, path: child(&self.path, name), raw };
        (member.shape() != Shape::Null).then_some(member)
    }

    /// All members, sorted by name, those that are `null` too.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, Member<'a>)> {
        self.fields.iter().map(|(name, raw)| {
            let path = child(&self.path, name);
            (name.as_str(), Member { kind: self.kind, path, raw })
        })
    }

    /// An error about the member of that name, whether or not it is there.
    pub(crate) fn error(&self, name: &str, what: impl std::fmt::Display) -> Error {
        Error::new(self.kind, format!("{}: {what}", child(&self.path, name)))
    }
}

/// `parent.name`, or `parent["my name"]` when the name is not a plain one.
fn child(parent: &str, name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || !name.bytes().all(plain) {
        format!("{parent}[{name:?}]")
    } else if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

fn whole(number: f64) -> Option<u64> {
    let in_range = number.is_finite() && number >= 0.0 && number <= LARGEST as f64;
    (in_range && number.fract() == 0.0).then_some(number as u64)
}
