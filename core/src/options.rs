//! What a harness may choose for its run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::member::{Member, Object};
use crate::names::named;
use crate::timeline::JournalSync;

named! {
    /// What a server is told that asks the user something in the middle of a call: there is no user to ask.
    #[derive(Default)]
    pub enum Elicitation {
        /// Decline.
        #[default]
        Decline = "decline",
        /// Accept with the defaults of the server's own schema.
        Defaults = "defaults",
    }
}

named! {
    /// What becomes of a call that may have run on one server, when its answer was lost.
    #[derive(Default)]
    pub enum Replay {
        /// It is sent to the next server: a scan that runs twice does no harm.
        #[default]
        Always = "always",
        /// It is sent to the next server only if the tool is known to be read-only or idempotent.
        Safe = "safe",
    }
}

/// The options of a run. Start from the default and change what you need:
///
/// ```
/// use std::time::Duration;
/// use verifi::RunOptions;
///
/// let options = RunOptions { timeout: Duration::from_secs(600), ..RunOptions::default() };
/// ```
#[derive(Clone, PartialEq)]
pub struct RunOptions {
    /// How long a call may take, from the moment it is made to its result: 300 s unless set. A call on the next server
    /// after a failure has this long again.
    pub timeout: Duration,
    /// How many bytes an answer may have, after decompression: 256 MiB unless set. A larger one is refused.
    pub max_response_bytes: u64,
    /// Values to scrub beside those that the environment and the manifest's headers hold.
    pub secrets: Vec<String>,
    /// What a server is told that asks the user something.
    pub elicitation: Elicitation,
    /// What becomes of a call whose answer was lost. A slot of the manifest can say otherwise for itself.
    pub replay: Replay,
    /// How long after it failed a slot's first server is tried again in the background, and how often from then on.
    /// Never unless set.
    pub retry_primary_after: Option<Duration>,
    /// The file that holds the run's events, each before its effect. A file that is there already must be of this run,
    /// which then goes on where it ended. There is none unless set. A forked child writes to a file of its own,
    /// `PATH.PID`.
    pub journal: Option<PathBuf>,
    /// When the journal is forced onto the disk.
    pub sync: JournalSync,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            timeout: Duration::from_secs(300),
            max_response_bytes: 256 << 20,
            secrets: Vec::new(),
            elicitation: Elicitation::default(),
            replay: Replay::default(),
            retry_primary_after: None,
            journal: None,
            sync: JournalSync::default(),
        }
    }
}

const NAMES: &str = "elicitation, journal, maxResponseBytes, replay, retryPrimaryAfterMs, secrets, sync, timeoutMs";

impl RunOptions {
    /// Options from a JSON object: `timeoutMs`, `maxResponseBytes`, `secrets` (array of strings), `elicitation`
    /// (`"decline"` or `"defaults"`), `replay` (`"always"` or `"safe"`), `retryPrimaryAfterMs`, `journal` (a path) and
    /// `sync` (`"none"`, `"finish"` or `"always"`). Each may be absent; empty text gives the defaults. Times are in
    /// milliseconds, and numbers are whole and at least 1.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Options`] for anything else, members of other names too: a misspelt option must not pass for one
    /// that was set. The message names the member and shows no value.
    pub fn from_json(text: &str) -> Result<RunOptions, Error> {
        if text.trim_ascii().is_empty() {
            return Ok(RunOptions::default());
        }
        let mut options = RunOptions::default();
        let members = Member::root(ErrorKind::Options, text)?.object()?;
        for (name, value) in members.members() {
            options.set(name, &value, &members)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &Member<'_>, members: &Object<'_>) -> Result<(), Error> {
        match name {
            "timeoutMs" => self.timeout = Duration::from_millis(value.positive()?),
            "maxResponseBytes" => self.max_response_bytes = value.positive()?,
            "retryPrimaryAfterMs" => self.retry_primary_after = Some(Duration::from_millis(value.positive()?)),
            "secrets" => self.secrets = value.list()?.iter().map(Member::string).collect::<Result<_, _>>()?,
            "elicitation" => self.elicitation = elicitation(value)?,
            "replay" => self.replay = replay(value)?,
            "journal" => self.journal = Some(value.string()?.into()),
            "sync" => self.sync = sync(value)?,
            _ => return Err(members.error(name, format_args!("there is no such option; there are {NAMES}"))),
        }
        Ok(())
    }

    /// Whether the values make sense: a Rust harness sets the fields as it likes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.journal.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
            return Err(Error::new(ErrorKind::Options, "journal: must not be empty"));
        }
        let zero = if self.timeout.is_zero() {
            "timeout"
        } else if self.max_response_bytes == 0 {
            "max_response_bytes"
        } else if self.retry_primary_after.is_some_and(|after| after.is_zero()) {
            "retry_primary_after"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Options, format!("{zero}: must be more than zero")))
    }
}

fn elicitation(value: &Member<'_>) -> Result<Elicitation, Error> {
    Elicitation::from_name(&value.string()?).ok_or_else(|| value.error("must be \"decline\" or \"defaults\""))
}

fn sync(value: &Member<'_>) -> Result<JournalSync, Error> {
    let sync = JournalSync::from_name(&value.string()?);
    sync.ok_or_else(|| value.error("must be \"none\", \"finish\" or \"always\""))
}

/// The value of a member `replay`, in the options or in a manifest.
pub(crate) fn replay(value: &Member<'_>) -> Result<Replay, Error> {
    Replay::from_name(&value.string()?).ok_or_else(|| value.error("must be \"always\" or \"safe\""))
}

/// Shows how many secrets there are, and none of them.
impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("timeout", &self.timeout)
            .field("max_response_bytes", &self.max_response_bytes)
            .field("secrets", &format_args!("[{} hidden]", self.secrets.len()))
            .field("elicitation", &self.elicitation)
            .field("replay", &self.replay)
            .field("retry_primary_after", &self.retry_primary_after)
            .field("journal", &self.journal)
            .field("sync", &self.sync)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rules 2.5, 2.7, 6.7.
    #[test]
    fn zero_is_no_limit_and_no_interval() {
        let zero = Duration::ZERO;
        let good = RunOptions::default();
        assert_eq!(good.check(), Ok(()));
        for (options, name) in [
            (RunOptions { timeout: zero, ..good.clone() }, "timeout"),
            (RunOptions { max_response_bytes: 0, ..good.clone() }, "max_response_bytes"),
            (RunOptions { retry_primary_after: Some(zero), ..good.clone() }, "retry_primary_after"),
        ] {
            let error = options.check().expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Options);
            assert_eq!(error.message(), format!("{name}: must be more than zero"));
        }
    }
}
