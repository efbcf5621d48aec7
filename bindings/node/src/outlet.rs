//! The way from verifi's threads into one JavaScript environment: the main thread's, or a worker's.
//!
//! A threadsafe function of Node-API carries all notices, in order. Node must not be asked to carry anything once it
//! has begun to tear the environment down; so the function is given up in a cleanup hook, which runs before Node's own,
//! and what comes later is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use napi::Env;
use napi::bindgen_prelude::{FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeCallContext, ThreadsafeFunction, ThreadsafeFunctionCallMode};
use verifi::CancelToken;

use crate::notice::Notice;

/// The arguments of the function that JavaScript listens with: a number of its own, and what is told under it.
pub type Heard = FnArgs<(u32, Notice)>;

/// Does not keep the process alive unless told to.
type Line = ThreadsafeFunction<(u32, Notice), (), Heard, napi::Status, false, true>;

pub struct Outlet {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// None when the environment is going.
    line: Option<Line>,
    /// What is under way and keeps the process alive, by number.
    pending: HashMap<u32, CancelToken>,
}

impl Outlet {
    /// An outlet that tells `listener`.
    pub fn open(env: &Env, listener: &Function<'_, Heard, ()>) -> napi::Result<Arc<Outlet>> {
        let outlet = Arc::new(Outlet { state: Mutex::default() });
        let heard = Arc::downgrade(&outlet);
        let line = listener
            .build_threadsafe_function::<(u32, Notice)>()
            .callee_handled::<false>()
            .weak::<true>()
            .build_callback(move |said| Ok(hear(&heard, said)))?;
        outlet.state().line = Some(line);
        env.add_env_cleanup_hook(Arc::downgrade(&outlet), |outlet| {
            if let Some(outlet) = outlet.upgrade() {
                outlet.shut();
            }
        })?;
        Ok(outlet)
    }

    /// Something begins under this number that keeps the process alive until its last notice; `cancel` ends it before.
    pub fn begin(&self, env: &Env, number: u32, cancel: &CancelToken) -> napi::Result<()> {
        let mut state = self.state();
        state.pending.insert(number, cancel.clone());
        state.keep_alive(env)
    }

    /// Cancels what is under way under this number, if anything is.
    pub fn cancel(&self, number: u32) {
        let cancel = self.state().pending.get(&number).cloned();
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }

    /// Tells JavaScript, in the order in which this is called. From any thread; never waits for JavaScript.
    pub fn tell(&self, number: u32, notice: Notice) {
        let state = self.state();
        if let Some(line) = &state.line {
            // It fails only when the environment is going, and then nobody listens.
            line.call((number, notice), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    /// The environment goes: nothing is told from now on, and all that is under way is cancelled.
    fn shut(&self) {
        let (line, pending) = {
            let mut state = self.state();
            (state.line.take(), std::mem::take(&mut state.pending))
        };
        drop(line);
        pending.values().for_each(CancelToken::cancel);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// On the thread of the environment, right before the listener is called.
fn hear(outlet: &Weak<Outlet>, said: ThreadsafeCallContext<(u32, Notice)>) -> Heard {
    let (number, notice) = said.value;
    if notice.is_last()
        && let Some(outlet) = outlet.upgrade()
    {
        let mut state = outlet.state();
        state.pending.remove(&number);
        // Failing means that the environment is going, and it does not wait for anything.
        let _ = state.keep_alive(&said.env);
    }
    (number, notice).into()
}

impl State {
    /// Keeps the process alive exactly as long as something is under way. On the thread of the environment only.
    #[expect(deprecated, reason = "the counting alternative that the note names cannot be switched back and forth")]
    fn keep_alive(&mut self, env: &Env) -> napi::Result<()> {
        let State { line: Some(line), pending } = self else { return Ok(()) };
        if pending.is_empty() { line.unref(env) } else { line.refer(env) }
    }
}
