//! Flags of calls and bits of modes, with the POSIX names that the other systems have. Only what is used.

/// A set of bits with named members.
macro_rules! flags {
    ($(#[$doc:meta])* $name:ident { $($(#[$note:meta])* $member:ident = $bits:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(u32);

        #[allow(dead_code)] // Each has the same set of functions.
        impl $name {
            $($(#[$note])* pub const $member: $name = $name($bits);)+

            pub const fn empty() -> $name {
                $name(0)
            }

            pub const fn union(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            pub const fn intersection(self, other: $name) -> $name {
                $name(self.0 & other.0)
            }

            pub const fn difference(self, other: $name) -> $name {
                $name(self.0 & !other.0)
            }

            pub const fn intersects(self, other: $name) -> bool {
                self.0 & other.0 != 0
            }

            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;

            fn bitor(self, other: $name) -> $name {
                self.union(other)
            }
        }
    };
}

flags! {
    /// How to open a file. To read is always allowed, except for [`OFlags::PASS`].
    OFlags {
        RDONLY = 0,
        RDWR = 1 << 0,
        CREATE = 1 << 1,
        /// With `CREATE`: fails if the name exists in any case.
        EXCL = 1 << 2,
        /// Only a folder.
        DIRECTORY = 1 << 3,
        /// Links are never followed, with or without it.
        NOFOLLOW = 1 << 4,
        /// No open waits for another process here.
        NONBLOCK = 0,
        NOCTTY = 0,
        /// No handle is inherited.
        CLOEXEC = 0,
        /// Only to look up names below it.
        PASS = 1 << 5,
    }
}

flags! {
    /// Permissions. The system keeps one of them: whether a file may be written (its read-only attribute).
    Mode {
        RUSR = 0o400,
        WUSR = 0o200,
        RWXU = 0o700,
        RWXG = 0o070,
        RWXO = 0o007,
        /// What others may do is not in the mode.
        WGRP = 0,
        WOTH = 0,
        /// No file runs with the rights of another user.
        SUID = 0,
        SGID = 0,
    }
}

impl Mode {
    pub const fn from_raw_mode(bits: u32) -> Mode {
        Mode(bits)
    }

    pub const fn as_raw_mode(self) -> u32 {
        self.0
    }
}

flags! {
    /// Of calls that name an entry in a folder.
    AtFlags {
        EACCESS = 1 << 0,
        REMOVEDIR = 1 << 1,
        SYMLINK_NOFOLLOW = 1 << 2,
    }
}

flags! {
    /// What a process may do with an entry.
    Access {
        READ_OK = 1 << 0,
        WRITE_OK = 1 << 1,
        EXEC_OK = 0,
    }
}

flags! {
    /// Of a rename.
    RenameFlags {
        NOREPLACE = 1 << 0,
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // No entry is of the last two kinds here.
pub enum FileType {
    RegularFile,
    Directory,
    /// A reparse point of any kind: a symbolic link, a junction, a mount point, a file that is elsewhere.
    Symlink,
    Fifo,
    Unknown,
}

/// The bits of a kind in a mode.
const KIND: u32 = 0o170_000;

impl FileType {
    pub(super) fn bits(self) -> u32 {
        match self {
            FileType::RegularFile => 0o100_000,
            FileType::Directory => 0o040_000,
            FileType::Symlink => 0o120_000,
            FileType::Fifo => 0o010_000,
            FileType::Unknown => 0,
        }
    }
}

/// The kind of entry in a mode of [`Stat`](super::stat::Stat).
pub fn file_type(mode: u32) -> FileType {
    let kinds = [FileType::RegularFile, FileType::Directory, FileType::Symlink, FileType::Fifo];
    kinds.into_iter().find(|kind| kind.bits() == mode & KIND).unwrap_or(FileType::Unknown)
}

/// The permissions in a mode of [`Stat`](super::stat::Stat).
pub fn mode(mode: u32) -> Mode {
    Mode(mode & 0o7777)
}

/// The bits of permissions.
pub fn mode_bits(mode: Mode) -> u32 {
    mode.as_raw_mode()
}
