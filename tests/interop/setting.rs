//! What a scenario runs in.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use verifi::{Outcome, Run, RunOptions, Slot, ToolResult};

use crate::process::Process;
use crate::relay::Relay;
use crate::servers::Case;
use crate::target::Target;

/// A server, a relay before it, and a run whose slot leads to the relay.
pub struct Setting {
    pub target: Target,
    pub process: Arc<Process>,
    pub relay: Relay,
    pub run: Run,
    pub slot: Slot,
}

impl Setting {
    /// With a server that other tests use, too.
    pub fn new(target: Target) -> Setting {
        Setting::with(target, RunOptions::default())
    }

    pub fn with(target: Target, options: RunOptions) -> Setting {
        Setting::at(Process::shared(target.server), target, options)
    }

    /// With a server that no other test uses, to be ended and started again.
    pub fn alone(target: Target) -> Setting {
        Setting::at(Arc::new(Process::start(target.server)), target, RunOptions::default())
    }

    fn at(process: Arc<Process>, target: Target, options: RunOptions) -> Setting {
        let relay = Relay::to(process.address());
        let manifest = json!({"runId": "interop", "slotFills": {"kali": target.fill(&relay.url())}});
        let options = RunOptions { timeout: Duration::from_secs(20), ..options };
        let run = Run::open(&manifest.to_string(), options).unwrap();
        let slot = run.mcp("kali").unwrap();
        Setting { target, process, relay, run, slot }
    }

    pub fn call(&self, case: &Case) -> ToolResult {
        self.slot.call(case.tool, &case.arguments)
    }

    pub fn assert_succeeds(&self, case: &Case) {
        let result = self.call(case);
        assert_eq!((result.outcome, result.text()), (Outcome::Ok, case.text.as_str()), "{:?}", result.error);
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{}\nsent: {:#?}", self.process.output(), self.relay.sent());
        }
    }
}
