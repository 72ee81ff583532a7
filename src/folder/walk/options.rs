//! What a walk is told to enter, and what it says that it left out.
//!
//! Knows no folders and no paths.

/// In which order a walk meets the entries of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkOrder {
    /// By the bytes of their names.
    Name,
    /// So that all paths of the walk come in the order of their bytes. A folder counts as if its name ended in `/`.
    Path,
}

/// What a walk enters.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// In which order entries come.
    pub order: WalkOrder,
    /// Folders below this many levels are not entered; 1 means the entries of the first folder.
    pub depth: usize,
    /// Whether folders on other file systems are entered.
    pub cross_mounts: bool,
    /// Whether files that git ignores are left out.
    pub skip_ignored: bool,
    /// Whether names that begin with a dot are left out, unless a rule of git takes them back.
    pub skip_hidden: bool,
}

impl Default for WalkOptions {
    fn default() -> WalkOptions {
        WalkOptions {
            order: WalkOrder::Name,
            depth: usize::MAX,
            cross_mounts: false,
            skip_ignored: false,
            skip_hidden: false,
        }
    }
}

/// What a walk did not show or enter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Entries that `--exclude` names. Clients must not learn more about them.
    pub excluded: usize,
    /// Folders that have names of this server's temporary files.
    pub reserved: usize,
    /// Entries that git ignores.
    pub ignored: usize,
    /// Of these, folders: what is in them was not met.
    pub ignored_folders: usize,
    /// Entries whose names begin with a dot.
    pub hidden: usize,
    /// Of these, folders.
    pub hidden_folders: usize,
    /// Folders that cannot be read.
    pub unreadable: usize,
    /// Entries whose kind the system does not tell: files, or folders with all that is in them.
    pub unknown: usize,
    /// Folders on another file system.
    pub mounts: usize,
    /// Folders that lie deeper than a path may be long.
    pub too_deep: usize,
    /// Folders of git that are not called `.git`.
    pub repositories: usize,
}

impl LeftOut {
    /// Each number combined with that of `other`.
    pub fn combined(self, other: LeftOut, combine: fn(usize, usize) -> usize) -> LeftOut {
        LeftOut {
            excluded: combine(self.excluded, other.excluded),
            reserved: combine(self.reserved, other.reserved),
            ignored: combine(self.ignored, other.ignored),
            ignored_folders: combine(self.ignored_folders, other.ignored_folders),
            hidden: combine(self.hidden, other.hidden),
            hidden_folders: combine(self.hidden_folders, other.hidden_folders),
            unreadable: combine(self.unreadable, other.unreadable),
            unknown: combine(self.unknown, other.unknown),
            mounts: combine(self.mounts, other.mounts),
            too_deep: combine(self.too_deep, other.too_deep),
            repositories: combine(self.repositories, other.repositories),
        }
    }
}
