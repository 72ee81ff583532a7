//! `write_file`: the whole content of a file.

use super::{CONTENT, version_meta};
use crate::tools::arguments::{Request, Takes, Text, arguments};
use crate::tools::limited::content;
use crate::tools::rewritten::{done_line, rewritten_note};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, FilePath, FileVersion, Result};
use text::encoding::EncodingChoice;

pub(crate) static TOOL: Tool = Tool {
    name: "write_file",
    title: "Write File",
    description: "Create a text file, or replace the whole content of one, in its encoding and with its kind of line break. The \
        folder must exist{?create_directory| (create_directory)}.{?edit_file| Use edit_file to change a part.} Give create_only: true if the file must be new, or expected_version if it must not have \
        changed since you read it. Example: {\"path\":\"notes.txt\",\"content\":\"one\\ntwo\\n\"}",
    instructions: "",
    takes: Takes::of::<WriteArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: true,
    idempotent: true,
    direct: false,
};

arguments! {
    struct WriteArguments {
        /// Path of the file
        path: FilePath,
        /// The whole new content
        content: Text,
        /// Encoding, such as shift_jis or koi8-r; without it, that of the file that exists, else utf-8
        encoding: Option<EncodingChoice>,
        /// Whether a file that exists is an error
        create_only: bool = false,
        /// The version that the file must have, as an earlier answer gave it
        expected_version: Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key: Option<String>,
    }
}

#[derive(Debug)]
struct WriteFile(WriteArguments);

impl Request for WriteArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(WriteFile(self)))
    }
}

impl Call for WriteFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0.path)
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.0.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let WriteArguments { path, content: text, encoding, create_only, expected_version, .. } = &self.0;
        let options = ChangeOptions {
            create_parents: false,
            create_only: *create_only,
            versioned: true,
            ..ChangeOptions::of_version(*expected_version)
        };
        let changed = workspace.write_text(path, &text.0, *encoding, &options, control)?;
        let note = rewritten_note(&changed.report);
        let meta = changed.version.as_ref().map(version_meta).unwrap_or_default();
        let done = done_line(format!("Successfully wrote to {}", path.sent()), &changed.report);
        Ok(Reply { meta, note, ..content(done, wanted) })
    }
}
