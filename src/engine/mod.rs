//! Bytes, files, locks. Knows no JSON, HTTP, MCP, tokio or serde.
//!
//! What the engine promises (SPEC 8): no half-written file, no lost edit, no way out of the folder, no answer that
//! claims what the file never held. [`Workspace`] is the way in; the rest is small parts that it joins.

mod budget;
mod cache;
mod control;
mod error;
mod fs;
mod list;
mod name;
mod name_table;
mod text;
mod workspace;

pub use budget::{Budget, Share};
pub use cache::IndexCache;
pub use control::{Control, Late};
pub use error::{Error, MissingFile, Result};
pub use fs::atomic::Durability;
pub use fs::version::FileStamp;
pub use fs::view::{FileView, MAP_CUTOFF, OpenFile};
pub use list::{FileEntry, Listing};
pub use name::{FileName, MAX_NAME, NamePolicy};
pub use text::diff::{Diff, unified};
pub use text::line_edit::{LineEdit, LineEdits, Operation, Planned, plan as plan_line_edits};
pub use text::lines::{
    BLOCK_SHIFT, BOM, Break, BreakKinds, IndexBuilder, Line, LineIndex, NotText, char_boundary,
};
pub use text::splice::{EditPlan, Splice, Splices};
pub use text::text_edit::{
    Applied, Diagnosis, Difference, DifferenceKind, Found, InputError, Similar, Snippet, TextEdit, TextEdits,
    TextLimits, TextPlanned, Unmatched, plan as plan_text_edits,
};
pub use workspace::{Edited, Excerpt, LineRange, OpenError, Workspace, WorkspaceOptions};
