//! Texts with the escape sequences of ISO-2022-JP: between these, bytes of ASCII are parts of other characters. Such texts are
//! not edited in parts.
//!
//! Pure.

use crate::engine::encoding::{ESC, Encoding, by_escapes};
use crate::engine::text::splice::EditPlan;
use crate::engine::{Error, Result};

/// The argument for the encoding.
pub(super) const ENCODING: &str = "encoding";

/// What follows ESC where characters begin that are not ASCII.
const OTHER_SETS: [&[u8]; 4] = [b"$B", b"$@", b"$(D", b"(I"];

/// Fails for bytes in ASCII that are text in an encoding with escape sequences, and are not edited in parts.
///
/// # Errors
///
/// [`Error::InvalidArguments`] of the argument `at`.
pub fn keeps_escapes(old: &[u8], at: &str) -> Result<()> {
    by_escapes(old).map_or(Ok(()), |encoding| keeps_no_state(encoding, at))
}

/// Fails if what the bytes of this encoding mean depends on those before.
pub(super) fn keeps_no_state(encoding: Encoding, at: &str) -> Result<()> {
    if !encoding.is_stateful() {
        return Ok(());
    }
    let problem = format!(
        "{} is not edited in parts, because what its bytes mean depends on those before; write the whole text instead",
        encoding.name()
    );
    Err(Error::InvalidArguments { at: at.into(), problem })
}

/// Fails if a place of the plan begins or ends between two escape sequences of its line. So halves of characters are left alone
/// also in a file that is not all in this encoding, of which [`keeps_escapes`] does not know.
///
/// # Errors
///
/// [`Error::InvalidArguments`] of the argument `at`.
pub fn cuts_no_escapes(old: &[u8], plan: &EditPlan, at: &str) -> Result<()> {
    let begins = |esc: usize| OTHER_SETS.iter().any(|set| old[esc + 1..].starts_with(set));
    if !memchr::memchr_iter(ESC, old).any(begins) {
        return Ok(());
    }
    let (mut steps, mut is_between) = (memchr::memchr2_iter(ESC, b'\n', old).peekable(), false);
    let mut cuts = |place: usize| {
        while let Some(step) = steps.next_if(|step| *step < place) {
            let goes_on = is_between && !old[step + 1..].starts_with(b"(");
            is_between = old[step] == ESC && (begins(step) || goes_on);
        }
        is_between
    };
    match plan.splices().any(|splice| cuts(splice.at.start) || cuts(splice.at.end)) {
        true => keeps_no_state(Encoding::Iso2022Jp, at),
        false => Ok(()),
    }
}
