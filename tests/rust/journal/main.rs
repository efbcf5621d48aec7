//! The journal, seen from outside: what is in the file, and what becomes of a file that is not as it should be.

mod common;
mod damage;
mod failing;
mod format;
mod many;
mod opening;
mod sealed;
mod secrets;
