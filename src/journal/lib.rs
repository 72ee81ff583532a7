//! What a change of files was, as bytes for a journal, and how it is taken back out of a text that has changed since
//! (contract 20).
//!
//! Pure over bytes: knows no files and no folders. Paths are the bytes of the system.

use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use text::splice::EditPlan;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

pub use self::form::{FORMAT, Unreadable};
pub use self::hunks::{Hunk, Replaced};
pub use self::merge::{Conflict, ConflictPlace, undo_plan};
pub use self::pieces::{Piece, Toggle};
pub use self::rest::Rest;

mod form;
mod hunks;
mod merge;
mod pieces;
mod rest;

/// Everything that one successful call changed, and what takes it back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When it was made, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who made it.
    pub author: Author,
    /// The tool that was called.
    pub tool: String,
    /// What the client said of it; may be empty.
    pub message: String,
    /// The number of the change that this one takes back.
    pub undoes: Option<u64>,
    /// What it takes back or does again.
    pub toggles: Vec<Toggle>,
    /// The absolute paths of the served folders that places are below. Empty: no place is below it.
    pub roots: Vec<Vec<u8>>,
    /// The files whose content changed, before all steps.
    pub files: Vec<FileChange>,
    /// The changes of names, in order.
    pub steps: Vec<Step>,
    /// Why it cannot be taken back. Empty: it can.
    pub not_undoable: String,
}

/// Who makes changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Author {
    /// The name and version of the client.
    pub client: String,
    /// The session in which it made them.
    pub session: String,
}

/// An entry: the number of a root, and its path below that.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// An index into [`Change::roots`].
    pub root: usize,
    /// The path below the root.
    pub path: Vec<u8>,
}

/// Device and inode of an entry.
pub type EntryId = (u64, u64);

/// A file whose content changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Where it was before the steps of the change.
    pub from: Place,
    /// Where it was after them.
    pub at: Place,
    /// [`hash`] of the content before.
    pub before: u64,
    /// [`hash`] of the content after.
    pub after: u64,
    /// What was replaced.
    pub hunks: Vec<Hunk>,
    /// The file that took its place.
    pub id: EntryId,
    /// The name beside it under which the old file is kept until the change is done; empty: none.
    pub hidden: Vec<u8>,
}

/// A change of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A new folder.
    Folder {
        /// Its place.
        at: Place,
    },
    /// A new file.
    New {
        /// Its place.
        at: Place,
        /// [`hash`] of its content.
        after: u64,
        /// The file.
        id: EntryId,
    },
    /// A new symbolic link.
    Link {
        /// Its place.
        at: Place,
        /// What it leads to.
        target: Vec<u8>,
    },
    /// An entry has another place.
    Moved {
        /// Its place before.
        from: Place,
        /// Its place behind.
        to: Place,
        /// The entry.
        id: EntryId,
    },
    /// An entry is gone.
    Deleted {
        /// Its place.
        at: Place,
        /// What was there, by paths in it: itself, with an empty one, comes first, and a folder before what is in it. Empty: that is not
        /// kept.
        entries: Vec<(Vec<u8>, KeptEntry)>,
        /// The entry.
        id: EntryId,
        /// The name beside it that the entry has until the change is done.
        hidden: Vec<u8>,
    },
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptEntry {
    /// A file.
    File {
        /// Its permissions.
        mode: u32,
        /// Its content.
        content: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// What it leads to.
        target: Vec<u8>,
    },
    /// A folder.
    Folder {
        /// Its permissions.
        mode: u32,
    },
}

/// The largest text whose changes are found again by their lines, in bytes. Of a larger one it must be known what has changed since.
const MOST_BY_LINES: usize = 32 << 20;

/// The number that tells two contents apart.
pub fn hash(content: &[u8]) -> u64 {
    xxh3_64(content)
}

/// The [`hash`] of a content that comes in pieces.
#[derive(Default)]
pub struct ContentHash(Xxh3Default);

impl ContentHash {
    /// The hash of all bytes that were written.
    pub fn hash(&self) -> u64 {
        self.0.digest()
    }
}

impl Write for ContentHash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Change {
    /// What remains to be noted of a change that is done and kept, if something that it has hidden could not be removed: places and names.
    #[must_use]
    pub fn into_removal(self) -> Change {
        let mut removal =
            Change { roots: self.roots, files: self.files, steps: self.steps, ..Change::default() };
        removal.files.iter_mut().for_each(|file| file.hunks = Vec::new());
        removal.steps.iter_mut().for_each(|step| {
            if let Step::Deleted { entries, .. } = step {
                *entries = Vec::new();
            }
        });
        removal
    }

    /// Whether it only notes what is to be removed of another one, if it is open and all names are changed.
    pub fn is_removal(&self) -> bool {
        self.tool.is_empty()
    }

    /// All places that it names.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let of_files = self.files.iter().flat_map(|file| [&file.from, &file.at]);
        let of_steps = self.steps.iter().flat_map(|step| match step {
            Step::Moved { from, to, .. } => [from, to],
            step => [step.place(), step.place()],
        });
        of_files.chain(of_steps)
    }
}

impl Step {
    /// The place of what it changes, before it.
    pub fn place(&self) -> &Place {
        match self {
            Step::Folder { at } | Step::New { at, .. } | Step::Link { at, .. } | Step::Deleted { at, .. } => {
                at
            }
            Step::Moved { from, .. } => from,
        }
    }
}

impl FileChange {
    /// What the plan makes of `old`.
    pub fn of(plan: &EditPlan, old: &[u8]) -> FileChange {
        if old.len().max(plan.len_after(old.len())) > MOST_BY_LINES {
            let mut after = ContentHash::default();
            // A write to a hash cannot fail.
            let _ = plan.write_to(old, &mut after);
            let (before, after, hunks) = (hash(old), after.hash(), hunks::by_bytes(plan, old));
            return FileChange { before, after, hunks, ..FileChange::default() };
        }
        let mut new = Vec::with_capacity(plan.len_after(old.len()));
        // A write to memory cannot fail.
        let _ = plan.write_to(old, &mut new);
        let hunks = hunks::of(plan, old, &new);
        FileChange { before: hash(old), after: hash(&new), hunks, ..FileChange::default() }
    }
}

#[cfg(test)]
mod tests;
