//! Plans edits of a long text in its own bytes, of which no copy is made (contract 25).
//!
//! Pure. That is right where the bytes of what is looked for are the same in the file: in UTF-8, whatever is wrong elsewhere, and in
//! encodings of single bytes if all of it is ASCII. Other texts are [`decoded`](super::decoded).

use super::EditTexts;
use super::encoded::EncodedText;
use crate::encoding::{Encoding, Malformed};
use crate::lines::{IndexBuilder, LineIndex};
use crate::splice::{Change, EditPlan, Splice};
use crate::{Error, Result, Stop};

/// Bytes up to which a text is decoded all the same, so that what is told of it is in its characters.
const LONG: usize = 1 << 20;

/// Bytes indexed before the next check of the deadline.
const STEP: usize = 4 << 20;

/// Whether edits with these texts are planned so.
pub(super) fn is_planned_so(of: &EncodedText, texts: &EditTexts) -> bool {
    let are_ascii = texts.others_are_ascii && texts.in_turn.iter().all(|text| text.is_ascii());
    let means_ascii = of.encoding.unit() == 1 && !of.encoding.is_multibyte();
    of.old.len() > LONG && (of.encoding == Encoding::Utf8 || means_ascii && are_ascii)
}

/// The plan that `plan` makes for the text, as one of the bytes of the file.
pub(super) fn planned<'p, T>(
    of: &EncodedText,
    control: &dyn Stop,
    plan: impl FnOnce(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
) -> Result<Option<(EditPlan<'static>, T)>> {
    let text = &of.old[of.start..];
    let Some((plan, report)) = plan(&index(text, control)?, text)? else { return Ok(None) };
    Ok(of_bytes(of, plan)?.map(|plan| (plan, report)))
}

fn index(text: &[u8], control: &dyn Stop) -> Result<LineIndex> {
    let mut index = IndexBuilder::of_len(text.len());
    for step in text.chunks(STEP) {
        control.check()?;
        index.push(step);
    }
    Ok(index.finish())
}

/// The plan for the text as one of the bytes of the file.
fn of_bytes(of: &EncodedText, plan: EditPlan) -> Result<Option<EditPlan<'static>>> {
    let (mut changes, mut texts) = (Vec::with_capacity(plan.count()), Vec::<Vec<u8>>::new());
    for Splice { at, text } in plan.splices() {
        if texts.last().is_none_or(|last| **last != *text) {
            texts.push(text.into_owned());
        }
        let part = 0..texts[texts.len() - 1].len();
        changes.push(Change { at: of.start + at.start..of.start + at.end, text: texts.len() - 1, part });
    }
    joins_no_parts(of, &changes)?;
    let moved = EditPlan::of_parts(changes.into_iter(), texts, of.old);
    Ok(moved.map(|moved| moved.for_places(plan.places())))
}

/// Fails if what is removed would make a character of UTF-8 of two wrong parts. Changes that touch are made together.
fn joins_no_parts(of: &EncodedText, changes: &[Change]) -> Result<()> {
    for together in changes.chunk_by(|one, next| one.at.end == next.at.start) {
        let (Some(first), Some(last)) = (together.first(), together.last()) else { continue };
        let is_removed = together.iter().all(|change| change.part.is_empty());
        let open = of.open_character(first.at.start);
        if let Some(part) = open.filter(|_| is_removed && of.is_inside_character(last.at.end)) {
            return Err(of.malformed(part, Malformed::Incomplete));
        }
    }
    Ok(())
}

/// The error for a text of which an edit takes more memory than there is for all of them.
pub(super) fn too_large(of: &EncodedText, memory: usize, for_byte: usize) -> Error {
    let (size, most) = (of.old.len() >> 20, (memory / for_byte) >> 20);
    let problem = format!(
        "the file has {size} MB in {}, and such an edit is made in {most} MB of it at most; the operator can allow more with \
         --max-size, and text that is ASCII can be replaced by the set text, with text.edit_file",
        of.encoding.name()
    );
    Error::InvalidArguments { at: "path".into(), problem }
}
