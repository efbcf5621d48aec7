//! The C face: it hands objects and text over, waits and cancels, and decides nothing.
//!
//! One file an object. `boundary` has all that touches a pointer of C's and all that catches panics; the other files
//! see references and text. `include/verifi.h` is made from this source by `tests/header.rs`, which also has the
//! conventions that bind a C program.

#![allow(non_camel_case_types)]

mod abi;
mod boundary;
mod call;
mod error;
mod journal;
mod result;
mod run;
mod secrets;
mod slot;
mod status;
mod str;
mod text;
mod version;

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must not end the program that uses libverifi: build with panic = \"unwind\"");
