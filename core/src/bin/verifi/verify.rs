//! `verifi verify`: whether journals hold.

use std::path::PathBuf;
use std::process::ExitCode;

use verifi::{Verification, verify_journal};

use crate::screen::Screen;
use crate::{Failure, complain};

pub fn run(journals: &[PathBuf], screen: &Screen) -> Result<ExitCode, Failure> {
    let mut all_hold = true;
    for path in journals {
        match verify_journal(path) {
            Ok(verification) => {
                screen.line(&format!("{}: {}", path.display(), in_words(&verification)));
                all_hold &= verification.ok;
            }
            Err(error) => {
                complain(&error);
                all_hold = false;
            }
        }
    }
    screen.end()?;
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of checking a journal.
pub fn in_words(verification: &Verification) -> String {
    let events = match verification.events {
        1 => "1 event holds".to_owned(),
        events => format!("{events} events hold"),
    };
    let missing = match verification.missing {
        0 => String::new(),
        missing => format!(", {missing} are missing: the journal could not be written then"),
    };
    match &verification.fault {
        None => format!("{events}{missing}"),
        Some(fault) => format!("line {}: {} ({events}{missing})", fault.line, fault.what),
    }
}
