//! A job object, which limits memory.
#![allow(unsafe_code, reason = "functions of the system")]

use std::ptr::null;

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_PROCESS_MEMORY,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Limits what the process may commit. Returns whether the system does it.
pub(super) fn limit_memory() -> bool {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    limits.ProcessMemoryLimit = super::MEMORY;
    let size = size_of_val(&limits) as u32;
    // SAFETY: a job needs neither security attributes nor a name; the call takes no other pointers.
    let job = unsafe { CreateJobObjectW(null(), null()) };
    if job.is_null() {
        return false;
    }
    // The handle is never closed: the limits hold as long as it is open.
    // SAFETY: `job` is an open handle of a job, `limits` has the type and size that the class of information asks for, and the
    // pseudo handle of the current process is always valid.
    unsafe {
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, (&raw const limits).cast(), size) != 0
            && AssignProcessToJobObject(job, GetCurrentProcess()) != 0
    }
}
