//! `read_multiple_files`: several text files, or ranges of them, in one answer.

use serde_json::json;

use super::CONTENT;
use super::read_text_file::READER;
use crate::tools::arguments::{Argument, Line, List, Request, Takes, Value, arguments, is_object};
use crate::tools::text_page::{TextForm, WantedText};
use crate::tools::texts_call::{TextsCall, TextsForm, WantedFile};
use crate::tools::{AnswerLimit, Call, Guide, OutputKinds, ParseOptions, Reply, Tool};
use engine::{LineRange, TextPart, Workspace};
use folder::{Control, FilePath, Result};
use text::encoding::EncodingChoice;

/// Maximum number of files in one call.
const MAX_FILES: usize = 1_000;

pub(crate) static TOOL: Tool = Tool {
    name: FORM.tool,
    title: "Read Multiple Files",
    description: "Read several text files at once. An item of paths is a path, or an object {\"path\",\"start_line\",\"end_line\",\"encoding\"} \
        for a range of lines (from {first}, both ends included) or another encoding than UTF-8. Each file's text follows its path; the error of one file \
        stands in its place. All texts share one limit, so long files may be cut; a line says how to go on. Example: \
        {\"paths\":[\"a.txt\",\"b.txt\"]}",
    instructions: "",
    takes: Takes::of::<MultipleArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// How the texts are told.
const FORM: TextsForm = TextsForm {
    tool: "read_multiple_files",
    reader: READER.tool,
    header: |path| format!("{path}:\n"),
    separator: "\n---\n",
    has_objects: true,
};

arguments! {
    struct MultipleArguments {
        /// Paths of the files
        paths: List<WantedFile, 1, MAX_FILES>,
        encoding: Option<EncodingChoice>,
    }
}

arguments! {
    struct Ranged {
        /// Path of the file
        path: String,
        /// First line, counted from {first}
        start_line: Option<Line>,
        /// Last line, counted from {first}, included
        end_line: Option<Line>,
        /// Encoding of the file, such as shift_jis or koi8-r; auto finds it
        encoding: EncodingChoice = "utf-8",
    }
}

impl Argument for WantedFile {
    fn expected() -> String {
        "a path, or an object with path, start_line, end_line and encoding".into()
    }

    fn schema(out: &mut String) {
        // Objects are taken too. Many clients take no schema of two types.
        String::schema(out);
    }

    fn read(value: &Value) -> Result<WantedFile> {
        if !is_object(value.json()) {
            let sent = value.string()?;
            return Ok(wanted(sent, LineRange::default(), EncodingChoice::default(), value));
        }
        let Ranged { path, start_line, end_line, encoding } = Ranged::read(value)?;
        let line = |line: Option<Line>| line.map(|line| line.0);
        Ok(wanted(path, LineRange { start: line(start_line), end: line(end_line) }, encoding, value))
    }
}

fn wanted(sent: String, range: LineRange, encoding: EncodingChoice, value: &Value) -> WantedFile {
    let mut again = json!({ "path": sent });
    let line = |line: u64| json!(line + value.options().base.first());
    range.start.into_iter().for_each(|start| again["start_line"] = line(start));
    range.end.into_iter().for_each(|end| again["end_line"] = line(end));
    if encoding != EncodingChoice::default() {
        again["encoding"] = json!(encoding.name());
    }
    if again.as_object().is_some_and(|item| item.len() == 1) {
        again = json!(sent);
    }
    let (part, form) = match range.is_whole() {
        true => (TextPart::Whole, TextForm::AsIs),
        false => (TextPart::Lines(range), TextForm::Lines),
    };
    let path = value.options().path(&sent);
    WantedFile { sent, path, wanted: WantedText { part, form, encoding, reader: READER }, again }
}

#[derive(Debug)]
struct ReadMultipleFiles {
    files: Vec<WantedFile>,
    guide: Guide,
    limit: AnswerLimit,
}

impl Request for MultipleArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let (mut files, guide, limit) = (self.paths.0, options.guide(), options.limit);
        // One that stands beside the paths is that of all files without their own.
        let all = self.encoding.unwrap_or_default();
        for file in files.iter_mut().filter(|file| file.wanted.encoding == EncodingChoice::default()) {
            file.wanted.encoding = all;
            if all != EncodingChoice::default() {
                let item =
                    if file.again.is_string() { json!({ "path": file.sent }) } else { file.again.take() };
                file.again = item;
                file.again["encoding"] = json!(all.name());
            }
        }
        Ok(Box::new(ReadMultipleFiles { files, guide, limit }))
    }
}

impl Call for ReadMultipleFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn other_files(&self) -> Vec<&FilePath> {
        self.files.iter().filter_map(|file| file.path.as_ref().ok()).collect()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let (files, guide, limit) = (&self.files, self.guide, self.limit);
        let others = &serde_json::Map::new();
        TextsCall { files, form: &FORM, others, guide, limit }.reply(workspace, wanted, control)
    }
}
