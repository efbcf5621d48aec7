//! Every scenario through the Rust face, in both forms. `cargo test --test scenarios -- NAME` runs those with NAME in
//! their title, and takes the options of the program `scenarios`.

use std::process::ExitCode;

use verifi_tests::scenarios::{Suite, main as run};

fn main() -> ExitCode {
    let driver = env!("CARGO_BIN_EXE_driver-rust");
    run(Suite::new(vec![driver.to_owned()]), std::env::args().skip(1))
}
