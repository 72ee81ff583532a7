//! `edit_file`: replaces exact text by text, and answers with a diff.

use std::borrow::Cow;

use serde_json::json;

use super::{CONTENT, version_meta};
use crate::engine::{
    ChangeOptions, Control, EditPlan, EncodingChoice, Error, FilePath, FileVersion, Found, InParts, LineDiff,
    LineIndex, MAX_LINE_EDITS, Result, Splice, TextEdit, TextEdits, TextLimits, Tolerant, Workspace,
    changed_lines, plan_decoded, plan_diff, plan_text_edits, tolerant,
};
use crate::tools::arguments::{Count, List, Request, Takes, Text, arguments};
use crate::tools::exact::{self, EditNames};
use crate::tools::limited::{MAX_TOKENS, content, within_tokens};
use crate::tools::text_page::{found_encoding, with_likely_encoding};
use crate::tools::{Call, Guide, Members, OutputKinds, ParseOptions, Reply, Tool};

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
        let edit = |edit: OneEdit| {
            let count = edit.expected_count.map_or(1, |count| count.0);
            let occurrences = if edit.replace_all { TextEdit::ALL } else { count };
            TextEdit { old_text: edit.old_text.0, new_text: edit.new_text.0, occurrences }
        };
        let (guide, limit) = (options.guide(), options.limit);
        let EditArguments {
            path,
            edits,
            encoding,
            dry_run,
            diff: with_diff,
            expected_version: expected,
            idempotency_key,
        } = self;
        let edits = TextEdits::new(edits.0.into_iter().map(edit).collect());
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
                exact::explain(
                    self.path.sent(),
                    count,
                    error,
                    wanted,
                    (self.guide.base, self.encoding, &NAMES),
                )
            }
            Err(Error::NotFound { name, .. }) if self.edits.create() => {
                let with = if self.guide.offered.has("write_file") { " with write_file" } else { "" };
                let problem =
                    format!("it is empty, and there is no file '{name}'; create the file{with} first");
                Err(Error::InvalidArguments { at: "edits[0].oldText".into(), problem })
            }
            // The engine's name for it.
            Err(Error::InvalidArguments { at, problem }) => {
                Err(Error::InvalidArguments { at: at.replace("old_text", NAMES.old_text), problem })
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
        let in_parts = Some(InParts::OF_TEXTS);
        let versioned =
            ChangeOptions { versioned: true, in_parts, ..ChangeOptions::of_version(self.expected) };
        // The copy of a text that is decoded takes from the memory of all plans.
        let options = ChangeOptions { any_size: true, any_bytes, makes_any_bytes, ..versioned };
        let limits = TextLimits {
            passages: 0,
            max_bytes: workspace.options().max_bytes,
            memory: workspace.plan_memory(),
        };
        let in_text = |index: &LineIndex, old: &[u8], is_stored: bool| {
            let Some(plan) = self.plan(index, (old, is_stored), limits, control)? else { return Ok(None) };
            let places = plan.count();
            if !self.with_diff {
                return Ok(Some((plan, (places, None))));
            }
            let most = self.limit.unwrap_or(MAX_DIFF);
            let diff = plan_diff(&name, old, &plan, MAX_LINE_EDITS, most);
            Ok(diff.map(|diff| (plan, (places, Some(diff)))))
        };
        let texts = self.edits.edits().iter().flat_map(|edit| [&*edit.old_text, &*edit.new_text]);
        let texts: Vec<&str> = texts.collect();
        let plan = |index: &LineIndex, old: &[u8]| {
            if is_utf_8 {
                let planned = in_text(index, old, true)?;
                return Ok(planned.map(|(plan, report)| (plan, (report, None))));
            }
            let decoded = |index: &LineIndex, text: &[u8]| in_text(index, text, old.ends_with(text));
            let planned =
                plan_decoded(self.encoding, (self.path.sent(), old), &texts, limits, control, decoded)?;
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

    fn in_one_line(&self, places: usize) -> String {
        let would = if self.dry_run { "Would change" } else { "Changed" };
        let unit = if places == 1 { "place" } else { "places" };
        format!("{would} {places} {unit} in {}", self.path.sent())
    }

    /// The changes in the text. `is_stored`: its bytes are those of the file, not decoded. `None` if they do not match the index.
    fn plan<'p>(
        &'p self,
        index: &LineIndex,
        (old, is_stored): (&[u8], bool),
        limits: TextLimits,
        control: &Control,
    ) -> Result<Option<EditPlan<'p>>> {
        match plan_text_edits(index, old, &self.edits, limits, control) {
            Err(Error::Unmatched(unmatched)) if matches!(unmatched.found, Found::Nothing(_)) => {
                if self.edits.edits().len() == 1 {
                    // No text is copied, however long it is.
                    let splice = self.tolerantly(0, old, index, limits, Error::Unmatched(unmatched))?;
                    return Ok(match is_stored {
                        true => EditPlan::new(vec![splice], old),
                        false => EditPlan::new(changed_lines(old, splice.at, &splice.text), old),
                    });
                }
                // The edits are applied to a copy. What is between them would be encoded anew, perhaps as other bytes.
                if !is_stored || old.len() as u64 > limits.max_bytes {
                    return Err(Error::Unmatched(unmatched));
                }
                let Some(new) = self.one_by_one(old, limits, control)? else { return Ok(None) };
                let splice = whole_difference(old, new);
                Ok(EditPlan::new(vec![splice], old))
            }
            planned => Ok(planned?.map(|planned| planned.plan)),
        }
    }

    /// The new text, with each edit applied alone; one that is not found exactly is looked for without regard to
    /// indentation. `None` if the bytes are no text any more.
    fn one_by_one(&self, old: &[u8], limits: TextLimits, control: &Control) -> Result<Option<Vec<u8>>> {
        let mut text = old.to_vec();
        let edits = self.edits.edits();
        for (number, edit) in edits.iter().enumerate() {
            control.check()?;
            let Ok(index) = LineIndex::build(&text) else { return Ok(None) };
            let single = TextEdits::new(vec![edit.clone()]);
            let plan = match plan_text_edits(&index, &text, &single, limits, control) {
                Ok(planned) => planned.map(|planned| planned.plan),
                Err(Error::Unmatched(mut unmatched)) => {
                    (unmatched.edit, unmatched.edits) = (number, edits.len());
                    let is_missing = matches!(unmatched.found, Found::Nothing(_));
                    let error = Error::Unmatched(unmatched);
                    if !is_missing {
                        return Err(error);
                    }
                    let splice = self.tolerantly(number, &text, &index, limits, error)?;
                    EditPlan::new(vec![splice], &text)
                }
                Err(error) => return Err(error),
            };
            let Some(plan) = plan else { return Ok(None) };
            let (size, max) = (plan.len_after(text.len()) as u64, old.len() as u64 + limits.max_bytes);
            if size > max {
                return Err(Error::TooLarge { size, max, is_result: true });
            }
            let mut new = Vec::with_capacity(size as usize);
            // A write to a vector cannot fail.
            let _ = plan.write_to(&text, &mut new);
            text = new;
        }
        Ok(Some(text))
    }

    /// The change of one edit that is not found exactly. `error` is the error if it fits nowhere.
    fn tolerantly(
        &self,
        number: usize,
        text: &[u8],
        index: &LineIndex,
        limits: TextLimits,
        error: Error,
    ) -> Result<Splice<'static>> {
        let edit = &self.edits.edits()[number];
        if edit.occurrences != 1 || edit.old_text.is_empty() {
            return Err(error);
        }
        let most = limits.max_bytes as usize;
        let refuse = |problem: String| {
            Err(Error::InvalidArguments { at: format!("edits[{number}].oldText"), problem })
        };
        match tolerant(text, &edit.old_text, &edit.new_text, index.break_kinds(), most) {
            Tolerant::None => Err(error),
            Tolerant::TooLong => refuse("with the indentation of its place, the new text is too long".into()),
            Tolerant::Several { lines, total } => {
                let lines: Vec<String> =
                    lines.iter().map(|line| (*line as u64 + self.guide.base.first()).to_string()).collect();
                refuse(format!(
                    "it is not in the file to the letter, and without regard to indentation it fits {total} places, at \
                     lines {}; expected the exact text of one place",
                    lines.join(", ")
                ))
            }
            Tolerant::One { range, new_text } => Ok(Splice { at: range, text: Cow::Owned(new_text) }),
        }
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

/// One splice that makes `new` of `old`.
fn whole_difference(old: &[u8], new: Vec<u8>) -> Splice<'static> {
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    Splice { at: start..old.len() - end, text: Cow::Owned(new[start..new.len() - end].to_vec()) }
}
