//! Exact-text edits to splices (SPEC 5, `file_edit`).
//!
//! Pure: an index, the bytes that it describes, the edits in; an [`EditPlan`] or a refusal out. Nothing here knows names,
//! files or interfaces. Edits apply in order, each to the result of those before it. How an edit finds its text is
//! decided in [`search`].

mod around;
mod candidates;
mod cursor;
mod diagnosis;
mod edit_distance;
mod haystack;
mod input_errors;
mod linear;
mod matches;
mod memory;
mod multi_pattern;
mod normalize;
mod occurrences;
mod pattern;
mod piece_table;
mod search;
mod similar;
mod snippet;
mod window;
mod word_diff;
mod work;

use std::sync::OnceLock;

use self::diagnosis::miss;
use self::matches::Sought;
use self::memory::{Full, Memory};
use self::piece_table::PieceTable;
use self::search::Search;
use self::snippet::Lines;
use super::lines::{Break, BreakKinds, LineIndex};
use super::splice::EditPlan;
use crate::engine::{Budget, Control, Error, Result, Share};

pub use self::diagnosis::{Diagnosis, Similar};
pub use self::input_errors::InputError;
pub use self::snippet::Snippet;
pub use self::word_diff::{Difference, DifferenceKind};

/// Replacements that one call may make.
const MAX_REPLACEMENTS: u64 = 1_000_000;

/// Passages that a refusal tells.
const TOLD: usize = 100;

/// One replacement of text by text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// What is to be found, to the letter. The empty text is found in an empty text only.
    pub old_text: String,
    /// What is to stand there instead.
    pub new_text: String,
    /// How often it must be found.
    pub occurrences: u64,
}

/// The edits of one call, in its order.
#[derive(Debug, Default)]
pub struct TextEdits {
    edits: Vec<TextEdit>,
    /// The new texts with breaks of one kind, where that is not how they are given.
    written: [OnceLock<Vec<Option<String>>>; 3],
}

/// A call's plan, and what it reports.
#[derive(Debug)]
pub struct TextPlanned<'t> {
    /// The changes in bytes.
    pub plan: EditPlan<'t>,
    /// What each edit did, in their order.
    pub applied: Vec<Applied>,
    /// The memory that the plan takes.
    pub held: Share,
}

/// What a plan may take, and what it is to tell.
#[derive(Debug, Clone, Copy)]
pub struct TextLimits<'b> {
    /// Passages that are told of all edits together, at most [`TextLimits::EACH`] of one.
    pub passages: usize,
    /// Bytes that the result may have.
    pub max_bytes: u64,
    /// The memory that all plans at once may take.
    pub memory: &'b Budget,
}

impl TextLimits<'_> {
    /// Passages that are told of one edit.
    pub const EACH: usize = 20;
}

/// What one edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// How often it replaced its text.
    pub replaced: u64,
    /// The line of the first passage, counted from 0.
    pub line: usize,
    /// The first passages that it replaced, as they were.
    pub passages: Vec<Snippet>,
}

/// An edit that did not find its text as often as it should.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmatched {
    /// The edit.
    pub edit: usize,
    /// Edits in the call.
    pub edits: usize,
    /// What it searched for.
    pub old_text: String,
    /// How often that should be found.
    pub expected: u64,
    /// Lines of the old text.
    pub total_lines: usize,
    /// What was found instead.
    pub found: Found,
}

/// What an edit found that did not find what it should.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Another number of occurrences.
    Count {
        /// How many.
        actual: u64,
        /// The first of them.
        passages: Vec<Snippet>,
    },
    /// Nothing, and why that may be.
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

    /// Whether the call gives a missing file its first content.
    pub fn create(&self) -> bool {
        self.edits.first().is_some_and(|first| first.old_text.is_empty())
    }

    /// The new texts as they are written to a text with breaks of these kinds.
    fn new_texts(&self, kinds: BreakKinds) -> Vec<&[u8]> {
        let only = match (kinds.lf, kinds.crlf, kinds.cr) {
            (true, false, false) => Some((0, Break::Lf)),
            (false, true, false) => Some((1, Break::CrLf)),
            (false, false, true) => Some((2, Break::Cr)),
            _ => None,
        };
        let given = self.edits.iter().map(|edit| edit.new_text.as_bytes());
        let Some((slot, brk)) = only else { return given.collect() };
        let written = self.written[slot]
            .get_or_init(|| self.edits.iter().map(|edit| with_breaks(&edit.new_text, brk)).collect());
        written.iter().zip(given).map(|(text, given)| text.as_ref().map_or(given, String::as_bytes)).collect()
    }
}

/// `text` with all its breaks as `brk`; nothing if they are that already.
fn with_breaks(text: &str, brk: Break) -> Option<String> {
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

/// Plans `edits` on the text `old` that `index` describes. Nothing if `old` is not what was indexed.
///
/// Errors: [`Error::Unmatched`] for the first edit that does not find its text as often as it should, and
/// [`Error::TooLarge`].
pub fn plan<'t>(
    index: &LineIndex,
    old: &[u8],
    edits: &'t TextEdits,
    limits: TextLimits<'_>,
    control: &Control,
) -> Result<Option<TextPlanned<'t>>> {
    let first = index.first_byte();
    let Some(pieces) = PieceTable::new(old, first) else { return Ok(None) };
    let search = Search::new(&edits.edits, &pieces, control)?;
    let texts = edits.new_texts(index.break_kinds());
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
    // Looked at here, too, for the result may be far too large to be held as a plan.
    let size = (first + pieces.len()) as u64;
    if limits.max_bytes.max(old.len() as u64) < size {
        return Err(Error::TooLarge { size, max: limits.max_bytes });
    }
    let changes = pieces.into_changes();
    let Some(plan) = EditPlan::of_parts(changes, texts.iter().copied(), old) else { return Ok(None) };
    memory.hold(plan.memory()).map_err(|full| refused(edits.edits.len().saturating_sub(1), full))?;
    Ok(Some(TextPlanned { plan, applied, held: memory.into_share() }))
}

/// A plan that is made.
struct Planner<'p, 't> {
    index: &'p LineIndex,
    old: &'p [u8],
    edits: &'t TextEdits,
    texts: &'p [&'t [u8]],
    pieces: PieceTable<'p>,
    search: Search<'t>,
    memory: Memory,
    applied: Vec<Applied>,
    /// Replacements of all of these.
    replaced: u64,
}

impl Planner<'_, '_> {
    /// Applies an edit to the text as those before it have left it. Of all edits `untold` passages are still told.
    fn apply(&mut self, number: usize, untold: &mut usize, control: &Control) -> Result<()> {
        let edit = &self.edits.edits[number];
        let keep = edit.occurrences.min(MAX_REPLACEMENTS).max(TOLD as u64) as usize;
        let sought = self.search.find(number, &self.pieces, keep, control);
        let sought = sought.map_err(|error| in_edit(number, error))?;
        let lines = Lines::new(&self.pieces, self.index, self.old);
        if sought.count != edit.occurrences {
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
        // What is put in takes about as much as where that is, a few times over.
        memory.expect(pieces.memory() + beside + 3 * sought.matches.memory())?;
        let most = memory.most().saturating_sub(beside);
        let leaves = pieces.replace_all(&sought.matches, self.texts[number], number as u32, most)?;
        memory.hold(pieces.memory() + beside)?;
        Ok(leaves)
    }
}

fn refused(number: usize, full: Full) -> Error {
    match full {
        Full::Text => too_many(number, "makes the text longer than 4 GB, with those before it"),
        Full::Memory => too_many(
            number,
            "makes more replacements, with those before it, than memory allows for a file of this size",
        ),
        Full::Busy => Error::Busy,
    }
}

/// Says in which edit it is that an argument is wrong.
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
    lines: &Lines,
    sought: &Sought,
    control: &Control,
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
        expected: edit.occurrences,
        total_lines: lines.index.len_lines(),
        found,
    })))
}
