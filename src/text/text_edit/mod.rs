//! Converts exact-text edits to splices (contract 5, `file_edit`).
//!
//! Pure: takes an index, the bytes that it describes, and the edits; returns an [`EditPlan`] or an error.
//! Knows no names, files or interfaces. Edits apply in order, each to the result of those before it.
//! [`search`] finds the text of each edit.

mod breaks;
mod diagnose;
mod edited;
mod search;
mod table;
mod work;

use std::borrow::Cow;
use std::sync::OnceLock;

use self::breaks::plan_in_place;
use self::diagnose::miss;
use self::search::Search;
use self::table::matches::Sought;
use self::table::memory::{Full, Memory};
use self::table::piece_table::PieceTable;
use self::table::snippet::TextLines;
use super::lines::{Break, BreakKinds, LineIndex};
use super::splice::{Change, EditPlan, Splice};
use crate::budget::{Budget, Share};
use crate::encoding::Encoding;
use crate::{Error, Result, Stop};

pub(crate) use self::breaks::{Breaks, in_place};
pub use self::diagnose::input_errors::InputError;
pub use self::diagnose::word_diff::{Difference, DifferenceKind};
pub use self::diagnose::{Diagnosis, Placeholder, Similar};
pub use self::edited::EditedText;
pub use self::table::snippet::Snippet;

/// Maximum number of replacements of one call.
pub(super) const MAX_REPLACEMENTS: u64 = 1_000_000;

/// Maximum number of passages in an error.
const TOLD: usize = 100;

/// One replacement of text by text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The exact text to find. The empty text is found only in an empty text.
    pub old_text: String,
    /// The text that replaces it.
    pub new_text: String,
    /// How often it must be found.
    pub occurrences: u64,
}

/// The edits of one call, in order.
#[derive(Debug, Default)]
pub struct TextEdits {
    edits: Vec<TextEdit>,
    /// For each kind of line break, the new texts with only that kind; `None` for a text that has it already.
    written: [OnceLock<Vec<Option<String>>>; 3],
}

/// The plan of a call, and its report.
#[derive(Debug)]
pub struct TextPlanned<'t> {
    /// The changes in bytes.
    pub plan: EditPlan<'t>,
    /// The result of each edit, in order.
    pub applied: Vec<Applied>,
    /// The memory that the plan holds.
    pub held: Share,
}

/// Limits of a plan and its report.
#[derive(Debug, Clone, Copy)]
pub struct TextLimits<'b> {
    /// Passages reported for all edits together; at most [`TextLimits::EACH`] for one edit.
    pub passages: usize,
    /// Maximum number of bytes that the result has more than the text.
    pub max_bytes: u64,
    /// The memory of all plans together.
    pub memory: &'b Budget,
}

impl TextEdit {
    /// The number of occurrences that means: every one, at least one.
    pub const ALL: u64 = u64::MAX;

    /// The number of occurrences that means: every one, or none if there is none.
    pub const ANY: u64 = u64::MAX - 1;

    /// Whether this number of occurrences is what the edit expects.
    fn is_met_by(&self, count: u64) -> bool {
        match self.occurrences {
            TextEdit::ANY => true,
            TextEdit::ALL => 0 < count,
            expected => count == expected,
        }
    }
}

impl TextLimits<'_> {
    /// Maximum number of passages reported for one edit.
    pub const EACH: usize = 20;
}

/// The result of one edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Number of replacements.
    pub replaced: u64,
    /// The line of the first passage, 0-based.
    pub line: usize,
    /// The first passages replaced, before the change.
    pub passages: Vec<Snippet>,
}

/// An edit whose text was not found as often as it must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmatched {
    /// The index of the edit in the call, 0-based.
    pub edit: usize,
    /// Number of edits in the call.
    pub edits: usize,
    /// The text searched for.
    pub old_text: String,
    /// How often it must be found.
    pub expected: u64,
    /// Lines of the old text.
    pub total_lines: usize,
    /// What was found.
    pub found: Found,
    /// The encoding in which the text was searched, if that is not UTF-8.
    pub encoding: Option<Encoding>,
}

/// The result of a search that failed.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Another number of occurrences.
    Count {
        /// Their number.
        actual: u64,
        /// The first of them.
        passages: Vec<Snippet>,
    },
    /// Nothing; with possible reasons.
    Nothing(Diagnosis),
}

impl TextEdits {
    /// The edits of a call.
    pub fn new(edits: Vec<TextEdit>) -> TextEdits {
        TextEdits { edits, written: Default::default() }
    }

    /// The edits as given.
    pub fn edits(&self) -> &[TextEdit] {
        &self.edits
    }

    /// Whether the call creates the content of a missing file.
    pub fn create(&self) -> bool {
        self.edits.first().is_some_and(|first| first.old_text.is_empty())
    }

    /// Number of places that get another text.
    fn changed_places(&self, applied: &[Applied]) -> usize {
        let applied = self.edits.iter().zip(applied).filter(|(edit, _)| edit.old_text != edit.new_text);
        applied.map(|(_, applied)| applied.replaced as usize).sum()
    }

    /// The new texts for a text with these line breaks: if there is only one kind, converted to it.
    fn new_texts(&self, kinds: BreakKinds) -> Vec<&[u8]> {
        let given = self.edits.iter().map(|edit| edit.new_text.as_bytes());
        let Some(brk) = kinds.only() else { return given.collect() };
        let written = self.written[brk as usize]
            .get_or_init(|| self.edits.iter().map(|edit| with_breaks(&edit.new_text, brk)).collect());
        written.iter().zip(given).map(|(text, given)| text.as_ref().map_or(given, String::as_bytes)).collect()
    }
}

/// `text` with all line breaks converted to `brk`; `None` if that changes nothing.
pub(super) fn with_breaks(text: &str, brk: Break) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push_str(match brk {
            Break::Lf => "\n",
            Break::CrLf => "\r\n",
            Break::Cr => "\r",
        });
        rest = &rest[at + if rest[at..].starts_with("\r\n") { 2 } else { 1 }..];
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

/// Plans `edits` on the text `old`. Returns `None` if `old` does not match `index`.
///
/// Errors: [`Error::Unmatched`] for the first edit whose text is not found as often as it must be,
/// [`Error::TooLarge`], [`Error::Busy`], and [`Error::InvalidArguments`] for too much work or memory.
pub fn plan<'t>(
    index: &LineIndex,
    old: &[u8],
    edits: &'t TextEdits,
    limits: TextLimits<'_>,
    control: &dyn Stop,
) -> Result<Option<TextPlanned<'t>>> {
    let first = index.first_byte();
    let Some(pieces) = PieceTable::new(old, first) else { return Ok(None) };
    let kinds = index.break_kinds();
    let search = Search::new(&edits.edits, &pieces, kinds.only().is_none(), control)?;
    let texts = edits.new_texts(kinds);
    let mut memory = Memory::new(limits.memory, old.len(), edits.edits.len());
    memory.hold(search.memory()).map_err(|full| refused(0, full))?;
    let applied = Vec::with_capacity(edits.edits.len());
    let mut planner =
        Planner { index, old, edits, texts: &texts, pieces, search, memory, applied, replaced: 0 };
    let mut untold = limits.passages;
    for number in 0..edits.edits.len() {
        control.check()?;
        planner.apply(number, &mut untold, control)?;
    }
    let Planner { pieces, mut memory, applied, .. } = planner;
    // Checked here too, because the result may be too large for a plan.
    let max = (old.len() as u64).saturating_add(limits.max_bytes);
    let fits = |size: usize| match size as u64 {
        size if max < size => Err(Error::TooLarge { size, max }),
        _ => Ok(()),
    };
    fits(first + pieces.len())?;
    let changes = pieces.into_changes();
    // What is left of lines when nothing is between their breaks depends on the place, too.
    let has_place = |text: &&[u8]| text.is_empty() || memchr::memchr2(b'\n', b'\r', text).is_some();
    let plan = if kinds.are_several() && texts.iter().any(has_place) {
        let new_text = |text: usize, part| Cow::Borrowed(&texts[text][part]);
        let splices = changes.map(|Change { at, text, part }| Splice { at, text: new_text(text, part) });
        plan_in_place(splices, old, control)?
    } else {
        EditPlan::of_parts(changes, texts.iter().copied(), old)
    };
    let Some(plan) = plan.map(|plan| plan.for_places(edits.changed_places(&applied))) else {
        return Ok(None);
    };
    fits(plan.len_after(old.len()))?;
    // The file may be small beside a new text.
    let held = memory.hold(plan.memory()).and_then(|()| memory.expect(plan.memory() + plan.owned_texts()));
    held.map_err(|full| refused(edits.edits.len().saturating_sub(1), full))?;
    Ok(Some(TextPlanned { plan, applied, held: memory.into_share() }))
}

/// Explains why `edit` finds nothing in the text `old`, for a caller that has looked for it in another way. Returns `None` if `old` does
/// not match `index`.
pub(crate) fn diagnose(
    index: &LineIndex,
    old: &[u8],
    mut edit: TextEdit,
    control: &dyn Stop,
) -> Result<Option<Diagnosis>> {
    let Some(pieces) = PieceTable::new(old, index.first_byte()) else { return Ok(None) };
    if let Some(brk) = index.break_kinds().only() {
        for text in [&mut edit.old_text, &mut edit.new_text] {
            *text = with_breaks(text, brk).unwrap_or_else(|| std::mem::take(text));
        }
    }
    let lines = TextLines::new(&pieces, index, old);
    miss(&edit, 0, &lines, control).map(Some)
}

/// A plan that is being built.
struct Planner<'p, 't> {
    index: &'p LineIndex,
    old: &'p [u8],
    edits: &'t TextEdits,
    texts: &'p [&'t [u8]],
    pieces: PieceTable<'p>,
    search: Search<'t>,
    memory: Memory,
    applied: Vec<Applied>,
    /// Number of replacements of all edits so far.
    replaced: u64,
}

impl Planner<'_, '_> {
    /// Applies an edit to the result of those before. `untold` counts the passages still to report.
    fn apply(&mut self, number: usize, untold: &mut usize, control: &dyn Stop) -> Result<()> {
        let edit = &self.edits.edits[number];
        let keep = edit.occurrences.min(MAX_REPLACEMENTS).max(TOLD as u64) as usize;
        let sought = self.search.find(number, &self.pieces, keep, control);
        let sought = sought.map_err(|error| in_edit(number, error))?;
        let lines = TextLines::new(&self.pieces, self.index, self.old);
        if !edit.is_met_by(sought.count) {
            return Err(unmatched(number, self.edits, &lines, &sought, control)?);
        }
        self.replaced += sought.count;
        if self.replaced > MAX_REPLACEMENTS {
            return Err(too_many(number, "makes more than 1,000,000 replacements with those before it"));
        }
        let told = sought.matches.iter().take((*untold).min(TextLimits::EACH));
        let passages: Vec<Snippet> = told.map(|(start, end)| lines.passage(start, end)).collect();
        *untold -= passages.len();
        let line = sought.matches.first().map_or(0, |(start, _)| lines.line(start).0);
        self.applied.push(Applied { replaced: sought.count, line, passages });
        let leaves = self.replace(number, sought).map_err(|full| refused(number, full))?;
        self.search.search_around(number, &self.pieces, &leaves, control)
    }

    fn replace(&mut self, number: usize, sought: Sought) -> Result<Vec<u32>, Full> {
        let Planner { pieces, memory, .. } = self;
        let beside = self.search.memory() + sought.matches.memory();
        memory.hold(pieces.memory() + beside)?;
        // The inserted pieces take up to about three times the memory of the matches.
        memory.expect(pieces.memory() + beside + 3 * sought.matches.memory())?;
        let most = memory.most().saturating_sub(beside);
        let leaves = pieces.replace_all(&sought.matches, self.texts[number], number as u32, most)?;
        memory.hold(pieces.memory() + beside)?;
        Ok(leaves)
    }
}

fn refused(number: usize, full: Full) -> Error {
    match full {
        Full::Text => too_many(number, "makes the text longer than 1 TB, with those before it"),
        Full::Memory => too_many(
            number,
            "makes more replacements, with those before it, than memory allows for a file of this size",
        ),
        Full::Busy => Error::Busy,
    }
}

/// Adds the number of the edit to an error of its arguments.
fn in_edit(number: usize, error: Error) -> Error {
    match error {
        Error::InvalidArguments { at, problem } => {
            Error::InvalidArguments { at: format!("edits[{number}].{at}"), problem }
        }
        error => error,
    }
}

fn too_many(number: usize, problem: &str) -> Error {
    let problem = format!("it {problem}; expected fewer in one call");
    Error::InvalidArguments { at: format!("edits[{number}]"), problem }
}

fn unmatched(
    number: usize,
    edits: &TextEdits,
    lines: &TextLines,
    sought: &Sought,
    control: &dyn Stop,
) -> Result<Error> {
    let edit = &edits.edits[number];
    let found = match sought.count {
        0 => Found::Nothing(miss(edit, number, lines, control)?),
        actual => {
            let told = sought.matches.iter().take(TOLD);
            Found::Count { actual, passages: told.map(|(start, end)| lines.passage(start, end)).collect() }
        }
    };
    Ok(Error::Unmatched(Box::new(Unmatched {
        edit: number,
        edits: edits.edits.len(),
        old_text: edit.old_text.clone(),
        expected: if edit.occurrences == TextEdit::ALL { 1 } else { edit.occurrences },
        total_lines: lines.index.len_lines(),
        found,
        encoding: None,
    })))
}
