//! `verifi report`: runs as one page of HTML.

mod calls;
mod charts;
mod gather;
mod html;
mod page;
mod scale;
mod timeline;

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::gather::Gathered;
use crate::{Failure, complain};

/// A journal that does not hold is drawn as far as it does, and the page says so.
pub fn run(journals: &[PathBuf], output: &Path) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    let mut runs = Vec::new();
    for path in journals {
        match Gathered::read(path) {
            Ok(run) => runs.push(run),
            Err(error) => code = complain(&error),
        }
    }
    if runs.is_empty() {
        return Ok(code);
    }
    let page = page::page(&runs);
    if output == Path::new("-") {
        stdout().write_all(page.as_bytes())?;
    } else if let Err(error) = fs::write(output, page) {
        return Err(Failure::Usage(format!("{}: {error}", output.display())));
    }
    Ok(code)
}
