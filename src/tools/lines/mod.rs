//! The set `lines`: list, read by line range, edit by line number (contract 4). One file a tool.

pub(super) mod edit_file;
pub(super) mod list_files;
pub(super) mod read_file;
