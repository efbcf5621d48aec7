//! The JSON of an answer, byte for byte.

use serde_json::json;
use verifi::{Run, RunOptions};
use verifi_tests::{Script, Server};

// Rules 2.4, 5.2.
#[test]
fn raw_is_what_the_server_sent_but_for_its_secrets_however_it_is_spelled() {
    let secret = "tok-0123456789";
    for text in ["plain é\\n\\\"", "\\u001b[0m", "\\u001B[0m", "\\u00e9\\/", "\\ud83d\\udd11", ""] {
        for times in [1, 40_000] {
            let spelled = |secret: &str| {
                let text = format!("{secret} {}", text.repeat(times));
                format!(r#"{{ "n":1.50 , "content" :[{{"text":"{text}","type":"text"}}],"x":["{secret}",-0e+1] }}"#)
            };
            let body = format!(r#"{{"jsonrpc":"2.0","id":{{{{id}}}},"result":{}}}"#, spelled(secret));
            let script = json!({"rules": [{"on": {"rpc": "tools/call"}, "do": [{"answer": {"body": [body]}}]}]});
            let server = Server::start(Script::parse(&script.to_string()).expect("a script")).expect("a server");
            let manifest = json!({"runId": "r1", "slotFills": {"kali": server.url()}}).to_string();
            let options = RunOptions { secrets: vec![secret.into()], ..RunOptions::default() };
            let run = Run::open(&manifest, options).expect("a run");
            let result = run.mcp("kali").expect("a slot").call("any", ());
            assert_eq!(result.redactions, 1, "{text} {times} times: {:?}", result.error);
            assert!(result.raw() == Some(&*spelled("[REDACTED]")), "{text} {times} times");
        }
    }
}
