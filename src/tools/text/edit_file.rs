//! `edit_file`: writes a whole file, replaces or removes every place of a text, or adds text at the end (contract 15).
//!
//! Chooses the mode and runs the change. What the answer says of it is in [`edited`](super::edited).

use super::edited::Edited;
use crate::engine::{
    ChangeOptions, ChangeScope, Control, Encoding, EncodingChoice, Error, FilePath, FileVersion, IfMissing,
    Result, TextChange, TextDone, TextLimits, Workspace, plan_text_change,
};
use crate::tools::arguments::{Keyword, Request, Takes, Text, arguments};
use crate::tools::diff_text::MAX_DIFF;
use crate::tools::exact;
use crate::tools::text_page::{with_likely_encoding, with_place};
use crate::tools::{Call, LineBase, OutputKinds, ParseOptions, Reply, Tool};

/// The old_text that means the whole content.
const EVERYTHING: &str = "*";

/// Bytes of an answer besides the diff and the path.
const FRAME: usize = 768;

pub(crate) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit File",
    description: "Change or create a text file. What happens, the first that fits: content: the whole file; old_text \"*\" with \
        new_text: the whole file; old_text with new_text: EVERY place of it is replaced; old_text alone: every place is \
        removed; new_text alone: added at the end as it is, no line break added. A missing file and its folders are created. If old_text is \
        not there, new_text is added at the end, unless if_missing is \"fail\": then it is an error that shows similar text. No \
        patterns; a \\n in old_text fits a line break of any kind. The answer says what happened, on which lines, with a diff. \
        Example: {\"filename\":\"notes.txt\",\"old_text\":\"colour\",\"new_text\":\"color\",\"if_missing\":\"fail\"}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: true,
};

arguments! {
    struct EditArguments {
        /// Path of the file
        filename: FilePath,
        /// The whole new content; old_text and new_text do not count then
        content: Option<Text>,
        /// Exact text to find; "*" with new_text: the whole content
        old_text: Option<Text>,
        /// Text to put in place of old_text, or to add at the end; empty: remove
        new_text: Option<Text>,
        /// Encoding of the file; auto finds it
        encoding: EncodingChoice = "utf-8",
        /// What happens if old_text or the file is not there: append adds new_text or creates the file, fail is an error
        if_missing as "if_missing" or "ifMissing": Missing = "append",
        /// The version that the file must have, as an earlier answer gave it
        expected_version as "expected_version" or "expectedVersion": Option<FileVersion>,
        /// A key of your choice: a call sent again with it within ten minutes to this server is carried out once
        idempotency_key as "idempotency_key" or "idempotencyKey": Option<String>,
    }
}

/// What happens if the old_text or the file is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Append,
    Fail,
}

impl Keyword for Missing {
    const WORDS: &'static [(&'static str, Missing)] = &[("append", Missing::Append), ("fail", Missing::Fail)];
}

/// A parsed call.
#[derive(Debug)]
struct EditFile {
    path: FilePath,
    change: TextChange,
    /// Whether the old_text is removed.
    removes: bool,
    encoding: EncodingChoice,
    options: ChangeOptions,
    idempotency_key: Option<String>,
    base: LineBase,
    limit: Option<usize>,
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let EditArguments { filename: path, encoding, if_missing, expected_version, .. } = self;
        let fails = if_missing == Missing::Fail;
        let text = |text: Option<Text>| text.map(|text| text.0);
        let (change, removes) = mode(text(self.content), text(self.old_text), text(self.new_text), fails)?;
        let is_utf_8 = encoding == EncodingChoice::Is(Encoding::Utf8);
        let change_options = ChangeOptions {
            create: !fails && !removes,
            any_bytes: !is_utf_8 || matches!(change, TextChange::Whole(_)),
            makes_any_bytes: !is_utf_8,
            any_size: !matches!(change, TextChange::Whole(_)),
            versioned: true,
            ..ChangeOptions::of_version(expected_version)
        };
        Ok(Box::new(EditFile {
            path,
            change,
            removes,
            encoding,
            options: change_options,
            idempotency_key: self.idempotency_key,
            base: options.base,
            limit: options.limit,
        }))
    }
}

/// The change that these arguments mean, and whether it only removes text.
fn mode(
    content: Option<String>,
    old_text: Option<String>,
    new_text: Option<String>,
    fails: bool,
) -> Result<(TextChange, bool)> {
    let refuse =
        |at: &str, problem: &str| Err(Error::InvalidArguments { at: at.into(), problem: problem.into() });
    Ok(match (content, old_text, new_text) {
        (Some(content), ..) => (TextChange::Whole(content), false),
        (None, None, None) => {
            return refuse(
                "content",
                "it is missing; expected content, new_text, or old_text with or without new_text",
            );
        }
        (None, None, Some(new_text)) => (TextChange::Append(new_text), false),
        (None, Some(old_text), Some(new_text)) if old_text == EVERYTHING => {
            (TextChange::Whole(new_text), false)
        }
        (None, Some(old_text), None) if old_text == EVERYTHING => {
            let problem = "\"*\" stands for the whole content and needs a new_text; expected new_text, which may be empty";
            return refuse("old_text", problem);
        }
        (None, Some(old_text), new_text) => {
            let new_text = new_text.unwrap_or_default();
            let removes = new_text.is_empty();
            if removes && old_text.is_empty() {
                return refuse(
                    "old_text",
                    "it is empty, and so is new_text; expected the text to remove, or a new_text",
                );
            }
            let missing = match (fails, removes) {
                (true, _) => IfMissing::Fail,
                (false, true) => IfMissing::Keep,
                (false, false) => IfMissing::Append,
            };
            (TextChange::every(old_text, new_text, missing), removes)
        }
    })
}

impl Call for EditFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        match self.edit_wrong_bytes_too(workspace, wanted, control) {
            Err(error @ Error::Unmatched(_)) => {
                exact::explain(self.path.sent(), 1, error, wanted, (self.base, self.encoding))
            }
            Err(error) => {
                let error = with_place(workspace, &self.path, error, control);
                Err(with_likely_encoding(workspace, &self.path, error, true, control))
            }
            reply => reply,
        }
    }
}

impl EditFile {
    /// Edits UTF-8 with some wrong bytes as well, which stay. What is likely another encoding is refused.
    fn edit_wrong_bytes_too(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
    ) -> Result<Reply> {
        match self.edit(workspace, wanted, &self.options, control) {
            Err(error @ Error::InvalidUtf8) => {
                match with_likely_encoding(workspace, &self.path, error, true, control) {
                    Error::OtherEncoding { likely: None, .. } => {
                        let options =
                            ChangeOptions { any_bytes: true, makes_any_bytes: true, ..self.options.clone() };
                        self.edit(workspace, wanted, &options, control)
                    }
                    _ => Err(Error::InvalidUtf8),
                }
            }
            reply => reply,
        }
    }

    fn edit(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Reply> {
        let name = self.path.sent();
        let room = self.limit.map(|limit| limit.saturating_sub(FRAME + 3 * name.len()));
        let limits = TextLimits {
            passages: 0,
            max_bytes: workspace.options().max_bytes,
            memory: workspace.plan_memory(),
        };
        let scope = ChangeScope { name, max_diff: room.unwrap_or(MAX_DIFF).min(MAX_DIFF), limits };
        let changed = workspace.change(&self.path, options, control, |index, old| {
            let planned = plan_text_change(self.encoding, (index, old), &self.change, scope, control)?;
            let Some(planned) = planned else { return Ok(None) };
            let is_same = planned.plan.changes_nothing();
            let is_whole = matches!(planned.done, TextDone::Written { .. });
            let before = planned.text.before(old).filter(|_| is_whole);
            let report = (planned.done, (planned.text, before), planned.diff, is_same, planned.held);
            Ok(Some((planned.plan, report)))
        })?;
        let (done, (encoding, before), diff, is_same, _held) = changed.report;
        let edited = Edited {
            path: name,
            done,
            created: changed.created,
            removes: self.removes,
            was_sought: matches!(self.change, TextChange::Every(_)),
            is_same,
            diff,
            encoding,
            before,
            version: changed.version,
            base: self.base,
        };
        Ok(edited.reply(wanted))
    }
}
