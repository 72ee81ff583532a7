//! Plans edits of a decoded text, and makes them changes of the encoded bytes.
//!
//! Pure. Also says how a text is encoded whose encoding the client did not give: edits whose texts are ASCII work on any
//! bytes in which ASCII means ASCII (contract 25).

use memchr::memmem;

use super::decoded::DecodedText;
use super::encoded::EncodedText;
use super::{ChangePlanned, EveryPlace, Planner, TextDone, no_text};
use crate::engine::encoding::{EncodingChoice, EncodingSource, TextEncoding, first_wrong};
use crate::engine::text::lines::LineIndex;
use crate::engine::text::splice::EditPlan;
use crate::engine::text::text_edit::{TextEdit, TextLimits};
use crate::engine::{Control, Error, Result, Share};

/// Memory that an edit of a decoded text takes for each byte of the file, and for each place.
const FOR_BYTE: usize = 4;
const FOR_PLACE: usize = 96;

/// The plan of edits of a text in any encoding.
#[derive(Debug)]
pub struct DecodedPlanned<T> {
    /// The changes in bytes.
    pub plan: EditPlan<'static>,
    /// How the text is encoded.
    pub text: TextEncoding,
    /// What the planner of the decoded text reported.
    pub report: T,
    /// The memory that the plan holds.
    pub held: Share,
}

/// Plans edits of the file `name`, whose bytes are `old`. `texts` are all old and new texts of the edits. `plan` gets the text
/// in UTF-8 with its index. Returns `None` if `plan` does.
///
/// # Errors
///
/// As of [`plan`](super::plan), and those of `plan`.
pub fn plan_decoded<'p, T>(
    choice: EncodingChoice,
    (name, old): (&str, &[u8]),
    texts: &[&str],
    limits: TextLimits,
    control: &Control,
    plan: impl FnOnce(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
) -> Result<Option<DecodedPlanned<T>>> {
    let text = text_encoding(choice, (name, old), texts, control)?;
    let of = EncodedText { encoding: text.encoding, old, start: text.mark().len() };
    keeps_no_state(&text)?;
    if of.has_nul(control)? {
        return Err(Error::NotText { name: name.into() });
    }
    for text in texts {
        let (encoding, mut out) = (of.encoding, Vec::new());
        encoding.encode(text, &mut out).map_err(|lacking| Error::Unencodable { encoding, lacking })?;
    }
    let mut held = limits.memory.share();
    if !held.grow(FOR_BYTE * old.len()) {
        return Err(Error::Busy);
    }
    let decoded = DecodedText::new(of, control)?;
    texts.iter().step_by(2).try_for_each(|old_text| decoded.check_old_text(old_text))?;
    let Ok(index) = LineIndex::build(decoded.text().as_bytes()) else { return Ok(None) };
    let Some((plan, report)) = plan(&index, decoded.text().as_bytes())? else { return Ok(None) };
    if !held.grow(FOR_PLACE * plan.count()) {
        return Err(Error::Busy);
    }
    let plan = decoded.encoded(&plan, control)?;
    Ok(Some(DecodedPlanned { plan, text, report, held }))
}

/// How a text is encoded that is changed by these old and new texts, in turn. A text that is not UTF-8 although no other
/// encoding is given is taken as what it likely is, if all of them are ASCII, and as UTF-8 with some wrong bytes if nothing is
/// likely.
pub(super) fn text_encoding(
    choice: EncodingChoice,
    (name, old): (&str, &[u8]),
    texts: &[&str],
    control: &Control,
) -> Result<TextEncoding> {
    let check = || control.check();
    if choice != EncodingChoice::default() || first_wrong(old, check)?.is_none() {
        return choice.of_text(old, check)?.map_err(|likely| no_text(name, old, likely));
    }
    match EncodingChoice::Auto.of_text(old, check)? {
        Err(None) => choice.of_text(old, check)?.map_err(|likely| no_text(name, old, likely)),
        Ok(found) if found.encoding.unit() == 1 && texts.iter().all(|text| text.is_ascii()) => {
            let old_texts = texts.iter().step_by(2);
            if found.source == EncodingSource::WeakGuess {
                old_texts.into_iter().try_for_each(|old_text| begins_nowhere_inside(old, old_text))?;
            }
            Ok(found)
        }
        _ if memchr::memchr(0, old).is_some() => Err(Error::NotText { name: name.into() }),
        _ => Err(Error::InvalidUtf8),
    }
}

/// Fails if an old_text in ASCII has a place that would be inside a character, were the file in an encoding of several bytes.
fn begins_nowhere_inside(old: &[u8], old_text: &str) -> Result<()> {
    let may_go_on = |byte: u8| byte.is_ascii_digit() || (0x40..0x7F).contains(&byte);
    if !old_text.bytes().next().is_some_and(may_go_on) {
        return Ok(());
    }
    let is_inside = |at: usize| at.checked_sub(1).is_some_and(|before| !old[before].is_ascii());
    if !memmem::find_iter(old, old_text).any(is_inside) {
        return Ok(());
    }
    let problem = "it stands behind a byte that is not ASCII, and may be half of a character, because the encoding of the \
        file is unsure; pass encoding, or begin the text earlier";
    Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() })
}

fn keeps_no_state(text: &TextEncoding) -> Result<()> {
    if !text.encoding.is_stateful() {
        return Ok(());
    }
    let problem = format!(
        "{} is not edited in parts, because what its bytes mean depends on those before; write the whole text instead",
        text.encoding.name()
    );
    Err(Error::InvalidArguments { at: "encoding".into(), problem })
}

impl Planner<'_> {
    pub(super) fn keeps_no_state(&self) -> Result<()> {
        keeps_no_state(&self.text)
    }

    /// Every place in a text whose characters have several lengths.
    pub(super) fn every_decoded<'t>(
        &self,
        every: &'t EveryPlace,
        edit: &TextEdit,
    ) -> Result<Option<ChangePlanned<'t>>> {
        let texts = [&*edit.old_text, &*edit.new_text];
        let choice = EncodingChoice::Is(self.text.encoding);
        let planned = plan_decoded(
            choice,
            (self.scope.name, self.old),
            &texts,
            self.scope.limits,
            self.control,
            |index, text| {
                let found = self.found_in_utf_8(&every.edits, index, text)?;
                Ok(found.map(|(plan, done, held)| (plan, (done, held))))
            },
        )?;
        Ok(planned.map(|DecodedPlanned { plan, report: (done, _), held, .. }| {
            let is_miss = done == TextDone::Missed;
            self.planned(if is_miss { EditPlan::default() } else { plan }, done, held)
        }))
    }
}
