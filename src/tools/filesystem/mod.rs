//! The set `filesystem`: the tools of the reference file system server, with its names, arguments and texts (contract 13).
//!
//! One file a tool. What several of them need is here.

pub(super) mod copy_file;
pub(super) mod create_directory;
pub(super) mod delete_file;
pub(super) mod directory_tree;
pub(super) mod edit_file;
mod format;
pub(super) mod get_file_info;
pub(super) mod list_allowed_directories;
pub(super) mod list_directory;
pub(super) mod list_directory_with_sizes;
pub(super) mod move_file;
pub(super) mod read_media_file;
pub(super) mod read_multiple_files;
pub(super) mod read_text_file;
pub(super) mod search_files;
pub(super) mod write_file;

use crate::tools::Members;
use crate::tools::arguments::{Argument, Value};
use folder::{FileVersion, Result};

/// The schema of the data of all tools but one.
pub(super) const CONTENT: &str =
    r#"{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}"#;

/// The member of `_meta` with a file's version.
pub(super) fn version_meta(version: &FileVersion) -> Members {
    Members::default().with("file-editor/version", &version.to_string())
}

impl Argument for FileVersion {
    fn expected() -> String {
        "a version that an earlier answer gave in _meta".into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<FileVersion> {
        FileVersion::parse(&value.string()?).ok_or_else(|| value.wrong(&FileVersion::expected()))
    }
}
