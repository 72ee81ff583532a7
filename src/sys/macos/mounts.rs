//! Mounted file systems.

use std::ffi::CStr;
use std::os::fd::AsFd;

use crate::fs::Mount;

/// Whether a mount tells all its options, and has those of mount(8) on Linux. Here it tells only whether it may be written.
pub const TELLS_OPTIONS: bool = false;

/// Types have no fixed numbers here.
pub fn file_system_number(_: impl AsFd) -> u32 {
    0
}

/// The mount that an open file or folder is on. `None` if the system does not say.
pub fn mount_of(file: impl AsFd) -> Option<Mount> {
    let found = rustix::fs::fstatfs(file).ok()?;
    let text = |field: &[libc::c_char]| {
        let bytes: Vec<u8> = field.iter().map(|byte| byte.cast_unsigned()).collect();
        CStr::from_bytes_until_nul(&bytes).ok().map(|text| text.to_string_lossy().into_owned())
    };
    let is_read_only = found.f_flags & libc::MNT_RDONLY as u32 != 0;
    Some(Mount {
        kind: text(&found.f_fstypename)?,
        source: text(&found.f_mntfromname)?,
        options: if is_read_only { "ro" } else { "rw" }.into(),
    })
}
