//! Journals, read without a run. What reads a file is on a thread of its own: the file may be long, or far away.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use napi::Env;
use napi_derive::napi;
use verifi::{CancelToken, Error, Event, JournalReader, read_journal, verify_journal};

use crate::notice::Notice;
use crate::outlet::Outlet;
use crate::run::Native;

/// How many events are read at once, so that a long file does not hold up everything else.
const MOST: usize = 256;

/// Fewer are read when their JSON is this long already: a line may have megabytes.
const ENOUGH_BYTES: usize = 256 << 10;

#[napi]
impl Native {
    /// Checks a journal. `number` is told what came of it.
    #[napi]
    pub fn verify_journal(&self, env: &Env, number: u32, path: String) -> napi::Result<()> {
        aside(&self.outlet, env, number, move || verified(&path))
    }

    /// A journal to read events from. Its file is opened when the first are asked for.
    #[napi]
    pub fn journal(&self, path: String) -> NativeJournal {
        let state = Arc::new(Mutex::new(State::Named(path.into())));
        NativeJournal { state, outlet: self.outlet.clone() }
    }
}

#[napi]
pub struct NativeJournal {
    state: Arc<Mutex<State>>,
    outlet: Arc<Outlet>,
}

#[napi]
impl NativeJournal {
    /// Reads the next events. `number` is told them.
    #[napi]
    pub fn read(&self, env: &Env, number: u32) -> napi::Result<()> {
        let state = self.state.clone();
        aside(&self.outlet, env, number, move || {
            let read = lock(&state).read();
            read.map_or_else(Notice::from, |events| Notice::Read { events })
        })
    }

    /// Closes the file. There is nothing more to be read.
    #[napi]
    pub fn close(&self) {
        *lock(&self.state) = State::Over;
    }
}

/// How far the reading of a journal is.
enum State {
    Named(PathBuf),
    Open(JournalReader),
    /// Comes after the events before it.
    Failed(Error),
    Over,
}

impl State {
    /// The next events as a JSON array, empty at the end of the file.
    fn read(&mut self) -> Result<String, Error> {
        let mut events = Batch::default();
        let mut reader = match mem::replace(self, State::Over) {
            State::Named(path) => read_journal(path)?,
            State::Open(reader) => reader,
            State::Failed(error) => return Err(error),
            State::Over => return Ok(events.into_json()),
        };
        let Some(event) = reader.next().transpose()? else { return Ok(events.into_json()) };
        events.push(&event);
        *self = loop {
            if events.is_full() {
                break State::Open(reader);
            }
            match reader.try_next() {
                Ok(Some(event)) => events.push(&event),
                // Whether the journal ends here shows when there is nothing more by the time the next are asked for.
                Ok(None) => break State::Open(reader),
                Err(error) => break State::Failed(error),
            }
        };
        Ok(events.into_json())
    }
}

/// Events that go to JavaScript together.
#[derive(Default)]
struct Batch {
    json: String,
    count: usize,
}

impl Batch {
    fn push(&mut self, event: &Event) {
        self.json.push(if self.count == 0 { '[' } else { ',' });
        self.json.push_str(&serde_json::to_string(event).unwrap_or_default());
        self.count += 1;
    }

    fn is_full(&self) -> bool {
        self.count == MOST || self.json.len() >= ENOUGH_BYTES
    }

    fn into_json(self) -> String {
        if self.count == 0 { "[]".into() } else { self.json + "]" }
    }
}

/// Does work on a thread of its own, and tells `number` what came of it. The process lives until then.
fn aside(
    outlet: &Arc<Outlet>,
    env: &Env,
    number: u32,
    work: impl FnOnce() -> Notice + Send + 'static,
) -> napi::Result<()> {
    let told = outlet.clone();
    thread::Builder::new().name("verifi-journal".into()).spawn(move || told.tell(number, work()))?;
    outlet.begin(env, number, &CancelToken::new())
}

fn verified(path: &str) -> Notice {
    let checked = verify_journal(path).map(|verification| serde_json::to_string(&verification).unwrap_or_default());
    checked.map_or_else(Notice::from, |verification| Notice::Verified { verification })
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
