//! One step of a scenario: commands to the driver or to a server, and what must come of them.

use std::time::{Duration, Instant};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::driver::Reply;
use super::folder;
use super::run::{Running, Stop};
use super::scenario::Step;
use super::suite::Form;
use crate::json::compact;
use crate::matching::matches;

impl Running {
    /// Performs a step and checks what came of it.
    pub fn step(&mut self, step: &Step) -> Result<(), Stop> {
        let begin = Instant::now();
        let replies = self.replies(step)?;
        let took = begin.elapsed();
        let mut seen = Vec::new();
        for reply in &replies {
            seen.push(reply.check(step)?);
        }
        if let Some(expected) = &step.results {
            let results = seen.iter().map(|reply| reply["ok"].clone()).collect();
            matches(expected, Some(&Value::Array(results)))?;
        }
        self.steps.push(Value::Array(seen));
        step.check_time(took)?;
        Ok(())
    }

    fn replies(&mut self, step: &Step) -> Result<Vec<Reply>, Stop> {
        if let Some(server) = &step.server {
            return Ok(vec![self.command_server(server, step)?]);
        }
        if let Some(what) = &step.process {
            self.driver.control(what)?;
            return Ok(Vec::new());
        }
        if let Some(path) = &step.file {
            return Ok(vec![Reply::of(&folder::change(path, step.verb.as_ref())?)]);
        }
        if let Some(options) = &step.open {
            return Ok(vec![self.open(&compact(options.get()))?]);
        }
        if let Some(tool) = &step.call {
            return self.calls(tool, step);
        }
        if let Some(name) = &step.wait {
            return ids(name, step.parallel).iter().map(|id| self.wait(id)).collect();
        }
        if let Some(redact) = &step.redact {
            return self.one(&["redact", &redact.text, &compact(redact.secrets.get())]);
        }
        let collected = step.collect.as_ref().map(|env| compact(env.get()));
        let form = self.form.name();
        let wait = self.left_ms();
        let text = |field: &Option<String>| field.clone();
        let verbs: [(&str, Option<String>, Option<&str>); 14] = [
            ("cancel", text(&step.cancel), None),
            ("slot", text(&step.mcp), None),
            ("list", text(&step.list), Some(form)),
            ("definitions", text(&step.definitions), Some(form)),
            ("health", text(&step.health), None),
            ("await_event", text(&step.await_event), Some(&wait)),
            ("log", text(&step.log), None),
            ("collect", collected, None),
            ("ledger", step.ledger.map(|_| String::new()), None),
            ("events", step.events.map(|_| String::new()), None),
            ("close", step.close.map(|_| String::new()), None),
            ("version", step.version.map(|_| String::new()), None),
            ("verify", text(&step.verify), None),
            ("read", text(&step.read), None),
        ];
        let (verb, field, more) = verbs.iter().find(|(_, field, _)| field.is_some()).ok_or("no verb".to_owned())?;
        let mut fields = vec![*verb];
        fields.extend(field.as_deref());
        fields.extend(*more);
        (0..step.times.unwrap_or(1)).map(|_| self.ask(&fields)).collect()
    }

    fn one(&mut self, fields: &[&str]) -> Result<Vec<Reply>, Stop> {
        Ok(vec![self.ask(fields)?])
    }

    fn calls(&mut self, tool: &str, step: &Step) -> Result<Vec<Reply>, Stop> {
        if let Some(name) = &step.start {
            for id in ids(name, step.parallel) {
                self.start(&id, tool, step)?;
            }
            return Ok(Vec::new());
        }
        if let Some(count) = step.parallel {
            let ids = ids("parallel", Some(count));
            ids.iter().try_for_each(|id| self.start(id, tool, step))?;
            return ids.iter().map(|id| self.wait(id)).collect();
        }
        (0..step.times.unwrap_or(1)).map(|_| self.call(tool, step)).collect()
    }

    /// A call, in the form that the suite runs in.
    fn call(&mut self, tool: &str, step: &Step) -> Result<Reply, Stop> {
        if self.form == Form::Awaited {
            self.start("call", tool, step)?;
            return self.wait("call");
        }
        let mut fields = vec!["call".to_owned()];
        fields.extend(step.call_fields(tool));
        self.ask(&fields.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn start(&mut self, id: &str, tool: &str, step: &Step) -> Result<(), Stop> {
        let mut fields = vec!["start".to_owned(), id.to_owned()];
        fields.extend(step.call_fields(tool));
        fields.push(self.form.name().to_owned());
        self.ask(&fields.iter().map(String::as_str).collect::<Vec<_>>()).map(drop)
    }

    fn wait(&mut self, id: &str) -> Result<Reply, Stop> {
        let wait = self.left_ms();
        let reply = self.ask(&["wait", id, &wait])?;
        match reply.ok.as_ref().is_some_and(|ok| ok.get() == "null") {
            true => Err(format!("{id} was not done in time").into()),
            false => Ok(reply),
        }
    }

    /// What is left of the scenario's time, in milliseconds, less what is needed to say that it is over.
    fn left_ms(&self) -> String {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.saturating_sub(Duration::from_millis(500)).as_millis().to_string()
    }

    fn command_server(&self, name: &str, step: &Step) -> Result<Reply, Stop> {
        let mut command = serde_json::Map::new();
        command.extend(step.verb.clone().map(|verb| ("do".to_owned(), verb)));
        command.extend(step.release.clone().map(|gate| ("release".to_owned(), gate.into())));
        let mut text = Value::Object(command).to_string();
        for (key, raw) in [("await", &step.condition), ("script", &step.script)] {
            if let Some(raw) = raw {
                let comma = if text == "{}" { "" } else { "," };
                text = format!("{}{comma}\"{key}\":{}}}", &text[..text.len() - 1], raw.get());
            }
        }
        let value = crate::command(self.places.server(name)?, &text)?;
        Ok(Reply::of(&value))
    }
}

/// The names of calls that are started together.
fn ids(name: &str, count: Option<usize>) -> Vec<String> {
    count.map_or(vec![name.to_owned()], |count| (1..=count).map(|n| format!("{name}.{n}")).collect())
}

impl Step {
    /// SLOT TOOL ARGS TIMEOUT_MS PROGRESS.
    fn call_fields(&self, tool: &str) -> [String; 5] {
        let args = self.args.as_ref().map(|args| compact(args.get()));
        [
            self.slot.clone().unwrap_or("kali".to_owned()),
            tool.to_owned(),
            self.args_text.clone().or(args).unwrap_or("{}".to_owned()),
            self.timeout_ms.map(|ms| ms.to_string()).unwrap_or_default(),
            if self.progress.is_some() { "progress".to_owned() } else { String::new() },
        ]
    }

    /// Whether the order of events is not the scenario's alone to say.
    pub fn is_concurrent(&self) -> bool {
        self.start.is_some() || self.parallel.is_some()
    }

    /// What a report calls the step.
    pub fn title(&self) -> String {
        let verbs = [
            ("call", &self.call),
            ("wait", &self.wait),
            ("cancel", &self.cancel),
            ("mcp", &self.mcp),
            ("list", &self.list),
            ("definitions", &self.definitions),
            ("health", &self.health),
            ("awaitEvent", &self.await_event),
            ("verify", &self.verify),
            ("read", &self.read),
            ("file", &self.file),
            ("process", &self.process),
            ("server", &self.server),
        ];
        let named = verbs.iter().find_map(|(verb, field)| field.as_ref().map(|field| format!("{verb} {field}")));
        named.unwrap_or_else(|| "other".to_owned())
    }

    fn check_time(&self, took: Duration) -> Result<(), String> {
        let took = took.as_secs_f64() * 1e3;
        if let Some(limit) = self.within_ms.filter(|&limit| took > limit as f64) {
            return Err(format!("took {took:.0} ms, expected at most {limit}"));
        }
        if let Some(limit) = self.at_least_ms.filter(|&limit| took < limit as f64) {
            return Err(format!("took {took:.0} ms, expected at least {limit}"));
        }
        Ok(())
    }
}

impl Reply {
    fn of(value: &Value) -> Reply {
        Reply { ok: to_raw_value(value).ok(), error: None, progress: None, unsupported: false }
    }

    /// Checks one reply against the step, and gives it as JSON.
    fn check(&self, step: &Step) -> Result<Value, String> {
        let ok: Option<Value> = self.ok.as_deref().map(read).transpose()?;
        match (&step.error, &self.error) {
            (None, Some(error)) => return Err(format!("error: {error}")),
            (Some(expected), error) => {
                matches(expected, error.as_ref()).map_err(|what| format!("error: {what}; it gave {ok:?}"))?;
            }
            (None, None) => {}
        }
        if let Some(expected) = &step.expect {
            matches(expected, ok.as_ref()).map_err(|what| format!("{what}\n  in {}", self.head()))?;
        }
        if let Some(expected) = &step.progress {
            matches(expected, self.progress.as_ref()).map_err(|what| format!("progress: {what}"))?;
        }
        let text = self.ok.as_ref().map(|ok| ok.get()).unwrap_or_default();
        if let Some(missing) = step.verbatim.iter().find(|part| !text.contains(part.as_str())) {
            return Err(format!("{missing} is not in {}", self.head()));
        }
        let mut seen = json!({});
        let parts = [("ok", ok), ("error", self.error.clone()), ("progress", self.progress.clone())];
        for (name, value) in parts {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                seen[name] = value;
            }
        }
        Ok(seen)
    }

    fn head(&self) -> String {
        self.ok.as_ref().map(|ok| ok.get().chars().take(1000).collect()).unwrap_or_default()
    }
}

/// The value; nesting that is too deep to be read as one is left as text.
fn read(raw: &RawValue) -> Result<Value, String> {
    serde_json::from_str(raw.get()).or_else(|_| {
        let members: std::collections::BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
        let read = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().into());
        Ok(Value::Object(members.iter().map(|(name, raw)| (name.clone(), read(raw))).collect()))
    })
}
