//! A scenario's folder, `{{dir}}` in its text, and what is done to files there.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use serde_json::Value;

/// There as long as it is held.
pub struct Folder(PathBuf);

/// What is done to a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Change {
    /// This is all that is in it.
    Write(String),
    /// It loses so many bytes at its end.
    Cut(u64),
    /// The text becomes the other, the first time that it is there.
    Replace(String, String),
    /// There is a pipe in its place.
    Pipe,
}

impl Folder {
    pub fn new() -> Result<Folder, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("verifi-scenario-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }

    /// Its path, as it stands in text.
    pub fn shown(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes that change, or gives the text that is in the file.
pub fn change(path: &str, change: Option<&Value>) -> Result<Value, String> {
    let change = change.map(Change::deserialize).transpose().map_err(|e| format!("{path}: {e}"))?;
    changed(Path::new(path), change).map_err(|e| format!("{path}: {e}"))
}

fn changed(path: &Path, change: Option<Change>) -> io::Result<Value> {
    match change {
        None => return fs::read_to_string(path).map(Value::from),
        Some(Change::Write(text)) => fs::write(path, text)?,
        Some(Change::Cut(bytes)) => {
            let file = OpenOptions::new().write(true).open(path)?;
            file.set_len(file.metadata()?.len().saturating_sub(bytes))?;
        }
        Some(Change::Replace(from, to)) => {
            let text = fs::read_to_string(path)?;
            if !text.contains(&from) {
                return Err(io::Error::other(format!("{from} is not in it")));
            }
            fs::write(path, text.replacen(&from, &to, 1))?;
        }
        Some(Change::Pipe) => {
            if !Command::new("mkfifo").arg(path).status()?.success() {
                return Err(io::Error::other("mkfifo failed"));
            }
        }
    }
    Ok(Value::Null)
}
