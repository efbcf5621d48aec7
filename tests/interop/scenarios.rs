//! What must hold with any server.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use serde_json::Value;
use verifi::{CallOptions, EventKind, Outcome, ToolResult};

use crate::setting::Setting;
use crate::target::Target;

fn blocks(result: &ToolResult) -> Vec<Value> {
    let raw: Value = serde_json::from_str(result.raw().unwrap()).unwrap();
    raw["content"].as_array().unwrap().clone()
}

// Rule 3.10.
pub fn lists_tools(target: Target) {
    let setting = Setting::new(target);
    let names = setting.slot.list_tools().unwrap();
    for tool in target.server.tools() {
        assert!(names.iter().any(|name| name == tool), "{tool} is not in {names:?}");
    }
    assert_eq!(setting.run.ledger().usage().tool_calls(), 0);
}

// Rules 2.2, 2.4, 3.1, 3.6.
pub fn calls_with_good_arguments(target: Target) {
    let setting = Setting::new(target);
    for case in [target.server.echo("päss 🔑 \u{2028} \"x\""), target.server.sum(40, 2), target.server.structured()]
    {
        setting.assert_succeeds(&case);
    }
}

// Rules 2.1, 2.3, 6.1. A complaint is an answer: the server stays in use.
pub fn reports_what_the_tool_or_server_refuses(target: Target) {
    let setting = Setting::new(target);
    let (wrong, unknown) = (target.server.wrong_arguments(), target.server.unknown_tool());
    for (case, is_refusal) in [(wrong, false), (unknown, target.server.refuses_unknown_tools())] {
        let result = setting.call(&case);
        let outcome = if is_refusal { Outcome::Refused } else { Outcome::ToolError };
        assert_eq!((result.outcome, result.is_error), (outcome, true), "{:?}", result.error);
        let complaint = result.error.as_deref().unwrap();
        assert!(complaint.contains(&case.text), "{complaint}");
        assert_eq!(result.text(), if is_refusal { "" } else { complaint });
    }
    setting.assert_succeeds(&target.server.echo("still there"));
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (3, 2));
}

// Rules 2.4, 3.6.
pub fn flattens_images_and_resources(target: Target) {
    let setting = Setting::new(target);
    let picture = setting.call(&target.server.picture());
    let image = blocks(&picture).into_iter().find(|block| block["type"] == "image").unwrap();
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG in base64: {image}");
    assert!(picture.text().lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value == image)));

    let case = target.server.resource();
    let report = setting.call(&case);
    let resource = blocks(&report).into_iter().find(|block| block["type"] == "resource").unwrap();
    assert!(resource["resource"]["text"].as_str().unwrap().starts_with(&case.text), "{resource}");
    let mut lines = report.text().lines();
    assert!(lines.any(|line| serde_json::from_str::<Value>(line).is_ok_and(|value| value == resource)));
}

// Rule 2.8.
pub fn hears_the_progress_of_a_long_call(target: Target) {
    let setting = Setting::new(target);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let for_callback = Arc::clone(&heard);
    let options = CallOptions {
        on_progress: Some(Arc::new(move |progress| for_callback.lock().unwrap().push(progress.progress))),
        ..CallOptions::default()
    };
    let case = target.server.slow(4);
    let result = setting.slot.call_with(case.tool, &case.arguments, options);
    assert_eq!((result.outcome, result.text()), (Outcome::Ok, case.text.as_str()), "{:?}", result.error);
    assert_eq!(*heard.lock().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

// Rules 1.3, 3.4.
pub fn shares_one_session_among_parallel_calls(target: Target) {
    const CALLS: usize = 50;
    let setting = Setting::new(target);
    let start = Barrier::new(CALLS);
    thread::scope(|scope| {
        for number in 0..CALLS {
            let (setting, start) = (&setting, &start);
            scope.spawn(move || {
                start.wait();
                setting.assert_succeeds(&target.server.echo(&format!("call {number}")));
            });
        }
    });
    assert_eq!(setting.relay.count("initialize"), target.handshakes());
    assert_eq!(setting.run.ledger().usage().tool_calls(), CALLS as u64);
}

// Rule 3.9. On a machine that is short of time the end of an answer comes late, or a server closes between two calls:
// then a call needs another connection, and the calls are made again.
pub fn reuses_connections_over_a_thousand_calls(target: Target) {
    let counts: Vec<usize> = (0..3).map(|_| connections_of_a_thousand_calls(target)).take_while(|n| *n > 3).collect();
    assert!(counts.len() < 3, "{counts:?} connections");
}

fn connections_of_a_thousand_calls(target: Target) -> usize {
    let setting = Setting::new(target);
    let case = target.server.echo("again");
    for _ in 0..1000 {
        setting.assert_succeeds(&case);
    }
    setting.relay.connections()
}

// Rule 3.9. The servers close a kept connection after 1 to 6 s without a request.
pub fn calls_after_the_server_closed_its_idle_connection(target: Target) {
    let setting = Setting::new(target);
    setting.assert_succeeds(&target.server.echo("before"));
    setting.relay.wait_until_idle_connections_end();
    setting.assert_succeeds(&target.server.echo("after"));
    assert_eq!(setting.relay.count("initialize"), target.handshakes());
    assert_eq!(setting.run.ledger().usage().tool_calls(), 2);
}

// Rules 3.4, 3.5, 4.1, 6.3. The everything server answers 400 for a session that it does not know, the others 404.
pub fn finds_the_server_again_after_a_restart_and_an_outage(target: Target) {
    let setting = Setting::alone(target);
    setting.assert_succeeds(&target.server.echo("before"));
    setting.process.start_again();
    setting.assert_succeeds(&target.server.echo("between"));
    assert_eq!(setting.relay.count("initialize"), target.handshakes_with_a_restart());
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (2, 0));

    setting.process.kill();
    assert_eq!(setting.call(&target.server.echo("during")).outcome, Outcome::Unreachable);
    setting.process.start_again();
    setting.assert_succeeds(&target.server.echo("after"));
    let usage = setting.run.ledger().usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (4, 1));
}

// Rules 3.1, 3.2, 3.3, 4.3, 6.6.
pub fn speaks_the_revision_that_the_server_knows(target: Target) {
    let setting = Setting::new(target);
    assert_eq!(setting.slot.health()[0].protocol_version, None);
    setting.assert_succeeds(&target.server.echo("first"));
    setting.slot.list_tools().unwrap();
    assert_eq!(setting.call(&target.server.wrong_arguments()).outcome, Outcome::ToolError);
    target.assert_fitting(&setting.relay.sent());
    assert_eq!(setting.slot.health()[0].protocol_version, Some(target.version()));
    let events = setting.run.events();
    let finished = events.iter().filter(|event| event.kind == EventKind::CallFinished);
    let versions: Vec<_> = finished.map(|event| event.protocol_version.as_deref()).collect();
    assert_eq!(versions, [Some(target.version()); 2]);
}

// Rule 3.11.
pub fn ends_its_session_when_the_run_closes(target: Target) {
    let setting = Setting::new(target);
    setting.assert_succeeds(&target.server.echo("before"));
    setting.run.close();
    setting.relay.wait_for("DELETE", |sent| sent.method == "DELETE");
    target.assert_fitting(&setting.relay.sent());
}
