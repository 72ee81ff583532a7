//! The numbers of added and removed lines between two versions of a file.

use super::lines::{TooManyLines, Trimmed, lines};
use super::relevant::relevant;
use super::split::unmatched;
use folder::{Control, Result};

/// The numbers of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that only the new version has.
    pub added: u64,
    /// Lines that only the old version has.
    pub deleted: u64,
}

/// How far a text is searched for a NUL, as git does.
const SEARCHED_FOR_NUL: usize = 8_000;

/// Whether a file is no text, because there is a NUL near its beginning.
pub fn is_binary(text: &[u8]) -> bool {
    memchr::memchr(0, &text[..text.len().min(SEARCHED_FOR_NUL)]).is_some()
}

/// Counts the lines by which `new` differs from `old`. An `Err` inside is a text with too many lines.
pub fn count(old: &[u8], new: &[u8], control: &Control) -> Result<Result<LineCounts, TooManyLines>> {
    let trimmed = Trimmed::new(old, new);
    let number = |text| lines(text).count() as u64;
    let [removed, added] = trimmed.middles;
    if removed.is_empty() || added.is_empty() {
        return Ok(Ok(LineCounts { added: number(added), deleted: number(removed) }));
    }
    let Ok([left, right]) = trimmed.number() else { return Ok(Err(TooManyLines)) };
    let (old, new) = (relevant(&left, &right), relevant(&right, &left));
    let (removed, added) = unmatched(&old, &new, control)?;
    let deleted = (left.lines.len() - old.len() + removed) as u64;
    let added = (right.lines.len() - new.len() + added) as u64;
    Ok(Ok(LineCounts { added, deleted }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn counted(old: &str, new: &str) -> (u64, u64) {
        let control = Control::new(Duration::from_secs(60));
        let LineCounts { added, deleted } = count(old.as_bytes(), new.as_bytes(), &control).unwrap().unwrap();
        (added, deleted)
    }

    #[test]
    fn lines_are_counted_with_their_breaks() {
        assert_eq!(counted("", ""), (0, 0));
        assert_eq!(counted("", "a\nb"), (2, 0));
        assert_eq!(counted("a\nb\n", ""), (0, 2));
        assert_eq!(counted("a", "a\n"), (1, 1));
        assert_eq!(counted("a\r\nb\n", "a\nb\n"), (1, 1));
        assert_eq!(counted("a\rb", "a\rc"), (1, 1), "a lone CR is no break");
        assert_eq!(counted("a\nb\nc\n", "x\nb\ny\nz\n"), (3, 2));
    }

    #[test]
    fn a_nul_near_the_beginning_makes_a_file_binary() {
        let mut text = vec![b'a'; 9_000];
        text[8_000] = 0;
        assert!(!is_binary(&text) && !is_binary(b""));
        text[7_999] = 0;
        assert!(is_binary(&text) && is_binary(b"\0"));
    }
}
