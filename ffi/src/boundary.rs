//! Where C and Rust meet: everything `unsafe` is in this file, and nothing here knows what a run is.
//!
//! A C program cannot be made to keep the conventions of the header, so this file trusts exactly these: a pointer is
//! NULL or is what the function's prototype says, an object has not been freed before the function was called, and
//! text stays as it is during the call. NULL, lengths, UTF-8 and panics are checked.
//!
//! An object is shared: C holds one count of it and each function that works with it another. So an object that is
//! freed while a function waits with it on another thread lives until that function returns.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::Arc;

use crate::error::verifi_error;
use crate::status::{VERIFI_OK, VERIFI_PANIC, verifi_status};
use crate::str::verifi_str;

/// Why a function could not do what it was asked to.
pub(crate) enum Fault {
    /// The named argument is NULL.
    Null(&'static str),
    /// The named argument is not UTF-8.
    Utf8(&'static str),
    /// The named argument is not what it must be, and why.
    Argument(&'static str, String),
    /// What the core says.
    Core(verifi_core::Error),
}

impl From<verifi_core::Error> for Fault {
    fn from(error: verifi_core::Error) -> Fault {
        Fault::Core(error)
    }
}

/// What a C program may hold: it may be used and freed on any thread.
pub(crate) trait Object: Send + Sync {}

impl<T: Send + Sync> Object for T {}

/// An argument that is an object, for as long as the function works with it.
pub(crate) fn hold<T: Object>(object: *const T, name: &'static str) -> Result<Arc<T>, Fault> {
    if object.is_null() {
        return Err(Fault::Null(name));
    }
    // SAFETY: every object that C has comes from `give`, so it is an `Arc`, and C has not freed it before this call.
    unsafe {
        Arc::increment_strong_count(object);
        Ok(Arc::from_raw(object))
    }
}

/// Lends an object to `read` for a moment in which it may not be freed; `otherwise` stands for an object that is NULL.
pub(crate) fn peek<T: Object, R>(object: *const T, otherwise: R, read: impl FnOnce(&T) -> R) -> R {
    // SAFETY: as in `hold`. Nothing here waits, so the object need not be held.
    match unsafe { object.as_ref() } {
        Some(object) => catch(|| read(object)).unwrap_or(otherwise),
        None => otherwise,
    }
}

/// Gives an object to C, which frees it.
pub(crate) fn give<T: Object>(object: T) -> *mut T {
    give_shared(Arc::new(object))
}

/// Gives a count of an object that others have, too.
pub(crate) fn give_shared<T: Object>(object: Arc<T>) -> *mut T {
    Arc::into_raw(object).cast_mut()
}

/// Takes an object back; `last` is what is done with it before C's count of it goes. NULL is nothing to take.
pub(crate) fn take<T: Object>(object: *mut T, last: impl FnOnce(&T)) {
    if object.is_null() {
        return;
    }
    // SAFETY: as in `hold`; this count is C's, which C gives up by calling this.
    let object = unsafe { Arc::from_raw(object.cast_const()) };
    // A panic while an object ends has nobody to be told to.
    let _ = catch(move || {
        last(&object);
        drop(object);
    });
}

/// A place that C has for an output.
pub(crate) struct Out<T>(*mut *mut T);

impl<T: Object> Out<T> {
    pub(crate) fn new(place: *mut *mut T, name: &'static str) -> Result<Out<T>, Fault> {
        if place.is_null() { Err(Fault::Null(name)) } else { Ok(Out(place)) }
    }

    pub(crate) fn give(self, object: T) -> Result<verifi_status, Fault> {
        // SAFETY: it is not NULL, and C has a place for a pointer there. What it held is C's affair.
        unsafe { self.0.write(give(object)) };
        Ok(VERIFI_OK)
    }
}

/// The bytes of a text that C gave, borrowed for as long as the argument, which is for the call.
pub(crate) fn bytes(text: &verifi_str) -> Option<&[u8]> {
    if text.len == 0 {
        return Some(&[]);
    }
    if text.data.is_null() || isize::try_from(text.len).is_err() {
        return None;
    }
    // SAFETY: not NULL, a possible length, and C keeps that many bytes there, unchanged, during the call.
    Some(unsafe { slice::from_raw_parts(text.data.cast(), text.len) })
}

/// The texts of an array that C gave. The array is borrowed for the call, which `owner`, something of the call, stands for.
pub(crate) fn array<'c>(
    array: *const verifi_str,
    count: usize,
    name: &'static str,
    _owner: &'c verifi_str,
) -> Result<&'c [verifi_str], Fault> {
    if count == 0 {
        return Ok(&[]);
    }
    if array.is_null() {
        return Err(Fault::Null(name));
    }
    if count > isize::MAX as usize / size_of::<verifi_str>() {
        return Err(Fault::Argument(name, "there cannot be that many".into()));
    }
    // SAFETY: not NULL, a possible length, and C keeps that many texts there, unchanged, during the call.
    Ok(unsafe { slice::from_raw_parts(array, count) })
}

/// The length of a text that ends with NUL.
pub(crate) fn length(text: *const c_char) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: not NULL, and ended by NUL as the function's comment demands.
    unsafe { CStr::from_ptr(text) }.count_bytes()
}

/// Does the work of a function that returns a status. A fault is written to `error`, unless that is NULL.
pub(crate) fn status(
    error: *mut *mut verifi_error,
    work: impl FnOnce() -> Result<verifi_status, Fault>,
) -> verifi_status {
    let told = match catch(work) {
        Ok(Ok(status)) => return status,
        Ok(Err(fault)) => verifi_error::from(fault),
        Err(message) => verifi_error::new(VERIFI_PANIC, message),
    };
    let status = told.status();
    if !error.is_null() {
        // SAFETY: not NULL, and C has a place for a pointer there.
        unsafe { error.write(give(told)) };
    }
    status
}

/// Does the work of a function that always gives an object: `otherwise` makes the one that tells of a panic.
pub(crate) fn object<T: Object>(work: impl FnOnce() -> Arc<T>, otherwise: impl FnOnce(String) -> T) -> *mut T {
    let made = catch(work).or_else(|message| catch(|| Arc::new(otherwise(message))));
    made.map_or(ptr::null_mut(), give_shared)
}

/// Runs `work`, so that a panic ends here. Its message is the error.
///
/// What the work had in its hands is dropped or, if it is shared, locks that a panic leaves poisoned say so.
pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let message = format!("a fault of verifi's own: {}", message(&*payload));
        // Whatever a payload does when it is dropped, it does not do it here.
        std::mem::forget(payload);
        message
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("it says nothing")
}

#[cfg(test)]
mod tests;
