use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use serde::Deserialize;
use serde_json::Value;

use super::{Manifest, ServerSpec, parse, slot_not_filled};
use crate::error::{Error, ErrorKind};

/// Slot by slot, something of each server.
type Servers<T> = BTreeMap<String, Vec<T>>;

/// The token URL and how it is shown, the credentials, the scope.
type Auth = (String, String, String, Option<String>);

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "rules")]
    _rules: Vec<String>,
    manifest: Option<Value>,
    text: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    servers: Option<Servers<String>>,
    shown: Option<Servers<String>>,
    headers: Option<Servers<Vec<(String, String)>>>,
    versions: Option<Servers<Option<String>>>,
    auth: Option<Servers<Option<Auth>>>,
    replay: Option<BTreeMap<String, Option<String>>>,
    secrets: Option<BTreeSet<String>>,
    error: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
}

impl Case {
    fn check(&self) {
        let text = self.text.clone().unwrap_or_else(|| self.manifest.as_ref().expect("manifest or text").to_string());
        let result = parse(&text, &|name| self.env.get(name).map(OsString::from));
        match (result, &self.error) {
            (Ok(manifest), None) => self.check_manifest(&manifest),
            (Err(error), Some(member)) => self.check_error(&error, member),
            (Ok(_), Some(_)) => panic!("{}: no error", self.name),
            (Err(error), None) => panic!("{}: {error}", self.name),
        }
    }

    fn check_manifest(&self, manifest: &Manifest) {
        let name = &self.name;
        assert_eq!(manifest.run_id, "r1", "{name}");
        assert_eq!(self.servers, Some(each(manifest, |server| server.endpoint.full().to_owned())), "{name}");
        assert_eq!(self.servers, Some(each(manifest, |server| server.endpoint.uri().to_string())), "{name}");
        expect(name, &self.shown, each(manifest, |server| server.endpoint.shown().to_string()));
        expect(name, &self.versions, each(manifest, |server| server.protocol_version.clone()));
        let pairs = |server: &ServerSpec| {
            server.headers.iter().map(|(name, value)| (name.to_string(), value.as_str().to_owned())).collect()
        };
        expect(name, &self.headers, each(manifest, pairs));
        expect(name, &self.auth, each(manifest, |server| server.auth.as_ref().map(auth)));
        let replay = |slot: &super::SlotSpec| slot.replay.map(|replay| replay.as_str().to_owned());
        expect(name, &self.replay, manifest.slots.iter().map(|(name, slot)| (name.clone(), replay(slot))).collect());
        expect(name, &self.secrets, manifest.secrets().iter().map(|secret| secret.to_string()).collect());
        let debug = format!("{manifest:?}");
        for secret in manifest.secrets() {
            assert!(secret.len() < 4 || !debug.contains(secret.as_str()), "{name}: {debug}");
        }
    }

    fn check_error(&self, error: &Error, member: &str) {
        let (name, message) = (&self.name, error.message());
        assert_eq!(error.kind(), ErrorKind::Manifest, "{name}: {message}");
        let what = message.strip_prefix(&format!("{member}: "));
        assert!(what.is_some(), "{name}: {message}");
        assert_eq!(message.lines().count(), 1, "{name}: {message}");
        for said in &self.says {
            assert!(message.contains(said), "{name}: {message}");
        }
        for never in &self.never {
            assert!(!message.contains(never), "{name}: {message}");
        }
    }
}

fn auth(spec: &super::AuthSpec) -> Auth {
    let (url, shown) = (spec.token_url.full().to_owned(), spec.token_url.shown().to_string());
    (url, shown, spec.credentials.as_str().to_owned(), spec.scope.clone())
}

fn each<T>(manifest: &Manifest, of: impl Fn(&ServerSpec) -> T) -> Servers<T> {
    manifest.slots.iter().map(|(name, slot)| (name.clone(), slot.servers.iter().map(&of).collect())).collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(name: &str, wanted: &Option<T>, is: T) {
    if let Some(wanted) = wanted {
        assert_eq!(wanted, &is, "{name}");
    }
}

fn empty(_name: &str) -> Option<OsString> {
    None
}

// Rules 1.1, 1.5, 3.12, 5.4, 5.5, 5.6, 6.5, 6.6.
#[test]
fn vectors() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/manifest.json"));
    let vectors: Vectors = serde_json::from_str(text).expect("vectors");
    vectors.cases.iter().for_each(Case::check);
}

// Rule 1.1.
#[test]
fn nesting_without_end_is_an_error() {
    let fill = [&r#"{"endpoint":"http://a","fallback":"#.repeat(50_000), r#""http://b""#, &"}".repeat(50_000)].concat();
    let error = parse(&format!(r#"{{"runId":"r1","slotFills":{{"kali":{fill}}}}}"#), &empty).expect_err("too many");
    assert!(error.message().ends_with("16 servers at the most"), "{error}");
    let array = "[".repeat(100_000);
    let error = parse(&array, &empty).expect_err("not JSON");
    assert!(error.message().starts_with("manifest: not JSON: "), "{error}");
}

// Rules 1.1, 5.6.
#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8() {
    use std::os::unix::ffi::OsStringExt;
    let manifest = r#"{"runId":"r1","slotFills":{"kali":{"endpoint":"http://a","headers":{"x-a":"${env:A}"}}}}"#;
    let error = parse(manifest, &|_| Some(OsString::from_vec(b"s3cr3t\xff".to_vec()))).expect_err("not UTF-8");
    assert_eq!(error.message(), "slotFills.kali.headers.x-a: the environment variable A is not UTF-8");
}

// Rule 1.2.
#[test]
fn a_slot_that_is_not_filled() {
    let manifest =
        r#"{"runId":"r1","slotFills":{"web_proxy":"http://a"},"endpoints":{"recon":"http://b","none":null}}"#;
    let not_filled = |manifest: &str, slot| {
        let manifest = parse(manifest, &empty).expect("manifest");
        slot_not_filled(slot, manifest.slots.keys().map(String::as_str))
    };
    let error = not_filled(manifest, "kali");
    assert_eq!(error.kind(), ErrorKind::SlotNotFilled);
    assert_eq!(
        error.message(),
        "slot 'kali' has no endpoint in this run's manifest. Filled slots: recon, web_proxy. The Service composition \
         binds an MCP to every required slot; a missing one is a provisioning fault, not something to work around."
    );
    let bare = r#"{"runId":"r1"}"#;
    assert!(not_filled(bare, "kali").message().contains(" Filled slots: (none). "));
    assert_eq!(not_filled(bare, "a\nb").message().lines().count(), 1);
}
