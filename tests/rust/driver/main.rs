//! The Rust face as the scenarios see it: commands by line, answers by line. `tests/README.md` has the commands.

mod calls;
mod executor;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use calls::{Calls, Request};
use executor::{Executor, Form};
use serde::Serialize;
use serde_json::{Value, json};
use verifi::{Error, Next, Run, RunOptions, Slot, Subscription, read_journal, verify_journal};

/// What comes of a command, or what is wrong.
type Answer = Result<Reply, Error>;

/// What a command gives, as JSON text.
struct Reply {
    ok: String,
    /// What a call has reported while it ran.
    progress: Option<String>,
}

impl Reply {
    fn of(value: &impl Serialize) -> Reply {
        Reply { ok: text(value), progress: None }
    }

    fn done() -> Answer {
        Ok(Reply::of(&true))
    }

    fn line(self) -> String {
        let progress = self.progress.map(|progress| format!(r#","progress":{progress}"#)).unwrap_or_default();
        format!(r#"{{"ok":{}{progress}}}"#, self.ok)
    }
}

#[derive(Default)]
struct Driver {
    run: Option<Run>,
    events: Option<Subscription>,
    calls: Calls,
    executor: Executor,
}

impl Driver {
    /// Does what the fields say; `None` if there is no such command.
    fn answer(&mut self, fields: &[String]) -> Option<Answer> {
        let field = |index: usize| fields.get(index).map(String::as_str).unwrap_or_default();
        let ms = |index: usize| Duration::from_millis(field(index).parse().unwrap_or(0));
        Some(match field(0) {
            "open" => self.open(field(1), field(2)),
            "version" => Ok(Reply::of(&json!({"sdk": verifi::SDK_VERSION, "version": verifi::VERSION}))),
            "redact" => Ok(Reply::of(&verifi::redact(field(1), &list(field(2))))),
            "collect" => Ok(Reply::of(&verifi::collect_run_secrets_from(env(field(1))))),
            "slot" => {
                self.slot(field(1)).map(|slot| Reply::of(&json!({"name": slot.name(), "endpoint": slot.endpoint()})))
            }
            "health" => self.slot(field(1)).map(|slot| Reply::of(&slot.health())),
            "call" => self.slot(field(1)).map(|slot| self.calls.call(&slot, &Request::from_fields(&fields[2..]))),
            "start" => self.start(fields),
            "wait" => Ok(self.calls.wait(field(1), ms(2))),
            "cancel" => self.calls.cancel(field(1)),
            "list" => self.slot(field(1)).and_then(|slot| self.list(&slot, Form::from_name(field(2)))),
            "definitions" => self.slot(field(1)).and_then(|slot| self.definitions(&slot, Form::from_name(field(2)))),
            "verify" => verify_journal(field(1)).map(|verification| Reply::of(&verification)),
            "read" => {
                read_journal(field(1)).and_then(Iterator::collect::<Result<Vec<_>, _>>).map(|all| Reply::of(&all))
            }
            "ledger" => Ok(Reply::of(&self.run().ledger())),
            "events" => Ok(Reply::of(&self.run().events())),
            "await_event" => Ok(Reply::of(&self.await_event(field(1), ms(2)))),
            "log" => {
                self.run().log(field(1));
                Reply::done()
            }
            "close" => {
                self.run().close();
                Reply::done()
            }
            _ => return None,
        })
    }

    fn run(&self) -> &Run {
        self.run.as_ref().expect("`open` comes first")
    }

    fn slot(&self, name: &str) -> Result<Slot, Error> {
        self.run().mcp(name)
    }

    fn start(&mut self, fields: &[String]) -> Answer {
        let slot = self.slot(&fields[2])?;
        let request = Request::from_fields(&fields[3..]);
        self.calls.start(&fields[1], slot, request, Form::from_name(&fields[7]), &self.executor);
        Reply::done()
    }

    fn open(&mut self, manifest: &str, options: &str) -> Answer {
        let run = Run::open(manifest, RunOptions::from_json(options)?)?;
        self.events = Some(run.subscribe());
        self.run = Some(run);
        Reply::done()
    }

    fn list(&self, slot: &Slot, form: Form) -> Answer {
        let names = match form {
            Form::Blocking => slot.list_tools(),
            Form::Awaited => self.executor.block_on(slot.list_tools_async()),
        };
        names.map(|names| Reply::of(&names))
    }

    fn definitions(&self, slot: &Slot, form: Form) -> Answer {
        let definitions = match form {
            Form::Blocking => slot.tool_definitions(),
            Form::Awaited => self.executor.block_on(slot.tool_definitions_async()),
        };
        let json = definitions?.into_iter().map(|definition| definition.json).collect::<Vec<_>>();
        Ok(Reply { ok: format!("[{}]", json.join(",")), progress: None })
    }

    /// The next event of a kind that the subscription brings.
    fn await_event(&self, kind: &str, limit: Duration) -> Value {
        let end = Instant::now() + limit;
        while let Some(events) = &self.events {
            match events.next_timeout(end.saturating_duration_since(Instant::now())) {
                Next::Event(event) => {
                    let event = serde_json::to_value(&*event).unwrap_or_default();
                    if event["kind"] == kind {
                        return event;
                    }
                }
                Next::NotYet | Next::Ended => break,
            }
        }
        Value::Null
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| panic!("not JSON: {error}"))
}

fn list(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

fn env(json: &str) -> BTreeMap<String, String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// The field as it was before it was made fit for a line.
fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('0') => '\0',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    out
}

fn main() -> io::Result<()> {
    let mut driver = Driver::default();
    for line in io::stdin().lock().lines() {
        let fields: Vec<String> = line?.split('\t').map(unescape).collect();
        let reply = match driver.answer(&fields) {
            None => r#"{"unsupported":true}"#.to_owned(),
            Some(Err(error)) => {
                json!({"error": {"kind": error.kind().as_str(), "message": error.message()}}).to_string()
            }
            Some(Ok(reply)) => reply.line(),
        };
        writeln!(io::stdout(), "{reply}")?;
    }
    Ok(())
}
