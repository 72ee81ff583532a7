//! `files`: the tree of a folder, or the paths of files (contract 19).

use super::tree::Tree;
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::search::glob::GlobRequest;
use crate::tools::search::words::{GlobWords, Sort};
use crate::tools::{Call, ParseOptions, Tool};
use folder::{FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: WORDS.tool,
    title: "List Files",
    description: "The tree, one line a folder; with a pattern (a glob, a name, or a folder's name) or sort, the paths of files.",
    instructions: "",
    takes: Takes::of::<FilesArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

const WORDS: GlobWords =
    GlobWords { tool: "files", ignored: "ignored", hidden: "hidden", sort: Sort::Path, names_folders: true };

arguments! {
    struct FilesArguments {
        /// -
        path as "path" or "directory" or "dir_path" or "target_directory" or "folder" or "dir": Option<FilePath>,
        /// Such as *.rs or src/**
        pattern as "pattern" or "glob_pattern" or "glob" or "query": Option<String>,
        /// Levels of folders
        depth as "depth" or "max_depth" or "levels": Option<Count>,
        /// -
        sort as "sort" or "sort_by" or "sortBy": Option<Sort>,
        /// -
        limit as "limit" or "head_limit" or "max_results": Option<Count>,
        /// -
        cursor: Option<Cursor>,
        /// Also .names
        hidden as "hidden" or "include_hidden": Option<bool>,
        /// Also what git ignores
        ignored as "ignored" or "include_ignored": Option<bool>,
    }
}

impl Request for FilesArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let FilesArguments { path, pattern, depth, sort, limit, cursor, hidden, ignored } = self;
        let (depth, limit) = (depth.map(|depth| depth.0), limit.map(|limit| limit.0));
        let (hidden, ignored) = (hidden.unwrap_or(false), ignored.unwrap_or(false));
        // A tree has one order.
        let pattern = pattern.or(sort.filter(|sort| *sort != WORDS.sort).map(|_| "**".into()));
        match pattern {
            Some(pattern) => {
                let sort = sort.unwrap_or(WORDS.sort);
                GlobRequest { pattern, path, depth, sort, limit, cursor, ignored, hidden }
                    .into_call(&WORDS, options)
            }
            None => {
                let (top, path) = (options.path("")?, options.folder_or_all(path));
                let limits = (limit, options.limit);
                Ok(Box::new(Tree { tool: WORDS.tool, path, top, depth, cursor, hidden, ignored, limits }))
            }
        }
    }
}
