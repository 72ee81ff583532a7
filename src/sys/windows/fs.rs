//! Files and folders, by handles: what `crate::fs` offers here.

pub use super::command::memory_file;
pub use super::content::{
    FileExt, SeekFrom, copy_range, fdatasync, flushes_folders, fsync, has_no_dirty_page, release_lease, seek,
    start_writeback, take_lease,
};
pub use super::dir::{Dir, DirEntry};
pub use super::flags::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags, file_type, mode, mode_bits};
pub use super::locks::{lock_exclusive, try_lock_exclusive, unlock};
pub use super::lookup::{
    ONLY_PASS, accessat, exists_in_another_case, mkdirat, open, open_beneath, openat, readlinkat,
};
pub use super::mounts::sets_aside;
pub use super::replace::{linkat, renameat, renameat_with, symlinkat, unlinkat};
pub use super::rights::{
    DirBuilderExt, Gid, Uid, XattrFlags, copy_system_attributes, fchown, fgetxattr, flistxattr, fremovexattr,
    fsetxattr,
};
pub use super::stat::stat as ask;
pub use super::stat::{
    Stat, Timespec, Timestamps, UTIME_OMIT, entry_facts, fchmod, fstat, futimens, lstat, stat, statat,
};
