//! Scenarios: what a face is asked to do against scripted servers, and what must be seen. `tests/README.md` has the
//! formats.

mod compare;
mod driver;
mod eras;
mod folder;
mod place;
mod run;
mod scenario;
mod seen;
mod step;
mod suite;
mod vectors;

pub use compare::compare;
pub use suite::{Form, Suite, main};
