//! The memory that the process uses and may use.
#![allow(unsafe_code)] // System calls.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use memmap2::MmapMut;
use windows_sys::Win32::System::JobObjects::{
    JOB_OBJECT_LIMIT_JOB_MEMORY, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, QueryInformationJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS, PROCESS_MEMORY_COUNTERS_EX,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::SystemServices::DLL_THREAD_DETACH;
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use crate::memory::MemoryUse;

/// Anonymous maps have small pages.
#[inline]
pub fn no_huge_pages(_: &MmapMut) {}

/// The system drops pages of code itself.
pub fn release_code() {}

/// The C library has no such option.
#[inline]
pub fn limit_arenas() {}

/// What every thread does at its end.
static AT_THREAD_END: OnceLock<fn()> = OnceLock::new();

/// Has every thread but the main one call `done` at its end. For the allocator: mimalloc puts its own callback where the system
/// looks for it by a pragma that GCC does not know.
pub fn at_thread_end(done: fn()) {
    let _ = AT_THREAD_END.set(done);
}

unsafe extern "system" fn on_thread_event(_: *mut c_void, reason: u32, _: *mut c_void) {
    if reason == DLL_THREAD_DETACH
        && let Some(done) = AT_THREAD_END.get()
    {
        done();
    }
}

/// The system calls what it finds in these sections, in the order of their names: behind XLB, where Rust drops the values of
/// a thread, and before XLD, where the C library drops its own, among them the thread's heap.
// SAFETY: the section holds pointers to functions of this type, and nothing else.
#[used]
#[unsafe(link_section = ".CRT$XLC")]
static ON_THREAD_EVENT: unsafe extern "system" fn(*mut c_void, u32, *mut c_void) = on_thread_event;

/// The memory in use now. What belongs to no file is what the system has promised to this process: it counts against the
/// limits also while it is not resident.
pub fn used() -> Option<MemoryUse> {
    const LEN: u32 = size_of::<PROCESS_MEMORY_COUNTERS_EX>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS_EX { cb: LEN, ..Default::default() };
    let at = (&raw mut counters).cast::<PROCESS_MEMORY_COUNTERS>();
    // SAFETY: the call fills a struct of `LEN` bytes, which lives behind the pointer. The process is this one.
    let done = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), at, LEN) };
    let now = MemoryUse { resident: counters.WorkingSetSize as u64, anonymous: counters.PrivateUsage as u64 };
    (done != 0).then_some(now)
}

/// The limit: that of the process's job, such as a container, or the machine's memory.
pub fn limit() -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_thread_says_that_it_ends() {
        static ENDED: AtomicUsize = AtomicUsize::new(0);
        at_thread_end(|| _ = ENDED.fetch_add(1, Ordering::Relaxed));
        let before = ENDED.load(Ordering::Relaxed);
        for _ in 0..3 {
            std::thread::spawn(|| ()).join().unwrap();
        }
        // Threads of other tests end, too.
        assert!(before + 3 <= ENDED.load(Ordering::Relaxed));
    }
}
