//! Files and folders, by handles: what `crate::sys::fs` offers here.

pub(crate) use super::command::memory_file;
pub(crate) use super::content::{
    FileExt, SeekFrom, copy_range, fdatasync, flushes_folders, fsync, has_no_dirty_page, release_lease, seek,
    take_lease,
};
pub(crate) use super::dir::{Dir, DirEntry};
pub(crate) use super::flags::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags, file_type, mode};
pub(crate) use super::locks::{lock_exclusive, try_lock_exclusive, unlock};
pub(crate) use super::lookup::{
    ONLY_PASS, accessat, exists_in_another_case, mkdirat, open, open_beneath, openat, readlinkat,
};
pub(crate) use super::mounts::sets_aside;
pub(crate) use super::replace::{linkat, renameat, renameat_with, unlinkat};
pub(crate) use super::rights::{
    DirBuilderExt, Gid, Uid, XattrFlags, copy_system_attributes, fchown, fgetxattr, flistxattr, fremovexattr,
    fsetxattr,
};
pub(crate) use super::stat::stat as ask;
pub(crate) use super::stat::{
    Stat, Timespec, Timestamps, UTIME_OMIT, entry_facts, fchmod, fstat, futimens, lstat, stat, statat,
};
