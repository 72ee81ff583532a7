//! Plans edits of a decoded text, and makes them changes of the encoded bytes.
//!
//! Pure. Also says how a text is encoded whose encoding the client did not give: edits whose texts are ASCII work on any
//! bytes in which ASCII means ASCII (contract 25).

use super::as_it_is;
use super::decoded::DecodedText;
use super::doubt::Doubt;
use super::encoded::{EncodedText, lacking_in_part};
use super::escapes::keeps_no_state;
use super::put_in::check_given;
use super::{ChangePlanned, EveryPlace, Planner, TextDone, no_text};
use crate::budget::Share;
use crate::encoding::{
    Encoding, EncodingChoice, EncodingSource, Likely, TextEncoding, by_high_bytes, first_wrong,
    is_really_utf_8, other_than_utf_8,
};
use crate::lines::LineIndex;
use crate::splice::EditPlan;
use crate::text_edit::{TextEdit, TextLimits};
use crate::{Error, Result, Stop};

/// Memory that an edit of a decoded text takes for each byte of the file, and for each place.
const FOR_BYTE: usize = 4;
const FOR_PLACE: usize = 96;

/// Bytes of a text in which the old texts are looked for to say its encoding.
const COMPARED: usize = 1 << 20;

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

/// The texts of the edits of a file.
#[derive(Debug, Clone, Copy)]
pub struct EditTexts<'t> {
    /// All old and new texts, in turn.
    pub in_turn: &'t [&'t str],
    /// Whether all else that is compared with the file is ASCII.
    pub others_are_ascii: bool,
}

/// Plans edits of the file `name`, whose bytes are `old`. `plan` gets the text in UTF-8 with its index, or, of a long text, the bytes
/// of the file, in which what the edits compare is the same; no change of its plan reaches beyond the place of one old text. Returns
/// `None` if `plan` does.
///
/// # Errors
///
/// As of [`plan`](super::plan), and those of `plan`.
pub fn plan_decoded<'p, T>(
    choice: EncodingChoice,
    (name, old): (&str, &[u8]),
    edited: EditTexts,
    limits: TextLimits,
    control: &dyn Stop,
    plan: impl FnOnce(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
) -> Result<Option<DecodedPlanned<T>>> {
    let texts = edited.in_turn;
    let text = text_encoding(choice, (name, old), texts, control)?;
    let of = EncodedText { encoding: text.encoding, old, start: text.mark().len() };
    keeps_no_state(text.encoding)?;
    let doubt = Doubt::of(&text, old, control)?;
    if of.has_nul(control)? {
        return Err(Error::NotText { name: name.into() });
    }
    let encoding = of.encoding;
    let lacking = |text: &str| encoding.encode(text, &mut Vec::new()).err();
    let lacks = |lacking| Err(lacking_in_part(encoding, lacking));
    texts.iter().skip(1).step_by(2).find_map(|new_text| lacking(new_text)).map_or(Ok(()), lacks)?;
    let mut held = limits.memory.share();
    if as_it_is::is_planned_so(&of, &edited) {
        texts.iter().step_by(2).try_for_each(|old_text| doubt.check_halves(&of, old_text, control))?;
        let planned = as_it_is::planned(&of, control, plan).map_err(|error| searched_as(encoding, error))?;
        let Some((plan, report)) = planned else { return Ok(None) };
        if !held.grow(FOR_PLACE * plan.count()) {
            return Err(Error::Busy);
        }
        doubt.check(old, &plan)?;
        return Ok(Some(DecodedPlanned { plan, text, report, held }));
    }
    if FOR_BYTE * old.len() > limits.memory.total() {
        return Err(as_it_is::too_large(&of, limits.memory.total(), FOR_BYTE));
    }
    if !held.grow(FOR_BYTE * old.len()) {
        return Err(Error::Busy);
    }
    let decoded = DecodedText::new(of, control)?;
    texts.iter().step_by(2).try_for_each(|old_text| decoded.check_old_text(old_text))?;
    texts.iter().step_by(2).try_for_each(|old_text| doubt.check_halves(&of, old_text, control))?;
    // Some encodings have bytes for characters that are not encoded.
    let mut lacking = texts.iter().step_by(2).filter_map(|old_text| lacking(old_text));
    lacking.find(|lacking| !decoded.text().contains(lacking.character)).map_or(Ok(()), lacks)?;
    let Ok(index) = LineIndex::build(decoded.text().as_bytes()) else { return Ok(None) };
    let planned = plan(&index, decoded.text().as_bytes());
    let Some((plan, report)) = planned.map_err(|error| searched_as(encoding, error))? else {
        return Ok(None);
    };
    if !held.grow(FOR_PLACE * plan.count()) {
        return Err(Error::Busy);
    }
    let plan = decoded.encoded(&plan, control)?;
    doubt.check(old, &plan)?;
    Ok(Some(DecodedPlanned { plan, text, report, held }))
}

/// How a text is encoded that is changed by these old and new texts, in turn. A text that is not UTF-8 although no other
/// encoding is given is taken as what it likely is, if all of them are ASCII, and as UTF-8 with some wrong bytes if nothing is
/// likely; then other texts than ASCII need real characters of UTF-8 around the wrong bytes.
pub(super) fn text_encoding(
    choice: EncodingChoice,
    (name, old): (&str, &[u8]),
    texts: &[&str],
    control: &dyn Stop,
) -> Result<TextEncoding> {
    let check = || control.check();
    let is_new_ascii = texts.iter().skip(1).step_by(2).all(|text| text.is_ascii());
    if let Some((given, EncodingSource::Given)) = choice.of_beginning(old) {
        check_given(given, old, is_new_ascii, control)?;
    }
    let is_default = choice == EncodingChoice::default();
    let wrong = if is_default { first_wrong(old, check)? } else { None };
    if is_default && let Some(wide) = by_high_bytes(old) {
        let choice = EncodingChoice::Is(wide);
        return Err(no_text(name, old, Some(Likely::Text { choice, is_sure: false })));
    }
    let Some(wrong) = wrong else {
        return choice.of_text(old, check)?.map_err(|likely| no_text(name, old, likely));
    };
    let is_ascii = texts.iter().all(|text| text.is_ascii());
    match EncodingChoice::Auto.of_text(old, check)? {
        Err(None | Some(Likely::Damaged(_))) if is_ascii || is_really_utf_8(old, wrong) => {
            choice.of_text(old, check)?.map_err(|likely| no_text(name, old, likely))
        }
        Ok(found) if found.encoding.unit() == 1 && is_ascii => Ok(found),
        _ if memchr::memchr(0, old).is_some() => Err(Error::NotText { name: name.into() }),
        Ok(found) if found.source == EncodingSource::WeakGuess => {
            let likely = fitting(found.encoding, old, texts)
                .map(|encoding| Likely::Text { choice: EncodingChoice::Is(encoding), is_sure: false });
            Err(no_text(name, old, likely))
        }
        Ok(found) => {
            let choice = EncodingChoice::Is(found.encoding);
            Err(no_text(name, old, Some(Likely::Text { choice, is_sure: true })))
        }
        Err(likely) => {
            let other = other_than_utf_8(old, wrong).or(likely);
            Err(other.map_or(Error::InvalidUtf8, |other| no_text(name, old, Some(other))))
        }
    }
}

/// Of an unsure guess and the encodings whose characters take several bytes: the first in which these old and new texts, in turn, can
/// be written, and in which the beginning of `old` has the old ones that are not ASCII. A short text is taken for another encoding easily.
fn fitting(guess: Encoding, old: &[u8], texts: &[&str]) -> Option<Encoding> {
    use Encoding::{Big5, EucJp, EucKr, Gbk, ShiftJis};
    let old = &old[..old.len().min(COMPARED)];
    let can_write =
        |encoding: Encoding| texts.iter().all(|text| encoding.encode(text, &mut Vec::new()).is_ok());
    let old_texts: Vec<&str> = texts.iter().copied().step_by(2).filter(|text| !text.is_ascii()).collect();
    let has_all = |encoding: Encoding| {
        let decoded = encoding.decode_lossy(old);
        old_texts.iter().all(|text| decoded.contains(text))
    };
    let others = [ShiftJis, EucJp, Gbk, Big5, EucKr].into_iter().filter(|_| !old_texts.is_empty());
    [guess].into_iter().chain(others).find(|encoding| can_write(*encoding) && has_all(*encoding))
}

/// A miss of a text that was searched in this encoding.
pub(super) fn searched_as(encoding: Encoding, error: Error) -> Error {
    match error {
        Error::Unmatched(mut unmatched) if encoding != Encoding::Utf8 => {
            unmatched.encoding = Some(encoding);
            Error::Unmatched(unmatched)
        }
        error => error,
    }
}

impl Planner<'_> {
    pub(super) fn keeps_no_state(&self) -> Result<()> {
        keeps_no_state(self.text.encoding)
    }

    /// Every place in a text whose characters have several lengths.
    pub(super) fn every_decoded<'t>(
        &self,
        every: &'t EveryPlace,
        edit: &TextEdit,
    ) -> Result<Option<ChangePlanned<'t>>> {
        let texts = [&*edit.old_text, &*edit.new_text];
        let planned = plan_decoded(
            self.choice.unwrap_or_default(),
            (self.scope.name, self.old),
            EditTexts { in_turn: &texts, others_are_ascii: true },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_named_only_if_the_file_has_the_old_text_in_it() {
        let mut old = Vec::new();
        Encoding::ShiftJis.encode("表示\nabc\nソース\n", &mut old).unwrap();
        assert_eq!(fitting(Encoding::Ibm866, &old, &["表", "裏"]), Some(Encoding::ShiftJis));
        assert_eq!(fitting(Encoding::Ibm866, &old, &["裏", "表"]), None);
        assert_eq!(fitting(Encoding::Ibm866, &old, &["abc", "д"]), Some(Encoding::Ibm866));
        assert_eq!(fitting(Encoding::Windows1252, b"caf\xe9\n", &["café", "x"]), Some(Encoding::Windows1252));
    }
}
