//! What tools that find files by globs call things. Knows no search.

pub(in crate::tools) use super::found::Sort;

/// The words of a tool that searches so.
#[derive(Debug)]
pub(in crate::tools) struct GlobWords {
    pub(in crate::tools) tool: &'static str,
    pub(in crate::tools) ignored: &'static str,
    pub(in crate::tools) hidden: &'static str,
    /// The order where a call names none.
    pub(in crate::tools) sort: Sort,
    /// Whether a pattern that names a folder stands for what is in it, too.
    pub(in crate::tools) names_folders: bool,
}
