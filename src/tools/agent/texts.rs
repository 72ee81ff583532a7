//! Plans of edits of one file in any encoding, for a job.

use std::borrow::Cow;
use std::cell::RefCell;

use super::failed::hunks::FailedHunks;
use super::one_edit::{Kind, NewText, line_edit as line_edit_of};
use super::patched::unplaced;
use super::symbol;
use crate::tools::encoding_failure::likely_name;
use engine::Workspace;
use folder::{Control, Error, Result};
use text::encoded_edit::{Before, EditTexts, Rewrite, plan_decoded, rewrite};
use text::encoding::{Encoding, EncodingChoice, by_high_bytes};
use text::line_edit::{self, LineEdits};
use text::lines::{BOM, LineIndex};
use text::omission::{numbered_file, numbered_problem, omission, omission_problem};
use text::patch::{self, Unplaced};
use text::splice::{EditPlan, Splice};
use text::text_edit::TextLimits;
use text::tolerant::{self, TolerantEdits};

/// What an edit of a file's text is made of.
#[derive(Clone, Copy)]
pub(super) struct TextJob<'j> {
    pub(super) kind: &'j Kind,
    /// The path that was sent.
    pub(super) name: &'j str,
    pub(super) encoding: Option<EncodingChoice>,
    /// The number of the first line.
    pub(super) first_line: u64,
    pub(super) workspace: &'j Workspace,
    pub(super) control: &'j Control,
    /// Takes the hunks that have no place.
    pub(super) failed: FailedHunks<'j>,
    /// Where new syntax errors are told.
    pub(super) broken: &'j Broken,
}

/// Files with new syntax errors that an answer names.
const MOST_TOLD: usize = 5;

/// The files that edits of definitions have left with syntax errors that they had not before.
#[derive(Debug, Default)]
pub(super) struct Broken(RefCell<Vec<BrokenFile>>);

#[derive(Debug)]
struct BrokenFile {
    /// The edit of a definition.
    edit: usize,
    name: String,
    /// How many errors the file had before it.
    before: u32,
    /// The line of an error; `None` after an edit that has mended it.
    line: Option<u32>,
}

impl Broken {
    /// Says it of a file after an edit, or takes it back: a plan may be made again.
    fn put(&self, edit: usize, name: &str, before: u32, line: Option<u32>) {
        let mut files = self.0.borrow_mut();
        files.retain(|known| known.edit != edit);
        let is_known = files.iter().any(|known| known.name == name && known.edit < edit);
        let file = |line| BrokenFile { edit, name: name.to_owned(), before, line: Some(line) };
        files.extend(line.map(file).filter(|_| !is_known));
    }

    /// How many errors the file had before an edit in front of this one broke it.
    fn before(&self, edit: usize, name: &str) -> Option<u32> {
        let files = self.0.borrow();
        files.iter().find(|known| known.name == name && known.edit < edit).map(|known| known.before)
    }

    /// Says of such a file what holds after a further edit.
    fn put_again(&self, name: &str, line: Option<u32>) {
        self.0.borrow_mut().iter_mut().filter(|known| known.name == name).for_each(|known| known.line = line);
    }

    /// A line for each of the first of these files. `would`: nothing was written.
    pub(super) fn told(&self, would: bool) -> String {
        let files = self.0.borrow();
        let broken: Vec<(&str, u32)> =
            files.iter().filter_map(|known| Some((known.name.as_str(), known.line?))).collect();
        let has = if would { "would then have" } else { "now has" };
        let line = |(name, line): &(&str, u32)| format!("\n[{name} {has} a syntax error in line {line}]");
        let mut told: String = broken.iter().take(MOST_TOLD).map(line).collect();
        if broken.len() > MOST_TOLD {
            told.push_str(&format!("\n[The same in {} more]", broken.len() - MOST_TOLD));
        }
        told
    }
}

/// The bytes of a file after a plan.
fn written(plan: &EditPlan, old: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // A write to memory cannot fail.
    let _ = plan.write_to(old, &mut text);
    text
}

impl<'j> TextJob<'j> {
    /// The plan for a file with these bytes. Where an edit before it broke the file, it is looked at again.
    pub(super) fn plan(&self, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        let plan = self.own_plan(old)?.map(|plan| with_one_mark(plan, old));
        if let (Some(plan), Some(before)) = (&plan, self.broken.before(self.failed.edit, self.name)) {
            let line = symbol::new_error(self.name, &written(plan, old), before, self.control);
            self.broken.put_again(self.name, line);
        }
        Ok(plan)
    }

    fn own_plan(&self, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        if let Kind::Content { text, only_empty, .. } = self.kind {
            if *only_empty && !old.is_empty() {
                return Err(Error::exists(self.name));
            }
            return self.whole(text, old);
        }
        if let Kind::Patch { hunks, .. } = self.kind
            && old.is_empty()
            && patch::may_create(hunks)
        {
            return self.whole(&patch::made(hunks), old);
        }
        if let Kind::Symbol { symbol, new } = self.kind {
            return self.definition(symbol, new, old);
        }
        let choice = self.encoding.unwrap_or_else(|| by_mark(old));
        if let Kind::Lines(edits) = self.kind
            && old.is_empty()
            && choice != EncodingChoice::default()
        {
            return self.first(edits);
        }
        if choice == EncodingChoice::default()
            && by_high_bytes(old).is_none()
            && let Ok(index) = LineIndex::build(old)
        {
            return Ok(self.in_text(&index, old, true)?);
        }
        let limits = self.limits();
        let in_text = |index: &LineIndex, text: &[u8]| {
            // Wrong bytes are not indexed again between the edits.
            let is_stored = old.ends_with(text) && std::str::from_utf8(text).is_ok();
            Ok(self.in_text(index, text, is_stored)?.map(|plan| (plan, ())))
        };
        let hunks = self.kind.new_lines();
        let texts = [self.kind.texts(), hunks.iter().flat_map(|new| ["", new]).collect()].concat();
        let texts = EditTexts { in_turn: &texts, others_are_ascii: self.kind.expects_ascii() };
        let planned = plan_decoded(choice, (self.name, old), texts, limits, self.control, in_text)?;
        Ok(planned.map(|planned| planned.plan.into_encoding(planned.text.encoding)))
    }

    /// The plan for a definition: that of its lines.
    fn definition(&self, symbol: &str, new: &str, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        let found = symbol::in_text(self.name, old, symbol, self.control)?;
        let kind = Kind::Lines(line_edit_of(found.span, new.to_owned(), None));
        let job = TextJob { kind: &kind, ..*self };
        let Some(plan) = job.own_plan(old)? else { return Ok(None) };
        let line = symbol::new_error(self.name, &written(&plan, old), found.errors, self.control);
        self.broken.put(self.failed.edit, self.name, found.errors, line);
        // A plan of its own: the lines were those of this text alone.
        Ok(Some(plan.then(&EditPlan::default(), old)))
    }

    fn limits(&self) -> TextLimits<'j> {
        let max_bytes = self.workspace.options().max_bytes;
        TextLimits { passages: 0, max_bytes, memory: self.workspace.plan_memory() }
    }

    /// The whole content, in the encoding of the file that it replaces.
    fn whole(&self, content: &str, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        let Rewrite { content, was, report } = rewrite(self.encoding, self.name, old, content)?;
        let lacking = match was {
            Some(encoding) => omission(&content, None, old, encoding, self.control)?,
            None => None,
        };
        let wrong = lacking.map(omission_problem).or_else(|| numbered_file(&content, old).map(str::to_owned));
        if let Some(problem) = wrong {
            return Err(Error::InvalidArguments { at: "content".into(), problem });
        }
        if self.encoding.is_none() {
            not_kept(&report.before)?;
        }
        let encoding = report.encoding.encoding;
        let lacking = |lacking| Error::Unencodable { encoding, lacking, in_part: false };
        let bytes = report.encoding.encode_whole(&content).map_err(lacking)?;
        let plan = EditPlan::new(vec![Splice { at: 0..old.len(), text: Cow::Owned(bytes) }], old);
        Ok(plan.map(|plan| plan.into_encoding(encoding)))
    }

    /// The first text of a file, which gets the mark of its encoding.
    fn first(&self, edits: &LineEdits) -> Result<Option<EditPlan<'j>>> {
        let Ok(index) = LineIndex::build(b"") else { return Ok(None) };
        let Some(planned) = line_edit::plan(&index, b"", edits)? else { return Ok(None) };
        self.whole(&String::from_utf8_lossy(&written(&planned.plan, b"")), b"")
    }

    /// The plan for a text in UTF-8. `is_stored`: its bytes are those of the file.
    fn in_text(
        &self,
        index: &LineIndex,
        old: &[u8],
        is_stored: bool,
    ) -> Result<Option<EditPlan<'j>>, text::Error> {
        let plan = self.planned(index, old, is_stored)?;
        if plan.is_some() {
            self.check_omission(index, old)?;
        }
        Ok(plan)
    }

    fn planned(
        &self,
        index: &LineIndex,
        old: &[u8],
        is_stored: bool,
    ) -> Result<Option<EditPlan<'j>>, text::Error> {
        match self.kind {
            Kind::Text(edits) => {
                let edits = TolerantEdits { edits, first_line: self.first_line };
                tolerant::plan(&edits, index, (old, is_stored), self.limits(), self.control)
            }
            Kind::Patch { hunks, is_whole } => {
                let placed = patch::place(hunks, index, old, self.control).map_err(|why| {
                    if let Unplaced::Problems(problems) = &why {
                        self.failed.note(problems);
                    }
                    unplaced(why)
                })?;
                let is_left = |plan: &EditPlan| *is_whole && plan.len_after(old.len()) > index.first_byte();
                if placed.as_ref().is_some_and(|placed| is_left(&placed.plan)) {
                    let problem = "it deletes the file, but the file has more lines than the patch removes; delete it by an edit \
                        of its own, or leave it";
                    return Err(text::Error::InvalidArguments {
                        at: "patch".into(),
                        problem: problem.into(),
                    });
                }
                Ok(placed.map(|placed| placed.plan.for_places(hunks.len())))
            }
            Kind::Lines(edits) => {
                let places = edits.edits.len() + usize::from(edits.append.is_some());
                Ok(line_edit::plan(index, old, edits)?.map(|planned| planned.plan.for_places(places)))
            }
            Kind::Symbol { .. }
            | Kind::Content { .. }
            | Kind::Move(_)
            | Kind::Copy(_)
            | Kind::Delete { .. } => Ok(None),
        }
    }

    /// Refuses a new text in which a line stands for text of the file, which is `old`.
    fn check_omission(&self, index: &LineIndex, old: &[u8]) -> Result<(), text::Error> {
        for NewText { at, text, replaced } in self.kind.new_texts(|lines| text_of(index, old, lines)) {
            let line = omission(&text, Some(&replaced), old, Encoding::Utf8, self.control)?;
            let numbered = || numbered_problem(&text, &replaced).map(str::to_owned);
            if let Some(problem) = line.map(omission_problem).or_else(numbered) {
                return Err(text::Error::InvalidArguments { at: at.into(), problem });
            }
        }
        Ok(())
    }
}

/// The plan without marks that it puts behind that of the file.
fn with_one_mark<'j>(plan: EditPlan<'j>, old: &[u8]) -> EditPlan<'j> {
    let is_second = |splice: &Splice| splice.at.start == BOM.len() && splice.text.starts_with(BOM);
    if !old.starts_with(BOM) || !plan.splices().any(|splice| is_second(&splice)) {
        return plan;
    }
    let without = |splice: Splice| {
        let text = if is_second(&splice) { &splice.text[BOM.len()..] } else { &splice.text };
        Splice { at: splice.at, text: text.to_vec().into() }
    };
    let splices = plan.splices().map(without).collect();
    EditPlan::new(splices, old).map_or(plan.clone(), |one| one.for_places(plan.places()))
}

/// The encoding where none is given: a mark of UTF-16 decides, because nothing else begins with it.
fn by_mark(old: &[u8]) -> EncodingChoice {
    let marked = Encoding::of_mark(old).filter(|encoding| encoding.unit() == 2);
    let marked = marked.filter(|_| !switches::is_off("edit-by-mark"));
    marked.map_or(EncodingChoice::default(), |_| EncodingChoice::Utf16)
}

/// These lines of a text, as far as there are such.
fn text_of(index: &LineIndex, old: &[u8], (first, last): (u64, u64)) -> String {
    let line = |line: u64| index.line(usize::try_from(line).ok()?, old);
    let last = last.min((index.len_lines() as u64).saturating_sub(1));
    let range = line(first).zip(line(last)).map(|(first, last)| first.text.start..last.text.end);
    let bytes = range.and_then(|range| old.get(range)).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// Refuses a new text for a file whose encoding is not kept, because no encoding was given.
fn not_kept(before: &Before) -> Result<()> {
    let (is, name) = match before {
        Before::Other { encoding, lacking: Some(lacking) } => {
            (format!("the file is {}, which lacks '{}'", encoding.name(), lacking.character), encoding.name())
        }
        Before::Unsure(likely) => {
            let name = likely_name(*likely);
            (format!("it is unsure how the file is encoded, perhaps in {name}"), name)
        }
        Before::Invalid(encoding) => {
            let name = encoding.name();
            (format!("the file is {name} with some wrong bytes"), name)
        }
        _ => return Ok(()),
    };
    let problem = format!("{is}; expected encoding beside it: \"{name}\", or \"utf-8\" to write it in that");
    Err(Error::InvalidArguments { at: "content".into(), problem })
}
