//! The places of a scenario, and their names in its text: `{{A}}` is the URL of a server, `{{A.port}}` its port,
//! `{{A.ca}}` the file that makes a client trust it, and `{{dir}}` a folder; `{{8 MiB}}` is so much text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::folder::Folder;
use crate::{Port, Script, Server};

const LARGE: &str = "{{8 MiB}}";

/// The servers of a scenario, running, and its folder.
pub struct Places {
    folder: Folder,
    servers: BTreeMap<String, Server>,
}

impl Places {
    /// Starts the servers. All ports are known before the first script is read.
    pub fn start(scripts: &BTreeMap<String, Box<RawValue>>) -> Result<Places, String> {
        let mut held = Vec::new();
        let mut names = Vec::new();
        for (name, text) in scripts {
            let script = Script::parse(text.get()).map_err(|e| format!("server {name}: {e}"))?;
            let port = Port::hold(script.traits.ipv6, 0).map_err(|e| format!("server {name}: {e}"))?;
            let number = port.number().map_err(|e| format!("server {name}: {e}"))?;
            let scheme = if script.traits.tls.is_some() { "https" } else { "http" };
            let host = if script.traits.ipv6 { "[::1]" } else { "127.0.0.1" };
            names.push((format!("{{{{{name}.port}}}}"), number.to_string()));
            names.push((format!("{{{{{name}}}}}"), format!("{scheme}://{host}:{number}")));
            held.push((name.clone(), port, text));
        }
        let mut servers = BTreeMap::new();
        for (name, port, text) in held {
            let text = names.iter().fold(text.get().to_owned(), |text, (from, to)| text.replace(from, to));
            let script = Script::parse(&text).map_err(|e| format!("server {name}: {e}"))?;
            let server = Server::start_on(port, script).map_err(|e| format!("server {name}: {e}"))?;
            servers.insert(name, server);
        }
        Ok(Places { folder: Folder::new()?, servers })
    }

    /// The text with the places in it.
    pub fn fill(&self, text: &str) -> String {
        let text = text.replace("{{dir}}", &self.folder.shown());
        let text = if text.contains(LARGE) { text.replace(LARGE, &"x".repeat(8 << 20)) } else { text };
        self.servers.iter().fold(text, |text, (name, server)| {
            let ca = server.ca_file().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
            text.replace(&format!("{{{{{name}}}}}"), server.url())
                .replace(&format!("{{{{{name}.port}}}}"), &server.port().to_string())
                .replace(&format!("{{{{{name}.ca}}}}"), &ca)
        })
    }

    /// The text with the names for the places: the same in every run.
    pub fn unfill(&self, text: &str) -> String {
        let text = text.replace(&self.folder.shown(), "{{dir}}");
        self.servers.iter().fold(text, |text, (name, server)| {
            text.replace(server.url(), &format!("{{{{{name}}}}}"))
                .replace(&format!(":{}", server.port()), &format!(":{{{{{name}.port}}}}"))
        })
    }

    /// The server of this name.
    pub fn server(&self, name: &str) -> Result<&Server, String> {
        self.servers.get(name).ok_or_else(|| format!("no server {name}"))
    }

    /// Slot `kali` on server A, with B as its fallback if there is a B.
    pub fn usual_manifest(&self) -> String {
        let url = |name: &str| self.servers.get(name).map(|server| server.url().to_owned());
        match (url("A"), url("B")) {
            (Some(a), Some(b)) => {
                format!(r#"{{"runId":"r1","slotFills":{{"kali":{{"endpoint":"{a}","fallback":"{b}"}}}}}}"#)
            }
            (Some(a), None) => format!(r#"{{"runId":"r1","slotFills":{{"kali":"{a}"}}}}"#),
            _ => r#"{"runId":"r1"}"#.to_owned(),
        }
    }

    /// What is wrong with the scripts themselves.
    pub fn faults(&self) -> Vec<String> {
        let all = self.servers.iter();
        all.flat_map(|(name, server)| server.faults().into_iter().map(move |it| format!("server {name}: {it}")))
            .collect()
    }
}
