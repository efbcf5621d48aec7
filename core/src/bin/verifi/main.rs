//! `verifi`: looks at the journals of runs.

mod ledger;
mod report;
mod screen;
mod show;
mod verify;
mod view;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::screen::Screen;

/// Looks at the journals of runs: checks them, shows what happened, adds up what it used.
#[derive(Parser)]
#[command(name = "verifi", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks the chain of each journal; the status is 1 when one does not hold, and its first bad line is named
    Verify {
        #[arg(required = true, value_name = "JOURNAL")]
        journals: Vec<PathBuf>,
    },
    /// Shows the timeline
    Show {
        #[arg(required = true, value_name = "JOURNAL")]
        journals: Vec<PathBuf>,
        /// Goes on until the run has finished
        #[arg(short, long)]
        follow: bool,
    },
    /// Adds up calls, failures, evidence and time per slot and tool; of several journals in all, too
    Ledger {
        #[arg(required = true, value_name = "JOURNAL")]
        journals: Vec<PathBuf>,
        /// One JSON object, {"runs": [{"file", "runId", "toolCalls", …}], "total": {…}}
        #[arg(long)]
        json: bool,
    },
    /// Draws the run as one page of HTML, which needs neither network nor scripts
    Report {
        #[arg(required = true, value_name = "JOURNAL")]
        journals: Vec<PathBuf>,
        /// The file to write; - is standard output
        #[arg(short, long, value_name = "HTML")]
        output: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Verify { journals } => verify::run(&journals, &Screen::new()),
        Command::Show { journals, follow: false } => show::run(&journals, &Screen::buffered()),
        Command::Show { journals, follow: true } => show::follow(&journals, &Screen::new()),
        Command::Ledger { journals, json: false } => ledger::run(&journals, &Screen::new()),
        Command::Ledger { journals, json: true } => ledger::run_as_json(&journals),
        Command::Report { journals, output } => report::run(&journals, &output),
    };
    match done {
        Ok(code) => code,
        // Whoever read has enough, as `head` has.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(error)) => complain(&error),
        Err(Failure::Journal(error)) => complain(&error),
        Err(Failure::Usage(what)) => complain(&what),
    }
}

/// Why a command ended early.
enum Failure {
    Journal(verifi::Error),
    Output(io::Error),
    Usage(String),
}

impl From<verifi::Error> for Failure {
    fn from(error: verifi::Error) -> Failure {
        Failure::Journal(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Says on standard error what is wrong; the status that goes with it.
fn complain(what: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("verifi: {what}");
    ExitCode::FAILURE
}
