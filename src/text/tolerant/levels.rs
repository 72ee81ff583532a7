//! Which lines may have a level below them, and which lines go on with the one above.
//!
//! Pure. Knows single lines by how they end, and no language.

use memchr::memmem;

use super::blanks::Line;

/// The lines that are deeper than one above them below which no level begins.
pub(super) fn continuations<'b, 't>(lines: &'b [Line<'t>]) -> impl Iterator<Item = &'b Line<'t>> {
    let mut outer: Vec<&Line> = Vec::new();
    lines.iter().filter(|line| !line.is_blank()).filter(move |line| {
        outer.retain(|above| above.head.len() < line.head.len());
        let goes_on = outer.last().is_some_and(|above| !may_open_level(above.core));
        outer.push(line);
        goes_on
    })
}

/// Whether a deeper line below this one may be a level. Below the others it goes on with their statement or value, and stands where
/// that one begins or anywhere: below a comma, a bracket that is open and not the last character, or the value of a key.
pub(super) fn may_open_level(core: &[u8]) -> bool {
    const OPENERS: &[u8] = b":{([>|";
    let core = without_comment(core);
    let Some(last) = core.last() else { return false };
    if OPENERS.contains(last) {
        return true;
    }
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(byte);
    let entry = core.strip_prefix(b"- ").unwrap_or(core);
    let key = entry.iter().take_while(|byte| is_key(byte)).count();
    let has_value = entry[key..].starts_with(b": ");
    *last != b',' && !has_value && !leaves_bracket_open(core)
}

/// The line without a comment at its end, as most languages write it.
fn without_comment(core: &[u8]) -> &[u8] {
    let start = [&b" #"[..], b" //"].iter().filter_map(|mark| memmem::find(core, mark)).min();
    core[..start.unwrap_or(core.len())].trim_ascii_end()
}

/// Whether a bracket is opened and not closed.
fn leaves_bracket_open(core: &[u8]) -> bool {
    let mut open = 0_usize;
    for byte in core {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    open > 0
}
