//! Bytes, files, locks. Knows no JSON, HTTP, MCP, tokio or serde.
//!
//! What the engine promises (SPEC 8): no half-written file, no lost edit, no way out of the folder, no answer that
//! claims what the file never held. [`Workspace`] is the way in; the rest is small parts that it joins.

mod acl;
mod atomic;
mod attributes;
mod budget;
mod cache;
mod control;
mod diff;
mod error;
mod failpoint;
mod file_system;
mod lease;
mod line_edit;
mod lines;
mod list;
mod lock;
mod name;
mod name_table;
mod packed;
mod resolve;
mod root;
mod sigbus;
mod splice;
mod temporary;
mod text_edit;
mod version;
mod view;
mod workspace;
mod write_wait;
mod writers;

pub use atomic::Durability;
pub use budget::{Budget, Share};
pub use cache::IndexCache;
pub use control::{Control, Late};
pub use diff::{Diff, unified};
pub use error::{Error, MissingFile, Result};
pub use line_edit::{LineEdit, LineEdits, Operation, Planned, plan as plan_line_edits};
pub use lines::{BLOCK_SHIFT, BOM, Break, BreakKinds, IndexBuilder, Line, LineIndex, NotText, char_boundary};
pub use list::{FileEntry, Listing};
pub use name::{FileName, MAX_NAME, NamePolicy};
pub use splice::{EditPlan, Splice, Splices};
pub use text_edit::{
    Applied, Diagnosis, Difference, DifferenceKind, Found, InputError, Similar, Snippet, TextEdit, TextEdits,
    TextLimits, TextPlanned, Unmatched, plan as plan_text_edits,
};
pub use version::FileStamp;
pub use view::{FileView, MAP_CUTOFF, OpenFile};
pub use workspace::{Edited, Excerpt, LineRange, OpenError, Workspace, WorkspaceOptions};
