//! Redaction through the public surface: the vectors that all languages run, and properties on random input.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use verifi::{Redactor, collect_run_secrets, collect_run_secrets_from, redact};

const MARKER: &str = "[REDACTED]";

fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name);
    let file: Value = serde_json::from_str(&fs::read_to_string(path).expect("the file is there")).expect("it is JSON");
    file["cases"].as_array().expect("it has cases").clone()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().expect("an array").iter().map(|item| item.as_str().expect("a string").to_owned()).collect()
}

/// A generator whose seed a failure shows.
fn random(seed: u64) -> fastrand::Rng {
    println!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

fn word(random: &mut fastrand::Rng, alphabet: &[char], lengths: std::ops::Range<usize>) -> String {
    (0..random.usize(lengths)).map(|_| *random.choice(alphabet).expect("letters")).collect()
}

/// Rule 5.1 as it reads: try every secret at every place.
fn by_the_book(text: &str, secrets: &[String]) -> String {
    let wanted = secrets.iter().filter(|secret| secret.chars().count() >= 4 && !MARKER.contains(secret.as_str()));
    let mut found: Vec<(usize, usize)> = wanted
        .flat_map(|secret| {
            (0..text.len())
                .filter(|&at| text.as_bytes()[at..].starts_with(secret.as_bytes()))
                .map(|at| (at, at + secret.len()))
        })
        .collect();
    found.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    let mut out = String::new();
    let mut done = 0;
    for (start, end) in merged {
        out = out + &text[done..start] + MARKER;
        done = end;
    }
    out + &text[done..]
}

// Rule 5.1.
#[test]
fn redact_vectors() {
    for case in vectors("redact.json") {
        let text = case["text"].as_str().expect("a text");
        let out = redact(text, &strings(&case["secrets"]));
        assert_eq!(out, case["out"].as_str().expect("what comes out"), "{case}");
        assert_eq!(redact(&out, &strings(&case["secrets"])), out, "again: {case}");
    }
}

// Rules 5.3, 5.4.
#[test]
fn secrets_vectors() {
    for case in vectors("secrets.json") {
        let env = case["env"].as_object().expect("an environment");
        let env = env.iter().map(|(name, value)| (name, value.as_str().expect("a value")));
        assert_eq!(collect_run_secrets_from(env), strings(&case["secrets"]), "{case}");
    }
}

// Rules 5.1, 5.5.
#[test]
fn encodings_vectors() {
    for case in vectors("encodings.json") {
        let redactor = Redactor::for_run(&strings(&case["secrets"]));
        let out = redactor.scrub_str(case["text"].as_str().expect("a text"));
        assert_eq!(out, case["out"].as_str().expect("what comes out"), "{case}");
        assert_eq!(redactor.scrub_str(&out), out, "again: {case}");
    }
}

// Rule 5.1.
#[test]
fn random_texts_come_out_by_the_book() {
    let seed = fastrand::u64(..);
    let mut random = random(seed);
    let alphabets: [&[char]; 4] = [&['a', 'b'], &['a', 'b', 'c', ' '], &['a', 'é', '🔑'], &['[', 'R', 'x', '}']];
    for round in 0..2_000 {
        let alphabet = alphabets[round % alphabets.len()];
        let secrets: Vec<String> = (0..random.usize(1..6)).map(|_| word(&mut random, alphabet, 1..14)).collect();
        let secrets: Vec<String> =
            secrets.into_iter().filter(|s| !s.trim().is_empty() && !s.ends_with(['[', 'R'])).collect();
        let text = word(&mut random, alphabet, 0..120);
        assert_eq!(redact(&text, &secrets), by_the_book(&text, &secrets), "seed {seed}, {text:?}, {secrets:?}");
    }
}

// Rule 5.1.
#[test]
fn long_secrets_in_long_texts_come_out_by_the_book() {
    let seed = fastrand::u64(..);
    let mut random = random(seed);
    let alphabet: Vec<char> = ('a'..='f').collect();
    for _ in 0..200 {
        let shared = word(&mut random, &alphabet, 0..30);
        let secrets: Vec<String> =
            (0..random.usize(1..40)).map(|_| shared.clone() + &word(&mut random, &alphabet, 4..40)).collect();
        let mut text = String::new();
        while text.len() < 3_000 {
            text += &word(&mut random, &alphabet, 0..60);
            let secret = random.choice(&secrets).expect("secrets");
            text += &secret[random.usize(0..secret.len() / 2)..secret.len() - random.usize(0..3)];
        }
        assert_eq!(redact(&text, &secrets), by_the_book(&text, &secrets), "seed {seed}, {secrets:?}");
    }
}

// Rule 5.1.
#[test]
fn redacting_twice_changes_nothing_more_and_leaves_no_secret() {
    let seed = fastrand::u64(..);
    let mut random = random(seed);
    let alphabet: Vec<char> = "[]REDxy".chars().collect();
    for _ in 0..5_000 {
        let secrets: Vec<String> = (0..random.usize(1..5)).map(|_| word(&mut random, &alphabet, 4..9)).collect();
        let mut text = word(&mut random, &alphabet, 0..40);
        for _ in 0..random.usize(0..4) {
            text += random.choice(&secrets).expect("secrets");
            text += random.choice(&["", MARKER, "x", "]xy"]).expect("texts");
        }
        let once = redact(&text, &secrets);
        assert_eq!(redact(&once, &secrets), once, "seed {seed}, {text:?}, {secrets:?}");
        let left = secrets.iter().find(|secret| !MARKER.contains(secret.as_str()) && once.contains(secret.as_str()));
        assert_eq!(left, None, "seed {seed}, {text:?} became {once:?}");
    }
}

/// The time that this thread has spent computing, which other programs do not add to.
fn computed() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// How much longer eight times as much takes.
fn growth(mut work: impl FnMut(usize)) -> f64 {
    let mut time = |size: usize| {
        let once = |_| {
            let start = computed();
            work(size);
            computed() - start
        };
        (0..5).map(once).fold(f64::MAX, f64::min)
    };
    let small = time(100_000);
    time(800_000) / small
}

// Rule 5.1.
#[test]
fn time_is_linear_in_the_text_whatever_the_secrets() {
    let almost = "a".repeat(500) + "b";
    let hard: [(&str, Vec<String>, &str); 6] = [
        ("all of it", vec!["aaaaa".into()], "a"),
        ("never quite", vec![almost.clone()], "a"),
        ("never quite, at many lengths", (4..60).map(|length| "a".repeat(length) + "b").collect(), "a"),
        ("every beginning", vec!["abababababababababac".into()], "ab"),
        ("many", (0..2_000).map(|n| format!("secret-number-{n}")).collect(), "secret-number-"),
        ("what the marker completes", vec!["]aaa".into()], "]aaaaaaa"),
    ];
    for (name, secrets, unit) in hard {
        let redactor = Redactor::plain(&secrets);
        let grown = growth(|size| drop(redactor.scrub(unit.repeat(size / unit.len()))));
        assert!(grown < 30.0, "{name}: eight times the text took {grown:.1} times as long");
    }
    let redactor = Redactor::plain(&["]aaa"]);
    let grown = growth(|size| drop(redactor.scrub("]".to_owned() + &"a".repeat(size))));
    assert!(grown < 30.0, "one marker that completes all: {grown:.1}");
}

// Rule 5.1.
#[test]
fn a_long_run_is_one_occurrence() {
    assert_eq!(redact(&"a".repeat(1_000_000), &["aaaaa"]), MARKER);
    assert_eq!(redact(&("]".to_owned() + &"a".repeat(301)), &["]aaa"]), format!("{MARKER}a"));
}

// Rules 5.1, 5.2.
#[test]
fn what_has_no_secret_is_not_copied() {
    let redactor = Redactor::for_run(&["s3cr3t-value"]);
    assert!(matches!(redactor.scrub_str("22/tcp open"), Cow::Borrowed(_)));
    assert!(matches!(redactor.scrub_json(r#"{ "a": ["\u0041", 1.50] }"#), Cow::Borrowed(_)));
    let text = String::from("22/tcp open");
    let place = text.as_ptr();
    assert_eq!(redactor.scrub(text).text.as_ptr(), place);
}

// Rules 2.2, 5.1.
#[test]
fn redactions_are_counted() {
    let scrubbed = Redactor::for_run(&["abcd", "efgh"]).scrub("abcdefgh abcd".to_owned());
    assert_eq!((scrubbed.text.as_str(), scrubbed.redactions), ("[REDACTED][REDACTED] [REDACTED]", 3));
    assert_eq!(Redactor::for_run(&["abcd"]).scrub("none".to_owned()).redactions, 0);
}

fn base64(bytes: &[u8], alphabet: &[u8]) -> String {
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let digits: Vec<char> = bits.chars().collect();
    let six = |part: &[char]| {
        let padded: String = part.iter().chain(std::iter::repeat(&'0')).take(6).collect();
        alphabet[usize::from_str_radix(&padded, 2).expect("bits")] as char
    };
    digits.chunks(6).map(six).collect()
}

// Rule 5.5.
#[test]
fn base64_keeps_only_what_others_have_a_share_in() {
    let seed = fastrand::u64(..);
    let mut random = random(seed);
    let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let letters: Vec<char> = "abyz059~?>üÿ✓".chars().collect();
    for alphabet in [format!("{common}+/"), format!("{common}-_")] {
        for _ in 0..500 {
            let secret = word(&mut random, &letters, 8..30);
            let before = "q".repeat(random.usize(0..7));
            let after = "q".repeat(random.usize(0..7));
            let whole = base64(format!("{before}{secret}{after}").as_bytes(), alphabet.as_bytes());
            let kept_before = (before.len() * 8).div_ceil(6);
            let kept_after = if after.is_empty() { whole.len() } else { (before.len() + secret.len()) * 8 / 6 };
            let expected = format!("{}{MARKER}{}", &whole[..kept_before], &whole[kept_after..]);
            let out = Redactor::for_run(&[&secret]).scrub_str(&whole).into_owned();
            assert_eq!(out, expected, "seed {seed}, {secret:?} in {whole}");
        }
    }
}

fn wrapped(body: &str, width: usize) -> String {
    let lines: Vec<&str> = (0..body.len()).step_by(width).map(|at| &body[at..body.len().min(at + width)]).collect();
    lines.join("\n")
}

// Rule 5.5.
#[test]
fn a_private_key_is_found_at_any_width() {
    let mut random = random(1);
    let bytes: Vec<u8> = (0..900).map(|_| random.u8(..)).collect();
    let body = base64(&bytes, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", wrapped(&body, 64));
    let redactor = Redactor::for_run(&[key]);
    for width in [12, 48, 63, 65, 76, 100, 2_000] {
        for line in wrapped(&body[48..], width).lines().filter(|line| line.len() >= 12) {
            let out = redactor.scrub_str(line);
            assert!(out.split(MARKER).all(|left| left.len() < 4), "width {width}: {line} became {out}");
        }
    }
    let certificate = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA";
    assert_eq!(redactor.scrub_str(certificate), certificate);
}

// Rule 5.5.
#[test]
fn a_cut_leaves_no_part_of_a_secret() {
    let secrets = ["q1w2e3r4t5z6", "J9k8-L7m6/n5", "s3t-u", "pässwörd🔑"];
    let redactor = Redactor::for_run(&secrets);
    let json = serde_json::to_string(&secrets).expect("JSON");
    let text = format!("a {} b {} c J9k8-L7m6%2Fn5 {json} {} d {}", secrets[0], secrets[1], secrets[2], secrets[3]);
    for cut in (0..=text.len()).filter(|&cut| text.is_char_boundary(cut)) {
        let out = redactor.scrub_cut(&text[..cut]).text;
        for secret in secrets {
            let letters: Vec<char> = secret.chars().collect();
            let left = letters.windows(4).map(String::from_iter).find(|part| out.contains(part.as_str()));
            assert_eq!(left, None, "{:?} became {out:?}", &text[..cut]);
        }
    }
    assert_eq!(redactor.scrub_cut("plain text q1w").text, "plain text q1w");
    assert_eq!(redactor.scrub_cut("a q1w2e3r4t5z6J9k8").text, "a [REDACTED][REDACTED]");
    assert_eq!(Redactor::for_run(&["abcdabcdX"]).scrub_cut("-abcdabcd").text, "-[REDACTED]");
    assert_eq!(Redactor::plain(&["abcdef", "defghi"]).scrub_cut("-abcdefg").text, "-[REDACTED]");
}

// Rules 2.1, 5.1.
#[test]
fn no_piece_of_a_key_begins_inside_of_a_character() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}éabcdefghi\n-----END PRIVATE KEY-----",
        "x1y2z3".repeat(9).split_at(51).0
    );
    let redactor = Redactor::for_run(&[&key]);
    assert_eq!(redactor.scrub_str("éabcdefg"), "éabcdefg");
    assert_eq!(redactor.scrub_json(r#"["éabcdefg"]"#), r#"["éabcdefg"]"#);
    assert_eq!(redactor.scrub_str(&key), MARKER);
}

// Rules 2.7, 5.2.
#[test]
fn json_that_is_full_of_secrets_is_scrubbed_all_the_same() {
    let redactor = Redactor::for_run(&["abcd"]);
    for times in [10_000, 4, 1] {
        let [json, expected] = ["abcd", MARKER].map(|each| format!("[\"é\"{}]", format!(",\"{each}\"").repeat(times)));
        assert_eq!(redactor.scrub_json(&json), expected);
        let [json, expected] = ["abcd", MARKER].map(|each| format!(r#"["{}\u00e9"]"#, each.repeat(times)));
        assert_eq!(redactor.scrub_json(&json).replace('é', r"\u00e9"), expected);
    }
}

// Rule 5.2.
#[test]
fn json_stays_json() {
    let redactor = Redactor::for_run(&["s3cr3t", "12345678", "p\"w/d\n1"]);
    for (json, expected) in [
        (r#"{"a":"x s3cr3t y"}"#, r#"{"a":"x [REDACTED] y"}"#),
        (r#"{ "s3cr3t" : [ 1.50, null ] }"#, r#"{ "[REDACTED]" : [ 1.50, null ] }"#),
        (r#"["s3cr\u0033t\t\u00e9"]"#, r#"["[REDACTED]\t\u00e9"]"#),
        (r#"["\u00e9s3cr\u0033t \ud83d\udd11\/s3cr3t\n"]"#, r#"["\u00e9[REDACTED] \ud83d\udd11\/[REDACTED]\n"]"#),
        (r#"["\u00e9\/", "s3cr3t"]"#, r#"["\u00e9\/", "[REDACTED]"]"#),
        (r#"{"n":12345678,"m":-0.123456789e5,"k":1234567}"#, r#"{"n":"[REDACTED]","m":"[REDACTED]","k":1234567}"#),
        (r#"{"v":"p\"w/d\n1"}"#, r#"{"v":"[REDACTED]"}"#),
        (r#"{"v":"p\u0022w\/d\u000A1","w":"\ud800"}"#, r#"{"v":"[REDACTED]","w":"\ud800"}"#),
        (r#"{"t":"{\"v\":\"p\\\"w/d\\n1\"}"}"#, r#"{"t":"{\"v\":\"[REDACTED]\"}"}"#),
        ("\"s3cr3t\"", "\"[REDACTED]\""),
        ("12345678", "\"[REDACTED]\""),
    ] {
        assert_eq!(redactor.scrub_json(json), expected);
        assert_eq!(redactor.scrub_json(expected), expected);
    }
    assert_eq!(Redactor::plain(&["true"]).scrub_json("[true,\"true\"]"), r#"["[REDACTED]","[REDACTED]"]"#);
}

// Rules 2.1, 5.2.
#[test]
fn json_of_any_depth_and_what_is_none_goes_through() {
    let redactor = Redactor::for_run(&["s3cr3t"]);
    let deep = "[".repeat(100_000) + "\"s3cr3t\"" + &"]".repeat(100_000);
    assert_eq!(redactor.scrub_json(&deep), deep.replace("s3cr3t", MARKER));
    for text in ["", "\"", "\"s3cr3t", "\"s3cr3t\\", "\\", "{\"é", "s3cr3t", "\"\\u12", "\"\\ud83d\\u\""] {
        assert!(!redactor.scrub_json(text).contains("s3cr3t"), "{text}");
    }
    Redactor::for_run(&[deep]);
}

fn random_json(random: &mut fastrand::Rng, depth: usize) -> Value {
    let letters: Vec<char> = "ab\"\\\n\u{1}é🔑".chars().collect();
    match random.usize(0..if depth == 0 { 2 } else { 4 }) {
        0 => Value::from(word(random, &letters, 0..20)),
        1 => Value::from(random.u32(0..5)),
        2 => (0..random.usize(0..4)).map(|_| random_json(random, depth - 1)).collect(),
        _ => Value::Object(
            (0..random.usize(0..4)).map(|n| (format!("member {n}"), random_json(random, depth - 1))).collect(),
        ),
    }
}

fn scrub_value(value: &Value, secrets: &[String]) -> Value {
    match value {
        Value::String(text) => Value::from(by_the_book(text, secrets)),
        Value::Array(items) => items.iter().map(|item| scrub_value(item, secrets)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, item)| (name.clone(), scrub_value(item, secrets))).collect())
        }
        other => other.clone(),
    }
}

// Rule 5.2.
#[test]
fn strings_in_random_json_are_scrubbed_as_what_they_stand_for() {
    let seed = fastrand::u64(..);
    let mut random = random(seed);
    let letters: Vec<char> = "ab\"\\\n\u{1}é🔑".chars().collect();
    for _ in 0..2_000 {
        let secrets: Vec<String> = (0..3).map(|_| word(&mut random, &letters, 4..6)).collect();
        let value = random_json(&mut random, 4);
        let json = serde_json::to_string_pretty(&value).expect("JSON");
        let out = Redactor::plain(&secrets).scrub_json(&json).into_owned();
        let out: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("seed {seed}: {error} in {out}"));
        assert_eq!(out, scrub_value(&value, &secrets), "seed {seed}, {secrets:?}");
    }
}

// Rule 5.6.
#[test]
#[cfg(unix)]
fn an_environment_that_is_not_utf_8_is_read() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let name = OsStr::from_bytes(b"BAD\xff_TOKEN");
    let value = OsStr::from_bytes(b"p\xe4ss-w\xf6rd");
    let good = OsStr::new("good-value-1");
    let env = [(name, value), (OsStr::new("A_TOKEN"), good), (OsStr::new("Z"), OsStr::from_bytes(b"\xff\xfe"))];
    let secrets = collect_run_secrets_from(env);
    assert_eq!(secrets, ["good-value-1", "p\u{FFFD}ss-w\u{FFFD}rd"]);
    let printed = String::from_utf8_lossy(b"login p\xe4ss-w\xf6rd").into_owned();
    assert_eq!(redact(&printed, &secrets), "login [REDACTED]");
}

// Rules 5.3, 5.6.
#[test]
fn this_process_has_an_environment() {
    let expected = collect_run_secrets_from(std::env::vars_os());
    assert_eq!(collect_run_secrets(), expected);
}

// Rule 5.6.
#[test]
fn debug_shows_no_secret() {
    let redactor = Redactor::for_run(&["s3cr3t-value"]);
    assert_eq!(format!("{redactor:?}"), "Redactor { .. }");
}

// Rule 5.1.
#[test]
fn nothing_to_look_for_is_nothing_to_do() {
    let redactor = Redactor::for_run(&["", "abc", "   \n ", "REDACTED"]);
    assert!(redactor.is_empty());
    assert_eq!(redactor.scrub_str("abc REDACTED"), "abc REDACTED");
    assert_eq!(redactor.scrub_cut("abc REDA").text, "abc REDA");
}

// Rule 5.1.
#[test]
fn thousands_of_secrets_are_found_in_a_long_text() {
    let secrets: Vec<String> =
        (0..5_000).map(|n| format!("{:016x}", (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let filler = "443/tcp open https nginx 1.25 host-7.internal.example.com\n".repeat(20);
    let text: String = secrets.iter().step_by(50).flat_map(|secret| [filler.as_str(), secret.as_str()]).collect();
    let expected = (filler + MARKER).repeat(100);
    assert!(Redactor::for_run(&secrets).scrub_str(&text) == expected);
}
