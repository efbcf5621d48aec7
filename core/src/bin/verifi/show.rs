//! `verifi show`: the timeline of a journal.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use verifi::{Event, EventKind, read_journal};

use crate::screen::{Colour, Screen};
use crate::{Failure, complain, view};

/// How long a follower waits before it looks again.
const PAUSE: Duration = Duration::from_millis(100);

pub fn run(journals: &[PathBuf], screen: &Screen) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for path in journals {
        if let Err(error) = show(path, screen) {
            screen.end()?;
            code = complain(&error);
        }
    }
    screen.end()?;
    Ok(code)
}

fn show(path: &Path, screen: &Screen) -> Result<(), verifi::Error> {
    let mut viewer = Viewer::new(screen);
    for event in read_journal(path)? {
        if !screen.is_open() {
            return Ok(());
        }
        viewer.show(&event?);
    }
    viewer.end();
    Ok(())
}

/// Shows a journal while it is written, until its run has finished.
pub fn follow(journals: &[PathBuf], screen: &Screen) -> Result<ExitCode, Failure> {
    let [path] = journals else { return Err(Failure::Usage("--follow takes one journal".into())) };
    let mut viewer = Viewer::new(screen);
    let mut journal = read_journal(path)?;
    let mut is_over = false;
    loop {
        match journal.try_next()? {
            Some(event) => {
                is_over = event.kind == EventKind::RunFinished;
                viewer.show(&event);
            }
            None if is_over => break,
            None => thread::sleep(PAUSE),
        }
        if !screen.is_open() {
            break;
        }
    }
    screen.end()?;
    Ok(ExitCode::SUCCESS)
}

struct Viewer<'s> {
    screen: &'s Screen,
    last_seq: u64,
    /// The calls that have not ended.
    under_way: BTreeMap<u64, Event>,
    /// How many attempts of calls have failed, per slot and tool, whose `tool_error` has not come yet.
    failed: HashMap<Place, u64>,
}

type Place = (Option<Arc<str>>, Option<Arc<str>>);

impl<'s> Viewer<'s> {
    fn new(screen: &'s Screen) -> Viewer<'s> {
        Viewer { screen, last_seq: 0, under_way: BTreeMap::new(), failed: HashMap::new() }
    }

    fn show(&mut self, event: &Event) {
        if event.seq > self.last_seq + 1 {
            let missing = event.seq - self.last_seq - 1;
            self.screen.announce(&format!("{missing} events are missing here: the journal could not be written"));
        }
        let is_first = self.last_seq == 0;
        self.last_seq = event.seq;
        let error = event.error.as_deref().unwrap_or_default();
        match event.kind {
            EventKind::RunStarted if is_first => self.screen.title(&format!("run {}, {}", event.run_id, event.ts)),
            EventKind::RunStarted => self.screen.title(&format!("run {}, opened again {}", event.run_id, event.ts)),
            EventKind::CallStarted => drop(event.call_id.map(|id| self.under_way.insert(id, event.clone()))),
            EventKind::CallFinished => self.call(event),
            EventKind::ToolError => self.tool_error(event),
            EventKind::FallbackUsed => view::failover(event, self.screen),
            EventKind::NoHealthyTool => self.screen.announce("no server is left"),
            EventKind::PrimaryRestored => {
                let slot = event.slot.as_deref().unwrap_or_default();
                self.screen.announce(&format!("{slot} is back on its primary server"));
            }
            EventKind::JournalFailed => {
                self.screen.announce(&format!("the journal could not be written: {error}"));
            }
            EventKind::Log => self.note(Colour::Plain, event.message.as_deref().unwrap_or_default()),
            EventKind::RunFinished => self.note(Colour::Grey, "the run has finished"),
            // What a later version of verifi may know is not for this one to show.
            _ => (),
        }
    }

    fn call(&mut self, event: &Event) {
        if let Some(id) = event.call_id {
            self.under_way.remove(&id);
        }
        view::call(event, self.screen);
        if let Some(error) = &event.error {
            *self.failed.entry((event.slot.clone(), event.tool.clone())).or_default() += 1;
            self.note(Colour::Red, error);
        }
    }

    /// Of a call that failed its attempts have told already. One that was not sent has none.
    fn tool_error(&mut self, event: &Event) {
        if self.failed.remove(&(event.slot.clone(), event.tool.clone())).is_none() {
            view::call(event, self.screen);
            self.note(Colour::Red, event.error.as_deref().unwrap_or_default());
        }
    }

    /// What has not ended by the end of the file.
    fn end(&self) {
        for event in self.under_way.values() {
            let (slot, tool) = (event.slot.as_deref().unwrap_or_default(), event.tool.as_deref().unwrap_or_default());
            self.screen.announce(&format!("{slot} {tool} has begun at {} and not ended", event.ts));
        }
    }

    fn note(&self, colour: Colour, text: &str) {
        for line in text.lines() {
            self.screen.note(colour, line);
        }
    }
}
