//! `edit_file`: writes a whole file, replaces or removes every place of a text, or adds text at the end (contract 15).
//!
//! Chooses the mode and runs the change. What the answer says of it is in [`edited`](super::edited).

use std::sync::Arc;

use super::edited::Edited;
use crate::tools::arguments::{Keyword, Request, Takes, Text, arguments};
use crate::tools::diff_text::MAX_DIFF;
use crate::tools::exact::{self, EditNames};
use crate::tools::text_page::{with_likely_encoding, with_place};
use crate::tools::{Call, ErrorText, Guide, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, Error, FilePath, FileVersion, Result};
use text::encoded_edit::{ChangeScope, EVERYTHING, IfMissing, InParts, TextChange, plan as plan_text_change};
use text::encoding::{Encoding, EncodingChoice};
use text::omission::{has_omission, numbered_file, numbered_problem, omission, omission_problem};
use text::text_edit::TextLimits;

/// Bytes of an answer besides the diff and the path.
const FRAME: usize = 768;

pub(crate) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit File",
    description: "Change or create a text file. What happens, the first that fits: content: the whole file; old_text \"*\" with \
        new_text: the whole file, unless it holds a *; old_text with new_text: EVERY place of it is replaced; old_text alone: \
        every place is removed; new_text alone: added at the end as it is, no line break added. A missing file and its folders are \
        created. If old_text is not there, new_text is added at the end, but it is an error that shows similar text if there is \
        any, if old_text has several lines, or with if_missing \"fail\". No patterns; a \\n in old_text fits a line break of any \
        kind. The answer says what happened, on which lines, with a diff. \
        Example: {\"filename\":\"notes.txt\",\"old_text\":\"colour\",\"new_text\":\"color\",\"if_missing\":\"fail\"}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: true,
};

/// The names of this tool. It replaces every place.
const NAMES: EditNames = EditNames {
    old_text: "old_text",
    new_text: "new_text",
    count: ("", ""),
    reader: "read_file",
    creates: true,
};

arguments! {
    struct EditArguments {
        /// Path of the file
        filename: FilePath,
        /// The whole new content; not with old_text or new_text
        content: Option<Text>,
        /// Exact text to find; "*" with new_text: the whole content
        old_text: Option<Text>,
        /// Text to put in place of old_text, or to add at the end; empty: remove
        new_text: Option<Text>,
        /// Encoding of the file, such as shift_jis; auto finds it. Without it utf-8, or with content that of the file
        encoding: Option<EncodingChoice>,
        /// If old_text or the file is not there: append adds new_text or creates the file, fail is an error;
        /// without it, new_text is added only if nothing is like them
        if_missing as "if_missing" or "ifMissing": Option<Missing>,
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
    /// The new text, if a line of it may stand for text that it leaves out.
    omission: Option<NewText>,
    /// Whether a text is looked for.
    seeks: bool,
    /// Whether it is removed.
    removes: bool,
    /// Whether an old_text or a file that is not there may be a mistake, as the call does not say what happens then.
    asks_if_missing: bool,
    encoding: Option<EncodingChoice>,
    options: ChangeOptions,
    idempotency_key: Option<String>,
    guide: Guide,
    limit: Option<usize>,
}

/// A new text, by its argument, and the text whose place it takes; `None`: the whole file.
#[derive(Debug)]
struct NewText {
    argument: &'static str,
    text: String,
    replaced: Option<String>,
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let EditArguments { filename: path, encoding, if_missing, expected_version, .. } = self;
        let text = |text: Option<Text>| text.map(|text| text.0);
        let (content, old_text, new_text) = (text(self.content), text(self.old_text), text(self.new_text));
        let with_omission = |argument, text: &Option<String>, replaced| {
            let text = text.as_ref().filter(|text| has_omission(text))?.clone();
            Some(NewText { argument, text, replaced })
        };
        let replaced = match old_text.as_deref() {
            Some(EVERYTHING) => None,
            text => Some(text.unwrap_or_default().to_owned()),
        };
        let new_and_replaced = new_text.as_deref().zip(replaced.as_deref());
        if let Some(problem) = new_and_replaced.and_then(|(new, replaced)| numbered_problem(new, replaced)) {
            return Err(Error::InvalidArguments { at: "new_text".into(), problem: problem.into() });
        }
        let omission = with_omission("new_text", &new_text, replaced)
            .or_else(|| with_omission("content", &content, None));
        let has_old_text = old_text.as_ref().is_some_and(|old_text| !old_text.is_empty());
        let (change, removes) = mode(content, old_text, new_text, if_missing)?;
        let is_utf_8 = encoding.unwrap_or_default() == EncodingChoice::Is(Encoding::Utf8);
        let change_options = ChangeOptions {
            create: if_missing != Some(Missing::Fail) && !removes,
            any_bytes: !is_utf_8 || change.is_whole(),
            makes_any_bytes: !is_utf_8,
            any_size: !matches!(change, TextChange::Whole(_)),
            in_parts: (!change.is_whole()).then_some(InParts::OF_TEXTS),
            versioned: true,
            ..ChangeOptions::of_version(expected_version)
        };
        Ok(Box::new(EditFile {
            path,
            seeks: has_old_text && matches!(change, TextChange::Every(_)),
            asks_if_missing: if_missing.is_none() && has_old_text && !removes,
            change,
            omission,
            removes,
            encoding,
            options: change_options,
            idempotency_key: self.idempotency_key,
            guide: options.guide(),
            limit: options.limit.bytes,
        }))
    }
}

/// The change that these arguments mean, and whether it only removes text. An empty content beside the others counts as
/// absent, because models fill it in.
fn mode(
    content: Option<String>,
    old_text: Option<String>,
    new_text: Option<String>,
    if_missing: Option<Missing>,
) -> Result<(TextChange, bool)> {
    let refuse =
        |at: &str, problem: &str| Err(Error::InvalidArguments { at: at.into(), problem: problem.into() });
    let has_others = old_text.is_some() || new_text.is_some();
    let says_more = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    if content.as_deref() == Some("")
        && old_text.as_deref() == Some(EVERYTHING)
        && new_text.as_deref() == Some("")
    {
        let problem = "\"*\" stands for the whole content, and all other texts are empty; to empty the file, pass content \"\" \
            without old_text and new_text, else pass the new text of the file as content alone";
        return refuse("old_text", problem);
    }
    let content = content.filter(|content| !(content.is_empty() && has_others));
    Ok(match (content, old_text, new_text) {
        (Some(_), old_text, new_text) if says_more(&old_text) || says_more(&new_text) => {
            let problem = "it is the whole file, but old_text and new_text change a part of it; expected content alone, or \
                old_text and new_text without it";
            return refuse("content", problem);
        }
        (Some(content), ..) => (TextChange::Whole(content), false),
        (None, None, None) => {
            return refuse(
                "content",
                "it is missing; expected content, new_text, or old_text with or without new_text",
            );
        }
        (None, None, Some(new_text)) => (TextChange::Append(new_text), false),
        (None, Some(old_text), Some(new_text)) if old_text == EVERYTHING => {
            (TextChange::Everything(new_text), false)
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
            let missing = match (if_missing, removes) {
                (Some(Missing::Fail), _) => IfMissing::Fail,
                (_, true) => IfMissing::Keep,
                (Some(Missing::Append), false) => IfMissing::Append,
                (None, false) => IfMissing::AppendIfUnlike,
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
        // A file that is not there is created only if none has a name like its.
        let create = self.options.create && !self.asks_if_missing;
        let mut edited = self.edit_wrong_bytes_too(workspace, wanted, create, control);
        if self.options.create
            && matches!(&edited, Err(Error::NotFound(missing)) if missing.similar.is_empty())
        {
            edited = self.edit_wrong_bytes_too(workspace, wanted, true, control);
        }
        match edited {
            Err(error @ Error::Unmatched(_)) => {
                let seen_as = (self.guide, self.encoding.unwrap_or_default(), &NAMES);
                let mut reply = exact::explain(self.path.sent(), 1, error, wanted, seen_as)?;
                if self.asks_if_missing {
                    reply.text.push_str(NOTHING_APPENDED);
                }
                Ok(reply)
            }
            Err(error @ Error::NotFound { .. })
                if self.asks_if_missing && workspace.may_be_created(&self.path) =>
            {
                let text = ErrorText::of(&error, self.guide, 0).text() + NOTHING_CREATED;
                Ok(Reply { text, failure: Some(Arc::new(error)), ..Reply::default() })
            }
            Err(error) => {
                let error = with_place(workspace, &self.path, error, control);
                Err(with_likely_encoding(workspace, &self.path, error, control))
            }
            reply => reply,
        }
    }
}

/// What to do if a text should be added although something is like the old_text.
const NOTHING_APPENDED: &str =
    "\nNothing was changed. To add new_text at the end all the same, pass \"if_missing\": \"append\".";

/// What to do if a file should be created although another one has a name like its.
const NOTHING_CREATED: &str = "\nNothing was changed. To create the file all the same, pass content without old_text, or \
    \"if_missing\": \"append\".";

impl EditFile {
    /// Edits UTF-8 with some wrong bytes as well, which stay, and by texts in ASCII what is likely another encoding.
    fn edit_wrong_bytes_too(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        create: bool,
        control: &Control,
    ) -> Result<Reply> {
        let options = ChangeOptions { create, ..self.options.clone() };
        match self.edit(workspace, wanted, &options, control) {
            Err(Error::InvalidUtf8) => {
                let options = ChangeOptions { any_bytes: true, makes_any_bytes: true, ..options };
                self.edit(workspace, wanted, &options, control)
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
            if let Some(NewText { argument, text, replaced }) = &self.omission
                && let Some(line) = omission(text, replaced.as_deref(), old, planned.text.encoding, control)?
            {
                let problem = omission_problem(line);
                return Err(Error::InvalidArguments { at: (*argument).into(), problem });
            }
            if let TextChange::Whole(text) | TextChange::Everything(text) = &self.change
                && let Some(problem) = numbered_file(text, old)
            {
                let is_content = matches!(self.change, TextChange::Whole(_));
                let at = if is_content { "content" } else { "new_text" };
                return Err(Error::InvalidArguments { at: at.into(), problem: problem.into() });
            }
            let is_same = planned.plan.changes_nothing();
            let encoding = (planned.text, planned.rewritten);
            let report = (planned.done, encoding, planned.diff, is_same, planned.held);
            Ok(Some((planned.plan, report)))
        })?;
        let (done, (encoding, rewritten), diff, is_same, _held) = changed.report;
        let edited = Edited {
            path: name,
            done,
            created: changed.created,
            removes: self.removes,
            was_sought: self.seeks,
            is_same,
            diff,
            encoding,
            rewritten,
            version: changed.version,
            base: self.guide.base,
        };
        Ok(edited.reply(wanted))
    }
}
