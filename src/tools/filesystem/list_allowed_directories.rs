//! `list_allowed_directories`: the served folders.

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "list_allowed_directories",
    title: "List Allowed Directories",
    description: "List the folders that this server serves. All paths are in one of them; a relative path is looked for in \
        each, in this order. Takes no arguments. Example: {}",
    instructions: "",
    takes: Takes::of::<NoArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct NoArguments {}
}

#[derive(Debug)]
struct ListAllowedDirectories;

impl Request for NoArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ListAllowedDirectories))
    }
}

impl Call for ListAllowedDirectories {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let mut text = "Allowed directories:".to_owned();
        for folder in workspace.folder_paths().folders() {
            text.push('\n');
            text.push_str(&folder.to_string_lossy());
        }
        Ok(content(text, wanted))
    }
}
