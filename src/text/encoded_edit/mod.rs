//! Changes a text as a whole, at every place of an old_text, or at its end, in any encoding (contract 15).
//!
//! Pure: takes the bytes of a file and the change; returns an [`EditPlan`] with what it does, or an error. Knows no files
//! and no interfaces. A text in UTF-8 is searched by [`text_edit`]. Where all characters have one length, or two as in
//! UTF-16, the old_text is searched in the encoded bytes ([`places`]). Of other encodings the text is [`decoded`] and
//! searched as UTF-8. Only the bytes of the places are replaced: what is no character elsewhere stays.

mod as_it_is;
mod by_bytes;
mod by_decoded;
mod by_places;
mod decoded;
mod doubt;
mod encoded;
mod escapes;
mod miss;
mod places;
mod put_in;
mod rewrite;
#[cfg(test)]
mod tests;
mod whole;

use std::borrow::Cow;
use std::ops::RangeInclusive;

pub use self::by_decoded::{DecodedPlanned, EditTexts, plan_decoded};
use self::by_decoded::{searched_as, text_encoding};
pub use self::by_places::{MAX_DECODED, MAX_PLACES, NewPart, Replacing, SearchedText};
use self::doubt::Doubt;
use self::encoded::{EncodedText, lacking_in_part};
pub use self::escapes::InParts;
use self::miss::is_unlike;
pub use self::put_in::check_new_text;
use self::rewrite::no_text;
pub use self::rewrite::{Before, Breaks, Rewrite, Rewritten, rewrite};
use super::diff::{Diff, unified_in};
use super::lines::LineIndex;
use super::splice::{EditPlan, Splice};
use super::text_edit::{self, TextEdit, TextEdits, TextLimits};
use crate::budget::Share;
use crate::encoding::{Encoding, EncodingChoice, EncodingSource, Malformed, TextEncoding, first_wrong};
use crate::{Error, Result, Stop};

const UTF_8: TextEncoding =
    TextEncoding { encoding: Encoding::Utf8, source: EncodingSource::Given, has_mark: false };

/// Memory that a change may hold without taking it from the shared budget.
const UNCOUNTED: usize = 256 << 10;

/// The old_text that means the whole text.
pub const EVERYTHING: &str = "*";

/// One change of a text.
#[derive(Debug)]
pub enum TextChange {
    /// The whole text becomes this one.
    Whole(String),
    /// The same, unless the text holds [`EVERYTHING`]: then it is not clear what is meant.
    Everything(String),
    /// Every place of an old_text is replaced.
    Every(EveryPlace),
    /// A text is added at the end, as it is.
    Append(String),
}

/// Every place of an old_text is replaced by a new_text.
#[derive(Debug)]
pub struct EveryPlace {
    /// The one edit.
    edits: TextEdits,
    missing: IfMissing,
}

/// What is done if an old_text is not in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// The new_text is added at the end.
    Append,
    /// The same if nothing in the text is like the old_text, which has one line; else it is an error that explains it.
    AppendIfUnlike,
    /// Nothing.
    Keep,
    /// It is an error that explains it.
    Fail,
}

/// The plan of a change, and its report.
#[derive(Debug)]
pub struct ChangePlanned<'t> {
    /// The changes in bytes.
    pub plan: EditPlan<'t>,
    /// What is done.
    pub done: TextDone,
    /// How the text is encoded.
    pub text: TextEncoding,
    /// What a new text of the whole file keeps and changes besides the text.
    pub rewritten: Option<Rewritten>,
    /// What the plan changes, by lines.
    pub diff: Diff,
    /// The memory that the plan holds.
    pub held: Share,
}

/// What a change does. Lines are 0-based, of the text before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDone {
    /// The whole text is replaced.
    Written {
        /// Lines of the old text.
        before: u64,
        /// Lines of the new text.
        after: u64,
    },
    /// Every place is replaced.
    Replaced {
        /// Their number.
        count: u64,
        /// The first and the last line of the first places.
        lines: Vec<RangeInclusive<u64>>,
    },
    /// The new text is added at the end.
    Appended {
        /// The line where it begins.
        line: u64,
        /// Whether that line has text before it.
        goes_on: bool,
    },
    /// Nothing: the old_text is not there.
    Missed,
}

/// What a plan is made of besides the change.
#[derive(Debug, Clone, Copy)]
pub struct ChangeScope<'s> {
    /// The name of the file in the diff and in errors.
    pub name: &'s str,
    /// Maximum size of the diff in bytes.
    pub max_diff: usize,
    /// The limits of the result and of memory.
    pub limits: TextLimits<'s>,
}

impl TextChange {
    /// The change of every place of `old_text`.
    pub fn every(old_text: String, new_text: String, missing: IfMissing) -> TextChange {
        let may_fail = matches!(missing, IfMissing::Fail | IfMissing::AppendIfUnlike);
        let occurrences = if may_fail { TextEdit::ALL } else { TextEdit::ANY };
        let edits = TextEdits::new(vec![TextEdit { old_text, new_text, occurrences }]);
        TextChange::Every(EveryPlace { edits, missing })
    }

    /// Whether it is of the whole text.
    pub fn is_whole(&self) -> bool {
        matches!(self, TextChange::Whole(_) | TextChange::Everything(_))
    }
}

/// Plans a change of the file whose bytes are `old`, none for a new file. Returns `None` if `old` is changing.
///
/// Without a choice, the whole text keeps the encoding of the file, and the other changes are of UTF-8.
///
/// `index` describes `old` if the choice is UTF-8 and `old` is valid, unless the change is of the whole text; else it is not
/// used.
///
/// # Errors
///
/// [`Error::InvalidUtf8`], [`Error::NotText`] or [`Error::OtherEncoding`] for bytes that are no text, [`Error::Unencodable`]
/// for a new text, [`Error::Undecodable`] for bytes that would become part of another character, and those of
/// [`text_edit::plan`] for the old_text.
pub fn plan<'t>(
    choice: Option<EncodingChoice>,
    (index, old): (&LineIndex, &[u8]),
    change: &'t TextChange,
    scope: ChangeScope<'_>,
    control: &dyn Stop,
) -> Result<Option<ChangePlanned<'t>>> {
    let check = || control.check();
    let text = match change {
        // What the bytes are that the text replaces need not be known.
        TextChange::Whole(_) | TextChange::Everything(_) => {
            choice.unwrap_or(EncodingChoice::Auto).of_text(old, check)?.unwrap_or(UTF_8)
        }
        TextChange::Append(new_text) => {
            text_encoding(choice.unwrap_or_default(), (scope.name, old), &["", new_text], control)?
        }
        TextChange::Every(every) => {
            let texts = every.edits.edits().iter().flat_map(|edit| [&*edit.old_text, &*edit.new_text]);
            let texts: Vec<&str> = texts.collect();
            text_encoding(choice.unwrap_or_default(), (scope.name, old), &texts, control)?
        }
    };
    let planner = Planner { choice, text, old, scope, control };
    let planned = match change {
        TextChange::Whole(content) => planner.whole(content).map(Some),
        TextChange::Everything(content) => planner.everything(content).map(Some),
        TextChange::Append(new_text) => planner.append(new_text),
        TextChange::Every(every) => planner.every(every, index),
    };
    planned.map_err(|error| searched_as(text.encoding, error))
}

struct Planner<'p> {
    choice: Option<EncodingChoice>,
    text: TextEncoding,
    old: &'p [u8],
    scope: ChangeScope<'p>,
    control: &'p dyn Stop,
}

impl<'p> Planner<'p> {
    fn encoded(&self) -> EncodedText<'p> {
        EncodedText { encoding: self.text.encoding, old: self.old, start: self.text.mark().len() }
    }

    /// Whether the file has no text: it is new, or empty but for a byte order mark.
    fn is_empty(&self) -> bool {
        self.old.len() == self.text.mark().len()
    }

    fn memory(&self, bytes: usize) -> Result<Share> {
        let mut held = self.scope.limits.memory.share();
        if held.grow(bytes.saturating_sub(UNCOUNTED)) { Ok(held) } else { Err(Error::Busy) }
    }

    /// The bytes of new text.
    fn encode(&self, new_text: &str) -> Result<Vec<u8>> {
        let (encoding, mut out) = (self.text.encoding, Vec::new());
        encoding.encode(new_text, &mut out).map_err(|lacking| lacking_in_part(encoding, lacking))?;
        Ok(out)
    }

    fn planned<'t>(&self, plan: EditPlan<'t>, done: TextDone, held: Share) -> ChangePlanned<'t> {
        let ChangeScope { name, max_diff, .. } = self.scope;
        let diff = unified_in(self.text.encoding, self.old, &plan, name, max_diff);
        ChangePlanned { plan, done, text: self.text, rewritten: None, diff, held }
    }

    /// Adds a text at the end. The first text of a file gets the mark of its encoding, if that has one.
    fn append<'t>(&self, new_text: &'t str) -> Result<Option<ChangePlanned<'t>>> {
        if self.is_empty() {
            let planned = self.whole(new_text)?;
            return Ok(Some(ChangePlanned {
                done: TextDone::Appended { line: 0, goes_on: false },
                ..planned
            }));
        }
        let text = self.encoded();
        let is_utf_8 = self.text.encoding == Encoding::Utf8;
        if text.has_nul(self.control)? {
            return Err(Error::NotText { name: self.scope.name.into() });
        }
        self.keeps_no_state()?;
        let (line, goes_on) = text.end()?;
        let new = match is_utf_8 {
            true => Cow::Borrowed(new_text.as_bytes()),
            false => Cow::Owned(self.encode(new_text)?),
        };
        if self.text.encoding.is_multibyte()
            && let Some(part) = decoded::unfinished_end(&text, &new)
        {
            return Err(text.malformed(part, Malformed::Incomplete));
        }
        let end = self.old.len();
        let plan = EditPlan::new(vec![Splice { at: end..end, text: new }], self.old);
        let held = self.memory(0)?;
        let Some(plan) = plan else { return Ok(None) };
        Doubt::of(&self.text, self.old, self.control)?.check(self.old, &plan)?;
        Ok(Some(self.planned(plan, TextDone::Appended { line, goes_on }, held)))
    }

    fn every<'t>(&self, every: &'t EveryPlace, index: &LineIndex) -> Result<Option<ChangePlanned<'t>>> {
        let [edit] = every.edits.edits() else { return Ok(None) };
        if edit.old_text.is_empty() {
            if !self.is_empty() {
                let problem = "it is empty, but the file is not; expected text that is in the file, \"*\" for the whole \
                    content, or no old_text to append new_text";
                return Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() });
            }
            return self.whole(&edit.new_text).map(Some);
        }
        let planned = match (self.text.encoding, self.choice.unwrap_or_default()) {
            // The index of wrong bytes describes nothing.
            (Encoding::Utf8, _) if first_wrong(self.old, || self.control.check())?.is_some() => {
                self.every_encoded(every, edit)
            }
            (Encoding::Utf8, EncodingChoice::Is(_)) => self.every_in_utf_8(&every.edits, index),
            (Encoding::Utf8, _) => {
                let Ok(index) = LineIndex::build(self.old) else { return Ok(None) };
                self.every_in_utf_8(&every.edits, &index)
            }
            (encoding, _) if encoding.is_multibyte() => self.every_decoded(every, edit),
            _ => self.every_encoded(every, edit),
        };
        let planned = match planned {
            Err(Error::Unmatched(unmatched))
                if every.missing == IfMissing::AppendIfUnlike && is_unlike(&unmatched) =>
            {
                return self.append(&edit.new_text);
            }
            planned => planned?,
        };
        let Some(planned) = planned else { return Ok(None) };
        match (planned.done == TextDone::Missed, every.missing) {
            (true, IfMissing::Append) => self.append(&edit.new_text),
            _ => Ok(Some(planned)),
        }
    }

    fn every_in_utf_8<'t>(
        &self,
        edits: &'t TextEdits,
        index: &LineIndex,
    ) -> Result<Option<ChangePlanned<'t>>> {
        let found = self.found_in_utf_8(edits, index, self.old)?;
        Ok(found.map(|(plan, done, held)| self.planned(plan, done, held)))
    }

    /// The plan of the edits of a text in UTF-8, what it does, and the memory that it holds.
    fn found_in_utf_8<'t>(
        &self,
        edits: &'t TextEdits,
        index: &LineIndex,
        text: &[u8],
    ) -> Result<Option<(EditPlan<'t>, TextDone, Share)>> {
        let limits = TextLimits { passages: TextLimits::EACH, ..self.scope.limits };
        let planned = text_edit::plan(index, text, edits, limits, self.control);
        let planned = planned.map_err(|error| match error {
            Error::InvalidArguments { problem, .. } => {
                Error::InvalidArguments { at: "old_text".into(), problem }
            }
            error => error,
        })?;
        let Some(text_edit::TextPlanned { plan, applied, held }) = planned else { return Ok(None) };
        let Some(applied) = applied.first().filter(|applied| applied.replaced > 0) else {
            return Ok(Some((plan, TextDone::Missed, held)));
        };
        let lines = applied.passages.iter().map(|passage| {
            let first = passage.line as u64;
            first..=first + passage.further_lines as u64
        });
        let done = TextDone::Replaced { count: applied.replaced, lines: lines.collect() };
        Ok(Some((plan, done, held)))
    }
}
