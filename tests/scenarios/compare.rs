//! Two faces side by side: what they have seen must be the same, value by value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Writes what was seen in a scenario to a file of its own in `directory`.
pub fn dump(directory: &Path, title: &str, seen: &Value) -> Result<(), String> {
    let name: String = title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let text = serde_json::to_string_pretty(seen).map_err(|e| e.to_string())?;
    fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    fs::write(directory.join(format!("{name}.json")), text).map_err(|e| e.to_string())
}

/// Compares two directories that were dumped: how many scenarios both have, and where they differ. A scenario that one
/// of them has skipped is no difference.
pub fn compare(one: &Path, other: &Path) -> Result<(usize, Vec<String>), String> {
    let names: BTreeSet<PathBuf> = names(one)?.intersection(&names(other)?).cloned().collect();
    let mut differences = Vec::new();
    for name in &names {
        let difference = difference(&read(&one.join(name))?, &read(&other.join(name))?, String::new());
        differences.extend(difference.map(|what| format!("{}: {what}", name.display())));
    }
    Ok((names.len(), differences))
}

fn names(directory: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let entries = fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    Ok(entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name()))).collect())
}

fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The first place where two values differ.
fn difference(one: &Value, other: &Value, at: String) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            names.iter().find_map(|name| {
                let of = |members: &serde_json::Map<String, Value>| members.get(*name).cloned().unwrap_or_default();
                difference(&of(a), &of(b), format!("{at}.{name}"))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(index, (a, b))| difference(a, b, format!("{at}[{index}]")))
        }
        _ if one == other => None,
        _ => Some(format!("{at}: {one} against {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::difference;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(difference(&json!({"a": [1]}), &json!({"a": [1]}), String::new()), None);
        assert_eq!(difference(&json!({"a": [1]}), &json!({"a": [2]}), String::new()).unwrap(), ".a[0]: 1 against 2");
        assert_eq!(difference(&json!({}), &json!({"b": 2}), String::new()).unwrap(), ".b: null against 2");
    }
}
