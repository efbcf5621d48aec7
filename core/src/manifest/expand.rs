//! Texts of a manifest with the variables of the environment put in.

use zeroize::Zeroizing;

use super::Environment;
use crate::error::Error;
use crate::member::Member;

/// What is wrong with a value that breaks the line that it is sent in.
pub(super) const CONTROL_CHARACTER: &str = "has a line break or another control character in its value";

/// A text, and the variables that went into it.
pub(super) struct Expanded {
    pub(super) text: Zeroizing<String>,
    pub(super) variables: Vec<Zeroizing<String>>,
}

pub(super) fn expand(member: &Member<'_>, environment: Environment<'_>) -> Result<Expanded, Error> {
    let text = Zeroizing::new(member.string()?);
    replace(&text, environment).map_err(|fault| member.error(fault))
}

/// Replaces each `${env:NAME}`. What it puts in is not looked at again.
fn replace(text: &str, environment: Environment<'_>) -> Result<Expanded, String> {
    let mut pieces = text.split("${env:");
    let first = pieces.next().unwrap_or_default();
    let mut filled = Vec::new();
    for piece in pieces {
        let Some((name, after)) = piece.split_once('}') else {
            return Err("has a `${env:` without its `}`".to_owned());
        };
        filled.push((variable(name, environment)?, after));
    }
    // With room for all of it the text never moves and leaves no copy behind.
    let room = text.len() + filled.iter().map(|(variable, _)| variable.len()).sum::<usize>();
    let mut value = Zeroizing::new(String::with_capacity(room));
    value.push_str(first);
    for (variable, after) in &filled {
        value.push_str(variable);
        value.push_str(after);
    }
    Ok(Expanded { text: value, variables: filled.into_iter().map(|(variable, _)| variable).collect() })
}

fn variable(name: &str, environment: Environment<'_>) -> Result<Zeroizing<String>, String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // Not shown: it may be anything, a secret too.
        return Err("has a `${env:…}` with something else than a variable's name in it".to_owned());
    }
    match environment(name).map(|value| value.into_string()) {
        Some(Ok(value)) => Ok(Zeroizing::new(value)),
        Some(Err(_)) => Err(format!("the environment variable {name} is not UTF-8")),
        None => Err(format!("the environment variable {name} is not set")),
    }
}
