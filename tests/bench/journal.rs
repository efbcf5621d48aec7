//! What a journal costs: `cargo bench -p verifi-tests --bench journal`. The status is 1 when it costs more than it may.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use verifi::{JournalSync, Run, RunOptions, Slot, verify_journal};
use verifi_tests::Server;

const CALLS: usize = 20_000;
const CALLS_WITH_FLUSH: usize = 200;
const EVENTS: u64 = 1_000_000;

/// About the size that the events of a call have.
const LINE: &str = "nmap -sV example.com: 22/tcp open ssh, 80/tcp open http, 443/tcp open https (and 14 more lines)";

const MOST_PER_CALL: Duration = Duration::from_micros(8);
const MOST_PER_MILLION: Duration = Duration::from_secs(3);
const MOST_KILOBYTES: u64 = 20 << 10;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    if let [_, command, path] = &arguments[..]
        && command == "verify"
    {
        return verify(path.as_ref());
    }
    let folder = env::temp_dir().join(format!("verifi-bench-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let (calls, million) = (cost_of_calls(&folder), cost_of_verifying(&folder));
    fs::remove_dir_all(&folder)?;
    Ok(if calls? && million? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Subject {
    name: &'static str,
    _run: Run,
    slot: Slot,
    times: Vec<Duration>,
}

impl Subject {
    fn new(name: &'static str, options: RunOptions, server: &Server) -> Result<Subject, verifi::Error> {
        let manifest = json!({"runId": name, "slotFills": {"kali": server.url()}}).to_string();
        let run = Run::open(&manifest, options)?;
        let slot = run.mcp("kali")?;
        Ok(Subject { name, _run: run, slot, times: Vec::new() })
    }

    fn call(&mut self) {
        let started = Instant::now();
        let result = self.slot.call("run_command", json!({"command": "nmap -sV example.com"}));
        self.times.push(started.elapsed());
        assert!(result.ok, "{result:?}");
    }

    fn median(&mut self) -> Duration {
        self.times.sort();
        self.times[self.times.len() / 2]
    }
}

/// The same call with and without a journal, in turns, so that all see the same machine.
fn cost_of_calls(folder: &Path) -> Result<bool, Box<dyn Error>> {
    let server = Server::from_json(r#"{"prebuilt": {"bytes": 200}}"#)?;
    let mut subjects = vec![Subject::new("off", RunOptions::default(), &server)?];
    for sync in JournalSync::ALL {
        let journal = Some(folder.join(sync.as_str()));
        let options = RunOptions { journal, sync: *sync, ..RunOptions::default() };
        subjects.push(Subject::new(sync.as_str(), options, &server)?);
    }
    let count = subjects.len();
    for round in 0..CALLS {
        // Each of them is as often the first as any other.
        for place in 0..count {
            let subject = &mut subjects[(round + place) % count];
            if subject.name != "always" || round < CALLS_WITH_FLUSH {
                subject.call();
            }
        }
    }
    let off = subjects[0].median();
    println!("a sequential call, median: {off:?} without a journal");
    let mut holds = true;
    for subject in &mut subjects[1..] {
        let more = subject.median().saturating_sub(off);
        println!("  sync {:<7} {more:?} more", subject.name);
        holds &= more <= MOST_PER_CALL || subject.name == "always";
    }
    Ok(holds)
}

/// A million events, checked by a process that does nothing else.
fn cost_of_verifying(folder: &Path) -> Result<bool, Box<dyn Error>> {
    let path: PathBuf = folder.join("million");
    let manifest = json!({"runId": "million", "endpoints": {"kali": "http://127.0.0.1:1"}}).to_string();
    let run = Run::open(&manifest, RunOptions { journal: Some(path.clone()), ..RunOptions::default() })?;
    let started = Instant::now();
    for _ in 0..EVENTS - 2 {
        run.log(LINE);
    }
    run.close();
    println!("{EVENTS} events written in {:?}, {} bytes", started.elapsed(), fs::metadata(&path)?.len());
    let output = Command::new(env::current_exe()?).arg("verify").arg(&path).output()?;
    let said: Value = serde_json::from_slice(&output.stdout)?;
    let (millis, kilobytes) =
        (said["millis"].as_u64().ok_or("no time")?, said["kilobytes"].as_u64().ok_or("no memory")?);
    println!("verified in {millis} ms, {kilobytes} kB at the most");
    Ok(Duration::from_millis(millis) < MOST_PER_MILLION && kilobytes <= MOST_KILOBYTES)
}

fn verify(path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let started = Instant::now();
    let verification = verify_journal(path)?;
    let millis = started.elapsed().as_millis();
    assert!(verification.ok && verification.events == EVENTS, "{verification:?}");
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    println!("{}", json!({"millis": millis, "kilobytes": peak.ok_or("no VmHWM")?.parse::<u64>()?}));
    Ok(ExitCode::SUCCESS)
}
