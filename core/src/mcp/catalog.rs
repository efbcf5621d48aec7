//! What a server has said of its tools.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::params::{self, Param};
use crate::lock::Lock;
use crate::tools::{RawTool, ToolHints};

/// A list is fresh for so long at the most, whatever its server says.
const LONGEST_FRESH: Duration = Duration::from_secs(24 * 3600);

/// How many tools are told of that are left out. A server that invents new ones each time tells no more.
const MOST_NOTES: usize = 1000;

#[derive(Default)]
pub(crate) struct Catalog {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tools: HashMap<String, Known>,
    /// The list as it came, until when it counts as fresh.
    fresh: Option<(Instant, Arc<Vec<RawTool>>)>,
    notes: Vec<Note>,
    noted: HashSet<u64>,
}

struct Known {
    hints: ToolHints,
    params: Arc<[Param]>,
}

/// A tool that was left out of a list, and why.
pub(crate) struct Note {
    pub(crate) tool: String,
    pub(crate) reason: String,
}

impl Note {
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.tool, &self.reason).hash(&mut hasher);
        hasher.finish()
    }
}

impl Catalog {
    /// Whether running the tool twice does no harm, as far as the server has said.
    pub(crate) fn may_repeat(&self, tool: &str) -> bool {
        self.state.locked().tools.get(tool).is_some_and(|known| known.hints.may_repeat())
    }

    /// The parameters of the tool that go into headers. Also those of a list that is no longer fresh: when they have
    /// changed, the server says so.
    pub(super) fn params(&self, tool: &str) -> Arc<[Param]> {
        self.state.locked().tools.get(tool).map(|known| known.params.clone()).unwrap_or_default()
    }

    pub(super) fn fresh(&self) -> Option<Arc<Vec<RawTool>>> {
        let state = self.state.locked();
        let (until, tools) = state.fresh.as_ref()?;
        (Instant::now() < *until).then(|| tools.clone())
    }

    /// The tools may have changed.
    pub(crate) fn stale(&self) {
        self.state.locked().fresh = None;
    }

    /// Takes a whole list of the handshake era.
    pub(super) fn take(&self, tools: Vec<RawTool>) -> Arc<Vec<RawTool>> {
        let none: Arc<[Param]> = Arc::default();
        let known = tools.iter().map(|tool| (tool.name.clone(), Known::new(tool, none.clone()))).collect();
        let mut state = self.state.locked();
        (state.tools, state.fresh) = (known, None);
        Arc::new(tools)
    }

    /// Takes a whole list of 2026-07-28: a tool whose definition breaks the rules for headers is left out.
    pub(super) fn take_modern(&self, mut tools: Vec<RawTool>, fresh_until: Option<Instant>) -> Arc<Vec<RawTool>> {
        let mut known = HashMap::new();
        let mut notes = Vec::new();
        tools.retain(|tool| match params::of_definition(&tool.json) {
            Ok(params) => {
                known.insert(tool.name.clone(), Known::new(tool, params.into()));
                true
            }
            Err(reason) => {
                notes.push(Note { tool: tool.name.clone(), reason });
                false
            }
        });
        let tools = Arc::new(tools);
        let mut state = self.state.locked();
        state.tools = known;
        state.fresh = fresh_until.map(|until| (until, tools.clone()));
        for note in notes {
            if state.noted.len() < MOST_NOTES && state.noted.insert(note.hash()) {
                state.notes.push(note);
            }
        }
        tools
    }

    /// What has not been told yet.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.state.locked().notes)
    }

    pub(super) fn clear(&self) {
        *self.state.locked() = State::default();
    }
}

impl Known {
    fn new(tool: &RawTool, params: Arc<[Param]>) -> Known {
        Known { hints: ToolHints::of(&tool.json), params }
    }
}

/// Until when an answer of this moment is fresh that says `ttlMs` (2026-07-28, `server/utilities/caching`).
pub(super) fn fresh_until(ttl_ms: Option<&str>) -> Option<Instant> {
    let ttl: f64 = ttl_ms?.parse().ok().filter(|ttl| *ttl > 0.0)?;
    Instant::now().checked_add(Duration::from_secs_f64((ttl / 1000.0).min(LONGEST_FRESH.as_secs_f64())))
}
