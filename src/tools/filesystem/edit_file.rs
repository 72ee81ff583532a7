//! `edit_file`: replaces exact text by text, and answers with a diff.

use serde_json::json;

use super::{CONTENT, version_meta};
use crate::tools::arguments::{Count, List, Request, Takes, Text, arguments};
use crate::tools::exact::{self, EditNames};
use crate::tools::limited::{MAX_TOKENS, content, within_tokens};
use crate::tools::text_page::{found_encoding, with_likely_encoding};
use crate::tools::{Call, Guide, Members, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, Error, FilePath, FileVersion, Result};
use text::encoded_edit::{EditTexts, plan_decoded};
use text::encoding::{Encoding, EncodingChoice};
use text::line_diff::{DiffSize, LineDiff, MAX_LINE_EDITS, plan_diff};
use text::lines::LineIndex;
use text::omission::{numbered_problem, omission, omission_problem};
use text::text_edit::{TextEdit, TextEdits, TextLimits};
use text::tolerant::{self, TolerantEdits};

/// The names of this tool.
const NAMES: EditNames = EditNames {
    old_text: "oldText",
    new_text: "newText",
    count: ("expectedCount", "replaceAll"),
    reader: "read_text_file",
    creates: false,
};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

/// What is said of edits that undo one another, or put in what they replace.
const SAME: &str = "Nothing changed: the text is the same as before.";

/// The most bytes of a diff if answers have no limit.
const MAX_DIFF: usize = 16 << 20;

pub(crate) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit File",
    description: "Replace exact text in a text file. Each oldText must be in the file exactly once: give enough of the lines \
        around it, or replaceAll: true, or expectedCount. Edits apply in order, each to the result of those before it; all \
        happen or none. Answers with a diff, or in one line with diff: false; dryRun answers without a change. Bytes that were not named, line breaks \
        included, stay as they are. Example: {\"path\":\"src/main.rs\",\"edits\":[{\"oldText\":\"foo()\",\"newText\":\"bar()\"}]}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: Some(CONTENT),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct EditArguments {
        /// Path of the file
        path: FilePath,
        /// Edits, each applied to the result of those before it
        edits: List<OneEdit, 1, MAX_EDITS>,
        /// Encoding of the file, such as shift_jis or koi8-r; auto finds it
        encoding: EncodingChoice = "utf-8",
        /// Whether only the diff is shown and nothing is changed
        dry_run as "dryRun": bool = false,
        /// Whether the answer shows the changes; false: only how many places changed
        diff: bool = true,
        /// The version that the file must have, as an earlier answer gave it
        expected_version: Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key: Option<String>,
    }
}

arguments! {
    struct OneEdit {
        /// Exact text to find
        old_text as "oldText": Text,
        /// Text to put in its place; may be empty
        new_text as "newText": Text,
        /// Whether all places are replaced
        replace_all as "replaceAll": bool = false,
        /// How often oldText must be found; all places are replaced
        expected_count as "expectedCount": Option<Count>,
    }
}

#[derive(Debug)]
struct EditFile {
    path: FilePath,
    edits: TextEdits,
    encoding: EncodingChoice,
    dry_run: bool,
    with_diff: bool,
    expected: Option<FileVersion>,
    idempotency_key: Option<String>,
    guide: Guide,
    limit: Option<usize>,
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let edit = |(number, edit): (usize, OneEdit)| {
            let occurrences = match (edit.expected_count, edit.replace_all) {
                (Some(_), true) => {
                    let problem = "it excludes expectedCount; give one of them".into();
                    return Err(Error::InvalidArguments {
                        at: format!("edits[{number}].replaceAll"),
                        problem,
                    });
                }
                (None, true) => TextEdit::ALL,
                (count, false) => count.map_or(1, |count| count.0),
            };
            Ok(TextEdit { old_text: edit.old_text.0, new_text: edit.new_text.0, occurrences })
        };
        let (guide, limit) = (options.guide(), options.limit.bytes);
        let EditArguments {
            path,
            edits,
            encoding,
            dry_run,
            diff: with_diff,
            expected_version: expected,
            idempotency_key,
        } = self;
        let edits = TextEdits::new(edits.0.into_iter().enumerate().map(edit).collect::<Result<_>>()?);
        Ok(Box::new(EditFile {
            path,
            edits,
            encoding,
            dry_run,
            with_diff,
            expected,
            idempotency_key,
            guide,
            limit,
        }))
    }
}

impl Call for EditFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        match self.edit_any_bytes(workspace, wanted, control) {
            Err(error @ Error::Unmatched(_)) => {
                let count = self.edits.edits().len();
                exact::explain(self.path.sent(), count, error, wanted, (self.guide, self.encoding, &NAMES))
            }
            Err(Error::NotFound(missing)) if self.edits.create() && workspace.may_be_created(&self.path) => {
                let with = if self.guide.offered.has("write_file") { " with write_file" } else { "" };
                let near = match missing.similar.is_empty() {
                    true => String::new(),
                    false => {
                        format!(
                            " (files with a similar name: {}); if none of them is meant",
                            missing.similar.join(", ")
                        )
                    }
                };
                let comma = if near.is_empty() { ";" } else { "," };
                let problem = format!(
                    "it is empty, and there is no file '{}'{near}{comma} create the file{with} first",
                    missing.name
                );
                Err(Error::InvalidArguments { at: "edits[0].oldText".into(), problem })
            }
            // The engine's name for it.
            Err(Error::InvalidArguments { at, problem }) => {
                let at = at.replace("old_text", NAMES.old_text).replace("new_text", NAMES.new_text);
                Err(Error::InvalidArguments { at, problem })
            }
            Err(error) => Err(with_likely_encoding(workspace, &self.path, error, control)),
            reply => reply,
        }
    }
}

impl EditFile {
    /// Edits UTF-8, or text in the encoding that is given. By texts in ASCII, also what is likely another encoding.
    fn edit_any_bytes(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let is_utf_8 = self.encoding == EncodingChoice::default();
        match self.edit(workspace, wanted, is_utf_8, control) {
            Err(Error::InvalidUtf8) if is_utf_8 => self.edit(workspace, wanted, false, control),
            reply => reply,
        }
    }

    fn edit(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        is_utf_8: bool,
        control: &Control,
    ) -> Result<Reply> {
        let name = workspace.absolute(&self.path)?.to_string_lossy().into_owned();
        let (any_bytes, makes_any_bytes) = (!is_utf_8, !is_utf_8);
        let versioned = ChangeOptions { versioned: true, ..ChangeOptions::of_version(self.expected) };
        // The copy of a text that is decoded takes from the memory of all plans.
        let options = ChangeOptions { any_size: true, any_bytes, makes_any_bytes, ..versioned };
        let limits = TextLimits {
            passages: 0,
            max_bytes: workspace.options().max_bytes,
            memory: workspace.plan_memory(),
        };
        let edits = TolerantEdits { edits: &self.edits, first_line: self.guide.base.first() };
        let in_text = |index: &LineIndex, old: &[u8], is_stored: bool| {
            let planned = tolerant::plan(&edits, index, (old, is_stored), limits, control)?;
            let Some(plan) = planned else { return Ok(None) };
            let places = plan.places();
            if !self.with_diff {
                return Ok(Some((plan, (places, None))));
            }
            let most = self.limit.unwrap_or(MAX_DIFF);
            let diff = plan_diff(&name, old, &plan, MAX_LINE_EDITS, DiffSize::bytes(most));
            Ok(diff.map(|diff| (plan, (places, Some(diff)))))
        };
        let texts = self.edits.edits().iter().flat_map(|edit| [&*edit.old_text, &*edit.new_text]);
        let texts: Vec<&str> = texts.collect();
        let plan = |index: &LineIndex, old: &[u8]| {
            if is_utf_8 {
                let planned = in_text(index, old, true)?;
                self.check_omissions(old, Encoding::Utf8, control)?;
                return Ok(planned.map(|(plan, report)| (plan, (report, None))));
            }
            let decoded = |index: &LineIndex, text: &[u8]| {
                // Wrong bytes are not indexed again between the edits.
                in_text(index, text, old.ends_with(text) && std::str::from_utf8(text).is_ok())
            };
            let texts = EditTexts { in_turn: &texts, others_are_ascii: true };
            let planned =
                plan_decoded(self.encoding, (self.path.sent(), old), texts, limits, control, decoded)?;
            if let Some(planned) = &planned {
                self.check_omissions(old, planned.text.encoding, control)?;
            }
            Ok(planned.map(|planned| (planned.plan, (planned.report, Some((planned.text, planned.held))))))
        };
        let changed = match self.dry_run {
            true => workspace.dry_run(&self.path, &options, control, plan)?,
            false => workspace.change(&self.path, &options, control, plan)?,
        };
        let meta = changed.version.as_ref().map(version_meta).unwrap_or_default();
        let (report, decoded) = changed.report;
        let note = decoded.and_then(|(text, _held)| found_encoding(text.encoding, text.source));
        let (text, meta) = match report {
            (0, Some(diff)) => {
                let (text, meta) = self.fenced(diff, meta);
                (text + SAME, meta)
            }
            (_, Some(diff)) => self.fenced(diff, meta),
            (0, None) => (SAME.into(), meta),
            (places, None) => (self.in_one_line(places), meta),
        };
        Ok(Reply { meta, note, ..content(text, wanted) })
    }

    /// Refuses a new text in which a line stands for text of the file.
    fn check_omissions(&self, old: &[u8], encoding: Encoding, control: &Control) -> Result<()> {
        for (number, edit) in self.edits.edits().iter().enumerate() {
            if let Some(problem) = numbered_problem(&edit.new_text, &edit.old_text) {
                let at = format!("edits[{number}].newText");
                return Err(Error::InvalidArguments { at, problem: problem.into() });
            }
            if let Some(line) = omission(&edit.new_text, Some(&edit.old_text), old, encoding, control)? {
                let at = format!("edits[{number}].newText");
                return Err(Error::InvalidArguments { at, problem: omission_problem(line) });
            }
        }
        Ok(())
    }

    fn in_one_line(&self, places: usize) -> String {
        let would = if self.dry_run { "Would change" } else { "Changed" };
        let unit = if places == 1 { "place" } else { "places" };
        format!("{would} {places} {unit} in {}", self.path.sent())
    }

    /// The diff in a fence of backquotes that it does not hold, within the answer limit.
    fn fenced(&self, diff: LineDiff, mut meta: Members) -> (String, Members) {
        let LineDiff { text: mut diff, lines, left_out, .. } = diff;
        let count = |diff: &str| memchr::memchr_iter(b'\n', diff.as_bytes()).count();
        let is_cut = left_out > 0 || count(&diff) < lines;
        let fits = |limit: usize| limit.min(within_tokens(diff.as_bytes(), MAX_TOKENS - 256) + 256);
        let limit = self.limit.map(fits);
        if is_cut || limit.is_some_and(|limit| limit < diff.len() + 64) {
            let kept = limit.map_or(diff.len(), |limit| diff.len().min(limit.saturating_sub(256)));
            let end = (0..=kept).rev().find(|end| diff.is_char_boundary(*end)).unwrap_or(0);
            diff.truncate(diff[..end].rfind('\n').map_or(0, |at| at + 1));
            let shown = count(&diff);
            let (of, further) = match left_out {
                0 => (lines.to_string(), String::new()),
                _ => (
                    format!("more than {lines}"),
                    format!("; {left_out} further changes are in none of them"),
                ),
            };
            diff.push_str(&format!(
                "[Shown: {shown} of {of} lines of the diff{further}. Read the file to see the rest]\n"
            ));
            let of = lines + usize::from(left_out > 0);
            meta = meta.with("file-editor/truncated", &json!({ "shown": shown, "of": of, "next": null }));
        }
        let mut fence = "```".to_owned();
        while diff.contains(&fence) {
            fence.push('`');
        }
        (format!("{fence}diff\n{diff}{fence}\n\n"), meta)
    }
}
