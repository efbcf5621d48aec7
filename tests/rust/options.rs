//! The options of a run as JSON.

use std::time::Duration;

use verifi::{Elicitation, ErrorKind, JournalSync, Replay, RunOptions};

// Rules 2.5, 2.7, 3.8, 6.5, 6.7.
#[test]
fn what_is_not_said_is_the_default() {
    for text in ["", " \n", "{}", "{ }"] {
        let options = RunOptions::from_json(text).expect(text);
        assert_eq!(options, RunOptions::default());
        assert_eq!(options.timeout, Duration::from_millis(300_000));
        assert_eq!(options.max_response_bytes, 268_435_456);
        assert_eq!((options.elicitation, options.replay), (Elicitation::Decline, Replay::Always));
        assert_eq!((options.secrets.len(), options.retry_primary_after), (0, None));
    }
}

// Rules 2.5, 2.7, 3.8, 4.4, 5.5, 6.5, 6.7.
#[test]
fn every_option_can_be_set() {
    let text = r#"{"timeoutMs":1500,"maxResponseBytes":1,"secrets":["s3cr3t","ü"],"elicitation":"defaults",
        "replay":"safe","retryPrimaryAfterMs":3e5,"journal":"runs/r1.jsonl","sync":"always"}"#;
    let wanted = RunOptions {
        timeout: Duration::from_millis(1500),
        max_response_bytes: 1,
        secrets: vec!["s3cr3t".to_owned(), "ü".to_owned()],
        elicitation: Elicitation::Defaults,
        replay: Replay::Safe,
        retry_primary_after: Some(Duration::from_secs(300)),
        journal: Some("runs/r1.jsonl".into()),
        sync: JournalSync::Always,
    };
    assert_eq!(RunOptions::from_json(text), Ok(wanted));
    let whole = RunOptions::from_json(r#"{"timeoutMs":9007199254740991,"maxResponseBytes":7.0}"#).expect("options");
    assert_eq!((whole.timeout.as_millis(), whole.max_response_bytes), (9_007_199_254_740_991, 7));
}

// Rules 2.5, 2.7, 6.7.
#[test]
fn numbers_are_positive_and_whole() {
    for name in ["timeoutMs", "maxResponseBytes", "retryPrimaryAfterMs"] {
        for value in ["0", "-1", "-0", "1.5", "1e-3", "9007199254740992", "18446744073709551616", "1e99", "1e999"] {
            let error = RunOptions::from_json(&format!(r#"{{"{name}":{value}}}"#)).expect_err(value);
            assert_eq!(error.kind(), ErrorKind::Options);
            assert_eq!(
                error.message(),
                format!("{name}: must be a whole number from 1 to 9007199254740991"),
                "{value}"
            );
        }
        for (value, is) in [("null", "null"), ("\"5\"", "a string"), ("true", "a boolean"), ("[5]", "an array")] {
            let error = RunOptions::from_json(&format!(r#"{{"{name}":{value}}}"#)).expect_err(value);
            assert_eq!(error.message(), format!("{name}: must be a number, not {is}"));
        }
    }
}

// Rules 3.8, 5.6, 6.5.
#[test]
fn an_error_names_the_member_and_shows_no_value() {
    for (text, member) in [
        (r#"{"timeout":5}"#, "timeout: there is no such option; there are elicitation, "),
        (r#"{"time out":5}"#, r#"["time out"]: there is no such option"#),
        (r#"{"elicitation":"s3cr3t"}"#, "elicitation: "),
        (r#"{"elicitation":null}"#, "elicitation: "),
        (r#"{"replay":"s3cr3t"}"#, "replay: "),
        (r#"{"replay":1}"#, "replay: "),
        (r#"{"secrets":"s3cr3t"}"#, "secrets: "),
        (r#"{"secrets":["s3cr3t",5]}"#, "secrets[1]: "),
        (r#"{"secrets":["s3cr3t\ud800"]}"#, "secrets[0]: "),
        (r#"["s3cr3t"]"#, "options: must be an object, not an array"),
        ("null", "options: "),
        (r#"{"secrets":["s3cr3t"],}"#, "options: not JSON: key must be a string at line 1 column 23"),
    ] {
        let error = RunOptions::from_json(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Options);
        assert!(error.message().starts_with(member), "{error}");
        assert!(!error.message().contains("s3cr3t"), "{error}");
    }
}

// Rule 5.6.
#[test]
fn debug_shows_no_secret() {
    let options = RunOptions { secrets: vec!["s3cr3t".to_owned()], ..RunOptions::default() };
    let debug = format!("{options:?}");
    assert!(debug.contains("300s") && debug.contains("[1 hidden]") && !debug.contains("s3cr3t"), "{debug}");
}
