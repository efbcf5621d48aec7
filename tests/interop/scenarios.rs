//! What must hold with any server.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use verifi::{CallOptions, CancelToken, Outcome, Run, RunOptions, Slot, ToolResult};

use crate::process::Process;
use crate::relay::Relay;
use crate::servers::Case;
use crate::target::{MODERN, Target};

/// A server, a relay before it, and a run whose slot leads to the relay.
struct Setting {
    process: Arc<Process>,
    relay: Relay,
    run: Run,
    slot: Slot,
}

impl Setting {
    fn new(process: Arc<Process>, target: Target) -> Setting {
        let relay = Relay::to(process.address());
        let manifest = json!({"runId": "interop", "slotFills": {"kali": target.fill(&relay.url())}});
        let options = RunOptions { timeout: Duration::from_secs(20), ..RunOptions::default() };
        let run = Run::open(&manifest.to_string(), options).unwrap();
        let slot = run.mcp("kali").unwrap();
        Setting { process, relay, run, slot }
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{}", self.process.output());
        }
    }
}

fn set_up(target: Target) -> Setting {
    Setting::new(Process::shared(target.server), target)
}

/// With a server that no other test uses, to be ended and started again.
fn set_up_alone(target: Target) -> Setting {
    Setting::new(Arc::new(Process::start(target.server)), target)
}

fn call(slot: &Slot, case: &Case) -> ToolResult {
    slot.call(case.tool, &case.arguments)
}

fn assert_succeeds(slot: &Slot, case: &Case) {
    let result = call(slot, case);
    assert_eq!((result.outcome, result.text.as_str()), (Outcome::Ok, case.text.as_str()), "{:?}", result.error);
}

fn blocks(result: &ToolResult) -> Vec<Value> {
    let raw: Value = serde_json::from_str(result.raw().unwrap()).unwrap();
    raw["content"].as_array().unwrap().clone()
}

// Rule 3.10.
pub fn lists_tools(target: Target) {
    let setting = set_up(target);
    let names = setting.slot.list_tools().unwrap();
    for tool in target.server.tools() {
        assert!(names.iter().any(|name| name == tool), "{tool} is not in {names:?}");
    }
    assert_eq!(setting.run.ledger().usage().tool_calls(), 0);
}

// Rules 2.2, 2.4, 3.1, 3.6.
pub fn calls_with_good_arguments(target: Target) {
    let setting = set_up(target);
    for case in [target.server.echo("päss 🔑 \u{2028} \"x\""), target.server.sum(40, 2), target.server.structured()]
    {
        assert_succeeds(&setting.slot, &case);
    }
}

// Rules 2.1, 2.3, 6.1. A complaint is an answer: the server stays in use.
pub fn reports_what_the_tool_or_server_refuses(target: Target) {
    let setting = set_up(target);
    let (wrong, unknown) = (target.server.wrong_arguments(), target.server.unknown_tool());
    for (case, is_refusal) in [(wrong, false), (unknown, target.server.refuses_unknown_tools())] {
        let result = call(&setting.slot, &case);
        let outcome = if is_refusal { Outcome::Refused } else { Outcome::ToolError };
        assert_eq!((result.outcome, result.is_error), (outcome, true), "{:?}", result.error);
        let complaint = result.error.as_deref().unwrap();
        assert!(complaint.contains(&case.text), "{complaint}");
        assert_eq!(result.text, if is_refusal { "" } else { complaint });
    }
    assert_succeeds(&setting.slot, &target.server.echo("still there"));
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (3, 2));
}

// Rules 2.4, 3.6.
pub fn flattens_images_and_resources(target: Target) {
    let setting = set_up(target);
    let picture = call(&setting.slot, &target.server.picture());
    let image = blocks(&picture).into_iter().find(|block| block["type"] == "image").unwrap();
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG in base64: {image}");
    assert!(picture.text.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value == image)));

    let case = target.server.resource();
    let report = call(&setting.slot, &case);
    let resource = blocks(&report).into_iter().find(|block| block["type"] == "resource").unwrap();
    assert!(resource["resource"]["text"].as_str().unwrap().starts_with(&case.text), "{resource}");
    assert!(report.text.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value == resource)));
}

// Rule 2.8.
pub fn hears_the_progress_of_a_long_call(target: Target) {
    let setting = set_up(target);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let for_callback = Arc::clone(&heard);
    let options = CallOptions {
        on_progress: Some(Arc::new(move |progress| for_callback.lock().unwrap().push(progress.progress))),
        ..CallOptions::default()
    };
    let case = target.server.slow(4);
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    assert_eq!((result.outcome, result.text), (Outcome::Ok, case.text), "{:?}", result.error);
    assert_eq!(*heard.lock().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

// Rules 2.6, 3.3. A server of the handshake is told, another sees the connection end. What it makes of it is its own
// concern: the everything server goes on and leaves the stream open, FastMCP answers with an error.
pub fn cancels_a_long_call(target: Target) {
    let setting = set_up(target);
    let cancel = CancelToken::new();
    let for_callback = cancel.clone();
    let cancelled_at = Arc::new(Mutex::new(None));
    let at = Arc::clone(&cancelled_at);
    let options = CallOptions {
        cancel: Some(cancel),
        on_progress: Some(Arc::new(move |_| {
            at.lock().unwrap().get_or_insert_with(Instant::now);
            for_callback.cancel();
        })),
        ..CallOptions::default()
    };
    let case = target.server.slow(100);
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    let waited = cancelled_at.lock().unwrap().unwrap().elapsed();
    assert_eq!(result.outcome, Outcome::Cancelled, "{:?}", result.error);
    assert!(waited < Duration::from_millis(200), "the caller had its answer after {waited:?}");
    if target.is_modern() {
        setting.relay.wait_for_an_end();
    } else {
        setting.relay.wait_for("notifications/cancelled", 1);
    }
    assert_succeeds(&setting.slot, &target.server.echo("next"));
    assert_eq!(setting.relay.count("\"initialize\""), target.handshakes());
    assert_eq!(setting.relay.count("notifications/cancelled"), usize::from(!target.is_modern()));
}

// Rules 1.3, 3.4.
pub fn shares_one_session_among_parallel_calls(target: Target) {
    const CALLS: usize = 50;
    let setting = set_up(target);
    let start = Barrier::new(CALLS);
    thread::scope(|scope| {
        for number in 0..CALLS {
            let (slot, start) = (setting.slot.clone(), &start);
            scope.spawn(move || {
                start.wait();
                assert_succeeds(&slot, &target.server.echo(&format!("call {number}")));
            });
        }
    });
    assert_eq!(setting.relay.count("\"initialize\""), target.handshakes());
    assert_eq!(setting.run.ledger().usage().tool_calls(), CALLS as u64);
}

// Rule 3.9.
pub fn reuses_connections_over_hundreds_of_calls(target: Target) {
    let setting = set_up(target);
    let case = target.server.echo("again");
    for _ in 0..300 {
        assert_succeeds(&setting.slot, &case);
    }
    let connections = setting.relay.connections();
    assert!(connections <= 3, "{connections} connections");
}

// Rule 3.9. The servers close a kept connection after 1 to 6 s without a request.
pub fn calls_after_the_server_closed_its_idle_connection(target: Target) {
    let setting = set_up(target);
    assert_succeeds(&setting.slot, &target.server.echo("before"));
    setting.relay.wait_until_idle_connections_end();
    assert_succeeds(&setting.slot, &target.server.echo("after"));
    assert_eq!(setting.relay.count("\"initialize\""), target.handshakes());
    assert_eq!(setting.run.ledger().usage().tool_calls(), 2);
}

// Rules 3.4, 3.5, 4.1, 6.3. The everything server answers 400 for a session that it does not know, the others 404.
pub fn finds_the_server_again_after_a_restart_and_an_outage(target: Target) {
    let setting = set_up_alone(target);
    assert_succeeds(&setting.slot, &target.server.echo("before"));
    setting.process.start_again();
    assert_succeeds(&setting.slot, &target.server.echo("between"));
    assert_eq!(setting.relay.count("\"initialize\""), target.handshakes_with_a_restart());
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (2, 0));

    setting.process.kill();
    assert_eq!(call(&setting.slot, &target.server.echo("during")).outcome, Outcome::Unreachable);
    setting.process.start_again();
    assert_succeeds(&setting.slot, &target.server.echo("after"));
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (4, 1));
}

// Rules 3.1, 3.3, 6.6.
pub fn agrees_on_a_version(target: Target) {
    let setting = set_up(target);
    assert_succeeds(&setting.slot, &target.server.echo("first"));
    let sent = |number| -> Value { serde_json::from_str(&setting.relay.body(number).unwrap()).unwrap() };
    for number in 0..target.handshakes() {
        let request = sent(number);
        let version = if target.is_modern() { "2024-11-05" } else { target.version() };
        assert_eq!(
            (&request["method"], &request["params"]["protocolVersion"]),
            (&json!("initialize"), &json!(version))
        );
    }
    if target.is_modern() {
        let meta = &sent(target.handshakes())["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], MODERN);
    } else {
        assert_eq!(sent(1)["method"], "notifications/initialized");
    }
    let agreed = setting.slot.health()[0].protocol_version.clone();
    assert_eq!(agreed.as_deref(), Some(target.version()));
}

// Rule 3.11.
pub fn ends_its_session_when_the_run_closes(target: Target) {
    let setting = set_up(target);
    assert_succeeds(&setting.slot, &target.server.echo("before"));
    assert_eq!(setting.relay.count("DELETE /mcp "), 0);
    setting.run.close();
    setting.relay.wait_for("DELETE /mcp ", 1);
}
