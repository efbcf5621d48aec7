//! What redaction costs: `cargo bench -p verifi --bench redact`.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use verifi::{Redactor, redact};

const MEGABYTE: usize = 1_000_000;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn letters(&mut self, length: usize, alphabet: &[u8]) -> String {
        (0..length).map(|_| alphabet[self.below(alphabet.len())] as char).collect()
    }
}

const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Secrets as environments hold them: tokens, passwords with punctuation, and a few phrases.
fn secrets(count: usize) -> Vec<String> {
    let mut numbers = Numbers(7);
    let mut secret = |at: usize| match at % 4 {
        0 => format!("ghp_{}", numbers.letters(36, ALPHANUMERIC)),
        1 => numbers.letters(40, BASE64),
        2 => format!("{}@{}!", numbers.letters(6, ALPHANUMERIC), numbers.letters(6, ALPHANUMERIC)),
        _ => format!("service-password-{}", numbers.letters(8, b"0123456789")),
    };
    (0..count).map(&mut secret).collect()
}

/// What scanners print: port tables, log lines, headers.
fn scan_output(length: usize) -> String {
    let mut numbers = Numbers(11);
    let mut out = String::with_capacity(length + 200);
    while out.len() < length {
        let (a, b, c) = (numbers.below(256), numbers.below(256), numbers.below(65_536));
        let service = ["http", "ssh", "postgresql", "ms-wbt-server", "imap"][numbers.below(5)];
        let line = match numbers.below(4) {
            0 => writeln!(out, "{c}/tcp   open   {service:<14} syn-ack ttl 64 nginx 1.{a}.{b} (Ubuntu)"),
            1 => writeln!(out, "Nmap scan report for host-{a}.internal.example.com (10.0.{a}.{b})"),
            2 => {
                writeln!(out, "2026-12-02T01:02:03.{c:05}Z INFO request id={:08x} user=scan path=/api/v1/items", a * c)
            }
            _ => writeln!(out, "< Set-Cookie: session={:016x}; Path=/; HttpOnly; password policy ok", a * b * c),
        };
        line.expect("a string takes every line");
    }
    out
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, redactor: &Redactor, text: &str) {
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| black_box(redactor.scrub_str(black_box(text))).len()));
}

fn without_match(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("no match");
    let output = scan_output(20 * MEGABYTE);
    let base64 = Numbers(3).letters(20 * MEGABYTE, BASE64);
    for count in [20, 1_000, 5_000, 10_000] {
        let redactor = Redactor::for_run(&secrets(count));
        measure(&mut group, &format!("scan output, {count} secrets"), &redactor, &output);
        measure(&mut group, &format!("base64, {count} secrets"), &redactor, &base64);
    }
    let mut with_short = secrets(20);
    with_short.extend(["hunt".to_owned(), "s3cr3t".to_owned()]);
    measure(&mut group, "scan output, 20 secrets and 2 short", &Redactor::for_run(&with_short), &output);
    group.finish();
}

fn with_matches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matches");
    measure(&mut group, "one letter, all of it", &Redactor::plain(&["aaaaa"]), &"a".repeat(16 * MEGABYTE));
    measure(&mut group, "one letter, all forms", &Redactor::for_run(&["aaaaaaaaaaaaaaaa"]), &"a".repeat(16 * MEGABYTE));
    let secrets = secrets(20);
    let mut numbers = Numbers(5);
    let mut text = String::new();
    while text.len() < 16 * MEGABYTE {
        text.push_str("open port 443 key=");
        text.push_str(&secrets[numbers.below(20)]);
    }
    measure(&mut group, "every 40 bytes", &Redactor::for_run(&secrets), &text);
    group.finish();
}

fn json(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("JSON");
    let redactor = Redactor::for_run(&secrets(20));
    let text = serde_json::to_string(&scan_output(16 * MEGABYTE)).expect("a string is JSON");
    let rows: Vec<_> = scan_output(16 * MEGABYTE).lines().map(str::to_owned).collect();
    let rows = serde_json::to_string(&rows).expect("strings are JSON");
    for (name, json) in [("one string with escapes", &text), ("many strings", &rows)] {
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| redactor.scrub_json(black_box(json)).len()));
    }
    group.finish();
}

fn building(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    for count in [1, 20, 1_000, 10_000] {
        let secrets = secrets(count);
        group.bench_function(format!("{count} secrets"), |bencher| bencher.iter(|| Redactor::for_run(&secrets)));
    }
    let secrets = secrets(20);
    group.bench_function("redact(), 20 secrets, 70 bytes", |bencher| {
        bencher.iter(|| redact(black_box("Nmap scan report for host-1.internal.example.com (10.0.7.9)"), &secrets));
    });
    group.finish();
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! {
    name = benches;
    config = settings();
    targets = without_match, with_matches, json, building
}
criterion_main!(benches);
