//! `move_file`: moves or renames a file or folder. It never replaces anything.

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, FilePath, FileVersion, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "move_file",
    title: "Move File",
    description: "Move or rename a file or a folder. The destination must not exist, and its folder must; nothing is ever \
        replaced. Example: {\"source\":\"notes.txt\",\"destination\":\"archive/notes.txt\"}",
    instructions: "",
    takes: Takes::of::<MoveArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct MoveArguments {
        /// Path of the file or folder
        source: FilePath,
        /// Its new path
        destination: FilePath,
        /// The version that the file must have, as an earlier answer gave it
        expected_version: Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key: Option<String>,
    }
}

#[derive(Debug)]
struct MoveFile(MoveArguments);

impl Request for MoveArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(MoveFile(self)))
    }
}

impl Call for MoveFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0.source)
    }

    fn other_files(&self) -> Vec<&FilePath> {
        vec![&self.0.destination]
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.0.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let MoveArguments { source, destination, expected_version, .. } = &self.0;
        let options = ChangeOptions::of_version(*expected_version);
        workspace.move_entry(source, destination, &options, control)?;
        let text = format!("Successfully moved {} to {}", source.sent(), destination.sent());
        Ok(content(text, wanted))
    }
}
