//! Runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use napi::Env;
use napi::bindgen_prelude::Function;
use napi_derive::napi;
use verifi::{CancelToken, EventKind, Run, RunOptions};

use crate::failure::{Failure, failure, json};
use crate::notice::Notice;
use crate::outlet::{Heard, Outlet};
use crate::slot::NativeSlot;
use crate::subscription::NativeSubscription;

/// What one JavaScript environment has of verifi.
#[napi]
pub struct Native {
    pub(crate) outlet: Arc<Outlet>,
}

#[napi]
impl Native {
    /// `listener` is called with a number and a notice.
    #[napi(constructor)]
    pub fn new(env: &Env, listener: Function<'_, Heard, ()>) -> napi::Result<Native> {
        Ok(Native { outlet: Outlet::open(env, &listener)? })
    }

    /// Opens a run from the JSON texts of its manifest and its options. The environment is that of JavaScript, as pairs
    /// of name and value: a worker has its own, and the process's may change under Node's hands only.
    #[napi]
    pub fn open_run(
        &self,
        manifest: String,
        options: String,
        environment: Vec<(String, String)>,
    ) -> Result<NativeRun, Failure> {
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        let opened = RunOptions::from_json(&options)
            .and_then(|options| Run::open_with_environment(&manifest, options, environment));
        let run = Arc::new(opened.map_err(|error| failure(&error))?);
        let started =
            run.events().iter().rev().find(|event| event.kind == EventKind::RunStarted).map(|event| event.seq);
        let outlet = self.outlet.clone();
        Ok(NativeRun { run, outlet, first: started.unwrap_or(1), is_closed: AtomicBool::new(false) })
    }

    /// Cancels what is under way under this number, if anything is.
    #[napi]
    pub fn cancel(&self, number: u32) {
        self.outlet.cancel(number);
    }
}

#[napi]
pub struct NativeRun {
    run: Arc<Run>,
    outlet: Arc<Outlet>,
    first: u64,
    is_closed: AtomicBool,
}

#[napi]
impl NativeRun {
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.run.id().to_owned()
    }

    /// The `seq` of this opening's first event. Those before it come from the journal.
    #[napi(getter)]
    pub fn first(&self) -> f64 {
        self.first as f64
    }

    #[napi]
    pub fn slot(&self, name: String) -> Result<NativeSlot, Failure> {
        let slot = self.run.mcp(&name).map_err(|error| failure(&error))?;
        Ok(NativeSlot::new(slot, self.outlet.clone()))
    }

    #[napi]
    pub fn log(&self, line: String) {
        self.run.log(&line);
    }

    /// The ledger as JSON.
    #[napi]
    pub fn ledger(&self) -> napi::Result<String> {
        json(&self.run.ledger())
    }

    /// The latest events as a JSON array.
    #[napi]
    pub fn timeline(&self) -> napi::Result<String> {
        json(&self.run.events())
    }

    /// The events from that one on. `number` is told when there are some again.
    #[napi]
    pub fn subscribe(&self, number: u32, from: f64) -> NativeSubscription {
        NativeSubscription::new(self.run.subscribe_from(from as u64), number, self.outlet.clone())
    }

    /// Closes the run on a thread of its own, since it may take 2 s. `number` is told when it is done.
    #[napi]
    pub fn close(&self, env: &Env, number: u32) -> napi::Result<()> {
        self.outlet.begin(env, number, &CancelToken::new())?;
        self.is_closed.store(true, Ordering::Relaxed);
        let outlet = self.outlet.clone();
        close_aside(&self.run, move || outlet.tell(number, Notice::Closed));
        Ok(())
    }
}

impl Drop for NativeRun {
    /// JavaScript has forgotten the run, or ends. Its thread does not wait for that, either.
    fn drop(&mut self) {
        if !self.is_closed.load(Ordering::Relaxed) {
            close_aside(&self.run, || ());
        }
    }
}

fn close_aside(run: &Arc<Run>, done: impl FnOnce() + Clone + Send + 'static) {
    let close = {
        let (run, done) = (run.clone(), done.clone());
        move || {
            run.close();
            done();
        }
    };
    // Without a thread to be had it is better to wait than to leave the run open.
    if thread::Builder::new().name("verifi-close".into()).spawn(close).is_err() {
        run.close();
        done();
    }
}
