//! No secret of the run is in the file.

use std::fs;

use serde_json::{Value, json};
use verifi::{Run, RunOptions, redact};
use verifi_tests::Server;

use crate::common::{Folder, assert_whole, text, with_journal};

/// A case of the redaction vectors.
#[derive(Clone)]
struct Case {
    secrets: Vec<String>,
    text: String,
    /// What a run makes of it; of what only `redact` is asked, nothing is said.
    out: Option<String>,
}

fn cases(file: &str) -> Vec<Case> {
    let path = format!("{}/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let case = |case: &Value| {
        let secrets = case["secrets"].as_array()?.iter().map(text).collect::<Option<_>>()?;
        let out = if file == "encodings.json" { text(&case["out"]) } else { None };
        Some(Case { secrets, text: text(&case["text"])?, out })
    };
    vectors["cases"].as_array().unwrap().iter().filter_map(case).collect()
}

// Rules 4.4, 5.2, 5.5.
#[test]
fn no_vector_of_redaction_gets_a_secret_into_the_file() {
    let folder = Folder::new();
    let all = [cases("redact.json"), cases("encodings.json")].concat();
    assert!(all.len() > 50 && all.iter().any(|case| case.out.is_some()), "{}", all.len());
    for (number, Case { secrets, text, out }) in all.into_iter().enumerate() {
        let path = folder.path(&format!("{number}.jsonl"));
        let answer = json!({"error": {"code": -1, "message": text}});
        let script = json!({"rules": [{"on": {"rpc": "tools/call"}, "do": [answer]}]});
        let server = Server::from_json(&script.to_string()).unwrap();
        let manifest = json!({"runId": "r1", "endpoints": {"kali": server.url()}}).to_string();
        let run = Run::open(&manifest, RunOptions { secrets: secrets.clone(), ..with_journal(&path) }).unwrap();
        let result = run.mcp("kali").unwrap().call(&text, json!({"argument": text}));
        run.log(&text);
        run.close();
        for event in assert_whole(&path) {
            for written in
                [event.error.as_deref(), event.message.as_deref(), event.tool.as_deref()].into_iter().flatten()
            {
                assert_eq!(redact(written, &secrets), written, "case {number}");
            }
            if let (Some(message), Some(out)) = (&event.message, &out) {
                assert_eq!(message, out, "case {number}");
            }
            assert!(event.error.is_none_or(|error| Some(error) == result.error), "case {number}");
        }
    }
}

// Rules 4.4, 5.2, 5.5.
#[test]
fn no_secret_gets_into_the_file_by_a_name_or_an_address() {
    const SECRET: &str = "sct-9f27c41be05d83aa";
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    // Nobody listens there: the errors name the address.
    let endpoint = |query: &str| format!("http://127.0.0.1:1/keys/{SECRET}/mcp{query}");
    let slot = format!("slot-{SECRET}");
    let manifest = json!({"runId": format!("run-{SECRET}"), "slotFills": {&slot: {
        "endpoint": endpoint(&format!("?key={SECRET}")),
        "fallback": endpoint("?x"),
        "headers": {"x-key": SECRET},
    }}});
    for _ in 0..2 {
        let run = Run::open(&manifest.to_string(), with_journal(&path)).unwrap();
        let slot = run.mcp(&slot).unwrap();
        assert!(!slot.call(&format!("tool-{SECRET}"), json!({"token": SECRET})).ok);
        assert!(!slot.call("tool", verifi::Arguments::json(SECRET)).ok);
        run.log(&format!("line with {SECRET}"));
    }
    let text = text(&path);
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("http://127.0.0.1:1/keys/[REDACTED]/mcp"));
}
