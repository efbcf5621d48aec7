//! `verify`, `show` and `ledger`.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{Folder, VERIFI, journal, long_journal, said};

// Rule 4.5.
#[test]
fn verify_says_what_holds_and_names_the_first_bad_line() {
    let folder = Folder::new();
    let journal = journal();
    folder.write("good", &journal);
    folder.write("bad", &journal.replacen("nikto", "nitko", 1));
    folder.write("torn", &journal[..journal.len() - 9]);
    assert_eq!(folder.verifi("verify good"), (0, "good: 11 events hold\n".into(), String::new()));
    let bad = "bad: line 4: its hash does not fit its text (3 events hold)\n";
    assert_eq!(folder.verifi("verify bad"), (1, bad.into(), String::new()));
    let torn = "torn: line 11: it was not written to its end (10 events hold)\n";
    let (status, output, error) = folder.verifi("verify good bad none torn");
    assert_eq!((status, output), (1, format!("good: 11 events hold\n{bad}{torn}")));
    assert_eq!(error, "verifi: none: No such file or directory (os error 2)\n");
    assert_eq!(folder.verifi("verify").0, 2);
}

const SHOWN: &str = "\
run r1, 2026-12-02T01:02:03.004Z
────────────────────────────────────────────────────────────────────────────────
01:02:03.004  kali     primary   nmap         ok             12.5 ms     1500 B
01:02:03.004  kali     primary   nikto        unreachable     2.2 ms        0 B
              http://k/mcp: connection refused
! kali has lost its primary server and goes on with http://f/mcp (http://k/mcp: connection refused)
01:02:03.004  kali     fallback  nikto        ok            100.0 ms       20 B
              the harness's own
              line
01:02:03.004  kali               nuclei       rejected        0.1 ms        0 B
              no object
              the run has finished
";

// Rules 4.3, 4.4.
#[test]
fn show_shows_the_timeline() {
    let folder = Folder::new();
    folder.write("run", &journal());
    assert_eq!(folder.verifi("show run"), (0, SHOWN.into(), String::new()));
    assert_eq!(folder.verifi("show run run"), (0, format!("{SHOWN}{SHOWN}"), String::new()));
    let unfinished: String = journal().split_inclusive('\n').take(4).collect();
    folder.write("run", &format!("{unfinished}{{\"seq\":"));
    let (status, output, error) = folder.verifi("show run");
    assert_eq!((status, output.lines().count()), (1, 3));
    assert_eq!(error, "verifi: run: line 5: it was not written to its end\n");
    folder.write("run", &unfinished);
    let (_, output, _) = folder.verifi("show run");
    assert!(output.ends_with("! kali nikto has begun at 2026-12-02T01:02:03.004Z and not ended\n"), "{output}");
}

// Rule 4.3.
#[test]
fn show_fits_a_narrow_terminal_and_is_coloured_on_one_that_wants_it() {
    let folder = Folder::new();
    folder.write("run", &journal());
    for columns in [40, 60, 79, 80] {
        let mut command = folder.command(VERIFI);
        let (_, output, _) = said(command.args(["show", "run"]).env("COLUMNS", columns.to_string()).output().unwrap());
        let widest = output.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= columns, "{columns}: {widest:?}");
        assert!(output.contains("unreachable") && output.contains("nikto"), "{output}");
    }
    let on_terminal = |before: &str| {
        let mut script = folder.command("script");
        script.args(["-qec", &format!("{before} {VERIFI} show run"), "/dev/null"]);
        said(script.env("TERM", "xterm").output().unwrap()).1
    };
    assert!(on_terminal("env").contains("\x1b[32mok"));
    let plain = on_terminal("env NO_COLOR=1");
    assert!(plain.contains("unreachable") && !plain.contains('\x1b'), "{plain}");
}

// Rule 4.3.
#[test]
fn a_reader_that_has_enough_is_no_error() {
    let folder = Folder::new();
    folder.write("run", &long_journal(3000, &["kali"]));
    for command in ["show run", "ledger run --json", "report run -o -"] {
        let line = format!("{VERIFI} {command} | head -c 10 >/dev/null; exit ${{PIPESTATUS[0]}}");
        let (status, _, error) = said(folder.command("bash").args(["-c", &line]).output().unwrap());
        assert_eq!((status, error), (0, String::new()), "{command}");
    }
}

// Rule 4.4.
#[test]
fn show_follows_a_run_to_its_end() {
    let folder = Folder::new();
    let journal = journal();
    let (first, rest) = journal.split_at(journal.len() / 2);
    folder.write("run", first);
    let mut command = folder.command(VERIFI);
    let mut child = command.args(["show", "--follow", "run"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let shown: Vec<String> = lines.by_ref().take(3).collect();
    assert_eq!(shown, SHOWN.lines().take(3).collect::<Vec<_>>());
    OpenOptions::new().append(true).open(folder.0.join("run")).unwrap().write_all(rest.as_bytes()).unwrap();
    assert_eq!(lines.collect::<Vec<_>>(), SHOWN.lines().skip(3).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.verifi("show -f run run").2, "verifi: --follow takes one journal\n");
}

// Rules 4.1, 4.2, 4.4.
#[test]
fn ledger_adds_up_each_journal_and_all_of_them() {
    let folder = Folder::new();
    folder.write("run", &journal());
    let table = "\
slot   tool   calls  failed  evidence   latency
───────────────────────────────────────────────
kali   nikto      2       1      20 B  102.2 ms
kali   nmap       1       0    1500 B   12.5 ms
───────────────────────────────────────────────
total             3       1    1520 B  114.8 ms
";
    assert_eq!(folder.verifi("ledger run"), (0, table.into(), String::new()));
    let (_, both, _) = folder.verifi("ledger run run");
    let sum = "2 journals: 6 calls, 2 failed, 3040 B, 229.5 ms\n";
    assert_eq!(both, format!("run: run r1\n{table}\nrun: run r1\n{table}\n{sum}"));
    let (_, output, _) = folder.verifi("ledger --json run run");
    let output: Value = serde_json::from_str(&output).unwrap();
    let total = json!({"toolCalls": 6, "failures": 2, "evidenceBytes": 3040, "latencyMs": 229.5});
    assert_eq!(output["total"], total);
    let run = &output["runs"][1];
    assert_eq!((&run["file"], &run["runId"], &run["toolCalls"]), (&json!("run"), &json!("r1"), &json!(3)));
    assert_eq!(run["slots"]["kali"]["tools"]["nmap"]["evidenceBytes"], 1500);
}

// Rules 4.4, 4.5.
#[test]
fn ledger_counts_what_holds_and_says_what_does_not() {
    let folder = Folder::new();
    folder.write("run", &journal().replacen("\"evidenceBytes\":20", "\"evidenceBytes\":99", 1));
    let (status, output, error) = folder.verifi("ledger --json run");
    assert_eq!((status, &*error), (1, "verifi: run: line 8: its hash does not fit its text\n"));
    assert_eq!(serde_json::from_str::<Value>(&output).unwrap()["total"]["toolCalls"], 2);
}
