//! Expected against actual JSON. A literal must be equal; of an object the named members must fit, others may be
//! there; an array must fit element by element. An object whose members all begin with `$` is a matcher.

use serde_json::{Map, Value};

/// Whether `actual` (absent: `None`) is what `expected` describes; if not, where and why.
pub fn matches(expected: &Value, actual: Option<&Value>) -> Result<(), String> {
    fit(expected, actual, "")
}

fn fit(expected: &Value, actual: Option<&Value>, at: &str) -> Result<(), String> {
    if let Value::Object(members) = expected
        && !members.is_empty()
        && members.keys().all(|key| key.starts_with('$'))
    {
        return members.iter().try_for_each(|(name, operand)| matcher(name, operand, actual, at));
    }
    let Some(actual) = actual else {
        return Err(format!("{}: absent, expected {}", place(at), short(expected)));
    };
    match (expected, actual) {
        (Value::Object(members), Value::Object(found)) => object(members, found, at),
        (Value::Array(items), Value::Array(found)) => array(items, found, at),
        _ if equal(expected, actual) => Ok(()),
        _ => Err(differs(at, &short(expected), Some(actual))),
    }
}

fn object(members: &Map<String, Value>, found: &Map<String, Value>, at: &str) -> Result<(), String> {
    members.iter().try_for_each(|(key, value)| fit(value, found.get(key), &format!("{at}.{key}")))
}

fn array(items: &[Value], found: &[Value], at: &str) -> Result<(), String> {
    for (index, item) in items.iter().enumerate() {
        fit(item, found.get(index), &format!("{at}[{index}]"))?;
    }
    match found.get(items.len()) {
        None => Ok(()),
        Some(extra) => Err(format!("{}: one too many at [{}]: {}", place(at), items.len(), short(extra))),
    }
}

fn matcher(name: &str, operand: &Value, actual: Option<&Value>, at: &str) -> Result<(), String> {
    let said = || format!("{name} {}", short(operand));
    let holds = match name {
        "$absent" => actual.is_none() == operand.as_bool().unwrap_or(true),
        "$contains" => return contains(operand, actual, at),
        "$regex" => regex(operand, actual)?,
        "$lt" => compare(actual, operand, |a, b| a < b),
        "$gt" => compare(actual, operand, |a, b| a > b),
        "$len" => return fit(operand, length(actual).as_ref(), &format!("{at}.$len")),
        "$exactly" => actual.is_some_and(|actual| equal(operand, actual)),
        "$not" => fit(operand, actual, at).is_err(),
        "$any" => items(operand).iter().any(|one| fit(one, actual, at).is_ok()),
        "$each" => {
            let found = actual.and_then(Value::as_array).ok_or_else(|| differs(at, "an array", actual))?;
            return found.iter().enumerate().try_for_each(|(i, one)| fit(operand, Some(one), &format!("{at}[{i}]")));
        }
        "$subsequence" => return subsequence(items(operand), actual, at),
        "$unordered" => return unordered(items(operand), actual, at),
        _ => return Err(format!("{}: no such matcher: {name}", place(at))),
    };
    if holds { Ok(()) } else { Err(differs(at, &said(), actual)) }
}

fn items(operand: &Value) -> &[Value] {
    operand.as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(operand))
}

/// Text has each of the operands in it; an array has, for each, an element that fits.
fn contains(operand: &Value, actual: Option<&Value>, at: &str) -> Result<(), String> {
    items(operand).iter().try_for_each(|part| {
        let holds = match actual {
            Some(Value::String(text)) => part.as_str().is_some_and(|part| text.contains(part)),
            Some(Value::Array(found)) => found.iter().any(|one| fit(part, Some(one), at).is_ok()),
            _ => false,
        };
        if holds { Ok(()) } else { Err(differs(at, &format!("$contains {}", short(part)), actual)) }
    })
}

fn regex(operand: &Value, actual: Option<&Value>) -> Result<bool, String> {
    let pattern = operand.as_str().unwrap_or_default();
    let regex = regex_lite::Regex::new(pattern).map_err(|e| format!("{pattern}: {e}"))?;
    Ok(actual.and_then(Value::as_str).is_some_and(|text| regex.is_match(text)))
}

fn compare(actual: Option<&Value>, operand: &Value, holds: fn(f64, f64) -> bool) -> bool {
    actual.and_then(Value::as_f64).zip(operand.as_f64()).is_some_and(|(a, b)| holds(a, b))
}

fn length(actual: Option<&Value>) -> Option<Value> {
    match actual? {
        Value::String(text) => Some(text.len().into()),
        Value::Array(found) => Some(found.len().into()),
        Value::Object(found) => Some(found.len().into()),
        _ => None,
    }
}

/// The expected ones are there in this order; others may stand between them.
fn subsequence(expected: &[Value], actual: Option<&Value>, at: &str) -> Result<(), String> {
    let mut found = actual.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter();
    for (index, one) in expected.iter().enumerate() {
        if !found.any(|candidate| fit(one, Some(candidate), at).is_ok()) {
            return Err(differs(at, &format!("$subsequence, its [{index}]: {}", short(one)), actual));
        }
    }
    Ok(())
}

/// The expected ones and no others are there, in any order.
fn unordered(expected: &[Value], actual: Option<&Value>, at: &str) -> Result<(), String> {
    let mut left: Vec<&Value> =
        actual.and_then(Value::as_array).map(|found| found.iter().collect()).unwrap_or_default();
    for one in expected {
        match left.iter().position(|candidate| fit(one, Some(candidate), at).is_ok()) {
            Some(index) => drop(left.swap_remove(index)),
            None => return Err(differs(at, &format!("$unordered with {}", short(one)), actual)),
        }
    }
    match left.first() {
        None => Ok(()),
        Some(extra) => Err(format!("{}: one too many: {}", place(at), short(extra))),
    }
}

/// Equality in which 1 and 1.0 are the same number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| equal(x, y)))
        }
        _ => a == b,
    }
}

fn differs(at: &str, expected: &str, actual: Option<&Value>) -> String {
    format!("{}: {}, expected {expected}", place(at), actual.map_or("absent".to_owned(), short))
}

fn place(at: &str) -> &str {
    let at = at.strip_prefix('.').unwrap_or(at);
    if at.is_empty() { "value" } else { at }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;
    use serde_json::{Value, json};

    fn fits(expected: Value, actual: Value) -> bool {
        matches(&expected, Some(&actual)).is_ok()
    }

    #[test]
    fn literals_objects_and_arrays() {
        assert!(fits(json!({"a": 1}), json!({"a": 1.0, "b": 2})));
        assert!(!fits(json!({"a": 1, "c": null}), json!({"a": 1})));
        assert!(!fits(json!([1]), json!([1, 2])));
        assert!(!fits(json!([1, 2]), json!([1])));
        assert!(!fits(json!({}), json!([])));
    }

    #[test]
    fn every_matcher_can_hold_and_fail() {
        for (matcher, good, bad) in [
            (json!({"$contains": "b"}), json!("abc"), json!("xyz")),
            (json!({"$contains": [{"a": 1}, 2]}), json!([2, {"a": 1}]), json!([2])),
            (json!({"$regex": "^a+$"}), json!("aaa"), json!("ab")),
            (json!({"$lt": 3, "$gt": 1}), json!(2), json!(3)),
            (json!({"$len": 2}), json!("ab"), json!("abc")),
            (json!({"$exactly": {"a": 1}}), json!({"a": 1}), json!({"a": 1, "b": 1})),
            (json!({"$not": 1}), json!(2), json!(1)),
            (json!({"$any": [1, 2]}), json!(2), json!(3)),
            (json!({"$each": {"$gt": 0}}), json!([1, 2]), json!([1, 0])),
            (json!({"$subsequence": [1, 3]}), json!([1, 2, 3]), json!([3, 1])),
            (json!({"$unordered": [1, 2]}), json!([2, 1]), json!([2, 1, 1])),
        ] {
            assert!(fits(matcher.clone(), good), "{matcher}");
            assert!(!fits(matcher.clone(), bad), "{matcher}");
        }
        assert!(matches(&json!({"a": {"$absent": true}}), Some(&json!({}))).is_ok());
        assert!(matches(&json!({"a": {"$absent": true}}), Some(&json!({"a": null}))).is_err());
    }
}
