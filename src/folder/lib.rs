//! A folder beneath a handle: looks up paths, views, locks, replaces and removes files, walks trees, and tells by stamps which
//! state of a file is which.
//!
//! Knows no lines, edits, caches or searches: what the bytes of a file mean belongs to the crates that use it. No access leaves
//! the folder, and no file is half-written (contract 8). What an operation needs of its caller is [`Control`]: its time, and
//! whether it was cancelled.

mod caller;
mod control;
mod early;
mod error;
mod exclude;
mod file_version;
pub mod foreign;
pub mod fs;
mod ignored;
mod live;
mod lookups;
mod path;
mod progress;
mod wait_counter;
mod walk;

pub use caller::Caller;
pub use control::{Control, Late};
pub use early::EarlyText;
pub use error::{
    CannotRun, Error, NoParent, NotFound, Occupant, Result, ToolFailure, ToolFailureKind, ValueProblem,
    is_no_room,
};
pub use exclude::Excludes;
pub use file_version::{ContentHash, FileVersion};
pub use foreign::{bare_paths, before_lines, readings};
pub use live::{Belief, FileCounts, Live, LiveCounts, LiveNews};
pub use lookups::{Lookups, TOGETHER, looks_at_once};
pub use path::{
    FilePath, FolderPaths, MAX_COMPONENTS, MAX_NAME, MAX_PATH, NamePolicy, NameProblem, NameRule, admits,
    is_in_git,
};
pub use progress::Progress;
pub use wait_counter::{CountedWait, WaitCounter, WaitCounts};
pub use walk::{
    EntryKind, EntryPlace, LateStats, LeftOut, LiveFolders, Passed, StatResult, Walk, WalkEntry, WalkOptions,
    WalkOrder, WalkStep, WalkedFolder, believe, is_shortage, passed,
};
