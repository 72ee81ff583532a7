//! `copy_file`: copies a file. It never replaces anything.

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, FilePath, FileVersion, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "copy_file",
    title: "Copy File",
    description: "Copy a file of any kind. The destination must not exist, and its folder must; nothing is ever replaced. \
        Example: {\"source\":\"notes.txt\",\"destination\":\"notes-old.txt\"}",
    instructions: "",
    takes: Takes::of::<CopyArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: false,
    idempotent: false,
    direct: false,
};

arguments! {
    struct CopyArguments {
        /// Path of the file
        source: FilePath,
        /// Path of the copy
        destination: FilePath,
        /// The version that the source must have, as an earlier answer gave it
        expected_version: Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key: Option<String>,
    }
}

#[derive(Debug)]
struct CopyFile(CopyArguments);

impl Request for CopyArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(CopyFile(self)))
    }
}

impl Call for CopyFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0.destination)
    }

    fn other_files(&self) -> Vec<&FilePath> {
        vec![&self.0.source]
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.0.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let CopyArguments { source, destination, expected_version, .. } = &self.0;
        let options = ChangeOptions::of_version(*expected_version);
        workspace.copy_file(source, destination, &options, control)?;
        Ok(content(format!("Successfully copied {} to {}", source.sent(), destination.sent()), wanted))
    }
}
