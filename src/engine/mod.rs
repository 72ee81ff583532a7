//! The core: bytes, files and locks. Knows no JSON, HTTP, MCP, tokio or serde.
//!
//! The engine guarantees (contract 8): no file is half-written, no edit is lost, no access leaves the folder, no
//! answer contains bytes that the file never held. The entry point is [`Workspace`].

mod budget;
mod cache;
mod command;
mod control;
mod doctor;
mod early;
mod encoding;
mod error;
mod exclude;
mod file_kind;
mod file_version;
mod filter_store;
mod foreign;
mod fs;
mod gitignore;
mod glob;
mod ignored;
mod list;
mod lookups;
mod name_table;
mod path;
mod progress;
mod search;
mod shown;
mod stable_sort;
mod stamp_cache;
mod text;
mod wait_counter;
mod walk;
mod workspace;

pub use budget::{Budget, Share};
pub use cache::IndexCache;
pub use command::{
    COMMAND_ENDING, COMMANDS_AT_ONCE, CannotRun, CommandEnd, CommandRequest, CommandStatus, Commands, Output,
    is_supervisor, process_waited_for, start_process, supervise, take_orphans,
};
pub use control::{Control, Late};
pub use doctor::{Finding, Level, check_folder, check_machine};
pub use early::EarlyText;
pub use encoding::{
    DecodeError, Decoder, Encoding, EncodingChoice, EncodingSource, FoundEncoding, Likely, LineScan,
    Malformed, TextEncoding, Undecodable, Unencodable, likely as likely_encoding,
};
pub use error::{Error, MissingFile, Occupant, Result, ToolFailure, ToolFailureKind, ValueProblem};
pub use exclude::Excludes;
pub use file_kind::{FileKind, kind_of};
pub use file_version::FileVersion;
pub use fs::atomic::Durability;
pub use fs::probe::try_one_lock;
pub use fs::version::FileStamp;
pub use fs::view::{FileView, MAP_CUTOFF, OpenFile};
pub use glob::{Glob, GlobBudget, GlobError, RootedGlob, TreeExclude, is_literal, with_literal_brackets};
pub use list::{FileEntry, ListOptions, Listing};
pub use path::{FilePath, FolderPaths, MAX_COMPONENTS, MAX_NAME, MAX_PATH, NamePolicy, NameProblem};
pub use progress::Progress;
pub use search::{
    FileFilter, FilterBuilder, FilterCache, FilterRecords, Hit, LineMatcher, Pattern, PatternError,
    PatternOptions, Query, RecordsTail, Shape, behind_break, line_at, line_before, line_end,
};
pub use shown::{shown, shown_line};
pub use stable_sort::{stable_sort_by, stable_sort_by_key};
pub use stamp_cache::CacheCounts;
pub use text::diff::{Diff, unified, unified_in};
pub use text::encoded_edit::{
    Before, Breaks, ChangePlanned, ChangeScope, DecodedPlanned, EVERYTHING, IfMissing, InParts, Rewritten,
    TextChange, TextDone, plan as plan_text_change, plan_decoded,
};
pub use text::line_diff::{LineDiff, MAX_LINE_EDITS, plan_diff};
pub use text::line_edit::{LineEdit, LineEdits, Operation, Planned, plan as plan_line_edits};
pub use text::lines::{
    BLOCK_SHIFT, BOM, Break, BreakKinds, IndexBuilder, Line, LineIndex, NotText, Watch, char_boundary,
};
pub use text::splice::{EditPlan, Splice, Splices};
pub use text::text_edit::{
    Applied, Diagnosis, Difference, DifferenceKind, Found, InputError, Placeholder, Similar, Snippet,
    TextEdit, TextEdits, TextLimits, TextPlanned, Unmatched, plan as plan_text_edits,
};
pub use text::tokens::TokenCount;
pub use text::tolerant::{Tolerant, changed_lines, tolerant};
pub use wait_counter::{CountedWait, WaitCounter, WaitCounts};
pub use walk::{EntryKind, LeftOut, Passed, Walk, WalkEntry, WalkOptions, WalkOrder, WalkStep, passed};
pub(crate) use walk::{LateStats, StatResult};
pub use workspace::{
    AnalysedFile, AnalysedFiles, Analysis, AnalysisOptions, ChangeOptions, Changed, Edited, EntryInfo,
    Excerpt, FileAnalyser, FileOutcome, FolderHandle, FoundFile, LastFile, LineEnd, LineRange, LineSink,
    LineSpan, LinesRead, MountWait, NewAnalyser, NewFile, OpenError, PartRead, Receiver, SearchCounts,
    SearchOptions, SearchPlace, SearchStop, Searched, TextPart, Unanalysed, Workspace, WorkspaceCounts,
    WorkspaceOptions, outermost, without_missing,
};
