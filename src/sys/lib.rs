//! The operating system: the only layer that names a system, rustix, or `std::os`.
//!
//! One set of functions and types with POSIX names. Where systems agree, they are those of rustix and of the standard
//! library, at no cost. What differs stands in one file for each system, and its doc comment says what each one keeps.
//! Knows nothing of the server: no paths of clients, no texts, no locks of ours.

#[cfg(unix)]
mod unix;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
#[allow(missing_docs)] // Its names mean what they do in rustix and in the standard library.
mod windows;
#[cfg(windows)]
use windows as system;

#[cfg(not(target_os = "linux"))]
mod no_acl;
#[cfg(not(target_os = "linux"))]
mod no_inner_mounts;
#[cfg(not(target_os = "linux"))]
mod no_map;
#[cfg(not(target_os = "linux"))]
mod no_watch;
#[cfg(not(target_os = "linux"))]
mod stat;

pub use system::features::features;

/// A part of the kernel that is used where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))] // Other systems have none of them.
pub enum Feature {
    /// A path is looked up beneath a folder in one call.
    OpenBeneath,
    /// Entries tell when they were created.
    Statx,
    /// What of a file waits to be written to the disk.
    CacheState,
    /// Who has a file open for writing.
    Leases,
    /// Files without a name, in memory.
    MemoryFiles,
    /// Processes, by handles.
    ProcessHandles,
}

/// Files and folders, by handles.
pub mod fs {
    /// Whether the mode of a file says who may execute it.
    pub const HAS_EXECUTE_BITS: bool = cfg!(unix);

    #[cfg(target_os = "linux")]
    pub use super::linux::acl::{access_acl, default_acl, is_access_acl, set_access_acl};
    #[cfg(target_os = "linux")]
    pub use super::linux::{
        fs::open_on_device,
        mounts::{mounts, mounts_below},
    };
    #[cfg(not(target_os = "linux"))]
    pub use super::no_acl::{access_acl, default_acl, is_access_acl, set_access_acl};
    #[cfg(not(target_os = "linux"))]
    pub use super::no_inner_mounts::{mounts, mounts_below, open_on_device};
    #[cfg(unix)]
    pub use super::system::fs::{
        ONLY_PASS, Stat, accessat, ask, copy_range, copy_system_attributes, entry_facts, fdatasync,
        file_type, fstat, fsync, has_no_dirty_page, lstat, memory_file, mode, mode_bits, open_beneath,
        release_lease, renameat_with, start_writeback, stat, statat, take_lease,
    };
    pub use super::system::mounts::{TELLS_OPTIONS, file_system_number, mount_of};
    #[cfg(unix)]
    pub use super::unix::locks::{lock_exclusive, try_lock_exclusive, unlock};
    #[cfg(unix)]
    pub use super::unix::names::{exists_in_another_case, flushes_folders, sets_aside};
    #[cfg(windows)]
    pub use super::windows::fs::*;
    #[cfg(unix)]
    pub use rustix::fs::*;
    #[cfg(unix)]
    pub use std::os::unix::fs::{DirBuilderExt, FileExt};

    /// What follows the name of a temporary file in the name of a file that it replaces and that must be set aside for that
    /// moment. Behind it, `-` and the name of that file follow, unless that would be too long.
    pub const SET_ASIDE: &str = "-old";

    /// What follows the name of a file that was set aside and whose name another program has taken since. Behind it, the last
    /// [`KEPT_DIGITS`] characters of the name of the temporary file follow.
    pub const KEPT: &str = ".old-";
    /// In characters.
    pub const KEPT_DIGITS: usize = 16;

    /// A mounted file system.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Mount {
        /// Its type, as mount(8) has it: `ext4`, `nfs4`, `fuse.sshfs`.
        pub kind: String,
        /// What is mounted.
        pub source: String,
        /// The options of the mount and of the file system, comma-separated, as far as the system tells them (`TELLS_OPTIONS`).
        pub options: String,
    }

    /// What an entry of a folder is. Times are in milliseconds since 1970.
    #[derive(Debug, Clone, Copy)]
    pub struct EntryFacts {
        /// As in stat(2).
        pub mode: u32,
        /// In bytes.
        pub size: u64,
        /// `None` if the file system does not say.
        pub created_ms: Option<i64>,
        /// When its content changed last.
        pub modified_ms: i64,
        /// When it was read last.
        pub accessed_ms: i64,
    }

    /// Makes a FIFO that its owner may read and write. By the program, because macOS has no such call relative to a folder.
    #[cfg(any(test, feature = "testing"))]
    pub fn make_fifo(path: impl AsRef<std::ffi::OsStr>) {
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    }

    /// A time in milliseconds, rounded.
    pub(super) fn milliseconds(seconds: i64, nanoseconds: u32) -> i64 {
        seconds.saturating_mul(1_000).saturating_add(i64::from((nanoseconds + 500_000) / 1_000_000))
    }
}

/// Handles of open files.
pub mod fd {
    #[cfg(windows)]
    pub use super::windows::fd::{AsFd, BorrowedFd, OwnedFd};
    #[cfg(unix)]
    pub use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
}

/// Names and paths of clients.
pub mod path {
    /// Whether the usual file systems of the system take names for the same that differ in case alone.
    pub const FOLDS_NAMES: bool = !cfg!(target_os = "linux");

    /// Where programs keep their state, below the user's home folder.
    pub const STATE_FOLDER: &str = match () {
        () if cfg!(target_os = "macos") => "Library/Application Support",
        () if cfg!(windows) => "AppData/Local",
        () => ".local/state",
    };

    #[cfg(unix)]
    pub use super::unix::names::{
        IGNORES_CASE, below, below_in_uri, in_uri, is_absolute, is_usable_name, root, told, usual,
        with_slashes,
    };
    #[cfg(windows)]
    pub use super::windows::names::{IGNORES_CASE, is_usable_name};
    #[cfg(windows)]
    pub use super::windows::paths::{
        below, below_in_uri, in_uri, is_absolute, root, told, usual, with_slashes,
    };
}

/// Names of files as bytes.
pub mod ffi {
    #[cfg(windows)]
    pub use super::windows::names::{OsStrExt, OsStringExt};
    #[cfg(unix)]
    pub use std::os::unix::ffi::{OsStrExt, OsStringExt};
}

/// Reading, writing, and errors of system calls.
pub mod io {
    #[cfg(unix)]
    pub use super::system::fs::read_if_cached;
    #[cfg(windows)]
    pub use super::windows::io::*;
    #[cfg(unix)]
    pub use rustix::io::*;
}

/// Space of a vector that a call fills.
pub mod buffer {
    #[cfg(windows)]
    pub use super::windows::rights::spare_capacity;
    #[cfg(unix)]
    pub use rustix::buffer::spare_capacity;
}

/// Waiting for several handles.
pub mod event {
    #[cfg(unix)]
    pub use super::system::fs::Wake;
    #[cfg(windows)]
    pub use super::windows::command::{PollFd, PollFlags, Timespec, poll};
    #[cfg(windows)]
    pub use super::windows::event::Wake;
    #[cfg(unix)]
    pub use rustix::event::*;
}

/// Sockets.
pub mod net {
    #[cfg(unix)]
    pub use super::unix::net::{is_own_user, limit_unsent, listen_alone, wait_for_reset};
    #[cfg(windows)]
    pub use super::windows::{
        command::UnixStream,
        net::{limit_unsent, wait_for_reset},
    };
    #[cfg(unix)]
    pub use std::os::unix::net::{UnixListener, UnixStream};
}

/// The content of files as memory.
pub mod map {
    #[cfg(all(any(test, feature = "testing"), target_os = "linux"))]
    pub use super::linux::map::{MAPS_FILES, guards_until_full};
    #[cfg(target_os = "linux")]
    pub use super::linux::{map::FileMap, open_map::OpenMap};
    #[cfg(not(target_os = "linux"))]
    pub use super::no_map::{FileMap, OpenMap};
    #[cfg(all(any(test, feature = "testing"), not(target_os = "linux")))]
    pub use super::no_map::{MAPS_FILES, guards_until_full};
}

/// Changes of folders that any program makes.
pub mod watch {
    #[cfg(target_os = "linux")]
    pub use super::linux::watch::{Watch, Watches, folder_id};
    #[cfg(not(target_os = "linux"))]
    pub use super::no_watch::{Watch, Watches, folder_id};

    /// Which folder this is, whatever its path, and by which mount it was reached.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct FolderId {
        /// The mount.
        pub mount: u64,
        /// The device.
        pub device: u64,
        /// The inode.
        pub inode: u64,
    }

    /// What a queue of watches tells.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Notice<'n> {
        /// Something was mounted or unmounted.
        Mounts,
        /// There were more events than the queue holds: anything may have changed.
        Lost,
        /// A watch has ended, because its folder or its file system is gone.
        Ended(Watch),
        /// A change in a watched folder.
        Change(Watch, Change<'n>),
    }

    /// How a name has changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NameStep {
        /// That of a folder, which was made or moved here.
        NewFolder,
        /// That of a folder, which was removed or moved away.
        GoneFolder,
        /// It was made, or is another name of a file that had one.
        New,
        /// It was removed.
        Gone,
        /// It was renamed. A number that the other side of the rename has, too.
        MovedFrom(u32),
        /// It is new by a rename.
        MovedTo(u32),
    }

    /// A change in a watched folder.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Change<'n> {
        /// An entry of this name came, went, or was replaced.
        Name(&'n [u8], NameStep),
        /// A program has opened the file of this name, written to it, closed it after that, or changed its owner, mode or the like.
        Content(&'n [u8]),
        /// The folder's own owner, mode or the like.
        Itself,
        /// The folder has another path, or none.
        Moved,
    }
}

/// Memory of the process.
pub mod memory {
    pub use super::system::memory::{at_thread_end, limit, limit_arenas, no_huge_pages, release_code, used};

    /// Memory of the process, in bytes.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct MemoryUse {
        /// All that is in memory.
        pub resident: u64,
        /// The resident memory that belongs to no file.
        pub anonymous: u64,
    }
}

/// What a machine is like.
pub mod param {
    #[cfg(unix)]
    pub use super::system::process::boot_id;
    #[cfg(windows)]
    pub use super::windows::param::boot_id;
}

/// Processes and their limits.
pub mod process {
    use std::sync::OnceLock;
    use std::thread;

    /// Threads that help one call where the address space is limited.
    const FEW_HELPERS: usize = 4;

    /// The processors that this process may use, at least one, and no more than [`helpers`] allows. Asked once: on Linux, an answer
    /// takes twelve system calls.
    pub fn processors() -> usize {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        *PROCESSORS.get_or_init(|| helpers(thread::available_parallelism().map_or(1, usize::from)))
    }

    /// How many of `wanted` threads may help a call. Where the address space is limited, few: each takes some for its stack and 32 MB
    /// for its heap, and a process that has none left is ended.
    pub fn helpers(wanted: usize) -> usize {
        if address_space_limit() == u64::MAX { wanted } else { wanted.min(FEW_HELPERS) }
    }

    #[cfg(unix)]
    pub use super::system::process::{
        DESCRIPTORS, adopt_orphans, all_processes, go_on_without_parent, lower_thread_priority, open_process,
        own_program, process_info, restore_signals, signal_open_process, start_in,
    };
    #[cfg(unix)]
    pub use super::unix::inherited::{close_on_exec, tell_before_exec};
    #[cfg(unix)]
    pub use super::unix::limits::{
        RUNS_COMMANDS, address_space_limit, cpu_time, exit_at_once, open_file_limit, raise_open_file_limit,
    };
    #[cfg(windows)]
    pub use super::windows::command::{
        CommandExt, Pid, Signal, WaitOptions, adopt_orphans, all_processes, close_on_exec, getpid,
        go_on_without_parent, kill_process, kill_process_group, open_process, own_program, process_info,
        restore_signals, setsid, signal_open_process, start_in, tell_before_exec, wait, waitpgid, waitpid,
    };
    #[cfg(windows)]
    pub use super::windows::process::{
        RUNS_COMMANDS, address_space_limit, cpu_time, exit_at_once, lower_thread_priority, open_file_limit,
        raise_open_file_limit,
    };
    #[cfg(windows)]
    pub use super::windows::rights::{geteuid, umask};
    #[cfg(unix)]
    pub use rustix::process::*;
    #[cfg(unix)]
    pub use std::os::unix::process::CommandExt;

    /// To what a process belongs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ProcessInfo {
        /// The session.
        pub session: i32,
        /// The process group.
        pub group: i32,
        /// It was not waited for yet.
        pub has_ended: bool,
    }
}

/// What tests do to files, beside the layer.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    #[cfg(target_os = "linux")]
    pub use super::linux::acl::{remove_access_acl, set_default_acl};
    #[cfg(not(target_os = "linux"))]
    pub use super::no_acl::{remove_access_acl, set_default_acl};
    #[cfg(windows)]
    pub use super::windows::testing::{
        MetadataExt, PermissionsExt, UnixListener, chown, getxattr, setxattr, symlink,
    };
    #[cfg(unix)]
    pub use rustix::fs::{getxattr, setxattr};
    #[cfg(unix)]
    pub use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    #[cfg(unix)]
    pub use std::os::unix::net::UnixListener;

    /// Opens a folder.
    pub fn open_folder(path: impl AsRef<std::path::Path>) -> super::fd::OwnedFd {
        use super::fs::{Mode, OFlags};

        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        super::fs::open(path.as_ref(), flags, Mode::empty()).expect("a folder")
    }

    /// A file of this machine on a file system whose type has no number in any table. Types have numbers on Linux alone.
    pub fn file_without_a_number() -> std::fs::File {
        let path = match cfg!(target_os = "linux") {
            true => "/proc/self/status".into(),
            false => std::env::current_exe().expect("the program's own file"),
        };
        std::fs::File::open(path).expect("a file")
    }
}

/// What ends or asks a server.
pub mod signal {
    #[cfg(unix)]
    pub use super::unix::signal::{StatusSignal, StopSignals};
    #[cfg(windows)]
    pub use super::windows::signal::{StatusSignal, StopSignals};
}

/// Standard input, output and error.
pub mod stdio {
    #[cfg(unix)]
    pub use super::unix::stdio::*;
    #[cfg(windows)]
    pub use super::windows::command::{dup2_stderr, dup2_stdin, dup2_stdout};
    #[cfg(windows)]
    pub use super::windows::stdin::{read_input, start_input, wait_for_input};
    #[cfg(windows)]
    pub use super::windows::stdio::{
        grow_output, stderr, stdin, write_error, write_error_if_ready, write_output,
    };

    /// How a wait for standard input ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum InputWait {
        /// There are bytes, or it has ended.
        Ready,
        /// Somebody called for the end of the wait.
        Woken,
        /// The time was up.
        TimedOut,
    }
}

/// Clocks.
pub mod time {
    #[cfg(unix)]
    pub use super::unix::limits::thread_cpu_time;
    #[cfg(windows)]
    pub use super::windows::process::thread_cpu_time;
}
