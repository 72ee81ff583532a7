//! A text of whole lines that keeps the first ones within a bound and counts those beyond.
//!
//! Pure; knows nothing of diffs.

/// See the module.
#[derive(Debug)]
pub(super) struct BoundedText {
    text: String,
    most: usize,
    /// All lines, also those that are not kept.
    lines: usize,
    is_full: bool,
}

impl BoundedText {
    /// An empty text of at most `most` bytes.
    pub(super) fn new(most: usize) -> BoundedText {
        BoundedText { text: String::new(), most, lines: 0, is_full: false }
    }

    /// Adds whole lines, as many as fit.
    pub(super) fn put(&mut self, lines: &str) {
        self.lines += memchr::memchr_iter(b'\n', lines.as_bytes()).count();
        if self.is_full {
            return;
        }
        let room = self.most - self.text.len();
        self.is_full = room < lines.len();
        let end = match self.is_full {
            true => memchr::memrchr(b'\n', &lines.as_bytes()[..room]).map_or(0, |brk| brk + 1),
            false => lines.len(),
        };
        self.text.push_str(&lines[..end]);
    }

    /// Adds one line, in parts of which only the last ends with a break.
    pub(super) fn put_line(&mut self, parts: &[&str]) {
        self.lines += 1;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.is_full |= self.most - self.text.len() < len;
        if !self.is_full {
            parts.iter().for_each(|part| self.text.push_str(part));
        }
    }

    /// Adds the lines of another text.
    pub(super) fn put_all(&mut self, other: BoundedText) {
        let lines = self.lines + other.lines;
        self.put(&other.text);
        self.lines = lines;
        self.is_full |= other.is_full;
    }

    /// Number of lines, also of those that are not kept.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    pub(super) fn room(&self) -> usize {
        self.most - self.text.len()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_bound_are_counted_and_none_is_kept_behind_one_that_is_not() {
        let mut text = BoundedText::new(6);
        text.put("a\nb\nlong\n");
        text.put_line(&["c", "\n"]);
        text.put("d\n");
        let mut inner = BoundedText::new(text.room());
        inner.put_line(&["e", "\n"]);
        text.put_all(inner);
        assert_eq!((text.lines(), text.into_text()), (6, "a\nb\n".to_owned()));
    }

    #[test]
    fn a_line_is_kept_whole_or_not_at_all() {
        let mut text = BoundedText::new(5);
        text.put_line(&["+", "a\n"]);
        text.put_line(&["+", "ä\n"]);
        text.put_line(&["\n"]);
        assert_eq!((text.lines(), text.into_text()), (3, "+a\n".to_owned()));
    }
}
