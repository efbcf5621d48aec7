//! What a call costs more through the C face than in Rust: the same call to the same server, one after the other in turn,
//! as the difference of the medians. `make bench-c`. With `--check` it fails when that is above the ceiling.
//!
//! It loads the shared library as a C program would, from the path in `VERIFI_BENCH_LIBRARY`.

use std::error::Error;
use std::ffi::{CString, c_char, c_void};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, ptr};

use verifi_core::{Arguments, Run, RunOptions, Slot};
use verifi_tests::{Script, Server};

const CALLS: usize = 20_000;
const CEILING_US: f64 = 3.0;
const TOOL: &str = "echo";
const ARGUMENTS: &str = r#"{"text":"a small argument"}"#;
/// The server answers each call at once, without looking at it.
const SCRIPT: &str = r#"{"prebuilt":{"bytes":64}}"#;

#[repr(C)]
#[derive(Clone, Copy)]
struct Str {
    data: *const c_char,
    len: usize,
}

impl From<&str> for Str {
    fn from(text: &str) -> Str {
        Str { data: text.as_ptr().cast(), len: text.len() }
    }
}

type Open = extern "C" fn(Str, Str, *mut *mut c_void, *mut *mut c_void) -> u32;
type OpenSlot = extern "C" fn(*const c_void, Str, *mut *mut c_void, *mut *mut c_void) -> u32;
type Call = extern "C" fn(*const c_void, Str, Str, u64) -> *mut c_void;
type Text = extern "C" fn(*const c_void) -> Str;
type Free = extern "C" fn(*mut c_void);

/// The functions of the library, and a slot of a run that is open as long as the process.
struct Face {
    slot: *mut c_void,
    call: Call,
    text: Text,
    free: Free,
}

impl Face {
    fn load(path: &str, manifest: &str) -> Result<Face, Box<dyn Error>> {
        let path = CString::new(path)?;
        // SAFETY: the path ends with NUL; the library stays loaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        let find = |name: &str| -> Result<*mut c_void, Box<dyn Error>> {
            let symbol = CString::new(name)?;
            // SAFETY: the name ends with NUL; a library that is NULL is told apart below.
            let found =
                if library.is_null() { ptr::null_mut() } else { unsafe { libc::dlsym(library, symbol.as_ptr()) } };
            if found.is_null() { Err(format!("{name} is not there").into()) } else { Ok(found) }
        };
        // SAFETY: the header declares these functions with these types.
        let (open, open_slot, call, text, free) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Open>(find("verifi_run_open")?),
                std::mem::transmute::<*mut c_void, OpenSlot>(find("verifi_run_slot")?),
                std::mem::transmute::<*mut c_void, Call>(find("verifi_slot_call")?),
                std::mem::transmute::<*mut c_void, Text>(find("verifi_result_text")?),
                std::mem::transmute::<*mut c_void, Free>(find("verifi_result_free")?),
            )
        };
        let (mut run, mut slot) = (ptr::null_mut(), ptr::null_mut());
        let opened = open(manifest.into(), "".into(), &mut run, ptr::null_mut());
        let filled = open_slot(run, "kali".into(), &mut slot, ptr::null_mut());
        if (opened, filled) != (0, 0) { Err("no run".into()) } else { Ok(Face { slot, call, text, free }) }
    }

    fn call(&self) -> Duration {
        let begin = Instant::now();
        let result = (self.call)(self.slot, TOOL.into(), ARGUMENTS.into(), 0);
        let length = (self.text)(result).len;
        (self.free)(result);
        let took = begin.elapsed();
        assert_eq!(length, 64, "the server answers");
        took
    }
}

fn call(slot: &Slot) -> Duration {
    let begin = Instant::now();
    let result = slot.call(TOOL, Arguments::json(ARGUMENTS));
    let length = result.text().len();
    drop(result);
    let took = begin.elapsed();
    assert_eq!(length, 64, "the server answers");
    took
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Ok(path) = env::var("VERIFI_BENCH_LIBRARY") else {
        println!("VERIFI_BENCH_LIBRARY does not say where libverifi.so is: `make bench-c` does");
        return Ok(ExitCode::SUCCESS);
    };
    let server = Server::start(Script::parse(SCRIPT)?)?;
    let manifest = format!(r#"{{"runId":"bench","slotFills":{{"kali":"{}"}}}}"#, server.url());
    let run = Run::open(&manifest, RunOptions::default())?;
    let slot = run.mcp("kali")?;
    let face = Face::load(&path, &manifest)?;
    let (mut rust, mut c) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for turn in 0..CALLS {
        // Each goes first as often as the other.
        if turn % 2 == 0 {
            rust.push(call(&slot));
            c.push(face.call());
        } else {
            c.push(face.call());
            rust.push(call(&slot));
        }
    }
    let (rust, c) = (median(rust), median(c));
    println!("a call in Rust {rust:.2} us, through C {c:.2} us, more by {:.2} us (ceiling {CEILING_US})", c - rust);
    let checked = env::args().any(|argument| argument == "--check");
    Ok(if checked && c - rust > CEILING_US { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
