//! The memory that the process uses and may use.
#![allow(unsafe_code)] // Calls of the C library without a safe wrapper.

use memmap2::MmapMut;

use super::process::read_parameter;
use crate::memory::MemoryUse;

/// Anonymous maps have small pages.
pub fn no_huge_pages(_: &MmapMut) {}

/// The C library has no such option.
pub fn limit_arenas() {}

/// The allocator learns itself that a thread ends.
pub fn at_thread_end(_: fn()) {}

/// The system drops pages of code itself.
pub fn release_code() {}

/// The memory in use now.
pub fn used() -> Option<MemoryUse> {
    // SAFETY: all zeros is a valid value of these plain numbers.
    let mut usage: libc::rusage_info_v0 = unsafe { std::mem::zeroed() };
    let at = (&raw mut usage).cast();
    // SAFETY: with RUSAGE_INFO_V0 the call fills one `rusage_info_v0`, which lives behind the pointer.
    let done = unsafe { libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V0, at) };
    let now = MemoryUse { resident: usage.ri_resident_size, anonymous: usage.ri_phys_footprint };
    (done == 0).then_some(now)
}

/// The limit: the machine's memory.
pub fn limit() -> Option<u64> {
    let mut bytes = [0; 8];
    let len = read_parameter(c"hw.memsize", &mut bytes).ok()?;
    (len == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}
