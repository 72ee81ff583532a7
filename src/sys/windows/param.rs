//! What a machine is like.
#![allow(unsafe_code)] // A system call.

use std::io;
use std::ptr::null_mut;

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemTimeOfDayInformation};

/// What the system tells of its times. It takes no longer struct.
#[repr(C)]
#[derive(Default)]
struct TimeOfDay {
    boot_time: i64,
    others: [i64; 5],
}

/// The identity of this run of the system: 36 characters, which are others after a restart. It is the time of the start in
/// units of 100 ns, so two runs never have the same. When somebody sets the clock, the system moves that time, too: then
/// the same run has another identity.
pub fn boot_id() -> io::Result<String> {
    let mut time = TimeOfDay::default();
    let len = u32::try_from(size_of::<TimeOfDay>()).map_err(io::Error::other)?;
    let at = (&raw mut time).cast();
    // SAFETY: the call writes at most `len` bytes, which the struct has. All bytes are valid for its numbers.
    let status = unsafe { NtQuerySystemInformation(SystemTimeOfDayInformation, at, len, null_mut()) };
    match status < 0 || time.boot_time == 0 {
        true => Err(io::Error::other("the system does not tell when it was started")),
        false => Ok(format!("{:036x}", time.boot_time)),
    }
}
