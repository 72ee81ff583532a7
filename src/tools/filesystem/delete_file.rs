//! `delete_file`: deletes a file, a link or a folder.

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, FilePath, FileVersion, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "delete_file",
    title: "Delete File",
    description: "Delete a file, a link (not what it points to) or a folder. A folder that is not empty is deleted only with \
        recursive: true. It cannot be undone. Example: {\"path\":\"old.txt\"}",
    instructions: "",
    takes: Takes::of::<DeleteArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct DeleteArguments {
        /// Path of the file or folder
        path: FilePath,
        /// Whether a folder is deleted with all that is in it
        recursive: bool = false,
        /// The version that the file must have, as an earlier answer gave it
        expected_version: Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key: Option<String>,
    }
}

#[derive(Debug)]
struct DeleteFile(DeleteArguments);

impl Request for DeleteArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(DeleteFile(self)))
    }
}

impl Call for DeleteFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0.path)
    }

    fn takes_links(&self) -> bool {
        true
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.0.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let DeleteArguments { path, recursive, expected_version, .. } = &self.0;
        let options = ChangeOptions::of_version(*expected_version);
        let text = match workspace.delete(path, *recursive, &options, control)? {
            1 => format!("Successfully deleted {}", path.sent()),
            entries => format!("Successfully deleted {} ({entries} entries)", path.sent()),
        };
        Ok(content(text, wanted))
    }
}
