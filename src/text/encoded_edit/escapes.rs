//! Texts with the escape sequences of ISO-2022: between these, bytes of ASCII are parts of other characters. Such texts are not
//! edited in parts.
//!
//! Pure.

use super::whole::lines;
use crate::encoding::{ESC, Encoding, by_escapes, has_wide, selects_wide};
use crate::splice::EditPlan;
use crate::{Error, Result};

/// The controls between which ISO-2022-KR and ISO-2022-CN have their characters.
const SHIFT_OUT: u8 = 0x0E;
const SHIFT_IN: u8 = 0x0F;

/// A kind of edits that change parts of a text and leave the rest as it is, for the refusal of such a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InParts {
    /// The argument that the refusal is of.
    pub at: &'static str,
    /// Whether texts in ASCII may be put in: these edits are of whole lines.
    pub of_lines: bool,
    /// What to do instead, in the words of the tool.
    pub instead: &'static str,
}

impl InParts {
    /// Edits by their texts, of a tool with the argument `encoding`.
    pub const OF_TEXTS: InParts =
        InParts { at: "encoding", of_lines: false, instead: "write the whole text instead" };

    /// Makes the plan of edits of `old`. All edits in parts come through here.
    ///
    /// # Errors
    ///
    /// Those of `plan`, and [`Error::NotInParts`] for a text in ISO-2022-JP, or a plan with a place that begins or ends
    /// between two escape sequences of its line. So halves of characters are left alone also in a file that is not all in this
    /// encoding.
    pub fn checked<'p, T, E: From<Error>>(
        &self,
        old: &[u8],
        plan: impl FnOnce() -> Result<Option<(EditPlan<'p>, T)>, E>,
    ) -> Result<Option<(EditPlan<'p>, T)>, E> {
        let is_escaped = by_escapes(old).is_some();
        let refused = |line| Err(Error::NotInParts { edits: *self, line }.into());
        if is_escaped && !self.of_lines {
            return refused(None);
        }
        let planned = plan()?;
        let Some((plan, _)) = &planned else { return Ok(planned) };
        if let Some(cut) = first_cut(old, plan) {
            // With the byte behind the place, which is in the same line.
            let upto = &old[..old.len().min(cut + 1)];
            return refused(Some(lines(Encoding::Utf8, upto).saturating_sub(1)));
        }
        let puts_in_ascii = plan.splices().all(|splice| splice.text.is_ascii());
        if is_escaped && !puts_in_ascii { refused(None) } else { Ok(planned) }
    }
}

/// Fails if what the bytes of this encoding mean depends on those before.
pub(super) fn keeps_no_state(encoding: Encoding) -> Result<()> {
    if encoding.is_stateful() {
        Err(Error::NotInParts { edits: InParts::OF_TEXTS, line: None })
    } else {
        Ok(())
    }
}

/// Whether these bytes behind ESC begin other characters at once, not behind [`SHIFT_OUT`].
fn begins_wide(behind: &[u8]) -> bool {
    selects_wide(behind) && !matches!(behind, [b'$', b')'..=b'+', ..])
}

/// The first byte where a place of the plan begins or ends between two escape sequences of its line, or inside one.
fn first_cut(old: &[u8], plan: &EditPlan) -> Option<usize> {
    if !has_wide(old) {
        return None;
    }
    let is_step = |at: &usize| matches!(old[*at], ESC | b'\n' | SHIFT_OUT | SHIFT_IN);
    let (mut steps, mut is_between, mut behind_sequence) =
        ((0..old.len()).filter(is_step).peekable(), false, 0);
    let cuts = |place: &usize| {
        while let Some(step) = steps.next_if(|step| step < place) {
            let behind = &old[step + 1..];
            is_between = match old[step] {
                ESC => begins_wide(behind) || is_between && !behind.starts_with(b"("),
                byte => byte == SHIFT_OUT,
            };
            behind_sequence = step + 1 + if old[step] == ESC { len_behind(behind) } else { 0 };
        }
        is_between || *place < behind_sequence
    };
    plan.splices().flat_map(|splice| [splice.at.start, splice.at.end]).find(cuts)
}

/// Bytes behind ESC that belong to its sequence: up to 3 of space to `/`, and one more. None if ESC begins no sequence that selects a set.
fn len_behind(behind: &[u8]) -> usize {
    let between = behind.iter().take(3).take_while(|byte| matches!(byte, b' '..=b'/')).count();
    match behind.get(between) {
        Some(0x30..=0x7E) if between > 0 => between + 1,
        _ => 0,
    }
}
