//! What a run scrubs: the secrets that it was opened with, and the tokens that come while it is open.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use zeroize::Zeroizing;

use crate::lock::Lock;
use crate::process::PerProcess;
use crate::redact::Redactor;

/// How many tokens of one server are scrubbed: the latest.
const MOST_TOKENS: usize = 64;

type Secret = Zeroizing<String>;

/// The secrets of an open run. What it holds of them is zeroed when it is dropped.
pub(crate) struct RunSecrets {
    /// Those that the run was opened with; none when no more can come.
    first: Vec<Secret>,
    redactor: Arc<Redactor>,
    /// A forked child gets tokens of its own, and begins without any.
    learned: PerProcess<Learned>,
    keyrings: AtomicUsize,
}

struct Learned {
    /// The latest last, each with the keyring that it is on.
    tokens: Mutex<VecDeque<(usize, Secret)>>,
    redactor: RwLock<Arc<Redactor>>,
}

impl RunSecrets {
    /// `first` are the secrets that `redactor` looks for, as far as it will be made anew with more of them.
    pub(crate) fn new(redactor: Redactor, first: Vec<Secret>) -> Arc<RunSecrets> {
        let (redactor, learned) = (Arc::new(redactor), PerProcess::new());
        Arc::new(RunSecrets { first, redactor, learned, keyrings: AtomicUsize::new(0) })
    }

    /// What scrubs all that is known at this moment. A text from a server is scrubbed by one that was taken after the
    /// text had come: then it knows each token that was sent for it.
    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        match self.learned.get() {
            Some(learned) => learned.redactor.read().unwrap_or_else(PoisonError::into_inner).clone(),
            None => self.redactor.clone(),
        }
    }

    /// A place for the tokens of one server.
    pub(crate) fn keyring(self: &Arc<Self>) -> Keyring {
        Keyring { secrets: Arc::downgrade(self), number: self.keyrings.fetch_add(1, Ordering::Relaxed) }
    }

    fn learn(&self, keyring: usize, token: &str) {
        let learned = self.learned.get_or_make(|| Learned::new(&self.redactor));
        let mut tokens = learned.tokens.locked();
        if let Some(known) = tokens.iter().position(|(on, known)| *on == keyring && known.as_str() == token) {
            // Now the latest.
            let known = tokens.remove(known);
            tokens.extend(known);
            return;
        }
        tokens.push_back((keyring, Zeroizing::new(token.to_owned())));
        if tokens.iter().filter(|(on, _)| *on == keyring).count() > MOST_TOKENS
            && let Some(oldest) = tokens.iter().position(|(on, _)| *on == keyring)
        {
            tokens.remove(oldest);
        }
        let all: Vec<&str> =
            self.first.iter().chain(tokens.iter().map(|(_, token)| token)).map(|s| s.as_str()).collect();
        let redactor = Arc::new(Redactor::for_run(&all));
        *learned.redactor.write().unwrap_or_else(PoisonError::into_inner) = redactor;
    }
}

impl Learned {
    fn new(redactor: &Arc<Redactor>) -> Learned {
        Learned { tokens: Mutex::default(), redactor: RwLock::new(redactor.clone()) }
    }
}

/// The tokens of one server, as far as its run scrubs them.
pub(crate) struct Keyring {
    secrets: Weak<RunSecrets>,
    number: usize,
}

/// The run has ended: nothing is scrubbed any more.
pub(crate) struct Ended;

impl Keyring {
    /// From here on the run scrubs the token.
    pub(crate) fn add(&self, token: &str) -> Result<(), Ended> {
        let secrets = self.secrets.upgrade().ok_or(Ended)?;
        secrets.learn(self.number, token);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule 3.12.
    #[test]
    fn the_latest_tokens_of_each_server_are_scrubbed() {
        let secrets =
            RunSecrets::new(Redactor::for_run(&["first-secret"]), vec![Zeroizing::new("first-secret".into())]);
        let (one, other) = (secrets.keyring(), secrets.keyring());
        assert!(other.add("token-of-the-other").is_ok());
        for number in 0..=MOST_TOKENS {
            assert!(one.add(&format!("token-{number:03}")).is_ok());
            // It comes again, and so stays.
            assert!(one.add("token-001").is_ok());
        }
        let text = "first-secret token-of-the-other token-000 token-001 token-002 token-003 token-064";
        let scrubbed = secrets.redactor().scrub_str(text).into_owned();
        assert_eq!(scrubbed, "[REDACTED] [REDACTED] token-000 [REDACTED] [REDACTED] [REDACTED] [REDACTED]");
    }

    // Rules 3.12, 5.6.
    #[test]
    fn a_run_that_has_ended_takes_no_token() {
        let secrets = RunSecrets::new(Redactor::for_run(&["first-secret"]), Vec::new());
        let keyring = secrets.keyring();
        drop(secrets);
        assert!(keyring.add("token-0001").is_err());
    }
}
