//! One large text, searched by several threads: each takes the next part, which begins and ends where a line does.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::slots::SearchSlots;
use folder::fs::view::FileView;
use folder::{Control, Result};
use search::{Hit, LineMatcher, find_line};
use text::encoding::has_escapes;
use text::in_turn::InTurn;
use text::lines::char_boundary;

/// A part of more bytes is long.
const LONG: usize = 4 * PART;

/// Bytes of an escape sequence, at most.
const SEQUENCE: usize = 4;

/// Bytes of a part: a slow pattern must notice soon that its search is cancelled.
pub(super) const PART: usize = 512 << 10;

/// See the module.
pub(super) struct LargeText {
    view: Arc<FileView>,
    /// The text in the view, without a byte order mark.
    range: Range<usize>,
    /// The parts of the text, in order. A part ends where the next one begins if that is in the same stretch of lines.
    parts: Vec<Part>,
    keep: usize,
    /// All of it was found to be UTF-8 before.
    pub(super) is_known_text: bool,
    /// It is searched also where it is not UTF-8.
    pub(super) takes_any_bytes: bool,
    state: Mutex<State>,
    /// A part is done.
    done: Condvar,
}

/// Bytes of one stretch of whole lines. The part begins at the first line at or behind its start, and ends likewise.
#[derive(Clone)]
struct Part {
    bytes: Range<usize>,
    stretch: Range<usize>,
}

#[derive(Default)]
struct State {
    /// The part that is taken next.
    next: usize,
    /// Parts that threads are at.
    running: usize,
    /// Results of parts; those that were given are in `merged`.
    found: InTurn<PartHits>,
    merged: PartHits,
    is_text: bool,
    /// The last long line, whose end need not be looked for again: from any byte of the range, it is the end.
    long_line: Range<usize>,
}

#[derive(Default)]
struct PartHits {
    hits: Vec<Hit>,
    count: u64,
    /// Where its last line ends.
    end: usize,
}

/// What was found in a large text.
pub(super) struct LargeHits {
    /// The first hits.
    pub(super) hits: Vec<Hit>,
    /// Their number.
    pub(super) count: u64,
    /// Whether all that was searched is UTF-8.
    pub(super) is_text: bool,
    /// Where the first line begins that was not searched, if the search had to end.
    pub(super) rest: Option<usize>,
}

impl LargeText {
    /// `range` is the text in the view; its `stretches` of whole lines are searched, in parts of `part` bytes.
    pub(super) fn new(
        view: Arc<FileView>,
        range: Range<usize>,
        stretches: &[Range<usize>],
        keep: usize,
        part: usize,
    ) -> LargeText {
        let parts = |stretch: &Range<usize>| {
            let stretch = stretch.clone();
            stretch.clone().step_by(part).map(move |start| {
                let end = start.saturating_add(part).min(stretch.end);
                Part { bytes: start..end, stretch: stretch.clone() }
            })
        };
        let parts = stretches.iter().flat_map(parts).collect();
        let state = Mutex::new(State { is_text: true, ..State::default() });
        let (is_known_text, takes_any_bytes) = (false, false);
        LargeText { view, range, parts, keep, is_known_text, takes_any_bytes, state, done: Condvar::new() }
    }

    fn text(&self) -> &[u8] {
        &self.view.bytes()[self.range.clone()]
    }

    /// Bytes up to the first line that was not searched, and all bytes.
    pub(super) fn done(&self) -> (usize, usize) {
        (self.state().merged.end, self.range.len())
    }

    /// Whether a part is left to take.
    pub(super) fn has_parts(&self) -> bool {
        let state = self.state();
        self.goes_on(&state) && state.next < self.parts.len()
    }

    /// Whether it is still searched.
    fn goes_on(&self, state: &State) -> bool {
        state.is_text || self.takes_any_bytes
    }

    /// Searches one part. Returns false if none is left, or the search is to end. A part that is much longer, because of a
    /// long line, waits for the slot of such parts.
    pub(super) fn search_part(&self, scan: &mut LineMatcher, slots: &SearchSlots, control: &Control) -> bool {
        let Some((number, part, keep)) = self.take() else { return false };
        let _at_work = AtWork(self);
        let mut found = PartHits::default();
        let searched = self.part_range(&part, control).and_then(|range| {
            let _slot = match range.len() > LONG {
                true => slots.take_long(control)?,
                false => slots.take(control)?,
            };
            control.check()?;
            let is_text = self.is_known_text || is_utf8(&self.text()[range.clone()], || control.check())?;
            if !is_text && !self.takes_any_bytes {
                return Ok(false);
            }
            found.end = range.end;
            found.count = scan.scan(self.text(), range, keep, &mut found.hits)?.hits;
            Ok(is_text)
        });
        let mut state = self.state();
        state.is_text &= !matches!(searched, Ok(false));
        if searched.is_ok() {
            state.put(number, found, self.keep);
        }
        searched.is_ok()
    }

    /// Takes the next part: its number, and how many hits it may keep.
    fn take(&self) -> Option<(usize, Part, usize)> {
        let mut state = self.state();
        let number = state.next;
        let part = self.parts.get(number).filter(|_| self.goes_on(&state))?;
        state.next += 1;
        state.running += 1;
        let keep = if state.merged.hits.len() < self.keep { self.keep } else { 0 };
        Some((number, part.clone(), keep))
    }

    /// The lines of a part.
    fn part_range(&self, part: &Part, control: &Control) -> Result<Range<usize>> {
        let at = |byte| match byte == part.stretch.start {
            true => Ok(byte),
            false => self.line_at(byte, control).map(|line| line.min(part.stretch.end)),
        };
        let start = at(part.bytes.start)?;
        // In a map that changes, the end may come to lie before it.
        Ok(start..at(part.bytes.end)?.max(start))
    }

    /// Where the first line at or behind the byte `at` begins, or the end of the text.
    fn line_at(&self, at: usize, control: &Control) -> Result<usize> {
        let known = self.state().long_line.clone();
        if known.contains(&at) {
            return Ok(known.end);
        }
        let line = find_line(self.text(), at, control)?;
        if line.saturating_sub(at) > PART {
            self.state().long_line = at..line;
        }
        Ok(line)
    }

    /// Waits until no thread is at a part of it. What was found up to the first part that was not searched.
    pub(super) fn finish(&self) -> LargeHits {
        let running = |state: &mut State| state.running > 0;
        let state = self.done.wait_while(self.state(), running);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let PartHits { hits, count, end } = std::mem::take(&mut state.merged);
        let (is_text, next) = (state.is_text, self.parts.get(state.found.given()));
        drop(state);
        let rest = next.map(|part| match part.bytes.start == part.stretch.start {
            true => part.bytes.start,
            false => end,
        });
        LargeHits { hits, count, is_text, rest }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread at a part. It leaves on drop, after a panic as well: the others wait for it.
struct AtWork<'l>(&'l LargeText);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
        self.0.done.notify_all();
    }
}

impl State {
    fn put(&mut self, number: usize, found: PartHits, keep: usize) {
        self.found.put(number, found);
        while let Some(found) = self.found.take() {
            self.merged.count += found.count;
            self.merged.end = found.end;
            let room = keep.saturating_sub(self.merged.hits.len());
            self.merged.hits.extend(found.hits.into_iter().take(room));
        }
    }
}

/// Whether all of it is UTF-8 without escape sequences of another encoding. Calls `check` now and then.
pub(super) fn is_utf8(bytes: &[u8], check: impl Fn() -> Result<()>) -> Result<bool> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(char_boundary(rest, PART));
        // A sequence may end in the next step.
        let with_sequence = &rest[..rest.len().min(step.len() + SEQUENCE)];
        if simdutf8::basic::from_utf8(step).is_err() || has_escapes(with_sequence) {
            return Ok(false);
        }
        check()?;
        rest = behind;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use folder::fs::view::OpenFile;
    use search::line_at;
    use search::{Pattern, PatternOptions};

    fn view(text: &[u8]) -> Arc<FileView> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let stat = sys::fs::fstat(&file).unwrap();
        Arc::new(Arc::new(OpenFile::new(file, stat)).view(0..text.len()).unwrap())
    }

    /// The hits that three threads find in parts of `part` bytes.
    fn found(text: &[u8], part: usize, start: usize, keep: usize) -> (Vec<Hit>, u64, bool) {
        let slots = SearchSlots::default();
        let pattern = Pattern::new("a", PatternOptions::default()).unwrap();
        let control = Control::new(Duration::from_secs(60));
        let lines = [line_at(text, start)..text.len()];
        let large = LargeText::new(view(text), 0..text.len(), &lines, keep, part);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut scan = LineMatcher::new(&pattern, &control);
                    while large.search_part(&mut scan, &slots, &control) {}
                });
            }
        });
        let LargeHits { hits, count, is_text, rest } = large.finish();
        assert!(rest.is_none() || !is_text);
        (hits, count, is_text)
    }

    fn at_once(text: &[u8], start: usize) -> Vec<Hit> {
        let pattern = Pattern::new("a", PatternOptions::default()).unwrap();
        let mut hits = Vec::new();
        let control = Control::new(Duration::from_secs(60));
        let mut scan = LineMatcher::new(&pattern, &control);
        scan.scan(text, line_at(text, start)..text.len(), usize::MAX, &mut hits).unwrap();
        hits
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn several_threads_find_what_one_finds(
            text in "([ab]{0,9}(\n|\r\n|\r)){0,30}[ab]{0,3}",
            part in 1..20usize,
            start in 0..30usize,
            keep in 0..9usize,
        ) {
            let expected = at_once(text.as_bytes(), start.min(text.len()));
            let (hits, count, is_text) = found(text.as_bytes(), part, start.min(text.len()), keep);
            prop_assert!(is_text);
            prop_assert_eq!(count, expected.len() as u64);
            prop_assert_eq!(&hits[..], &expected[..keep.min(expected.len())]);
        }
    }

    #[test]
    fn a_part_that_is_not_utf8_makes_the_whole_no_text() {
        let text = [b"a\n".repeat(10).as_slice(), b"caf\xe9\n"].concat();
        assert!(!found(&text, 4, 0, 100).2);
    }

    #[test]
    fn a_text_too_large_to_copy_is_searched_though_a_part_is_not_utf8() {
        let text = [b"a\n".repeat(10).as_slice(), b"caf\xe9\n", b"b\na\n"].concat();
        let (pattern, control) =
            (Pattern::new("a", PatternOptions::default()).unwrap(), Control::new(Duration::from_secs(60)));
        let range = 0..text.len();
        let mut large = LargeText::new(view(&text), range.clone(), &[range], 100, 4);
        large.takes_any_bytes = true;
        let mut scan = LineMatcher::new(&pattern, &control);
        while large.search_part(&mut scan, &SearchSlots::default(), &control) {}
        let LargeHits { hits, is_text, rest, .. } = large.finish();
        assert_eq!((hits, is_text, rest), (at_once(&text, 0), false, None));
    }

    #[test]
    fn a_line_longer_than_many_parts_is_searched_once() {
        let text = ["b".repeat(5_000), "a".repeat(5_000), "\na\n".into()].concat();
        let (hits, count, _) = found(text.as_bytes(), 16, 0, 100);
        assert_eq!((hits, count), (at_once(text.as_bytes(), 0), 2));
    }

    #[test]
    fn a_cancelled_search_ends_without_the_rest() {
        let (pattern, control) =
            (Pattern::new("a", PatternOptions::default()).unwrap(), Control::new(Duration::ZERO));
        let text = "a\n".repeat(100);
        let large = LargeText::new(view(text.as_bytes()), 0..200, &[0..200], 100, 10);
        assert!(!large.search_part(
            &mut LineMatcher::new(&pattern, &control),
            &SearchSlots::default(),
            &control
        ));
        let found = large.finish();
        assert_eq!((found.count, found.rest), (0, Some(0)));
    }
}
