//! Journals.

use std::thread;

use napi::Env;
use napi_derive::napi;
use verifi::{CancelToken, verify_journal};

use crate::notice::Notice;
use crate::run::Native;

#[napi]
impl Native {
    /// Checks a journal on a thread of its own, since it may be long. `number` is told what came of it.
    #[napi]
    pub fn verify_journal(&self, env: &Env, number: u32, path: String) -> napi::Result<()> {
        let outlet = self.outlet.clone();
        let check = move || outlet.tell(number, verified(&path));
        thread::Builder::new().name("verifi-journal".into()).spawn(check)?;
        self.outlet.begin(env, number, &CancelToken::new())
    }
}

fn verified(path: &str) -> Notice {
    let checked = verify_journal(path).map(|verification| serde_json::to_string(&verification).unwrap_or_default());
    checked.map_or_else(Notice::from, |verification| Notice::Verified { verification })
}
