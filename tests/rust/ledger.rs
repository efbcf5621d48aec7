//! Events as JSON, and the ledger that is folded from them.

use serde_json::{Value, json};
use verifi::{Event, EventKind, Ledger, Outcome, ServerRole, Timestamp};

fn event(members: Value) -> Event {
    let mut event = json!({"seq": 1, "ts": "2026-12-02T01:02:03.004Z", "runId": "r1", "kind": "call_finished"});
    for (name, value) in members.as_object().expect("members") {
        event[name] = value.clone();
    }
    serde_json::from_value(event).expect("event")
}

// Rule 4.3.
#[test]
fn an_event_is_the_same_after_json() {
    let text = r#"{"seq":7,"ts":"2026-12-02T01:02:03.004Z","runId":"r1","kind":"call_finished","slot":"kali","tool":"nmap","callId":6,"server":"fallback","endpoint":"http://k/mcp","outcome":"unreachable","latencyMs":1.234,"evidenceBytes":0,"error":"http://k/mcp: refused"}"#;
    let event: Event = serde_json::from_str(text).expect("event");
    assert_eq!(event.ts.unix_millis(), 1_796_173_323_004);
    assert_eq!((event.server, event.outcome), (Some(ServerRole::Fallback), Some(Outcome::Unreachable)));
    assert_eq!(serde_json::to_string(&event).expect("text"), text);
    let short = r#"{"seq":1,"ts":"1970-01-01T00:00:00.000Z","runId":"r1","kind":"run_started"}"#;
    let event: Event = serde_json::from_str(short).expect("event");
    assert_eq!(serde_json::to_string(&event).expect("text"), short);
}

// Rules 2.2, 4.3.
#[test]
fn names_are_fixed() {
    let kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let wanted = "run_started call_started call_finished tool_error mcp.fallback_used mcp.no_healthy_tool \
                  mcp.primary_restored log run_finished journal_failed";
    assert_eq!(kinds.join(" "), wanted);
    let outcomes: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
    assert_eq!(outcomes.join(" "), "ok tool_error refused unreachable timed_out cancelled rejected");
    for kind in EventKind::ALL {
        assert_eq!(EventKind::from_name(kind.as_str()), Some(*kind));
        assert_eq!(event(json!({"kind": kind})).kind, *kind);
    }
    assert_eq!(EventKind::from_name("Log"), None);
    assert!(serde_json::from_str::<Outcome>(r#""Ok""#).is_err());
}

// Rule 4.3.
#[test]
fn timestamps_are_rfc_3339_with_milliseconds() {
    for (millis, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_001, "2000-02-29T00:00:00.001Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (u64::MAX, "9999-12-31T23:59:59.999Z"),
    ] {
        let timestamp = Timestamp::from_unix_millis(millis);
        assert_eq!(timestamp.to_string(), text);
        assert_eq!(serde_json::from_value::<Timestamp>(json!(text)).expect("timestamp"), timestamp);
    }
    for wrong in [json!("yesterday"), json!("2026-13-01T00:00:00.000Z"), json!(""), json!(5)] {
        assert!(serde_json::from_value::<Timestamp>(wrong.clone()).is_err(), "{wrong}");
    }
}

// Rules 4.1, 4.2.
#[test]
fn the_ledger_adds_up() {
    let mut ledger = Ledger::new("r1");
    let outcomes = Outcome::ALL;
    for number in 0..700_u64 {
        let outcome = outcomes[number as usize % outcomes.len()];
        let (slot, tool) = (["kali", "web"][number as usize % 2], ["a", "b", "c"][number as usize % 3]);
        // A tenth of a millisecond is no binary fraction: sums of it are exact all the same.
        let call = json!({"slot": slot, "tool": tool, "outcome": outcome, "latencyMs": 0.1, "evidenceBytes": number});
        ledger.fold(&event(call));
    }
    let usage = ledger.usage();
    assert_eq!((usage.tool_calls(), usage.failures()), (700, 600), "all but `ok` are failures");
    assert_eq!((usage.evidence_bytes(), usage.latency_ms()), (699 * 700 / 2, 70.0));
    let of_slots: u64 = ledger.slots().map(|(_, slot)| slot.usage().evidence_bytes()).sum();
    let of_tools: u64 = ledger.slots().flat_map(|(_, slot)| slot.tools()).map(|(_, tool)| tool.evidence_bytes()).sum();
    assert_eq!((of_slots, of_tools), (usage.evidence_bytes(), usage.evidence_bytes()));
    let kali = ledger.slot("kali").expect("kali");
    assert_eq!(kali.usage().tool_calls(), 350);
    assert_eq!(kali.tool("a").expect("a").tool_calls(), 117);
    assert!(ledger.slot("recon").is_none() && kali.tool("d").is_none());
}

// Rules 4.1, 4.3.
#[test]
fn only_the_end_of_a_call_counts() {
    let mut ledger = Ledger::new("r1");
    for kind in EventKind::ALL.iter().filter(|kind| **kind != EventKind::CallFinished) {
        let call =
            json!({"kind": kind, "slot": "kali", "tool": "a", "outcome": "ok", "latencyMs": 5, "evidenceBytes": 5});
        ledger.fold(&event(call));
    }
    assert_eq!(ledger, Ledger::new("r1"));
    ledger.fold(&event(json!({"slot": "kali", "tool": "a", "outcome": "unreachable", "latencyMs": 5})));
    let usage = ledger.usage();
    assert_eq!((usage.tool_calls(), usage.failures(), usage.evidence_bytes(), usage.latency_ms()), (1, 1, 0, 5.0));
}

// Rule 4.2.
#[test]
fn counters_stay_at_their_end() {
    let mut ledger = Ledger::new("r1");
    for _ in 0..3 {
        ledger.fold(&event(json!({"slot": "a", "tool": "b", "evidenceBytes": u64::MAX, "latencyMs": 1e300})));
        ledger.fold(&event(json!({"slot": "a", "tool": "b", "evidenceBytes": 1, "latencyMs": -5.0})));
    }
    assert_eq!(ledger.usage().evidence_bytes(), u64::MAX);
    assert_eq!(ledger.usage().latency_ms(), u64::MAX as f64 / 1000.0);
    assert_eq!(ledger.usage().tool_calls(), 6);
}

// Rule 4.2.
#[test]
fn the_ledger_as_json() {
    let mut ledger = Ledger::new("r1");
    ledger.fold(&event(json!({"slot": "kali", "tool": "nmap", "outcome": "ok", "latencyMs": 1.5, "evidenceBytes": 7})));
    let counters = json!({"toolCalls": 1, "failures": 0, "evidenceBytes": 7, "latencyMs": 1.5});
    let mut slot = counters.clone();
    slot["tools"] = json!({"nmap": counters});
    let mut wanted = counters;
    wanted["runId"] = json!("r1");
    wanted["slots"] = json!({"kali": slot});
    assert_eq!(serde_json::to_value(&ledger).expect("JSON"), wanted);
    let text = serde_json::to_string(&ledger).expect("text");
    assert_eq!(serde_json::from_str::<Ledger>(&text).expect("ledger"), ledger);
}
