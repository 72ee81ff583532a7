//! Renames and removes entries by the handles of their folders.
//!
//! Where the file system can, as POSIX says: the name has the new file at once, and a name that is removed is gone at once,
//! while programs that have the old file open keep it. Where it cannot (FAT, some network file systems, wine 8):
//!
//! - A file that programs have open is set aside before the new one gets its name. For a moment, the name is of no file; that
//!   is hidden from this program by [`super::turn`]. If the process dies then, the old file has the name of the new file before,
//!   [`SET_ASIDE`] and its own name behind it, by which it is put back (`engine::fs::temporary`). If another program makes an
//!   entry of the name in that moment, the old file is kept beside it, with [`KEPT`] behind its name.
//! - A removed name stays until the last handle of the file is closed; nobody can open it any more.
#![allow(unsafe_code)] // System calls.

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsRawHandle;
use std::thread;
use std::time::Duration;

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DISPOSITION_DELETE, FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE, FILE_DISPOSITION_INFORMATION,
    FILE_DISPOSITION_INFORMATION_EX, FILE_DISPOSITION_POSIX_SEMANTICS, FILE_INFORMATION_CLASS,
    FILE_RENAME_IGNORE_READONLY_ATTRIBUTE, FILE_RENAME_INFORMATION, FILE_RENAME_POSIX_SEMANTICS,
    FILE_RENAME_REPLACE_IF_EXISTS, FileDispositionInformation, FileDispositionInformationEx,
    FileRenameInformation, FileRenameInformationEx, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    NTSTATUS, STATUS_INVALID_DEVICE_REQUEST, STATUS_INVALID_INFO_CLASS, STATUS_INVALID_PARAMETER,
    STATUS_NOT_IMPLEMENTED, STATUS_NOT_SUPPORTED,
};
use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_ATTRIBUTE_READONLY, FILE_WRITE_ATTRIBUTES};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::fd::{AsFd, BorrowedFd, OwnedFd};
use super::file_info::{attributes, kind_of, set_attributes};
use super::flags::{AtFlags, FileType, RenameFlags};
use super::io::{Errno, Result, checked};
use super::lookup::Open;
use super::names::{Arg, units_of_name};
use super::turn::Turn;
use crate::fs::{KEPT, KEPT_DIGITS, SET_ASIDE};

/// The longest name in bytes that every file system and server takes.
const LONGEST: usize = 255;

/// How often a rename or a removal is tried while another program has one of the files open without sharing it, or any in a folder
/// that is renamed: programs that look for viruses or make an index do so for a moment. Half a second in all.
const TRIES: u32 = 8;

/// The time until the second try; each further one takes twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(4);

/// Renames an entry. What has the new name is replaced.
pub fn renameat(from: impl AsFd, old: impl Arg, to: impl AsFd, new: impl Arg) -> Result<()> {
    let (old, new) = (units_of_name(&old)?, units_of_name(&new)?);
    let place = (to.as_fd(), new.as_slice());
    patiently(|| {
        let entry = to_change(from.as_fd(), &old)?;
        match rename_as_posix(entry.as_fd(), place) {
            status if is_unknown(status) => {}
            status => return checked(status).map_err(|errno| error_of_replacing(errno, place)),
        }
        match checked(rename(entry.as_fd(), place, FileRenameInformation, 1)) {
            // Somebody has it open.
            Err(Errno::ACCESS) => replace_open(entry.as_fd(), &old, place),
            renamed => renamed,
        }
    })
}

/// Renames an entry. With NOREPLACE, EEXIST if something has the new name in any case, unless it is the entry itself.
pub fn renameat_with(
    from: impl AsFd,
    old: impl Arg,
    to: impl AsFd,
    new: impl Arg,
    flags: RenameFlags,
) -> Result<()> {
    if !flags.contains(RenameFlags::NOREPLACE) {
        return renameat(from, old, to, new);
    }
    let (old, new) = (units_of_name(&old)?, units_of_name(&new)?);
    // A folder in which somebody has a file open is not renamed; the system does not tell this from a lack of rights.
    let is_folder = || {
        let entry = Open::existing(0).at(from.as_fd(), &old);
        entry.and_then(|entry| attributes(entry.as_fd())).map(kind_of) == Ok(FileType::Directory)
    };
    let is_busy = |errno| errno == Errno::AGAIN || errno == Errno::ACCESS && is_folder();
    while_busy(is_busy, || {
        let entry = to_change(from.as_fd(), &old)?;
        // A file that is being replaced has no name for a moment.
        let _turn = Turn::of(to.as_fd());
        checked(rename(entry.as_fd(), (to.as_fd(), &new), FileRenameInformation, 0))
    })
}

/// Symbolic links are not made here.
pub fn symlinkat(_: impl Arg, _: impl AsFd, _: impl Arg) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// A second name is not given: every file system here knows renames that replace nothing.
pub fn linkat(_: impl AsFd, _: impl Arg, _: impl AsFd, _: impl Arg, _: AtFlags) -> Result<()> {
    Err(Errno::NOSYS)
}

/// Removes a file or a link; with REMOVEDIR, an empty folder.
pub fn unlinkat(dir: impl AsFd, name: impl Arg, flags: AtFlags) -> Result<()> {
    let units = units_of_name(&name)?;
    patiently(|| {
        let entry = to_change(dir.as_fd(), &units)?;
        let is_folder = kind_of(attributes(entry.as_fd())?) == FileType::Directory;
        match (is_folder, flags.contains(AtFlags::REMOVEDIR)) {
            (true, false) => Err(Errno::ISDIR),
            (false, true) => Err(Errno::NOTDIR),
            _ => remove(dir.as_fd(), &units, entry.as_fd()),
        }
    })
}

/// Repeats `work` while another program has a file open without sharing it.
pub(super) fn patiently<T>(work: impl Fn() -> Result<T>) -> Result<T> {
    while_busy(|errno| errno == Errno::AGAIN, work)
}

/// Repeats `work` while its error says that another program uses what it needs.
fn while_busy<T>(is_busy: impl Fn(Errno) -> bool, work: impl Fn() -> Result<T>) -> Result<T> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match work() {
            Err(errno) if is_busy(errno) => thread::sleep(pause),
            done => return done,
        }
        pause *= 2;
    }
    work()
}

/// Opens an entry to rename or to remove it.
fn to_change(dir: BorrowedFd, units: &[u16]) -> Result<OwnedFd> {
    match units {
        // The folder itself.
        [] => Err(Errno::INVAL),
        units => Open::existing(DELETE).at(dir, units),
    }
}

/// Renames an open entry as POSIX says: over a file that programs have open, too. Before Windows 10 1809 the system refuses the flag for
/// read-only files, so the rename is tried without it.
fn rename_as_posix(entry: BorrowedFd, to: (BorrowedFd, &[u16])) -> NTSTATUS {
    let flags = FILE_RENAME_REPLACE_IF_EXISTS | FILE_RENAME_POSIX_SEMANTICS;
    match rename(entry, to, FileRenameInformationEx, flags | FILE_RENAME_IGNORE_READONLY_ATTRIBUTE) {
        status if is_unknown(status) => rename(entry, to, FileRenameInformationEx, flags),
        status => status,
    }
}

/// The error of a rename over an entry. A file that a program has open without sharing its removal may be answered as a lack of
/// rights; an open for removal tells the two apart.
fn error_of_replacing(errno: Errno, place: (BorrowedFd, &[u16])) -> Errno {
    match errno {
        Errno::ACCESS if matches!(to_change(place.0, place.1), Err(Errno::AGAIN)) => Errno::AGAIN,
        errno => errno,
    }
}

/// Renames an open entry to the name with these units in a folder.
fn rename(
    entry: BorrowedFd,
    to: (BorrowedFd, &[u16]),
    class: FILE_INFORMATION_CLASS,
    flags: u32,
) -> NTSTATUS {
    const NAME: usize = std::mem::offset_of!(FILE_RENAME_INFORMATION, FileName);
    let (folder, name) = to;
    let len = NAME + size_of_val(name);
    // Of 8 bytes each, for the alignment of the struct, and with room for all of it.
    let mut buffer = vec![0_u64; len.max(size_of::<FILE_RENAME_INFORMATION>()).div_ceil(8)];
    let at = buffer.as_mut_ptr();
    // SAFETY: the buffer has room for the struct and for the name behind its head, and is aligned.
    unsafe {
        let info = &mut *at.cast::<FILE_RENAME_INFORMATION>();
        info.Anonymous.Flags = flags;
        info.RootDirectory = folder.as_raw_handle();
        info.FileNameLength = size_of_val(name) as u32;
        at.cast::<u8>().add(NAME).cast::<u16>().copy_from_nonoverlapping(name.as_ptr(), name.len());
    }
    set(entry, class, at.cast(), size_of_val(&*buffer))
}

fn set(entry: BorrowedFd, class: FILE_INFORMATION_CLASS, info: *const u8, len: usize) -> NTSTATUS {
    let mut status = IO_STATUS_BLOCK::default();
    // SAFETY: all callers have `len` bytes at `info`, a struct that belongs to the class. The call only reads them.
    unsafe { NtSetInformationFile(entry.as_raw_handle(), &raw mut status, info.cast(), len as u32, class) }
}

/// Whether the file system does not know what it was asked for.
fn is_unknown(status: NTSTATUS) -> bool {
    matches!(
        status,
        STATUS_INVALID_INFO_CLASS
            | STATUS_INVALID_PARAMETER
            | STATUS_INVALID_DEVICE_REQUEST
            | STATUS_NOT_IMPLEMENTED
            | STATUS_NOT_SUPPORTED
    )
}

/// Replaces a file that programs have open, as the module says.
fn replace_open(entry: BorrowedFd, old: &[u16], place: (BorrowedFd, &[u16])) -> Result<()> {
    let (folder, name) = place;
    let _turn = Turn::of(folder);
    let replaced = to_change(folder, name)?;
    // Another program has made it since the caller looked.
    if kind_of(attributes(replaced.as_fd())?) == FileType::Directory {
        return Err(Errno::ISDIR);
    }
    let (aside, kept) = (name_aside(old, name), name_kept(old, name));
    let plainly = |file: BorrowedFd, to| checked(rename(file, to, FileRenameInformation, 0));
    plainly(replaced.as_fd(), (folder, &aside))?;
    plainly(entry, place).inspect_err(|_| {
        let back = plainly(replaced.as_fd(), place);
        let _ = back.or_else(|_| plainly(replaced.as_fd(), (folder, &kept)));
    })?;
    // The change is in place. What cannot be removed, as a program has it mapped, gets the name that has become free: it is one
    // that is removed later.
    let _ = remove(folder, &aside, replaced.as_fd()).or_else(|_| plainly(replaced.as_fd(), (folder, old)));
    Ok(())
}

/// The name of the file `name` while the one that was named `old` takes its place.
fn name_aside(old: &[u16], name: &[u16]) -> Vec<u16> {
    let mut aside: Vec<u16> = old.iter().copied().chain(SET_ASIDE.encode_utf16()).collect();
    if is_short(old, name) {
        aside.push(u16::from(b'-'));
        aside.extend(name);
    }
    aside
}

/// Its name if its own has been taken meanwhile.
fn name_kept(old: &[u16], name: &[u16]) -> Vec<u16> {
    let name = if is_short(old, name) { name } else { &[] };
    let digits = &old[old.len().saturating_sub(KEPT_DIGITS)..];
    name.iter().copied().chain(KEPT.encode_utf16()).chain(digits.iter().copied()).collect()
}

/// Whether the name of a file that is set aside for `old` has room for its own.
fn is_short(old: &[u16], name: &[u16]) -> bool {
    let bytes = |units: &[u16]| OsString::from_wide(units).len();
    bytes(old) + SET_ASIDE.len() + 1 + bytes(name) <= LONGEST
}

/// Removes an open entry, whose name in `dir` has these units.
fn remove(dir: BorrowedFd, units: &[u16], entry: BorrowedFd) -> Result<()> {
    match remove_as_posix(entry, FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE) {
        status if is_unknown(status) => {}
        status => return checked(status),
    }
    let now = attributes(entry)?;
    if now & FILE_ATTRIBUTE_READONLY == 0 {
        return remove_writable(entry);
    }
    let writable = Open::existing(FILE_WRITE_ATTRIBUTES).at(dir, units)?;
    set_attributes(writable.as_fd(), now & !FILE_ATTRIBUTE_READONLY)?;
    remove_writable(entry).inspect_err(|_| _ = set_attributes(writable.as_fd(), now))
}

/// Removes an open entry that is not read-only. Windows 10 before 1809 knows POSIX semantics without the flag for read-only files.
fn remove_writable(entry: BorrowedFd) -> Result<()> {
    match remove_as_posix(entry, 0) {
        status if is_unknown(status) => {}
        status => return checked(status),
    }
    let info = FILE_DISPOSITION_INFORMATION { DeleteFile: true };
    checked(set(entry, FileDispositionInformation, (&raw const info).cast(), size_of_val(&info)))
}

fn remove_as_posix(entry: BorrowedFd, more: u32) -> NTSTATUS {
    let flags = FILE_DISPOSITION_DELETE | FILE_DISPOSITION_POSIX_SEMANTICS | more;
    let info = FILE_DISPOSITION_INFORMATION_EX { Flags: flags };
    set(entry, FileDispositionInformationEx, (&raw const info).cast(), size_of_val(&info))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

    use super::*;

    const NEW: &str = ".file-editor-tmp-0123456789abcdef";

    fn units(name: &str) -> Vec<u16> {
        name.encode_utf16().collect()
    }

    /// A folder with the files `a` and [`NEW`], which hold their names.
    fn folder() -> (tempfile::TempDir, OwnedFd) {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", NEW] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let folder = crate::testing::open_folder(dir.path());
        (dir, folder)
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_open_is_replaced_and_a_folder_is_not() {
        let (dir, folder) = folder();
        fs::create_dir(dir.path().join("sub")).unwrap();
        let _open = fs::File::open(dir.path().join("a")).unwrap();
        assert!(renameat(&folder, NEW, &folder, "sub").is_err());
        assert_eq!(names(dir.path()), [NEW, "a", "sub"]);
        renameat(&folder, NEW, &folder, "a").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), NEW);
    }

    #[test]
    fn a_refusal_to_replace_a_file_that_is_open_unshared_says_that_it_is_in_use_and_any_other_stays() {
        use std::os::windows::fs::OpenOptionsExt;
        let (dir, folder) = folder();
        let error = |errno| error_of_replacing(errno, (folder.as_fd(), &units("a")));
        assert_eq!(error(Errno::ACCESS), Errno::ACCESS);
        let open = fs::File::options().read(true).share_mode(FILE_SHARE_READ).open(dir.path().join("a"));
        assert_eq!(error(Errno::ACCESS), Errno::AGAIN);
        assert_eq!(error(Errno::ISDIR), Errno::ISDIR);
        drop(open);
        assert_eq!(error(Errno::ACCESS), Errno::ACCESS);
    }

    #[test]
    fn a_file_whose_place_the_new_one_cannot_take_has_its_name_again() {
        let (dir, folder) = folder();
        // A handle without the right to rename.
        let new = Open::existing(0).at(folder.as_fd(), &units(NEW)).unwrap();
        assert!(replace_open(new.as_fd(), &units(NEW), (folder.as_fd(), &units("a"))).is_err());
        assert_eq!(names(dir.path()), [NEW, "a"]);
        assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "a");
    }

    #[test]
    fn what_another_program_uses_for_a_moment_is_tried_again_and_what_is_refused_is_not() {
        let tried = |answers: &[Result<()>]| {
            let calls = std::cell::Cell::new(0);
            let done = patiently(|| {
                calls.set(calls.get() + 1);
                answers[calls.get() - 1]
            });
            (done, calls.get())
        };
        assert_eq!(tried(&[Err(Errno::AGAIN), Err(Errno::AGAIN), Ok(())]), (Ok(()), 3));
        assert_eq!(tried(&[Err(Errno::ACCESS), Ok(())]), (Err(Errno::ACCESS), 1));
    }

    #[test]
    fn a_read_only_file_that_cannot_be_removed_stays_read_only() {
        let (dir, folder) = folder();
        let is_read_only = || fs::metadata(dir.path().join("a")).unwrap().permissions().readonly();
        let mut rights = fs::metadata(dir.path().join("a")).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(dir.path().join("a"), rights).unwrap();
        // A handle without the right to remove.
        let entry = Open::existing(0).at(folder.as_fd(), &units("a")).unwrap();
        assert!(remove(folder.as_fd(), &units("a"), entry.as_fd()).is_err());
        assert!(is_read_only());
        drop(entry);
        unlinkat(&folder, "a", AtFlags::empty()).unwrap();
        assert_eq!(names(dir.path()), [NEW]);
    }

    #[test]
    fn the_names_of_what_is_set_aside_or_kept_are_short_enough_for_every_file_system() {
        let text = |units: Vec<u16>| String::from_utf16(&units).unwrap();
        assert_eq!(text(name_aside(&units(NEW), &units("a"))), format!("{NEW}-old-a"));
        assert_eq!(text(name_kept(&units(NEW), &units("a"))), "a.old-0123456789abcdef");
        let longest = "x".repeat(LONGEST - NEW.len() - SET_ASIDE.len() - 1);
        assert_eq!(name_aside(&units(NEW), &units(&longest)).len(), LONGEST);
        for long in [longest + "x", "\u{6f22}".repeat(80)] {
            assert_eq!(text(name_aside(&units(NEW), &units(&long))), format!("{NEW}-old"));
            assert_eq!(text(name_kept(&units(NEW), &units(&long))), ".old-0123456789abcdef");
        }
    }
}
