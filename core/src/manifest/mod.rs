//! What the platform bound to the run: its id, and the servers of each slot.
//!
//! Reading is pure: the text and the environment go in, a [`Manifest`] or the first error comes out.

mod auth;
mod endpoint;
mod expand;
mod headers;
mod secret;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;

use http::HeaderName;
use http::header::AUTHORIZATION;
use zeroize::Zeroizing;

pub(crate) use self::auth::AuthSpec;
pub(crate) use self::endpoint::Endpoint;
pub(crate) use self::secret::SecretValue;
use crate::error::{Error, ErrorKind};
use crate::member::{Member, Object, Shape};
use crate::options::{self, Replay};
use crate::redact::Redactor;

/// The revisions of MCP that verifi speaks, oldest first.
pub(crate) const PROTOCOL_VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// How many servers a slot may have. Each level of nested fallbacks is one more, so this bounds the nesting too.
const MAX_SERVERS: usize = 16;

/// Looks a variable up, as [`std::env::var_os`] does.
pub(crate) type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

#[derive(Debug)]
pub(crate) struct Manifest {
    pub run_id: String,
    pub slots: BTreeMap<String, SlotSpec>,
}

#[derive(Debug, Default)]
pub(crate) struct SlotSpec {
    /// In the order in which they are tried; never empty.
    pub servers: Vec<ServerSpec>,
    /// What the slot says about calls that may have run, if it does.
    pub replay: Option<Replay>,
}

#[derive(Debug)]
pub(crate) struct ServerSpec {
    pub endpoint: Endpoint,
    /// Sent on every request to this server, and to no other.
    pub headers: Vec<(HeaderName, SecretValue)>,
    /// Where the tokens come from that go with every request to this server.
    pub auth: Option<AuthSpec>,
    /// One of [`PROTOCOL_VERSIONS`].
    pub protocol_version: Option<String>,
}

/// Reads a manifest.
pub(crate) fn parse(json: &str, environment: Environment<'_>) -> Result<Manifest, Error> {
    let root = Member::root(ErrorKind::Manifest, json)?.object()?;
    let run_id = run_id(&root)?;
    let mut slots = BTreeMap::new();
    if let Some(fills) = root.get("slotFills") {
        for (name, fill) in fills.object()?.members() {
            if fill.shape() != Shape::Null {
                slots.insert(name.to_owned(), slot(&fill, environment)?);
            }
        }
    }
    if let Some(endpoints) = root.get("endpoints") {
        for (name, url) in endpoints.object()?.members() {
            // Of a slot that is filled, the older form is not even looked at.
            if url.shape() != Shape::Null && !slots.contains_key(name) {
                let servers = vec![ServerSpec::at(endpoint(&url)?)];
                slots.insert(name.to_owned(), SlotSpec { servers, replay: None });
            }
        }
    }
    Ok(Manifest { run_id, slots })
}

impl Manifest {
    /// Takes secrets out of what is shown of it.
    pub(crate) fn scrub(&mut self, redactor: &Redactor) {
        for server in self.slots.values_mut().flat_map(|slot| &mut slot.servers) {
            server.endpoint.scrub(redactor);
            if let Some(auth) = &mut server.auth {
                auth.token_url.scrub(redactor);
            }
        }
    }

    /// Whether tokens are fetched for any of its servers.
    pub(crate) fn wants_tokens(&self) -> bool {
        self.slots.values().flat_map(|slot| &slot.servers).any(|server| server.auth.is_some())
    }

    /// The values that a server of this manifest is sent and nobody else may see.
    pub(crate) fn secrets(&self) -> Vec<Zeroizing<String>> {
        self.slots.values().flat_map(|slot| &slot.servers).flat_map(ServerSpec::secrets).collect()
    }
}

/// The error of a slot that the manifest does not fill; `names` are those that it does, sorted.
pub(crate) fn slot_not_filled<'a>(slot: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let names: Vec<&str> = names.collect();
    let filled = if names.is_empty() { "(none)".to_owned() } else { names.join(", ") };
    let message = format!(
        "slot '{slot}' has no endpoint in this run's manifest. Filled slots: {filled}. The Service composition \
             binds an MCP to every required slot; a missing one is a provisioning fault, not something to work around."
    );
    Error::new(ErrorKind::SlotNotFilled, one_line(&message))
}

impl ServerSpec {
    fn at(endpoint: Endpoint) -> ServerSpec {
        ServerSpec { endpoint, headers: Vec::new(), auth: None, protocol_version: None }
    }

    fn secrets(&self) -> Vec<Zeroizing<String>> {
        let headers = self.headers.iter().flat_map(|(name, value)| value.secrets(name));
        headers.chain(self.auth.iter().flat_map(AuthSpec::secrets)).collect()
    }
}

fn run_id(root: &Object<'_>) -> Result<String, Error> {
    let Some(member) = root.get("runId") else {
        return Err(root.error("runId", "is missing"));
    };
    match member.string()? {
        id if id.is_empty() => Err(member.error("must not be empty")),
        id => Ok(id),
    }
}

fn slot(fill: &Member<'_>, environment: Environment<'_>) -> Result<SlotSpec, Error> {
    let mut slot = SlotSpec::default();
    add_fill(&mut slot, fill, environment)?;
    Ok(slot)
}

/// Adds the fill's server, then those of its fallback.
fn add_fill(slot: &mut SlotSpec, fill: &Member<'_>, environment: Environment<'_>) -> Result<(), Error> {
    if slot.servers.len() == MAX_SERVERS {
        return Err(fill.error(format_args!("a slot has {MAX_SERVERS} servers at the most")));
    }
    match fill.shape() {
        Shape::String => slot.servers.push(ServerSpec::at(endpoint(fill)?)),
        Shape::Object => {
            let fill = fill.object()?;
            add_replay(slot, &fill)?;
            slot.servers.push(server(&fill, environment)?);
            if let Some(fallback) = fill.get("fallback") {
                add_fallback(slot, &fallback, environment)?;
            }
        }
        _ => return Err(fill.unexpected("a URL or an object with an `endpoint`")),
    }
    Ok(())
}

fn add_fallback(slot: &mut SlotSpec, fallback: &Member<'_>, environment: Environment<'_>) -> Result<(), Error> {
    if fallback.shape() != Shape::Array {
        return add_fill(slot, fallback, environment);
    }
    fallback.list()?.iter().try_for_each(|fill| add_fill(slot, fill, environment))
}

/// `replay` is about a slot as a whole. Where it would have no effect it is an error: a `"safe"` that is not heard would
/// run a tool twice.
fn add_replay(slot: &mut SlotSpec, fill: &Object<'_>) -> Result<(), Error> {
    let Some(member) = fill.get("replay") else { return Ok(()) };
    if !slot.servers.is_empty() {
        return Err(member.error("belongs to the slot, not to a fallback of it"));
    }
    slot.replay = Some(options::replay(&member)?);
    Ok(())
}

fn server(fill: &Object<'_>, environment: Environment<'_>) -> Result<ServerSpec, Error> {
    let Some(url) = fill.get("endpoint") else {
        return Err(fill.error("endpoint", "is missing"));
    };
    let endpoint = endpoint(&url)?;
    let headers = match fill.get("headers") {
        Some(headers) => headers::read(&headers, environment)?,
        None => Vec::new(),
    };
    let auth = fill.get("auth").map(|auth| read_auth(&auth, &headers, environment)).transpose()?;
    let protocol_version = fill.get("protocolVersion").map(|version| protocol_version(&version)).transpose()?;
    Ok(ServerSpec { endpoint, headers, auth, protocol_version })
}

fn read_auth(
    member: &Member<'_>,
    headers: &[(HeaderName, SecretValue)],
    environment: Environment<'_>,
) -> Result<AuthSpec, Error> {
    if headers.iter().any(|(name, _)| name == AUTHORIZATION) {
        return Err(member.error("cannot stand beside an `authorization` header"));
    }
    auth::read(member, environment)
}

fn endpoint(url: &Member<'_>) -> Result<Endpoint, Error> {
    Endpoint::parse(&Zeroizing::new(url.string()?)).map_err(|fault| url.error(fault))
}

fn protocol_version(member: &Member<'_>) -> Result<String, Error> {
    let version = member.string()?;
    if PROTOCOL_VERSIONS.contains(&version.as_str()) {
        return Ok(version);
    }
    let known = PROTOCOL_VERSIONS.join(", ");
    Err(member.error(format_args!("verifi does not speak this version; it speaks {known}")))
}

/// The text with its control characters escaped, so that a name cannot break the line that shows it.
fn one_line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, char| {
        if char.is_control() {
            line.extend(char.escape_default())
        } else {
            line.push(char)
        }
        line
    })
}
