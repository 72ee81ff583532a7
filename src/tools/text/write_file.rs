//! `write_file`: the whole content of a file, in any encoding (contract 15).

use crate::tools::arguments::{Request, Takes, Text, arguments};
use crate::tools::filesystem::version_meta;
use crate::tools::limited::content;
use crate::tools::rewritten::{done_line, rewritten_note};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, FilePath, FileVersion, Result};
use text::encoding::EncodingChoice;

pub(crate) static TOOL: Tool = Tool {
    name: "write_file",
    title: "Write File",
    description: "Create a text file, or replace the whole content of one. Missing folders are created. The encoding, byte order \
        mark and kind of line break of the file stay, or the answer says what changed; utf-16 gives a new file a mark. A \
        character that the encoding given lacks is an error, and nothing is written. {?edit_file|Use edit_file to change a part. }Example: {\"filename\":\"notes.txt\",\"content\":\"one\\ntwo\\n\"}",
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
        /// Encoding, such as shift_jis or koi8-r; without it, that of the file that exists, else utf-8
        encoding: Option<EncodingChoice>,
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
        let note = rewritten_note(&changed.report);
        let meta = changed.version.as_ref().map(version_meta).unwrap_or_default();
        let done = if changed.created { "created" } else { "written" };
        let done = done_line(format!("File {done}: {}", filename.sent()), &changed.report);
        Ok(Reply { meta, note, ..content(done, wanted) })
    }
}
