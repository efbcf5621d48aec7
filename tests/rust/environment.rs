//! Runs with an environment of their own.

use std::ffi::OsString;

use verifi::{Error, ErrorKind, Run, RunOptions};
use verifi_tests::{Script, Server};

const SCRIPT: &str = r#"{"rules":[{"on":{"rpc":"tools/call","headers":{"x-auth":"of-the-thread"}},
    "do":[{"result":{"content":[{"type":"text","text":"of-the-thread and tok-4711"}]}}]}]}"#;

fn open(server: &Server, environment: &[(&str, &str)]) -> Result<Run, Error> {
    let url = server.url();
    let manifest = format!(
        r#"{{"runId":"r1","slotFills":{{"kali":{{"endpoint":"{url}","headers":{{"x-auth":"${{env:THREAD_AUTH}}"}}}}}}}}"#
    );
    let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Run::open_with_environment(&manifest, RunOptions::default(), environment)
}

// Rules 1.1, 5.5.
#[test]
fn a_given_environment_has_the_headers_and_the_secrets() {
    let server = Server::start(Script::parse(SCRIPT).expect("a script")).expect("a server");
    let run = open(&server, &[("THREAD_AUTH", "of-the-thread"), ("SCAN_TOKEN", "tok-4711")]).expect("a run");
    let result = run.mcp("kali").expect("a slot").call("any", ());
    assert_eq!((result.ok, result.text()), (true, "[REDACTED] and [REDACTED]"));
}

// Rule 1.1.
#[test]
fn what_a_given_environment_lacks_is_not_taken_from_the_process() {
    let server = Server::start(Script::parse("{}").expect("a script")).expect("a server");
    let error = open(&server, &[]).expect_err("no THREAD_AUTH");
    assert_eq!(error.kind(), ErrorKind::Manifest);
    assert!(error.message().starts_with("slotFills.kali.headers"), "{error}");
}
