//! Slots: calls and lists of tools.

use std::sync::Arc;
use std::time::Duration;

use napi::Env;
use napi_derive::napi;
use verifi::{Arguments, CallOptions, CancelToken, ListOptions, Slot};

use crate::failure::json;
use crate::notice::Notice;
use crate::outlet::Outlet;

#[napi]
pub struct NativeSlot {
    slot: Slot,
    outlet: Arc<Outlet>,
}

/// What a call is made of.
#[napi(object, object_to_js = false)]
pub struct Request {
    pub tool: String,
    /// JSON text.
    pub arguments: String,
    /// Why there is no call to be made: it is rejected, and shows on the timeline.
    pub fault: Option<String>,
    pub timeout_ms: Option<f64>,
    pub wants_progress: bool,
    /// It is cancelled before it has begun.
    pub is_cancelled: bool,
}

impl NativeSlot {
    pub fn new(slot: Slot, outlet: Arc<Outlet>) -> NativeSlot {
        NativeSlot { slot, outlet }
    }
}

#[napi]
impl NativeSlot {
    #[napi(getter)]
    pub fn name(&self) -> &str {
        self.slot.name()
    }

    #[napi(getter)]
    pub fn endpoint(&self) -> &str {
        self.slot.endpoint()
    }

    /// What is known of the servers, as a JSON array.
    #[napi]
    pub fn health(&self) -> napi::Result<String> {
        json(&self.slot.health())
    }

    /// Makes a call. `number` is told its progress and its result.
    #[napi]
    pub fn call(&self, env: &Env, number: u32, request: Request) -> napi::Result<()> {
        let cancel = token(request.is_cancelled);
        self.outlet.begin(env, number, &cancel)?;
        let mut options = CallOptions { timeout: timeout(request.timeout_ms), cancel: Some(cancel), on_progress: None };
        if request.wants_progress {
            let outlet = self.outlet.clone();
            options.on_progress = Some(Arc::new(move |progress| outlet.tell(number, progress.into())));
        }
        let arguments = match request.fault {
            Some(fault) => Arguments::invalid(fault),
            None => Arguments::json(request.arguments),
        };
        let outlet = self.outlet.clone();
        self.slot.call_then(&request.tool, arguments, options, move |result| outlet.tell(number, result.into()));
        Ok(())
    }

    /// Lists the tools. `number` is told the list, or why there is none.
    #[napi]
    pub fn list(&self, env: &Env, number: u32, timeout_ms: Option<f64>, is_cancelled: bool) -> napi::Result<()> {
        let cancel = token(is_cancelled);
        self.outlet.begin(env, number, &cancel)?;
        let options = ListOptions { timeout: timeout(timeout_ms), cancel: Some(cancel) };
        let outlet = self.outlet.clone();
        self.slot.tool_definitions_then(options, move |listed| outlet.tell(number, Notice::from(listed)));
        Ok(())
    }
}

fn token(is_cancelled: bool) -> CancelToken {
    let token = CancelToken::new();
    if is_cancelled {
        token.cancel();
    }
    token
}

/// JavaScript has made sure that it is a whole number and more than zero.
fn timeout(ms: Option<f64>) -> Option<Duration> {
    ms.map(|ms| Duration::from_millis(ms as u64))
}
