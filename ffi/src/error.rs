//! What went wrong.

use crate::boundary::{self, Fault};
use crate::status::{VERIFI_INVALID_ARGUMENT, VERIFI_INVALID_UTF8, VERIFI_NULL_ARGUMENT, VERIFI_OK, verifi_status};
use crate::str::verifi_str;
use crate::text::Ended;

/// What went wrong in a function that returns a verifi_status. Usable from any thread until it is freed with
/// verifi_error_free.
pub struct verifi_error {
    status: verifi_status,
    message: Ended,
}

impl verifi_error {
    pub(crate) fn new(status: verifi_status, message: String) -> verifi_error {
        verifi_error { status, message: Ended::new(message) }
    }

    pub(crate) fn status(&self) -> verifi_status {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        self.message.as_str()
    }
}

impl From<Fault> for verifi_error {
    fn from(fault: Fault) -> verifi_error {
        match fault {
            Fault::Null(name) => verifi_error::new(VERIFI_NULL_ARGUMENT, format!("{name}: is NULL")),
            Fault::Utf8(name) => verifi_error::new(VERIFI_INVALID_UTF8, format!("{name}: is not UTF-8")),
            Fault::Argument(name, what) => verifi_error::new(VERIFI_INVALID_ARGUMENT, format!("{name}: {what}")),
            Fault::Core(error) => verifi_error::new(error.kind().into(), error.message().to_owned()),
        }
    }
}

/// The status that the function returned. VERIFI_OK for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_error_status(error: *const verifi_error) -> verifi_status {
    boundary::peek(error, VERIFI_OK, verifi_error::status)
}

/// What was wrong and where, in one line, without secrets. It lasts until `error` is freed. `{NULL, 0}` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_error_message(error: *const verifi_error) -> verifi_str {
    boundary::peek(error, verifi_str::NONE, |error| error.message.lend())
}

/// Frees the error. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_error_free(error: *mut verifi_error) {
    boundary::take(error, |_| ());
}
