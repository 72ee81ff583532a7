//! One edit of a call of `edit`: its arguments, and what they mean together.
//!
//! An edit is of one kind. An empty text that a model filled in chooses no kind if another one is given.

use super::span::Span;
use crate::tools::arguments::{Count, Ordinal, Text, arguments};
use folder::{Error, FilePath, Result};
use text::encoding::EncodingChoice;
use text::line_edit::{LineEdit, LineEdits, Operation};
use text::patch::{Hunk, may_create};
use text::text_edit::{TextEdit, TextEdits};

arguments! {
    pub(super) struct OneEdit {
        /// File; absent: that of the edit before
        path: Option<FilePath>,
        /// Exact text, found once
        old as "old" or "old_text" or "oldText" or "old_string" or "oldString" or "old_str": Option<Text>,
        /// Text in its place
        new as "new" or "new_text" or "newText" or "new_string" or "newString" or "new_str": Option<Text>,
        /// Every place of old
        all as "all" or "replaceAll" or "replace_all": bool = false,
        /// Places of old
        count as "count" or "expectedCount" or "occurrences": Option<Count>,
        /// "12-14": replaced by new
        lines: Option<Span>,
        /// A definition, such as Store::get
        symbol: Option<String>,
        /// What they hold now
        expect: Option<Text>,
        /// Whole file
        content: Option<Text>,
        /// -
        create_only: bool = false,
        /// Added at the end
        append: Option<Text>,
        /// New path
        move_to as "move_to" or "moveTo" or "rename_to": Option<FilePath>,
        /// Path of a copy
        copy_to as "copy_to" or "copyTo": Option<FilePath>,
        /// -
        delete: bool = false,
        /// Also a folder with all in it
        recursive: bool = false,
        /// -
        encoding: Option<EncodingChoice>,
        /// With retry: its number
        n: Option<Ordinal>,
        skip: bool = false,
    }
}

/// A new text of an edit, and what it replaces.
pub(super) struct NewText {
    /// The argument that it stands in.
    pub(super) at: &'static str,
    pub(super) text: String,
    pub(super) replaced: String,
}

/// An edit, without its path.
#[derive(Debug)]
pub(super) enum Kind {
    /// Exact text is replaced, as often as it must be found.
    Text(TextEdits),
    /// Lines are replaced or removed, or a text is added behind the last one.
    Lines(LineEdits),
    /// A definition, with the comments and attributes above it, is replaced or removed.
    Symbol {
        symbol: String,
        new: String,
    },
    /// Hunks of a patch. `is_whole`: nothing else is in the file.
    Patch {
        hunks: Vec<Hunk>,
        is_whole: bool,
    },
    /// The whole file.
    /// `only_empty`: an existing file must have nothing in it.
    Content {
        text: String,
        create_only: bool,
        only_empty: bool,
    },
    Move(FilePath),
    Copy(FilePath),
    Delete {
        recursive: bool,
    },
}

impl Kind {
    /// The old and the new texts, in turn.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Kind::Text(edits) => {
                edits.edits().iter().flat_map(|edit| [&*edit.old_text, &*edit.new_text]).collect()
            }
            Kind::Lines(LineEdits { edits, append }) => {
                let new = edits.iter().map(|edit| match &edit.operation {
                    Operation::Replace { content, .. } | Operation::Insert { content, .. } => &**content,
                    Operation::Delete { .. } => "",
                });
                new.chain(append.as_deref()).flat_map(|new| ["", new]).collect()
            }
            Kind::Symbol { new, .. } => vec!["", new],
            Kind::Patch { .. } => Vec::new(),
            Kind::Content { .. } | Kind::Move(_) | Kind::Copy(_) | Kind::Delete { .. } => Vec::new(),
        }
    }

    /// Bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Kind::Patch { hunks, .. } => {
                let lines = hunks.iter().flat_map(|hunk| hunk.old_side().chain(hunk.new_side()));
                lines.map(|line| line.len() + 48).sum()
            }
            Kind::Content { text, .. } => text.len(),
            _ => self.texts().iter().map(|text| text.len()).sum(),
        }
    }

    /// The new texts of an edit of a part of a file. `lines` gives the text of lines of the file, the first and the last.
    pub(super) fn new_texts(&self, lines: impl Fn((u64, u64)) -> String) -> Vec<NewText> {
        let new = |at, text: &str, replaced| NewText { at, text: text.to_owned(), replaced };
        match self {
            Kind::Text(edits) => {
                edits.edits().iter().map(|edit| new("new", &edit.new_text, edit.old_text.clone())).collect()
            }
            Kind::Lines(LineEdits { edits, append }) => {
                let replaced = edits.iter().filter_map(|edit| match &edit.operation {
                    Operation::Replace { content, .. } => {
                        Some(new("new", content, lines((edit.line, edit.end_line.unwrap_or(edit.line)))))
                    }
                    _ => None,
                });
                let appended = append.iter().map(|text| new("append", text, String::new()));
                replaced.chain(appended).collect()
            }
            Kind::Patch { hunks, .. } => {
                let joined = |lines: Vec<&str>| lines.join("\n");
                let hunk = |hunk: &Hunk| {
                    new("patch", &joined(hunk.new_side().collect()), joined(hunk.old_side().collect()))
                };
                hunks.iter().map(hunk).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The new lines of hunks, one text for each.
    pub(super) fn new_lines(&self) -> Vec<String> {
        match self {
            Kind::Patch { hunks, .. } => {
                hunks.iter().map(|hunk| hunk.new_side().collect::<Vec<_>>().join("\n")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether all that it expects in the file besides its old texts is ASCII.
    pub(super) fn expects_ascii(&self) -> bool {
        match self {
            Kind::Patch { hunks, .. } => hunks.iter().all(|hunk| {
                let lines = hunk.lines.iter().map(|line| &line.text);
                lines.chain(&hunk.headers).all(|text| text.is_ascii())
            }),
            Kind::Lines(edits) => edits.edits.iter().all(|edit| match &edit.operation {
                Operation::Replace { expect, .. }
                | Operation::Insert { expect, .. }
                | Operation::Delete { expect } => expect.as_ref().is_none_or(|expect| expect.is_ascii()),
            }),
            _ => true,
        }
    }

    /// Whether it changes lines by their numbers, whatever they hold.
    pub(super) fn counts_lines(&self) -> bool {
        let is_unseen = |edit: &LineEdit| match &edit.operation {
            Operation::Replace { expect, .. } | Operation::Delete { expect } => expect.is_none(),
            Operation::Insert { .. } => true,
        };
        matches!(self, Kind::Lines(edits) if edits.edits.iter().any(is_unseen))
    }

    /// Whether a missing file is made by it.
    pub(super) fn creates(&self) -> bool {
        match self {
            Kind::Content { .. } => true,
            Kind::Lines(edits) => edits.append.is_some(),
            Kind::Patch { hunks, .. } => may_create(hunks),
            _ => false,
        }
    }
}

impl OneEdit {
    /// The kind of the edit at `at`, such as `edits[3]`.
    pub(super) fn kind(&mut self, at: &str) -> Result<Kind> {
        let refuse = |member: &str, problem: &str| {
            let at = if member.is_empty() { at.to_owned() } else { format!("{at}.{member}") };
            Err(Error::InvalidArguments { at, problem: problem.into() })
        };
        let full = |text: &Option<Text>| text.as_ref().is_some_and(|text| !text.0.is_empty());
        let kinds = [
            ("old", full(&self.old)),
            ("lines", self.has_lines()),
            ("symbol", self.has_symbol()),
            ("content", full(&self.content)),
            ("append", full(&self.append)),
            ("move_to", self.move_to.is_some()),
            ("copy_to", self.copy_to.is_some()),
            ("delete", self.delete),
        ];
        let given: Vec<&str> =
            kinds.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
        if let [kind] = given[..]
            && let Some(other) = self.not_of(kind)
        {
            return refuse(other, &format!("it is beside {kind}, which does not take it; {ONE_KIND}"));
        }
        let text = |text: &mut Option<Text>| text.take().map(|text| text.0).unwrap_or_default();
        match given[..] {
            ["old"] => self.text_edit().map_or_else(|problem| refuse("old", problem), Ok),
            ["lines"] => match (self.lines, self.new.take()) {
                (Some(span), Some(new)) => Ok(Kind::Lines(line_edit(span, new.0, self.expect.take()))),
                _ => refuse("new", "it is missing; expected the text for these lines, \"\" to remove them"),
            },
            ["symbol"] => match (self.symbol.take(), self.new.take()) {
                (Some(symbol), Some(new)) => Ok(Kind::Symbol { symbol, new: new.0 }),
                _ => refuse("new", "it is missing; expected the text of the definition, \"\" to remove it"),
            },
            ["content"] => {
                let content = text(&mut self.content);
                Ok(self.whole(content))
            }
            ["append"] => {
                Ok(Kind::Lines(LineEdits { edits: Vec::new(), append: Some(text(&mut self.append)) }))
            }
            ["move_to"] => {
                self.move_to.take().map(Kind::Move).map_or_else(|| refuse("move_to", EXPECTED), Ok)
            }
            ["copy_to"] => {
                self.copy_to.take().map(Kind::Copy).map_or_else(|| refuse("copy_to", EXPECTED), Ok)
            }
            ["delete"] => Ok(Kind::Delete { recursive: self.recursive }),
            [] if self.lines.is_some() => refuse("lines", LINE_ZERO),
            [] if self.old.is_some() => refuse("old", EMPTY_OLD),
            [] if self.content.is_some() && self.says_nothing_else() => Ok(self.whole(String::new())),
            [first @ ("old" | "lines" | "symbol"), second @ ("content" | "delete"), ..] => {
                let problem = format!(
                    "it is beside {first}, but means the whole file; the text in place of {first} is new, \"\" to remove it"
                );
                refuse(second, &problem)
            }
            [_, second, ..] => refuse(second, &format!("it is beside {}; {ONE_KIND}", given[0])),
            _ => refuse("", EXPECTED),
        }
    }

    /// Whether it says lines. Line 0 beside another kind is a value that a model filled in.
    pub(super) fn has_lines(&self) -> bool {
        self.lines.is_some_and(|lines| lines != Span::ZERO)
    }

    /// Whether it names a definition.
    pub(super) fn has_symbol(&self) -> bool {
        self.symbol.as_ref().is_some_and(|symbol| !symbol.trim().is_empty())
    }

    fn whole(&self, text: String) -> Kind {
        Kind::Content { text, create_only: self.create_only, only_empty: false }
    }

    /// An argument that was given and that an edit of this kind does not take. It may be meant for another kind, which changes less.
    fn not_of(&self, kind: &str) -> Option<&'static str> {
        let full = |text: &Option<Text>| text.as_ref().is_some_and(|text| !text.0.is_empty());
        let others = [
            ("new", full(&self.new), &["old", "lines", "symbol"][..]),
            ("expect", full(&self.expect), &["lines"]),
            ("all", self.all, &["old"]),
            ("count", self.count.is_some(), &["old"]),
            ("create_only", self.create_only, &["content"]),
        ];
        others.iter().find(|(_, is_given, of)| *is_given && !of.contains(&kind)).map(|(name, ..)| *name)
    }

    /// Whether an empty content is all that was given: beside other empty texts it is one that a model filled in.
    fn says_nothing_else(&self) -> bool {
        [&self.old, &self.new, &self.append, &self.expect].iter().all(|text| text.is_none())
    }

    fn text_edit(&mut self) -> Result<Kind, &'static str> {
        let Some(new) = self.new.take() else {
            return Err("new is missing; expected the text in its place, \"\" to remove it");
        };
        let occurrences = match (&self.count, self.all) {
            (None, true) => TextEdit::ALL,
            (Some(_), true) => return Err("all and count exclude each other; give one of them"),
            (count, false) => count.as_ref().map_or(1, |count| count.0),
        };
        let old_text = self.old.take().map(|old| old.0).unwrap_or_default();
        Ok(Kind::Text(TextEdits::new(vec![TextEdit { old_text, new_text: new.0, occurrences }])))
    }
}

const EXPECTED: &str = "it does nothing; expected old with new, lines with new, symbol with new, content, append, move_to, copy_to or delete";

const ONE_KIND: &str = "expected one of old, lines, symbol, content, append, move_to, copy_to and delete in an edit; put the other into an edit of its own";

const LINE_ZERO: &str = "there is no line 0: lines count from 1; expected lines such as \"12-14\" or \"7\"";

const EMPTY_OLD: &str = "it is empty; to insert text give a line beside the place as old and repeat it in new, to create or replace the file give content, to \
    add text at the end give append";

pub(super) fn line_edit(Span { first, last }: Span, new: String, expect: Option<Text>) -> LineEdits {
    let own = |expect: Text| without_last_break(expect.0, last - first);
    let expect = expect.map(own).filter(|expect| !expect.is_empty());
    let operation = match new.is_empty() {
        true => Operation::Delete { expect },
        false => Operation::Replace { content: new, expect },
    };
    LineEdits { edits: vec![LineEdit { line: first, end_line: Some(last), operation }], append: None }
}

/// The text of lines with so many breaks between them, without the break of the last line.
fn without_last_break(mut text: String, between: u64) -> String {
    if text.matches('\n').count() as u64 > between {
        let body = text.strip_suffix('\n').map_or(&*text, |body| body.strip_suffix('\r').unwrap_or(body));
        text.truncate(body.len());
    }
    text
}
