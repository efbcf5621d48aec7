//! One server of the sweep as a program of its own, for the sweeps in other languages: `sweep-server WORKSPACE`.
//!
//! It prints its endpoint and its port in a line, and ends when its standard input does.

#[path = "../sweep/server.rs"]
mod server;
#[path = "../sweep/tools.rs"]
mod tools;

use std::io::{Write, stdin, stdout};
use std::path::Path;
use std::{env, io};

use crate::server::Server;

fn main() -> io::Result<()> {
    let workspace = env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let server = Server::start(Path::new(&workspace))?;
    writeln!(stdout(), "{} {}", server.endpoint(), server.port())?;
    io::copy(&mut stdin().lock(), &mut io::sink())?;
    server.kill();
    Ok(())
}
