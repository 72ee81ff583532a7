//! Which lines may have a level below them, and which lines go on with the one above.
//!
//! Pure. Knows single lines by how they begin and end, strings in three quotes, and no language.

use memchr::memmem;

use super::blanks::Line;

/// How a string of several lines begins and ends.
const QUOTES: [&[u8]; 2] = [b"\"\"\"", b"'''"];

/// How a comment of several lines begins, at the start of a line, and what ends it.
const BLOCKS: [[&[u8]; 2]; 2] = [[b"/*", b"*/"], [b"<!--", b"-->"]];

/// How a line begins that is a comment. Those of one mark end it, or have a blank behind it.
const COMMENTS: [&[u8]; 5] = [b"//", b"/*", b"*/", b"<!--", b"#!"];
const MARKS: [&[u8]; 4] = [b"#", b"*", b"--", b";"];

/// Whether the next line begins inside a string in three quotes, or a comment of several lines: what ends it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strings(Option<&'static [u8]>);

impl Strings {
    /// Passes a line. Returns whether its indentation tells nothing of nesting: it begins inside a string, or is a comment.
    pub(super) fn pass_text(&mut self, core: &[u8]) -> bool {
        let is_inside = self.0.is_some();
        if !is_inside && is_comment(core) {
            let is_open = |[start, end]: &&[&[u8]; 2]| {
                core.strip_prefix(*start).is_some_and(|rest| memmem::find(rest, end).is_none())
            };
            self.0 = BLOCKS.iter().find(is_open).map(|[_, end]| *end);
            return true;
        }
        if let Some(end) = self.0.filter(|end| !QUOTES.contains(end)) {
            self.0 = memmem::find(core, end).is_none().then_some(end);
            return true;
        }
        let mut rest = core;
        while let Some((at, quotes)) = self.next_quotes(rest) {
            self.0 = if self.0.is_some() { None } else { Some(quotes) };
            rest = &rest[at + quotes.len()..];
        }
        is_inside
    }

    fn next_quotes(&self, text: &[u8]) -> Option<(usize, &'static [u8])> {
        let is_wanted = |quotes: &&&'static [u8]| self.0.is_none_or(|open| open == **quotes);
        let found =
            QUOTES.iter().filter(is_wanted).filter_map(|quotes| Some((memmem::find(text, quotes)?, *quotes)));
        found.min_by_key(|(at, _)| *at)
    }
}

fn is_comment(core: &[u8]) -> bool {
    let is_mark =
        |mark: &&[u8]| core.strip_prefix(*mark).is_some_and(|rest| matches!(rest, [] | [b' ' | b'\t', ..]));
    COMMENTS.iter().any(|start| core.starts_with(start)) || MARKS.iter().any(is_mark)
}

/// The lines that are deeper than one above them below which no level begins, each as the numbers of that one and its own. `nests`
/// tells for each line whether it shows how lines nest.
pub(super) fn continuations<'b>(
    lines: &'b [Line],
    nests: &'b [bool],
) -> impl Iterator<Item = [usize; 2]> + 'b {
    let mut outer: Vec<usize> = Vec::new();
    lines.iter().zip(nests).enumerate().filter(|(_, (_, nests))| **nests).filter_map(
        move |(at, (line, _))| {
            outer.truncate(outer.partition_point(|&above| lines[above].head.len() < line.head.len()));
            let above = outer.last().copied().filter(|&above| !may_open_level(lines[above].core));
            outer.push(at);
            above.map(|above| [above, at])
        },
    )
}

/// For each line, whether it hangs below another one and may stand anywhere: its indentation tells nothing of a level. So do
/// continuations, what an open bracket is the last character above, and lines up to the bracket that closes one of the lines before
/// these. Below the line that ends what hangs, and opens a level, lines are on that level. `nests` tells for each line whether it
/// shows how lines nest.
pub(super) fn hanging(lines: &[Line], nests: &[bool]) -> Vec<bool> {
    let mut hangs = vec![false; lines.len()];
    let (mut outer, mut open): (Vec<(usize, bool)>, isize) = (Vec::new(), 0);
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_blank()) {
        let above = outer.partition_point(|(above, _)| lines[*above].head.len() < line.head.len());
        hangs[at] = outer[..above].last().is_some_and(|(_, opens)| !opens);
        if !nests[at] {
            continue;
        }
        outer.truncate(above);
        let ends_opening = without_comment(line.core).last().is_some_and(|last| b":{".contains(last));
        if let Some((_, opens)) = outer.last_mut().filter(|_| ends_opening) {
            *opens = true;
        }
        outer.push((at, shows_level(line.core)));
        open += open_brackets(line.core);
        if open < 0 {
            // A bracket that begins its line stands where the line stands that has opened it.
            let end = at + usize::from(!matches!(line.core.first(), Some(b')' | b']')));
            hangs[..end].fill(true);
            open = 0;
        }
    }
    hangs
}

/// Number of round and square brackets that are opened, less those that are closed.
fn open_brackets(core: &[u8]) -> isize {
    let count = |byte: &u8| match byte {
        b'(' | b'[' => 1,
        b')' | b']' => -1,
        _ => 0,
    };
    core.iter().map(count).sum()
}

/// Whether a deeper line below this one shows how deep a level is. What hangs below an open bracket may be deeper than that.
pub(super) fn shows_level(core: &[u8]) -> bool {
    may_open_level(core) && !matches!(without_comment(core).last(), Some(b'(' | b'['))
}

/// Whether a deeper line below this one may be a level. Below the others it goes on with their statement or value, and stands where
/// that one begins or anywhere: below a comma, a backslash, a bracket that is open and not the last character, or the value of a key.
pub(super) fn may_open_level(core: &[u8]) -> bool {
    if opens_level(core) {
        return true;
    }
    let core = without_comment(core);
    let Some(last) = core.last() else { return false };
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(byte);
    let entry = core.strip_prefix(b"- ").unwrap_or(core);
    let key = entry.iter().take_while(|byte| is_key(byte)).count();
    let has_value = entry[key..].starts_with(b": ");
    !b",\\".contains(last) && !has_value && !leaves_bracket_open(core)
}

/// Whether this line ends as one does that a level begins below.
pub(super) fn opens_level(core: &[u8]) -> bool {
    without_comment(core).last().is_some_and(|last| b":{([>|".contains(last))
}

/// The line without a comment at its end, as most languages write it.
fn without_comment(core: &[u8]) -> &[u8] {
    let start = [&b" #"[..], b" //"].iter().filter_map(|mark| memmem::find(core, mark)).min();
    core[..start.unwrap_or(core.len())].trim_ascii_end()
}

/// Whether a bracket is opened and not closed.
fn leaves_bracket_open(core: &[u8]) -> bool {
    bracket_end(core).is_some()
}

/// Number of characters up to the end of the last bracket that is opened and not closed.
pub(super) fn bracket_end(core: &[u8]) -> Option<usize> {
    let (mut open, mut column) = (Vec::new(), 0);
    for byte in core {
        // The other bytes of a character in UTF-8 do not count.
        column += usize::from(byte & 0xC0 != 0x80);
        match byte {
            b'(' | b'[' | b'{' => open.push(column),
            b')' | b']' | b'}' => _ = open.pop(),
            _ => {}
        }
    }
    open.pop()
}
