//! Structs of information about open files: asks for them and sets them.
#![allow(unsafe_code)] // System calls.

use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_TAG_INFO, FILE_BASIC_INFO, FILE_ID_INFO,
    FILE_INFO_BY_HANDLE_CLASS, FileAttributeTagInfo, FileBasicInfo, FileIdInfo, GetFileInformationByHandle,
    GetFileInformationByHandleEx, SetFileInformationByHandle,
};

use super::fd::BorrowedFd;
use super::flags::FileType;
use super::io::{Errno, Result};

/// The mode of an entry with these attributes.
pub(super) fn mode_of(attributes: u32) -> u32 {
    let has = |attribute| attributes & attribute != 0;
    match () {
        () if has(FILE_ATTRIBUTE_REPARSE_POINT) => FileType::Symlink.bits() | 0o777,
        () if has(FILE_ATTRIBUTE_DIRECTORY) => FileType::Directory.bits() | 0o777,
        () if has(FILE_ATTRIBUTE_READONLY) => FileType::RegularFile.bits() | 0o444,
        () => FileType::RegularFile.bits() | 0o666,
    }
}

/// Asks for a struct of information about an open file.
pub(super) fn query<T: Default>(file: BorrowedFd, class: FILE_INFO_BY_HANDLE_CLASS) -> Result<T> {
    let mut info = T::default();
    // SAFETY: the call writes at most the struct's size, and the struct belongs to the class, whose values are valid for its fields.
    let done = unsafe {
        let at = (&raw mut info).cast();
        GetFileInformationByHandleEx(file.as_raw_handle(), class, at, size_of::<T>() as u32)
    };
    if done == 0 { Err(Errno::last()) } else { Ok(info) }
}

/// The volume of an open entry, and its number there.
pub(super) fn identity(file: BorrowedFd) -> Result<(u64, u64)> {
    match query::<FILE_ID_INFO>(file, FileIdInfo) {
        Ok(info) => Ok((info.VolumeSerialNumber, folded(u128::from_le_bytes(info.FileId.Identifier)))),
        // A file system without numbers of 128 bits.
        Err(_) => {
            let info = by_handle(file)?;
            let number = u64::from(info.nFileIndexHigh) << 32 | u64::from(info.nFileIndexLow);
            Ok((info.dwVolumeSerialNumber.into(), number))
        }
    }
}

/// A number of 128 bits as one of 64. NTFS uses the lower half alone. ReFS counts both up, from small numbers: they differ as long
/// as each half fits in 32 bits.
fn folded(number: u128) -> u64 {
    number as u64 ^ ((number >> 64) as u64).rotate_left(32)
}

fn by_handle(file: BorrowedFd) -> Result<BY_HANDLE_FILE_INFORMATION> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the call fills the struct, whose fields are numbers.
    let done = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) };
    if done == 0 { Err(Errno::last()) } else { Ok(info) }
}

/// The attributes of an open entry.
pub(super) fn attributes(file: BorrowedFd) -> Result<u32> {
    query::<FILE_ATTRIBUTE_TAG_INFO>(file, FileAttributeTagInfo).map(|info| info.FileAttributes)
}

/// The kind of an entry of a folder by its attributes there.
pub(super) fn kind_of(attributes: u32) -> FileType {
    super::flags::file_type(mode_of(attributes))
}

/// Sets all attributes.
pub(super) fn set_attributes(file: BorrowedFd, attributes: u32) -> Result<()> {
    // None at all would mean that they stay.
    let attributes = if attributes == 0 { FILE_ATTRIBUTE_NORMAL } else { attributes };
    set_basic(file, &FILE_BASIC_INFO { FileAttributes: attributes, ..FILE_BASIC_INFO::default() })
}

/// What is 0 stays as it is.
pub(super) fn set_basic(file: BorrowedFd, info: &FILE_BASIC_INFO) -> Result<()> {
    // SAFETY: the call reads the struct, which belongs to the class.
    let done = unsafe {
        let at = (&raw const *info).cast();
        SetFileInformationByHandle(file.as_raw_handle(), FileBasicInfo, at, size_of_val(info) as u32)
    };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_128_bits_stay_what_they_are_or_differ() {
        let joined = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        assert_eq!(folded(joined(0, 0x0005_0000_0000_1234)), 0x0005_0000_0000_1234);
        let halves = [0x701, 0x702, 0x703, u64::from(u32::MAX)];
        let mut all: Vec<u64> =
            halves.iter().flat_map(|&high| halves.map(|low| folded(joined(high, low)))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), halves.len() * halves.len());
    }
}
