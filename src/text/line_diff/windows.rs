//! The windows of two texts around the changes that a plan makes: all that a diff needs of them.
//!
//! The lines between two windows are equal in both texts. One line stands for them, a *gap*, so that a diff takes memory
//! for the windows only, however long the texts are. A gap's line begins with NUL, which no text holds, and with its
//! number, so that it equals nothing but the same gap of the other text. Knows no files; the bytes of the old text may
//! change while they are copied, so nothing here relies on them twice.

use std::ops::Range;

use crate::splice::EditPlan;

/// Number of context lines around a change.
pub(super) const CONTEXT: usize = 4;

/// The first byte of a line that stands for a gap.
pub(super) const GAP: u8 = 0;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Windows {
    pub(super) old: String,
    pub(super) new: String,
    /// For each gap, the number of its lines. One at the end of the texts counts none.
    pub(super) gaps: Vec<usize>,
    /// The last changes of the plan that no window holds.
    pub(super) left_out: usize,
}

/// Why there are no windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoWindows {
    /// They are too long.
    TooLong,
    /// The old text is not UTF-8, or not that of the plan.
    NotText,
}

#[derive(Default)]
struct Builder {
    old: Vec<u8>,
    new: Vec<u8>,
    gaps: Vec<usize>,
    /// The last point where both texts are at the start of a line.
    line_start: LineStart,
}

/// A point in the texts of a builder: their lengths, and the number of gaps and of changes before it.
#[derive(Clone, Copy, Default)]
struct LineStart {
    old: usize,
    new: usize,
    gaps: usize,
    changes: usize,
}

impl Windows {
    /// The windows of `old` around the changes of `plan`. Each reaches from [`CONTEXT`] lines before a change to `margin`
    /// lines behind one. Those of one text have at most `most` bytes.
    pub(super) fn around(
        old: &[u8],
        plan: &EditPlan,
        margin: usize,
        most: usize,
    ) -> Result<Windows, NoWindows> {
        match Builder::of(old, plan, margin, most)? {
            (built, true) => built.finish().ok_or(NoWindows::NotText),
            (_, false) => Err(NoWindows::TooLong),
        }
    }

    /// The same around the first changes whose windows are not too long: both texts as if they ended behind them. None if
    /// the old text is not that of the plan.
    pub(super) fn of_first(old: &[u8], plan: &EditPlan, margin: usize, most: usize) -> Option<Windows> {
        let (mut built, is_whole) = Builder::of(old, plan, margin, most).ok()?;
        let mut left_out = 0;
        if !is_whole {
            let LineStart { old, new, gaps, changes } = built.line_start;
            built.old.truncate(old);
            built.new.truncate(new);
            built.gaps.truncate(gaps);
            left_out = plan.splices().count() - changes;
        }
        Some(Windows { left_out, ..built.finish()? })
    }
}

impl Builder {
    /// The texts, and whether they are not too long.
    fn of(old: &[u8], plan: &EditPlan, margin: usize, most: usize) -> Result<(Builder, bool), NoWindows> {
        let mut built = Builder::default();
        let mut done = 0;
        let is_too_long = |built: &Builder, kept: usize| built.old.len().max(built.new.len()) + kept > most;
        for (number, splice) in plan.splices().enumerate() {
            let between = old.get(done..splice.at.start).ok_or(NoWindows::NotText)?;
            // Nothing was changed before the first window.
            let behind = if number == 0 { Some(0) } else { behind(between, margin) };
            let gap = behind.map(|behind| behind..before(between)).filter(|gap| gap.start < gap.end);
            let gone = old.get(splice.at.clone()).ok_or(NoWindows::NotText)?;
            let kept = between.len() - gap.as_ref().map_or(0, Range::len);
            if is_too_long(&built, kept + gone.len().max(splice.text.len())) {
                return Ok((built, false));
            }
            built.put_all_but(gap, between, number);
            built.old.extend_from_slice(gone);
            built.new.extend_from_slice(&splice.text);
            built.note_line_start(number + 1);
            done = splice.at.end;
        }
        let rest = &old[done..];
        let end = behind(rest, margin).unwrap_or(rest.len());
        if is_too_long(&built, end) {
            return Ok((built, false));
        }
        built.put(&rest[..end]);
        if end < rest.len() {
            built.put_gap(0);
        }
        Ok((built, true))
    }

    /// Adds `bytes`, which are in both texts behind so many `changes`, with a gap in their place if there is one.
    fn put_all_but(&mut self, gap: Option<Range<usize>>, bytes: &[u8], changes: usize) {
        let (kept, gap) = match gap {
            Some(gap) => (gap.start, Some(gap)),
            None => (memchr::memrchr(b'\n', bytes).map_or(0, |brk| brk + 1), None),
        };
        self.put(&bytes[..kept]);
        self.note_line_start(changes);
        let Some(gap) = gap else { return self.put(&bytes[kept..]) };
        self.put_gap(memchr::memchr_iter(b'\n', &bytes[gap.clone()]).count());
        self.put(&bytes[gap.end..]);
    }

    /// Notes where the texts end, if both are at the start of a line.
    fn note_line_start(&mut self, changes: usize) {
        let starts_line = |text: &[u8]| text.last().is_none_or(|&last| last == b'\n');
        if starts_line(&self.old) && starts_line(&self.new) {
            let (old, new, gaps) = (self.old.len(), self.new.len(), self.gaps.len());
            self.line_start = LineStart { old, new, gaps, changes };
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        // The same bytes in both, even if the source changes meanwhile.
        let start = self.old.len();
        self.old.extend_from_slice(bytes);
        self.new.extend_from_slice(&self.old[start..]);
    }

    fn put_gap(&mut self, lines: usize) {
        let line = format!("\0{}\n", self.gaps.len());
        self.put(line.as_bytes());
        self.gaps.push(lines);
    }

    /// None if the texts have changed. What is no UTF-8 is shown as U+FFFD.
    fn finish(self) -> Option<Windows> {
        let is_marked = |text: &[u8]| memchr::memchr_iter(GAP, text).count() == self.gaps.len();
        if !is_marked(&self.old) || !is_marked(&self.new) {
            return None;
        }
        let text = |bytes: Vec<u8>| as_shown(String::from_utf8_lossy(&bytes).into_owned());
        Some(Windows { old: text(self.old), new: text(self.new), gaps: self.gaps, left_out: 0 })
    }
}

/// The text with CRLF as LF, and without the byte order mark.
fn as_shown(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text }
}

/// The end of the `margin` lines behind a change. `between` starts at its end, inside of a line. None if there are fewer.
fn behind(between: &[u8], margin: usize) -> Option<usize> {
    memchr::memchr_iter(b'\n', between).nth(margin).map(|brk| brk + 1)
}

/// The start of the context of a change, which `between` ends at.
fn before(between: &[u8]) -> usize {
    memchr::memrchr_iter(b'\n', between).nth(CONTEXT).map_or(0, |brk| brk + 1)
}

/// The lines at the end of a window that may be context of a change before them.
pub(super) fn context_at_end(window: &[u8]) -> &[u8] {
    let whole = window.strip_suffix(b"\n").unwrap_or(window);
    let start = memchr::memrchr_iter(b'\n', whole).nth(CONTEXT - 1).map_or(0, |brk| brk + 1);
    &window[start..]
}

/// The windows and gaps of a text, in order: each window with the line of the gap behind it, if there is one.
pub(super) fn pieces(mut text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (window, rest) = text.split_at(memchr::memchr(GAP, text).unwrap_or(text.len()));
        let (gap, rest) = rest.split_at(memchr::memchr(b'\n', rest).map_or(rest.len(), |brk| brk + 1));
        text = rest;
        Some((window, gap))
    })
}
