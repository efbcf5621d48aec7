//! `scenarios --driver 'CMD ARGS'`: runs every scenario through a face's driver. See `tests/README.md`.

use std::process::ExitCode;

use verifi_tests::scenarios::{Suite, main as run};

fn main() -> ExitCode {
    run(Suite::new(Vec::new()), std::env::args().skip(1))
}
