//! `write_file`: the whole content of a file, in any encoding (contract 15).

use crate::engine::{ChangeOptions, Control, EncodingChoice, FilePath, FileVersion, Result, Workspace};
use crate::tools::arguments::{Request, Takes, Text, arguments};
use crate::tools::filesystem::version_meta;
use crate::tools::limited::content;
use crate::tools::text_page::written_encoding;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "write_file",
    title: "Write File",
    description: "Create a text file, or replace the whole content of one. Missing folders are created. A byte order mark of \
        the file stays; utf-16 gives a new file one. A character that the encoding lacks is an error, and nothing is written. \
        Use edit_file to change a part. Example: {\"filename\":\"notes.txt\",\"content\":\"one\\ntwo\\n\"}",
    instructions: "",
    takes: Takes::of::<WriteArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: true,
    direct: true,
};

arguments! {
    struct WriteArguments {
        /// Path of the file
        filename: FilePath,
        /// The whole new content
        content: Text,
        /// Encoding of the file; auto keeps that of a file that exists
        encoding: EncodingChoice = "utf-8",
        /// The version that the file must have, as an earlier answer gave it
        expected_version as "expected_version" or "expectedVersion": Option<FileVersion>,
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
        Some(&self.0.filename)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let WriteArguments { filename, content: text, encoding, expected_version } = &self.0;
        let options = ChangeOptions { versioned: true, ..ChangeOptions::of_version(*expected_version) };
        let changed = workspace.write_text(filename, &text.0, *encoding, &options, control)?;
        let (encoding, before) = changed.report;
        let note = written_encoding(encoding, before);
        let meta = changed.version.as_ref().map(version_meta).unwrap_or_default();
        let done = if changed.created { "created" } else { "written" };
        Ok(Reply { meta, note, ..content(format!("File {done}: {}", filename.sent()), wanted) })
    }
}
