//! Opens and creates entries of folders by the folder's handle and one name, so that no other folder is ever reached.
//!
//! A look-up is exact: an entry that has the name only in another case, or as a short name (8.3), is not there. A reparse
//! point (a link, a junction) is never followed. Every handle lets others read, write, rename and delete.
#![allow(unsafe_code)] // System calls.

use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_INFORMATION_CLASS, FILE_NON_DIRECTORY_FILE, FILE_OPEN,
    FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_IF, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT,
    FileNameInformation, FileNormalizedNameInformation, NTCREATEFILE_CREATE_DISPOSITION,
    NTCREATEFILE_CREATE_OPTIONS, NtCreateFile, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::{OBJ_CASE_INSENSITIVE, STATUS_BUFFER_OVERFLOW, UNICODE_STRING};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ACCESS_RIGHTS, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
    FILE_TRAVERSE, FILE_WRITE_DATA, READ_CONTROL, SYNCHRONIZE, WRITE_DAC,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::fd::{AsFd, BorrowedFd, OwnedFd};
use super::file_info::{attributes, identity};
use super::flags::{Access, AtFlags, Mode, OFlags};
use super::io::{Errno, Result, checked};
use super::listing::lists;
use super::names::{Arg, units_of_name};
use super::turn::Turn;

/// Every handle lets others do everything meanwhile.
pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// For a folder that is only passed through.
pub const ONLY_PASS: OFlags = OFlags::PASS;

/// How often an entry is looked up whose name goes from one file to the next.
const LOOKUPS: usize = 16;

/// What a handle of a folder is for.
const PASS: FILE_ACCESS_RIGHTS = FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;

/// One open.
pub(super) struct Open {
    pub(super) access: FILE_ACCESS_RIGHTS,
    pub(super) disposition: NTCREATEFILE_CREATE_DISPOSITION,
    pub(super) options: NTCREATEFILE_CREATE_OPTIONS,
}

impl Open {
    /// Opens what exists, of any kind.
    pub(super) fn existing(access: FILE_ACCESS_RIGHTS) -> Open {
        Open { access: access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, disposition: FILE_OPEN, options: 0 }
    }

    /// Opens the entry of `dir` whose name has these units; without any, `dir` itself. A link is opened itself.
    pub(super) fn at(&self, dir: BorrowedFd, units: &[u16]) -> Result<OwnedFd> {
        if units.is_empty() {
            return self.without_check(dir, units);
        }
        // A file that is being replaced has no name for a moment.
        if self.disposition != FILE_OPEN {
            let _turn = Turn::of(dir);
            return self.now_at(dir, units);
        }
        match self.now_at(dir, units) {
            Err(Errno::NOENT) => match Turn::of(dir) {
                Some(_turn) => self.now_at(dir, units),
                None => Err(Errno::NOENT),
            },
            opened => opened,
        }
    }

    fn now_at(&self, dir: BorrowedFd, units: &[u16]) -> Result<OwnedFd> {
        let mut before = None;
        for _ in 0..LOOKUPS {
            let handle = self.without_check(dir, units)?;
            // What was made here has the name that was asked for.
            if self.disposition == FILE_CREATE {
                return Ok(handle);
            }
            let named = is_named(dir, handle.as_fd(), units);
            if matches!(named, Ok(true)) {
                return Ok(handle);
            }
            // An entry that was replaced or moved between the two calls has another name or none. One that is found again has
            // the name in another case, or as a short name.
            let entry = identity(handle.as_fd())?;
            if before.replace(entry) == Some(entry) {
                return Err(match named {
                    Err(errno) => errno,
                    Ok(_) if self.disposition == FILE_OPEN => Errno::NOENT,
                    Ok(_) => Errno::EXIST,
                });
            }
        }
        Err(Errno::AGAIN)
    }

    fn without_check(&self, dir: BorrowedFd, units: &[u16]) -> Result<OwnedFd> {
        let len = u16::try_from(size_of_val(units)).map_err(|_| Errno::NAMETOOLONG)?;
        let name = UNICODE_STRING { Length: len, MaximumLength: len, Buffer: units.as_ptr().cast_mut() };
        let object = OBJECT_ATTRIBUTES {
            Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
            RootDirectory: dir.as_raw_handle(),
            ObjectName: &raw const name,
            Attributes: OBJ_CASE_INSENSITIVE,
            ..OBJECT_ATTRIBUTES::default()
        };
        let options = self.options
            | FILE_OPEN_REPARSE_POINT
            | FILE_OPEN_FOR_BACKUP_INTENT
            | FILE_SYNCHRONOUS_IO_NONALERT;
        let (mut handle, mut status) = (null_mut(), IO_STATUS_BLOCK::default());
        // SAFETY: all structs live during the call, which writes only to `handle` and `status`. It does not write to
        // the units of the name. There are no extended attributes.
        checked(unsafe {
            NtCreateFile(
                &raw mut handle,
                self.access,
                &raw const object,
                &raw mut status,
                std::ptr::null(),
                FILE_ATTRIBUTE_NORMAL,
                SHARE_ALL,
                self.disposition,
                options,
                std::ptr::null(),
                0,
            )
        })?;
        // SAFETY: the handle is new, so nobody else closes it.
        Ok(unsafe { OwnedFd::from_raw_handle(handle) })
    }
}

/// Whether the name of the open entry `file` of `dir` is exactly this one.
fn is_named(dir: BorrowedFd, file: BorrowedFd, units: &[u16]) -> Result<bool> {
    let is_last = |path: Vec<u16>| path.rsplit(|&unit| unit == u16::from(b'\\')).next() == Some(units);
    if let Ok(path) = path_of(file, FileNormalizedNameInformation) {
        return Ok(is_last(path));
    }
    // Not every file system knows it. The other path may have the short name by which the file was opened.
    if !is_last(path_of(file, FileNameInformation)?) {
        return Ok(false);
    }
    Ok(!may_be_short(units)
        || lists(Open::existing(FILE_LIST_DIRECTORY).without_check(dir, &[])?.as_fd(), units)?)
}

/// Whether this may be a short name: 8 characters, a dot and 3 more, none of them a small letter.
fn may_be_short(units: &[u16]) -> bool {
    units.len() <= 12 && !units.iter().any(|unit| (0x61..=0x7a).contains(unit))
}

/// The path of an open file in its volume.
fn path_of(file: BorrowedFd, class: FILE_INFORMATION_CLASS) -> Result<Vec<u16>> {
    // Number of bytes, then the units. The buffer is one of 4 bytes, for their alignment.
    let mut buffer = vec![0_u32; 160];
    loop {
        let size = size_of_val(&*buffer);
        let mut status = IO_STATUS_BLOCK::default();
        // SAFETY: the call writes at most `size` bytes to the buffer.
        let done = unsafe {
            let at = buffer.as_mut_ptr().cast();
            NtQueryInformationFile(file.as_raw_handle(), &raw mut status, at, size as u32, class)
        };
        if done == STATUS_BUFFER_OVERFLOW && size < 1 << 17 {
            buffer.resize(buffer.len() * 8, 0);
            continue;
        }
        checked(done)?;
        let units = buffer[1..].iter().flat_map(|pair| [*pair as u16, (pair >> 16) as u16]);
        return Ok(units.take(buffer[0] as usize / 2).collect());
    }
}

/// Opens the entry `name` of a folder. A link is not followed: ELOOP.
pub fn openat(dir: impl AsFd, name: impl Arg, flags: OFlags, _: Mode) -> Result<OwnedFd> {
    let (units, has) = (units_of_name(&name)?, |flag| flags.contains(flag));
    let access = match flags {
        _ if has(OFlags::PASS) => PASS,
        _ if has(OFlags::DIRECTORY) => PASS | FILE_LIST_DIRECTORY | READ_CONTROL,
        // Of an own new file, the rights can be set.
        _ if has(OFlags::RDWR) && has(OFlags::EXCL) => FILE_GENERIC_READ | FILE_GENERIC_WRITE | WRITE_DAC,
        _ if has(OFlags::RDWR) => FILE_GENERIC_READ | FILE_GENERIC_WRITE,
        _ => FILE_GENERIC_READ,
    };
    let disposition = match (has(OFlags::CREATE), has(OFlags::EXCL)) {
        (true, true) => FILE_CREATE,
        (true, false) => FILE_OPEN_IF,
        (false, _) => FILE_OPEN,
    };
    let options = match (has(OFlags::DIRECTORY), has(OFlags::RDWR)) {
        (true, _) => FILE_DIRECTORY_FILE,
        (false, true) => FILE_NON_DIRECTORY_FILE,
        (false, false) => 0,
    };
    let open = |access| Open { access, disposition, options }.at(dir.as_fd(), &units);
    let file = match open(access) {
        // A share need not let it set rights. It is asked to only where they would differ.
        Err(Errno::ACCESS) if access & WRITE_DAC != 0 => open(access & !WRITE_DAC)?,
        opened => opened?,
    };
    match attributes(file.as_fd())? & FILE_ATTRIBUTE_REPARSE_POINT {
        0 => Ok(file),
        _ if units.is_empty() => Ok(file),
        _ => Err(Errno::LOOP),
    }
}

/// Whether an entry exists whose name differs from this one in case alone, or has it as a short name: it is another entry for
/// a look-up, and keeps one of this name from being made.
pub fn exists_in_another_case(dir: impl AsFd, name: impl Arg) -> bool {
    let (dir, open) = (dir.as_fd(), Open::existing(0));
    let Ok(units) = units_of_name(&name) else { return false };
    matches!(open.at(dir, &units), Err(Errno::NOENT)) && open.without_check(dir, &units).is_ok()
}

/// There is no such call: the way step by step finds the folder.
pub fn open_beneath(_: impl AsFd, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Opens the folder at `path`, links followed. Paths may have any length.
pub fn open(path: impl Arg, _: OFlags, _: Mode) -> Result<OwnedFd> {
    let folder = open_path(path, PASS | FILE_LIST_DIRECTORY | READ_CONTROL, 0)?;
    match attributes(folder.as_fd())? & FILE_ATTRIBUTE_DIRECTORY {
        0 => Err(Errno::NOTDIR),
        _ => Ok(folder),
    }
}

/// Opens what is at `path`, of any kind.
pub(super) fn open_path(path: impl Arg, access: FILE_ACCESS_RIGHTS, flags: u32) -> Result<OwnedFd> {
    let mut options = OpenOptions::new();
    options.access_mode(access).share_mode(SHARE_ALL).custom_flags(flags | FILE_FLAG_BACKUP_SEMANTICS);
    let opened = options.open(Path::new(path.as_os_str()));
    opened.map(OwnedFd::from).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Creates a folder.
pub fn mkdirat(dir: impl AsFd, name: impl Arg, _: Mode) -> Result<()> {
    let open = Open { access: PASS, disposition: FILE_CREATE, options: FILE_DIRECTORY_FILE };
    match units_of_name(&name)?.as_slice() {
        [] => Err(Errno::EXIST),
        units => open.at(dir.as_fd(), units).map(drop),
    }
}

/// Whether this process may read or write an entry. To write to a folder is to make files in it.
pub fn accessat(dir: impl AsFd, name: impl Arg, access: Access, _: AtFlags) -> Result<()> {
    let (dir, units) = (dir.as_fd(), units_of_name(&name)?);
    let right = |flag, right| if access.contains(flag) { right } else { 0 };
    let entry = Open::existing(0).at(dir, &units)?;
    let attributes = attributes(entry.as_fd())?;
    let is_file = attributes & FILE_ATTRIBUTE_DIRECTORY == 0;
    if is_file && access.contains(Access::WRITE_OK) && attributes & FILE_ATTRIBUTE_READONLY != 0 {
        return Err(Errno::ACCESS);
    }
    // Reading the data of a file is listing a folder, writing it is adding a file.
    let rights = right(Access::READ_OK, FILE_LIST_DIRECTORY) | right(Access::WRITE_OK, FILE_WRITE_DATA);
    match Open::existing(rights).at(dir, &units) {
        // Another program has it open: that says nothing of this process's rights.
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Where a link leads: always outside, so that no link is followed. Junctions and links with targets of one drive may lead
/// anywhere, and what is on the way would be looked up by the system itself.
pub fn readlinkat(_: impl AsFd, _: impl Arg, _: Vec<u8>) -> Result<std::ffi::CString> {
    std::ffi::CString::new("/").map_err(|_| Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_asked_for_in_the_folder_and_a_long_one_need_not_be() {
        let is = |name: &str| may_be_short(&name.encode_utf16().collect::<Vec<_>>());
        assert!(is("PROGRA~1") && is("LONGNA~1.TXT") && is("README.TXT") && is("1~2"));
        assert!(!is("readme.txt") && !is("Progra~1") && !is("ALONGERNAME.TXT"));
    }
}
