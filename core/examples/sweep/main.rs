//! A sweep as a harness writes it, on two embedded MCP servers: `make demo`.
//!
//! The servers really run what they are asked to. In the middle the first one is killed, and the run goes on with the
//! second. Nothing here needs a network.

#[path = "../../src/bin/verifi/screen.rs"]
mod screen;
mod serve;
mod server;
mod steps;
mod timeline;
mod tools;
#[path = "../../src/bin/verifi/view.rs"]
mod view;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode};
use std::{env, fs, io, thread};

use serde_json::json;
use verifi::{Run, RunOptions, Slot};

use crate::screen::Screen;
use crate::server::Server;
use crate::steps::{AFTER, BEFORE, Step};

/// The secret of the demo. The name says that it is one, so the run finds it in its environment by itself.
const VARIABLE: &str = "SCANNER_TOKEN";
const SECRET: &str = "sct-9f27c41be05d83aa";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::var_os(VARIABLE).is_none_or(|value| value != SECRET) {
        let status = Command::new(env::current_exe()?).args(env::args().skip(1)).env(VARIABLE, SECRET).status()?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let workspace = Workspace::create()?;
    match env::args().nth(1).as_deref() {
        Some("serve") => serve::serve(&workspace.path)?,
        _ => sweep(&workspace.path, &Screen::new())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn sweep(workspace: &Path, screen: &Screen) -> Result<(), Box<dyn Error>> {
    let (primary, fallback) = (Server::start(workspace)?, Server::start(workspace)?);
    let manifest = json!({
        "runId": "sweep-1",
        "slotFills": {"kali": {"endpoint": primary.endpoint(), "fallback": fallback.endpoint()}},
    });
    let run = Run::open(&manifest.to_string(), RunOptions::default())?;
    let mut harness = Harness { kali: run.mcp("kali")?, run: &run, port: primary.port(), redactions: 0, leaks: 0 };

    screen.title(&format!("run {} on kali: {}, else {}", run.id(), primary.endpoint(), fallback.endpoint()));
    let events = run.subscribe();
    let failovers = thread::scope(|scope| {
        let shown = scope.spawn(|| timeline::show(events, screen));
        harness.take_all(&BEFORE);
        primary.kill();
        harness.take_all(&AFTER);
        run.close();
        shown.join()
    });
    let failovers = failovers.map_err(|_| "the timeline could not be shown")?;

    screen.line("");
    let adds_up = timeline::ledger(&run.ledger(), screen);
    screen.line("");
    screen.line(&format!("failovers announced: {failovers}"));
    screen.line(&format!("secrets replaced: {}, let through: {}", harness.redactions, harness.leaks));
    check(adds_up, "the ledger does not add up")?;
    check(failovers == 1, "the failover was not announced once")?;
    check(harness.redactions > 0 && harness.leaks == 0, "the secret was not scrubbed")
}

fn check(holds: bool, otherwise: &str) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The user's program, as verifi sees it.
struct Harness<'r> {
    run: &'r Run,
    kali: Slot,
    port: u16,
    redactions: u64,
    leaks: u64,
}

impl Harness<'_> {
    /// Takes one step after the other. The tools are independent: what one of them failed at says nothing of the next.
    fn take_all(&mut self, steps: &[Step]) {
        for step in steps {
            let (result, line) = steps::take(step, &self.kali, self.run.id(), self.port);
            self.redactions += result.redactions;
            self.leaks += u64::from(result.text().contains(SECRET));
            self.run.log(&line);
        }
    }
}

/// A folder for the tools to work in, for as long as the demo runs.
struct Workspace {
    path: PathBuf,
}

impl Workspace {
    fn create() -> io::Result<Workspace> {
        let path = env::temp_dir().join(format!("verifi-sweep-{}", process::id()));
        fs::create_dir(&path)?;
        let workspace = Workspace { path };
        fs::write(workspace.path.join("target.conf"), format!("token = {SECRET}\nhost = scanner.internal\n"))?;
        Ok(workspace)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What is left of it lies in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.path);
    }
}
