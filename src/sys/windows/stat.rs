//! What entries are: kind, size, times, identity.

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_READONLY, FILE_BASIC_INFO, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
    FILE_STANDARD_INFO, FileBasicInfo, FileStandardInfo,
};

use super::fd::{AsFd, BorrowedFd};
use super::file_info::{attributes, identity, mode_of, query, set_attributes, set_basic};
use super::flags::{AtFlags, Mode};
use super::io::{Errno, Result};
use super::lookup::{Open, open_path};
use super::names::{Arg, units_of_name};
use crate::fs::{EntryFacts, milliseconds};
pub use crate::stat::Stat;

/// 100 ns from 1601, the start of the system's times, to 1970.
const TICKS_TO_1970: i64 = 116_444_736_000_000_000;
const TICKS_A_SECOND: i64 = 10_000_000;

/// Seconds and nanoseconds since 1970.
fn time(ticks: i64) -> (i64, i64) {
    let since = ticks.saturating_sub(TICKS_TO_1970);
    (since.div_euclid(TICKS_A_SECOND), since.rem_euclid(TICKS_A_SECOND) * 100)
}

/// Two answers of the system on one file.
fn facts(file: BorrowedFd) -> Result<(FILE_STANDARD_INFO, FILE_BASIC_INFO)> {
    Ok((query(file, FileStandardInfo)?, query(file, FileBasicInfo)?))
}

/// The time of the last change of a file. Where the file system keeps none, as FAT, that of the last write: so that what has just
/// been written counts as that.
fn change_time(info: &FILE_BASIC_INFO) -> i64 {
    if info.ChangeTime == 0 { info.LastWriteTime } else { info.ChangeTime }
}

/// The state of an open entry.
pub fn fstat(file: impl AsFd) -> Result<Stat> {
    let file = file.as_fd();
    let (info, basic) = facts(file)?;
    let (st_dev, st_ino) = identity(file)?;
    let ((st_mtime, st_mtime_nsec), (st_ctime, st_ctime_nsec)) =
        (time(basic.LastWriteTime), time(change_time(&basic)));
    Ok(Stat {
        st_dev,
        st_ino,
        st_mode: mode_of(basic.FileAttributes),
        // A file that goes when its last handle is closed has no links any more.
        st_nlink: if info.DeletePending { 0 } else { info.NumberOfLinks.into() },
        st_uid: 0,
        st_gid: 0,
        st_size: info.EndOfFile,
        st_mtime,
        st_mtime_nsec,
        st_ctime,
        st_ctime_nsec,
    })
}

/// The state of the entry `name` of a folder; of a link, its own.
pub fn statat(dir: impl AsFd, name: impl Arg, _: AtFlags) -> Result<Stat> {
    Open::existing(0).at(dir.as_fd(), &units_of_name(&name)?).and_then(fstat).map_err(no_file)
}

/// What an entry that the system can have no file of counts as: not there. It lists such entries (a device, a socket of another
/// system), and opens none or tells nothing of them.
fn no_file(errno: Errno) -> Errno {
    match errno {
        Errno::INVAL | Errno::NXIO => Errno::NOENT,
        errno => errno,
    }
}

/// The state of what is at `path`, links followed.
pub fn stat(path: impl Arg) -> Result<Stat> {
    fstat(open_path(path, FILE_READ_ATTRIBUTES, 0)?)
}

/// The state of what is at `path`; of a link, its own.
pub fn lstat(path: impl Arg) -> Result<Stat> {
    fstat(open_path(path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

/// What the entry `name` of a folder is; of a link, the link itself.
pub fn entry_facts(dir: impl AsFd, name: impl Arg) -> Result<EntryFacts> {
    let entry = Open::existing(0).at(dir.as_fd(), &units_of_name(&name)?)?;
    let (info, basic) = facts(entry.as_fd())?;
    let rounded = |ticks| {
        let (seconds, nanoseconds) = time(ticks);
        milliseconds(seconds, u32::try_from(nanoseconds).unwrap_or(0))
    };
    Ok(EntryFacts {
        mode: mode_of(basic.FileAttributes),
        size: info.EndOfFile.cast_unsigned(),
        created_ms: (basic.CreationTime != 0).then(|| rounded(basic.CreationTime)),
        modified_ms: rounded(basic.LastWriteTime),
        accessed_ms: rounded(basic.LastAccessTime),
    })
}

/// A time that is set: seconds and nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Timespec {
    pub tv_sec: i64,
    pub tv_nsec: i64,
}

/// Instead of nanoseconds: the time stays.
pub const UTIME_OMIT: i64 = -1;

/// The times that are set.
#[derive(Debug, Clone, Copy)]
pub struct Timestamps {
    pub last_access: Timespec,
    pub last_modification: Timespec,
}

/// Sets times, in steps of 100 ns.
pub fn futimens(file: impl AsFd, times: &Timestamps) -> Result<()> {
    let ticks = |time: Timespec| match time.tv_nsec {
        UTIME_OMIT => 0,
        nanoseconds => time.tv_sec * TICKS_A_SECOND + nanoseconds / 100 + TICKS_TO_1970,
    };
    let info = FILE_BASIC_INFO {
        LastAccessTime: ticks(times.last_access),
        LastWriteTime: ticks(times.last_modification),
        ..FILE_BASIC_INFO::default()
    };
    set_basic(file.as_fd(), &info)
}

/// Sets the read-only attribute of a file that its owner may not write, or takes it away.
pub fn fchmod(file: impl AsFd, mode: Mode) -> Result<()> {
    let file = file.as_fd();
    let now = attributes(file)?;
    let wanted = match mode.contains(Mode::WUSR) {
        true => now & !FILE_ATTRIBUTE_READONLY,
        false => now | FILE_ATTRIBUTE_READONLY,
    };
    if now == wanted { Ok(()) } else { set_attributes(file, wanted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_time_of_the_last_change_is_kept_that_of_the_last_write_counts() {
        let info =
            |change| FILE_BASIC_INFO { LastWriteTime: 5, ChangeTime: change, ..FILE_BASIC_INFO::default() };
        assert_eq!([change_time(&info(0)), change_time(&info(9))], [5, 9]);
    }
}
