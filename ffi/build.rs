//! Names the shared library by the version of its ABI.

#[path = "src/abi.rs"]
mod abi;

fn main() {
    println!("cargo::rerun-if-changed=src/abi.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libverifi.so.{}", abi::VERIFI_ABI_VERSION);
    }
}
