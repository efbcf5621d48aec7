//! The demo's two servers alone, for the demos of other languages: `sweep serve`.
//!
//! It prints where they are as a line of JSON, kills the primary when a line comes in, and ends when its input does.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;

use serde_json::json;

use crate::SECRET;
use crate::server::Server;

pub fn serve(workspace: &Path) -> Result<(), Box<dyn Error>> {
    let (primary, fallback) = (Server::start(workspace)?, Server::start(workspace)?);
    let places = json!({"primary": primary.endpoint(), "fallback": fallback.endpoint(), "secret": SECRET});
    writeln!(io::stdout(), "{places}")?;
    let mut primary = Some(primary);
    for _command in io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(primary) = primary.take() {
            primary.kill();
            writeln!(io::stdout(), "killed")?;
        }
    }
    Ok(())
}
