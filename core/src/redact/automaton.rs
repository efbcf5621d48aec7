//! An Aho-Corasick automaton: all patterns at once, in time linear in the text, however the patterns overlap.
//!
//! States are numbered in the order in which the sorted patterns reach them, so that a state's first child is simply
//! the next number; only the few further children stand in a hash table. That makes a state 16 bytes in one array of
//! known size: small, quick to build, never moved, and wiped when dropped.

use zeroize::{DefaultIsZeroes, Zeroize};

pub(super) const ROOT: u32 = 0;

#[derive(Clone, Copy, Default)]
struct State {
    /// The state of the longest proper suffix that is the beginning of a pattern.
    fail: u32,
    depth: u32,
    /// The length of the longest pattern that ends here, 0 if none does.
    longest: u32,
    /// The byte that leads here.
    byte: u8,
    has_child: bool,
    has_branches: bool,
}

impl DefaultIsZeroes for State {}

pub(super) struct Automaton {
    states: Vec<State>,
    root: Vec<u32>,
    branches: Branches,
}

impl Automaton {
    /// `patterns` are sorted and not empty; no two are equal.
    pub(super) fn new(patterns: &[&[u8]]) -> Automaton {
        let mut automaton = Automaton {
            states: Vec::with_capacity(count_states(patterns)),
            root: vec![ROOT; 256],
            branches: Branches::with_room_for(patterns.len()),
        };
        let parents = automaton.add_states(patterns);
        automaton.link(&parents);
        automaton
    }

    /// Adds a state for each beginning of each pattern; the result is each state's parent.
    fn add_states(&mut self, patterns: &[&[u8]]) -> Vec<u32> {
        let mut parents = Vec::with_capacity(self.states.capacity());
        self.states.push(State::default());
        parents.push(ROOT);
        let mut path = vec![ROOT];
        let mut previous: &[u8] = &[];
        for &pattern in patterns {
            let shared = shared_prefix(previous, pattern);
            path.truncate(shared + 1);
            let mut parent = path[shared];
            for &byte in &pattern[shared..] {
                parents.push(parent);
                parent = self.add_child(parent, byte);
                path.push(parent);
            }
            self.states[parent as usize].longest = pattern.len() as u32;
            previous = pattern;
        }
        parents
    }

    fn add_child(&mut self, parent: u32, byte: u8) -> u32 {
        let child = self.states.len() as u32;
        let depth = self.states[parent as usize].depth + 1;
        self.states.push(State { depth, byte, ..State::default() });
        if parent == ROOT {
            self.root[usize::from(byte)] = child;
        } else if child == parent + 1 {
            self.states[parent as usize].has_child = true;
        } else {
            self.states[parent as usize].has_branches = true;
            self.branches.insert(parent, byte, child);
        }
        child
    }

    /// Sets what is known only once all patterns are in, from the root down.
    fn link(&mut self, parents: &[u32]) {
        for at in self.by_depth() {
            let State { depth, byte, longest, .. } = self.states[at as usize];
            let fail = match depth {
                0 | 1 => ROOT,
                _ => self.step(self.states[parents[at as usize] as usize].fail, byte),
            };
            let inherited = self.states[fail as usize].longest;
            let state = &mut self.states[at as usize];
            state.fail = fail;
            state.longest = longest.max(inherited);
        }
    }

    fn by_depth(&self) -> Vec<u32> {
        let deepest = self.states.iter().map(|state| state.depth as usize).max().unwrap_or(0);
        let mut next = vec![0u32; deepest + 2];
        for state in &self.states {
            next[state.depth as usize + 1] += 1;
        }
        for depth in 1..next.len() {
            next[depth] += next[depth - 1];
        }
        let mut order = vec![0; self.states.len()];
        for (at, state) in self.states.iter().enumerate() {
            let place = &mut next[state.depth as usize];
            order[*place as usize] = at as u32;
            *place += 1;
        }
        order
    }

    /// The state after `byte`.
    #[inline]
    pub(super) fn step(&self, mut from: u32, byte: u8) -> u32 {
        while from != ROOT {
            let state = self.states[from as usize];
            if state.has_child && self.states[from as usize + 1].byte == byte {
                return from + 1;
            }
            if state.has_branches
                && let Some(child) = self.branches.get(from, byte)
            {
                return child;
            }
            from = state.fail;
        }
        self.root[usize::from(byte)]
    }

    /// How many of the last bytes are the beginning of a pattern, and how many are a whole one.
    #[inline]
    pub(super) fn seen(&self, state: u32) -> (usize, usize) {
        let state = self.states[state as usize];
        (state.depth as usize, state.longest as usize)
    }
}

impl Drop for Automaton {
    fn drop(&mut self) {
        self.states.zeroize();
        self.root.zeroize();
        self.branches.edges.zeroize();
    }
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Counted beforehand so that the array of states never grows: a grown one leaves a copy behind that nobody wipes.
fn count_states(patterns: &[&[u8]]) -> usize {
    let mut count = 1;
    let mut previous: &[u8] = &[];
    for pattern in patterns {
        count += pattern.len() - shared_prefix(previous, pattern);
        previous = pattern;
    }
    count
}

#[derive(Clone, Copy, Default)]
struct Edge {
    from: u32,
    to: u32,
    byte: u8,
}

impl DefaultIsZeroes for Edge {}

/// The second and further children of states other than the root: an open-addressed table, at most half full. No edge
/// leads to the root, so `to` tells a free place.
struct Branches {
    edges: Vec<Edge>,
}

impl Branches {
    fn with_room_for(count: usize) -> Branches {
        Branches { edges: vec![Edge::default(); (count * 2).next_power_of_two()] }
    }

    fn insert(&mut self, from: u32, byte: u8, to: u32) {
        let mut at = self.home(from, byte);
        while self.edges[at].to != ROOT {
            at = (at + 1) & (self.edges.len() - 1);
        }
        self.edges[at] = Edge { from, to, byte };
    }

    fn get(&self, from: u32, byte: u8) -> Option<u32> {
        let mut at = self.home(from, byte);
        loop {
            let edge = self.edges[at];
            if edge.to == ROOT {
                return None;
            }
            if edge.from == from && edge.byte == byte {
                return Some(edge.to);
            }
            at = (at + 1) & (self.edges.len() - 1);
        }
    }

    fn home(&self, from: u32, byte: u8) -> usize {
        let key = u64::from(from) << 8 | u64::from(byte);
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        hash as usize & (self.edges.len() - 1)
    }
}
