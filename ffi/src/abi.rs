//! The number that the shared library is named by. The build script reads it, too.

/// The version of the ABI that this header describes: the number in `libverifi.so.N`. It grows when a program that was
/// built against an older header would no longer work. `verifi_version_abi` tells that of the library that is loaded.
pub const VERIFI_ABI_VERSION: u32 = 1;
