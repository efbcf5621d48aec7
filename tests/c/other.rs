//! A Rust library that has nothing to do with verifi, to be linked beside it.

use std::collections::HashMap;
use std::panic::catch_unwind;

/// Uses the allocator, threads and unwinding: 42.
#[unsafe(no_mangle)]
pub extern "C" fn other_answer() -> u32 {
    let caught = catch_unwind(|| if std::env::args().count() < 1000 { panic!("caught") });
    let numbers: HashMap<u32, u32> = std::thread::spawn(|| (0..=42).map(|n| (n, n)).collect()).join().unwrap_or_default();
    if caught.is_err() { numbers.get(&42).copied().unwrap_or(0) } else { 0 }
}
