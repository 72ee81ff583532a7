//! `create_directory`: a folder and its missing parents.

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "create_directory",
    title: "Create Directory",
    description: "Create a folder, with any missing folders above it. A folder that exists already is left as it is and \
        counts as success. Example: {\"path\":\"src/new/module\"}",
    instructions: "",
    takes: Takes::of::<CreateArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct CreateArguments {
        /// Path of the folder
        path: FilePath,
    }
}

#[derive(Debug)]
struct CreateDirectory(FilePath);

impl Request for CreateArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(CreateDirectory(self.path)))
    }
}

impl Call for CreateDirectory {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        workspace.create_folder(&self.0, control)?;
        Ok(content(format!("Successfully created directory {}", self.0.sent()), wanted))
    }
}
