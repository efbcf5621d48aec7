//! `include/verifi.h` is made from the source of this crate. With `VERIFI_BLESS=1` the test writes it; without, it
//! compares.

use std::path::{Path, PathBuf};
use std::{env, fs};

use cbindgen::{Builder, Config};

/// In the order in which the header shows what is in them.
const SOURCES: [&str; 12] =
    ["abi", "status", "str", "text", "error", "result", "call", "slot", "run", "journal", "secrets", "version"];

fn header() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    config.header = Some(fs::read_to_string(root.join("conventions.h")).expect("conventions.h can be read"));
    let sources = SOURCES.iter().map(|name| root.join("src").join(name).with_extension("rs"));
    let builder = sources.fold(Builder::new().with_config(config), Builder::with_src);
    let mut text = Vec::new();
    builder.generate().expect("the source can be read").write(&mut text);
    String::from_utf8(text).expect("the source is UTF-8")
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/verifi.h")
}

// Rules 7.1, 7.2.
#[test]
fn the_header_is_that_of_the_source() {
    let made = header();
    if env::var_os("VERIFI_BLESS").is_some_and(|value| value == "1") {
        fs::write(committed(), &made).expect("the header can be written");
    }
    let committed = fs::read_to_string(committed()).expect("the header is there");
    let line = made.lines().zip(committed.lines()).position(|(made, committed)| made != committed);
    assert!(made == committed, "include/verifi.h differs from line {line:?} on: make it anew with VERIFI_BLESS=1");
}
