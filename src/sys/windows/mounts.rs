//! Volumes, which are the mounted file systems here.
#![allow(unsafe_code)] // System calls.

use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;

use windows_sys::Wdk::Storage::FileSystem::{FileFsDeviceInformation, NtQueryVolumeInformationFile};
use windows_sys::Wdk::System::SystemServices::{FILE_FS_DEVICE_INFORMATION, FILE_REMOTE_DEVICE};
use windows_sys::Win32::Storage::FileSystem::GetVolumeInformationByHandleW;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::SystemServices::{FILE_READ_ONLY_VOLUME, FILE_SUPPORTS_POSIX_UNLINK_RENAME};

use super::fd::{AsFd, BorrowedFd};
use super::io::checked;
use crate::fs::Mount;

/// Whether a mount tells all its options, and has those of mount(8) on Linux. Here it tells only whether it may be written.
pub const TELLS_OPTIONS: bool = false;

/// The most units that a name of a file system or a volume has, with the zero behind it.
const NAME: usize = 261;

/// Types have no numbers here. How they show writes of other programs is not known, so nothing that was read is kept without a
/// look at the file.
pub fn file_system_number(_: impl AsFd) -> u32 {
    0
}

/// The volume that an open file or folder is on. The names of its type are those of Linux; what is on another machine is
/// `smb3`. `None` if the system does not say.
pub fn mount_of(file: impl AsFd) -> Option<Mount> {
    let file = file.as_fd();
    let (mut label, mut kind, mut flags) = ([0_u16; NAME], [0_u16; NAME], 0);
    // SAFETY: the call writes at most `NAME` units to each of the two buffers, and one number.
    let done = unsafe {
        GetVolumeInformationByHandleW(
            file.as_raw_handle(),
            label.as_mut_ptr(),
            NAME as u32,
            null_mut(),
            null_mut(),
            &raw mut flags,
            kind.as_mut_ptr(),
            NAME as u32,
        )
    };
    if done == 0 {
        return None;
    }
    let kind = if is_remote(file) { "smb3".into() } else { kind_of(&text(&kind)) };
    let options = if flags & FILE_READ_ONLY_VOLUME != 0 { "ro" } else { "rw" };
    // A volume need not have a label.
    let source = Some(text(&label)).filter(|label| !label.is_empty()).unwrap_or_else(|| "no label".into());
    Some(Mount { kind, source, options: options.into() })
}

/// Whether a file that is replaced in a folder is set aside for a moment, because the volume cannot rename over an open file in
/// one step. One on another machine may say that it can, but the protocol cannot.
pub fn sets_aside(folder: impl AsFd) -> bool {
    let (folder, mut flags) = (folder.as_fd(), 0);
    // SAFETY: the call writes one number, and nothing where there is no buffer.
    let done = unsafe {
        GetVolumeInformationByHandleW(
            folder.as_raw_handle(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            &raw mut flags,
            null_mut(),
            0,
        )
    };
    done == 0 || flags & FILE_SUPPORTS_POSIX_UNLINK_RENAME == 0 || is_remote(folder)
}

/// Whether the file is on another machine.
fn is_remote(file: BorrowedFd) -> bool {
    let (mut info, mut status) = (FILE_FS_DEVICE_INFORMATION::default(), IO_STATUS_BLOCK::default());
    let len = size_of_val(&info) as u32;
    // SAFETY: the call writes at most `len` bytes to the struct, which belongs to the class, and the status.
    let done = unsafe {
        let at = (&raw mut info).cast();
        NtQueryVolumeInformationFile(file.as_raw_handle(), &raw mut status, at, len, FileFsDeviceInformation)
    };
    checked(done).is_ok() && info.Characteristics & FILE_REMOTE_DEVICE != 0
}

/// What Linux calls a type.
fn kind_of(name: &str) -> String {
    match name {
        "FAT" | "FAT32" => "vfat".into(),
        name => name.to_ascii_lowercase(),
    }
}

/// The units up to the first zero.
fn text(units: &[u16]) -> String {
    let len = units.iter().position(|&unit| unit == 0).unwrap_or(units.len());
    String::from_utf16_lossy(&units[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_linux() {
        assert_eq!(["FAT32", "NTFS", "exFAT"].map(kind_of), ["vfat", "ntfs", "exfat"]);
        assert_eq!((text(&[97, 98, 0, 99]), text(&[97])), ("ab".into(), "a".into()));
    }
}
