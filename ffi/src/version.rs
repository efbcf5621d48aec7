//! Which verifi this is.

use std::sync::LazyLock;

use crate::abi::VERIFI_ABI_VERSION;
use crate::str::verifi_str;
use crate::text::Ended;

static PACKAGE: LazyLock<Ended> = LazyLock::new(|| Ended::new(verifi_core::VERSION.into()));
static SDK: LazyLock<Ended> = LazyLock::new(|| Ended::new(verifi_core::SDK_VERSION.into()));

/// The version of the library, such as `0.1.0`. It lasts as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_version_package() -> verifi_str {
    PACKAGE.lend()
}

/// The version that verifi names in the MCP handshake. It lasts as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_version_sdk() -> verifi_str {
    SDK.lend()
}

/// The VERIFI_ABI_VERSION that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn verifi_version_abi() -> u32 {
    VERIFI_ABI_VERSION
}
