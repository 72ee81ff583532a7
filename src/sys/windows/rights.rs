//! Who may do what with a file. The system has no owners, groups and modes as POSIX has them: here all files count as the
//! user's, and the calls for owners and extended attributes fail. What stands in their place, the access list, is copied as
//! a whole.
#![allow(unsafe_code)] // System calls.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::ERROR_INSUFFICIENT_BUFFER;
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, GetSecurityDescriptorControl,
    PROTECTED_DACL_SECURITY_INFORMATION, SE_DACL_AUTO_INHERIT_REQ, SE_DACL_AUTO_INHERITED, SE_DACL_PROTECTED,
    SetKernelObjectSecurity, SetSecurityDescriptorControl, UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_SYSTEM, FILE_BASIC_INFO, FileBasicInfo,
};

use super::fd::AsFd;
use super::file_info::{query, set_basic};
use super::flags::Mode;
use super::io::{Errno, Result};
use super::names::Arg;

/// The attributes that a file keeps when it is replaced. The read-only attribute is in its mode.
const KEPT: u32 = FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// Copies the access list of `old` to `new`, its time of creation, and its attributes: hidden, system, not indexed. Streams
/// beside the content are not copied.
pub fn copy_system_attributes(old: &File, new: &File) -> io::Result<()> {
    let mut list = access_list(old)?;
    if access_list(new)? != list {
        set_access_list(new, &mut list)?;
    }
    let (of_old, of_new): (FILE_BASIC_INFO, FILE_BASIC_INFO) =
        (query(old.as_fd(), FileBasicInfo)?, query(new.as_fd(), FileBasicInfo)?);
    let info = FILE_BASIC_INFO {
        CreationTime: of_old.CreationTime,
        FileAttributes: attributes_for(of_old.FileAttributes, of_new.FileAttributes)?,
        ..FILE_BASIC_INFO::default()
    };
    Ok(set_basic(new.as_fd(), &info)?)
}

/// The attributes for a file that replaces one with the attributes `old`. Whether it is compressed or encrypted was decided when it
/// was made, by its folder: compression may be lost, encryption not.
fn attributes_for(old: u32, new: u32) -> io::Result<u32> {
    if old & !new & FILE_ATTRIBUTE_ENCRYPTED != 0 {
        let problem = "the file is encrypted, and what replaces it would not be: encrypt its folder, too";
        return Err(io::Error::other(problem));
    }
    let attributes = new & !KEPT | old & KEPT;
    Ok(if attributes == 0 { FILE_ATTRIBUTE_NORMAL } else { attributes })
}

/// The security descriptor of a file with its access list alone, in the form that has no pointers. It is made of units of 4
/// bytes, for its alignment.
fn access_list(file: &File) -> Result<Vec<u32>> {
    let mut bytes = 512_u32;
    loop {
        let mut list = vec![0_u32; bytes.div_ceil(4) as usize];
        let size = size_of_val(&*list) as u32;
        // SAFETY: the call writes at most `size` bytes, which the vector has, and one number.
        let done = unsafe {
            let (at, needed) = (list.as_mut_ptr().cast(), &raw mut bytes);
            GetKernelObjectSecurity(file.as_raw_handle(), DACL_SECURITY_INFORMATION, at, size, needed)
        };
        if done != 0 {
            list.truncate(bytes.div_ceil(4) as usize);
            return Ok(list);
        }
        match Errno::last() {
            errno if errno.raw_os_error() == ERROR_INSUFFICIENT_BUFFER.cast_signed() && size < bytes => {}
            errno => return Err(errno),
        }
    }
}

/// Sets an access list that [`access_list`] has returned. Entries that were inherited stay so, and a list that inherits nothing
/// stays so, too.
fn set_access_list(file: &File, list: &mut [u32]) -> Result<()> {
    let at = list.as_mut_ptr().cast();
    let (mut control, mut revision) = (0, 0);
    // SAFETY: the descriptor is whole, and nothing else uses it. The first call writes two numbers, the second one changes bits of
    // the descriptor, the third one reads it.
    let done = unsafe {
        GetSecurityDescriptorControl(at, &raw mut control, &raw mut revision);
        if control & SE_DACL_AUTO_INHERITED != 0 {
            SetSecurityDescriptorControl(at, SE_DACL_AUTO_INHERIT_REQ, SE_DACL_AUTO_INHERIT_REQ);
        }
        let inherits = match control & SE_DACL_PROTECTED {
            0 => UNPROTECTED_DACL_SECURITY_INFORMATION,
            _ => PROTECTED_DACL_SECURITY_INFORMATION,
        };
        SetKernelObjectSecurity(file.as_raw_handle(), DACL_SECURITY_INFORMATION | inherits, at)
    };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// The number of a user. There is one.
#[derive(Debug, Clone, Copy)]
pub struct Uid;

impl Uid {
    pub fn from_raw(_: u32) -> Uid {
        Uid
    }

    pub fn as_raw(self) -> u32 {
        0
    }

    /// Nobody has rights that the access lists do not give.
    pub fn is_root(self) -> bool {
        false
    }
}

/// The number of a group. There is one.
pub type Gid = Uid;

/// The user of this process.
pub fn geteuid() -> Uid {
    Uid
}

/// There is no mask: new files get the rights that their folder gives.
pub fn umask(_: Mode) -> Mode {
    Mode::empty()
}

/// Folders get the rights that the folder above gives.
pub trait DirBuilderExt {
    fn mode(&mut self, _: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut DirBuilder {
        self
    }
}

/// How an extended attribute is set.
#[derive(Debug, Clone, Copy)]
pub struct XattrFlags;

impl XattrFlags {
    pub fn empty() -> XattrFlags {
        XattrFlags
    }
}

/// The space that a call may fill: none of them does here.
pub fn spare_capacity(_: &mut Vec<u8>) -> [u8; 0] {
    []
}

/// There are no owners.
pub fn fchown(_: impl AsFd, _: Option<Uid>, _: Option<Gid>) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// There are no extended attributes of this kind.
pub fn fgetxattr(_: impl AsFd, _: impl Arg, _: impl Sized) -> Result<usize> {
    Err(Errno::NOTSUP)
}

/// There are no extended attributes of this kind.
pub fn flistxattr(_: impl AsFd, _: impl Sized) -> Result<usize> {
    Err(Errno::NOTSUP)
}

/// There are no extended attributes of this kind.
pub fn fremovexattr(_: impl AsFd, _: impl Arg) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// There are no extended attributes of this kind.
pub fn fsetxattr(_: impl AsFd, _: impl Arg, _: &[u8], _: XattrFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Storage::FileSystem::{FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_COMPRESSED};

    use super::*;

    #[test]
    fn an_edit_keeps_what_can_be_set_and_never_writes_an_encrypted_file_in_the_clear() {
        let (hidden, archive) = (FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_ARCHIVE);
        let of = |old, new| attributes_for(old, new).ok();
        assert_eq!(of(hidden | FILE_ATTRIBUTE_COMPRESSED, archive), Some(hidden | archive));
        assert_eq!(of(0, hidden), Some(FILE_ATTRIBUTE_NORMAL));
        assert_eq!(of(FILE_ATTRIBUTE_ENCRYPTED, archive), None);
        let both = FILE_ATTRIBUTE_ENCRYPTED | archive;
        assert_eq!(of(both, both), Some(both));
    }
}
