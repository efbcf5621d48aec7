//! One scenario, from starting its servers to the last expectation.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::driver::{Driver, Reply};
use super::place::Places;
use super::scenario::{Scenario, Script, Step};
use super::seen;
use super::suite::Form;
use crate::matching::matches;

/// What came of a scenario.
pub enum Outcome {
    /// Everything was as expected; what was seen, the same in every run.
    Passed(Value),
    /// What was not as expected.
    Failed(String),
    /// The face cannot express it: the command.
    Skipped(String),
}

/// Why a scenario ends before its end.
pub enum Stop {
    Failed(String),
    Skipped(String),
}

impl From<String> for Stop {
    fn from(what: String) -> Stop {
        Stop::Failed(what)
    }
}

/// A scenario that is running.
pub struct Running {
    pub driver: Driver,
    pub places: Places,
    /// Of the run, as text.
    pub manifest: String,
    pub form: Form,
    pub deadline: Instant,
    /// What every step gave.
    pub steps: Vec<Value>,
}

/// Runs a scenario. A driver that it may share is taken from `shared` and left there.
pub fn run(scenario: &Scenario, command: &[String], form: Form, shared: &mut Option<Driver>) -> Outcome {
    match prepare(scenario, command, form, shared)
        .and_then(|(running, script)| perform(scenario, running, script, shared))
    {
        Ok(seen) => Outcome::Passed(seen),
        Err(Stop::Failed(what)) => Outcome::Failed(what),
        Err(Stop::Skipped(command)) => Outcome::Skipped(command),
    }
}

fn prepare(
    scenario: &Scenario,
    command: &[String],
    form: Form,
    shared: &mut Option<Driver>,
) -> Result<(Running, Script), Stop> {
    let deadline = Instant::now() + Duration::from_millis(scenario.plan.limit_ms);
    let places = Places::start(&scenario.plan.servers)?;
    let text = places.fill(&scenario.text);
    let script: Script = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let driver = match shared.take().filter(|_| scenario.plan.shares_driver) {
        Some(driver) => driver,
        None => Driver::start(command, &script.env)?,
    };
    let manifest = script.manifest.as_ref().map(|manifest| crate::json::compact(manifest.get()));
    let manifest = script.manifest_text.clone().or(manifest).unwrap_or_else(|| places.usual_manifest());
    Ok((Running { driver, places, manifest, form, deadline, steps: Vec::new() }, script))
}

fn perform(
    scenario: &Scenario,
    mut running: Running,
    script: Script,
    shared: &mut Option<Driver>,
) -> Result<Value, Stop> {
    let done = running.all(&script);
    let faults = running.places.faults();
    if let Err(Stop::Failed(what)) = done {
        let stderr = running.driver.kill();
        let said = if stderr.is_empty() { String::new() } else { format!("\nthe driver said: {stderr}") };
        return Err(Stop::Failed(format!(
            "{what}{}{said}",
            faults.iter().map(|it| format!("\n{it}")).collect::<String>()
        )));
    }
    let seen = done?;
    if let Some(fault) = faults.first() {
        return Err(Stop::Failed(fault.clone()));
    }
    match scenario.plan.shares_driver {
        true => *shared = Some(running.driver),
        false => running.driver.end()?,
    }
    Ok(seen)
}

impl Running {
    fn all(&mut self, script: &Script) -> Result<Value, Stop> {
        if !self.begin(script)? {
            return Ok(json!({"steps": self.steps}));
        }
        for (index, step) in script.steps.iter().enumerate() {
            self.step(step).map_err(|stop| match stop {
                Stop::Failed(what) => Stop::Failed(format!("step {}, {}: {what}", index + 1, step.title())),
                skipped => skipped,
            })?;
        }
        self.ask(&["close"])?;
        let events = self.value(&["events"])?;
        let ledger = self.value(&["ledger"])?;
        seen::check(script, self, &events, &ledger)?;
        let concurrent = script.steps.iter().any(Step::is_concurrent);
        Ok(seen::normal(&json!({"steps": self.steps, "events": events, "ledger": ledger}), &self.places, concurrent))
    }

    /// Opens the run for the first time; false if that must fail, and has.
    fn begin(&mut self, script: &Script) -> Result<bool, Stop> {
        let options = script.options.as_ref().map(|options| crate::json::compact(options.get())).unwrap_or_default();
        let reply = self.open(&options)?;
        match (&script.open_error, reply.error) {
            (None, None) => Ok(true),
            (None, Some(error)) => Err(format!("open: {error}").into()),
            (Some(expected), error) => {
                matches(expected, error.as_ref()).map_err(|what| format!("openError: {what}"))?;
                self.steps.push(json!([{"error": error}]));
                Ok(false)
            }
        }
    }

    /// Opens the run, in place of the one that is open.
    pub fn open(&mut self, options: &str) -> Result<Reply, Stop> {
        let manifest = self.manifest.clone();
        self.ask(&["open", &manifest, options])
    }

    /// Sends a command; what the face cannot express ends the scenario.
    pub fn ask(&mut self, fields: &[&str]) -> Result<Reply, Stop> {
        let reply = self.driver.ask(fields, self.deadline)?;
        if reply.unsupported { Err(Stop::Skipped(fields[0].to_owned())) } else { Ok(reply) }
    }

    /// Sends a command that cannot fail.
    fn value(&mut self, fields: &[&str]) -> Result<Value, Stop> {
        let reply = self.ask(fields)?;
        let text = reply.ok.ok_or_else(|| format!("{}: {:?}", fields[0], reply.error))?;
        serde_json::from_str(text.get()).map_err(|e| format!("{}: {e}", fields[0]).into())
    }
}
