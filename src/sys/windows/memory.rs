//! The memory that the process uses and may use.
#![allow(unsafe_code)] // System calls.

use std::ptr::null_mut;

use memmap2::MmapMut;
use windows_sys::Win32::System::JobObjects::{
    JOB_OBJECT_LIMIT_JOB_MEMORY, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, QueryInformationJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS, PROCESS_MEMORY_COUNTERS_EX,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use crate::sys::memory::MemoryUse;

/// Anonymous maps have small pages.
#[inline]
pub(crate) fn no_huge_pages(_: &MmapMut) {}

/// The C library has no such option.
#[inline]
pub(crate) fn limit_arenas() {}

/// The memory in use now. What belongs to no file is what the system has promised to this process: it counts against the
/// limits also while it is not resident.
pub(crate) fn used() -> Option<MemoryUse> {
    const LEN: u32 = size_of::<PROCESS_MEMORY_COUNTERS_EX>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS_EX { cb: LEN, ..Default::default() };
    let at = (&raw mut counters).cast::<PROCESS_MEMORY_COUNTERS>();
    // SAFETY: the call fills a struct of `LEN` bytes, which lives behind the pointer. The process is this one.
    let done = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), at, LEN) };
    let now = MemoryUse { resident: counters.WorkingSetSize as u64, anonymous: counters.PrivateUsage as u64 };
    (done != 0).then_some(now)
}

/// The limit: that of the process's job, such as a container, or the machine's memory.
pub(crate) fn limit() -> Option<u64> {
    of_job().into_iter().chain(of_machine()).min()
}

fn of_machine() -> Option<u64> {
    const LEN: u32 = size_of::<MEMORYSTATUSEX>() as u32;
    let mut status = MEMORYSTATUSEX { dwLength: LEN, ..Default::default() };
    // SAFETY: the call fills the struct, which tells its length.
    let done = unsafe { GlobalMemoryStatusEx(&raw mut status) };
    (done != 0).then_some(status.ullTotalPhys)
}

/// The smaller limit of the job in which the process is. `None` without a job.
fn of_job() -> Option<u64> {
    const LEN: u32 = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let (at, class) = ((&raw mut limits).cast(), JobObjectExtendedLimitInformation);
    // SAFETY: the call writes at most `LEN` bytes to the struct. No handle means the job of this process.
    let done = unsafe { QueryInformationJobObject(null_mut(), class, at, LEN, null_mut()) };
    if done == 0 {
        return None;
    }
    let set = limits.BasicLimitInformation.LimitFlags;
    let of = |flag, bytes: usize| (set & flag != 0).then_some(bytes as u64);
    let of_process = of(JOB_OBJECT_LIMIT_PROCESS_MEMORY, limits.ProcessMemoryLimit);
    of_process.into_iter().chain(of(JOB_OBJECT_LIMIT_JOB_MEMORY, limits.JobMemoryLimit)).min()
}
