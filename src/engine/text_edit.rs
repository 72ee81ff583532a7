//! Exact-text edits to splices (SPEC 5, `file_edit`).
//!
//! Pure: an index, the bytes that it describes, the edits in; an [`EditPlan`] or a refusal out. Nothing here knows names,
//! files or interfaces. Edits apply in order, each to the result of those before it. How an edit finds its text is
//! decided in [`super::text_search`].

use std::sync::OnceLock;

use super::lines::{Break, BreakKinds, LineIndex};
use super::miss::{Miss, miss};
use super::passage::{Lines, Passage};
use super::pieces::{Pieces, Spot};
use super::splice::EditPlan;
use super::text_search::{Search, Sought};
use super::{Control, Error, Result};

/// Replacements that one call may make: each takes about a hundred bytes of memory until it is written.
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
}

/// What one edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// How often it replaced its text.
    pub replaced: u64,
    /// The first passages that it replaced, as they were.
    pub passages: Vec<Passage>,
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
        passages: Vec<Passage>,
    },
    /// Nothing, and why that may be.
    Nothing(Miss),
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

/// Plans `edits` on the text `old` that `index` describes; of each edit the first `passages` passages are told.
/// Nothing if `old` is not what was indexed.
///
/// Errors: [`Error::Unmatched`] for the first edit that does not find its text as often as it should.
pub fn plan<'t>(
    index: &LineIndex,
    old: &[u8],
    edits: &'t TextEdits,
    passages: usize,
    control: &Control,
) -> Result<Option<TextPlanned<'t>>> {
    let first = index.first_byte();
    let Some(mut pieces) = Pieces::new(old, first) else { return Ok(None) };
    let texts = edits.new_texts(index.break_kinds());
    let mut search = Search::new(&edits.edits, &old[first..], first);
    let mut applied = Vec::with_capacity(edits.edits.len());
    let mut total = 0u64;
    for (number, edit) in edits.edits.iter().enumerate() {
        control.check()?;
        let keep = edit.occurrences.min(MAX_REPLACEMENTS).max(TOLD as u64) as usize;
        let sought = search.find(number, &pieces, keep, control)?;
        let lines = Lines { pieces: &pieces, index, old };
        if sought.count != edit.occurrences {
            return Err(unmatched(number, &edits.edits, &lines, &sought, control)?);
        }
        total += sought.count;
        if total > MAX_REPLACEMENTS {
            return Err(too_many(number, "makes more than 1,000,000 replacements with those before it"));
        }
        let told = sought.matches.iter().take(passages);
        let passages = told.map(|&(start, end)| lines.passage(start, end)).collect();
        applied.push(Applied { replaced: sought.count, passages });
        let seams = replace(number, &sought.matches, texts[number], &mut pieces)?;
        search.search_around(number, &pieces, &seams, texts[number].len());
    }
    let plan = EditPlan::new(pieces.splices(old, first, &texts), old);
    Ok(plan.map(|plan| TextPlanned { plan, applied }))
}

/// Puts `text` in the place of all `matches`, and tells where it starts each time.
fn replace<'t>(
    number: usize,
    matches: &[(Spot, Spot)],
    text: &'t [u8],
    pieces: &mut Pieces<'t>,
) -> Result<Vec<Spot>> {
    // From the last on: what is replaced leaves the spots before it as they are.
    let seams = matches.iter().rev().map(|&(start, end)| pieces.replace(start, end, text, number as u32));
    let seams: Option<Vec<Spot>> = seams.collect();
    seams.ok_or_else(|| too_many(number, "makes the text longer than 4 GB, with those before it"))
}

fn too_many(number: usize, problem: &str) -> Error {
    let problem = format!("it {problem}; expected fewer in one call");
    Error::InvalidArguments { at: format!("edits[{number}]"), problem }
}

fn unmatched(
    number: usize,
    edits: &[TextEdit],
    lines: &Lines,
    sought: &Sought,
    control: &Control,
) -> Result<Error> {
    let edit = &edits[number];
    let found = match sought.count {
        0 => Found::Nothing(miss(edit, lines, control)?),
        actual => {
            let told = sought.matches.iter().take(TOLD);
            Found::Count { actual, passages: told.map(|&(start, end)| lines.passage(start, end)).collect() }
        }
    };
    Ok(Error::Unmatched(Box::new(Unmatched {
        edit: number,
        edits: edits.len(),
        old_text: edit.old_text.clone(),
        expected: edit.occurrences,
        total_lines: lines.index.len_lines(),
        found,
    })))
}
