//! The core: bytes, files and locks. Knows no JSON, HTTP, MCP, tokio or serde.
//!
//! The engine guarantees (contract 8): no file is half-written, no edit is lost, no access leaves the folder, no
//! answer contains bytes that the file never held. The entry point is [`Workspace`].
//!
//! In comments, "contract 8" is section 8 of `docs/contract.md`.
//!
//! # Lines
//!
//! A line break is `\n`, `\r\n` or a lone `\r`. A line is the text between two breaks. A break at the end of
//! the file ends the last line and starts no new one. So `"a"` and `"a\n"` have one line, `"a\n\n"` has two
//! (the second is empty), `"\n"` has one (empty), and the empty file has none. A byte order mark is not part
//! of line 0.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use engine::*;
//! use folder::Control;
//! use text::line_edit::LineEdits;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("file-editor-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let options = WorkspaceOptions::default();
//! let workspace = Workspace::open(&[folder.clone()], options).map_err(|_| "cannot open the folder")?;
//! let name = workspace.parse_path("notes.txt").map_err(|_| "not a name")?;
//! let control = Control::new(Duration::from_secs(10));
//!
//! let edits = LineEdits { edits: Vec::new(), append: Some("one\ntwo\nthree".into()) };
//! let edited = workspace.edit_lines(&name, &edits, true, &control).map_err(|_| "not edited")?;
//! assert!(edited.created && edited.total_lines == 3);
//!
//! let range = LineRange { start: Some(1), end: None };
//! let excerpt = workspace.read(&name, range, &control).map_err(|_| "not read")?;
//! assert_eq!(excerpt.bytes(), b"two\nthree");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod cache;
mod change_log;
mod command;
mod doctor;
mod filter_cache;
mod filter_store;
mod last_opened;
mod list;
mod name_table;
mod stamp_cache;
mod workspace;

pub use cache::IndexCache;
pub use change_log::{ChangeLog, ChangeNumber, OpenChange, UndoTurn, Unrecorded, others_behind};
pub use command::{
    COMMAND_ENDING, COMMANDS_AT_ONCE, CommandEnd, CommandRequest, CommandStatus, Commands, Output,
    is_supervisor, process_waited_for, start_process, supervise, take_orphans,
};
pub use doctor::{Finding, Level, check_folder, check_machine};
pub use filter_store::{FilterRecords, RecordsTail};
pub use list::{FileEntry, ListOptions, Listing};
pub use stamp_cache::CacheCounts;
pub use workspace::{
    AnalysedFile, AnalysedFiles, Analysis, AnalysisKind, AnalysisOptions, ByOthers, ChangeOptions, Changed,
    ChangedFile, Deletion, Edited, EntryInfo, Excerpt, FileAnalyser, FileOutcome, FolderHandle, FoundFile,
    JobChange, JobDone, JobError, JobNote, JobOptions, LastFile, LateFile, LineEnd, LineRange, LineSink,
    LineSpan, LinesRead, MountWait, NewAnalyser, NewFile, OpenError, Operation, PartRead, Receiver, Recorded,
    SearchCounts, SearchOptions, SearchPlace, SearchStop, Searched, TextPart, TextPlan, Unanalysed,
    Unremoved, Workspace, WorkspaceCounts, WorkspaceOptions, outermost, without_missing,
};
