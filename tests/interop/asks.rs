//! What a server asks of a client beside the arguments: headers, and answers.

use serde_json::json;
use verifi::{Elicitation, Outcome, RunOptions};

use crate::setting::Setting;
use crate::target::Target;

/// Names and values that a header cannot carry as they are, or that would mean something else there.
fn hostile() -> Vec<String> {
    let texts = ["扫描", " pad ", "a\r\nx-evil: b", "=?base64?eA==?=", "", "\u{7f}\t", "naïve", "a, b; c=\"d\""];
    texts.map(String::from).into_iter().chain(["扫".repeat(3400), "x".repeat(10_000)]).collect()
}

// Rule 3.3. The servers refuse a call whose headers say something else than its body.
pub fn repeats_parameters_in_headers(target: Target) {
    let setting = Setting::new(target);
    setting.slot.list_tools().unwrap();
    for (depth, region) in (-3..).zip(hostile()) {
        setting.assert_succeeds(&target.server.locate(&region, depth));
    }
    setting.assert_succeeds(&target.server.locate("eu", 9_007_199_254_740_991));
    assert_eq!(setting.relay.count("tools/list"), 1);
    target.assert_fitting(&setting.relay.sent());
}

// Rule 3.3. Who did not list the tools learns from the refusal which headers there are, once.
pub fn looks_parameters_up_when_the_server_misses_them(target: Target) {
    let setting = Setting::new(target);
    for depth in 0..3 {
        setting.assert_succeeds(&target.server.locate("eu", depth));
    }
    assert_eq!(setting.relay.count("tools/list"), 1);
    assert_eq!(setting.run.ledger().usage().tool_calls(), 3);
}

// Rules 2.1, 3.3. A tool of that name there is none: it is the tool that is missed, not a header.
pub fn calls_tools_of_any_name(target: Target) {
    let setting = Setting::new(target);
    for name in hostile() {
        let result = setting.slot.call(&name, json!({}));
        let outcome = if target.server.refuses_unknown_tools() { Outcome::Refused } else { Outcome::ToolError };
        assert_eq!(result.outcome, outcome, "{name:?}: {:?}", result.error);
        let error = result.error.unwrap();
        assert!(!error.to_lowercase().contains("header"), "{name:?}: {error}");
    }
    setting.assert_succeeds(&target.server.echo("still there"));
    target.assert_fitting(&setting.relay.sent());
}

// Rule 3.8.
pub fn answers_what_a_tool_asks(target: Target) {
    let setting = Setting::with(target, RunOptions { elicitation: Elicitation::Defaults, ..RunOptions::default() });
    let result = setting.slot.call("confirm", json!({}));
    assert_eq!((result.outcome, result.text()), (Outcome::Ok, "accept verifi"), "{:?}", result.error);
}

// Rule 3.8. verifi does not say that it can be asked; some servers do not ask then, and say why.
pub fn declines_what_a_tool_asks(target: Target) {
    let setting = Setting::new(target);
    let result = setting.slot.call("confirm", json!({}));
    match target.server.asks_who_cannot_answer() {
        true => assert_eq!((result.outcome, result.text()), (Outcome::Ok, "decline"), "{:?}", result.error),
        false => assert!(result.is_error && result.error.unwrap().contains("elicitation")),
    }
}
