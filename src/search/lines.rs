//! Finds the lines of a text that hold matches of a pattern.
//!
//! A line ends in `\n`, `\r\n` or `\r` (contract 3). What follows the last break is a line if it is not empty. Text
//! that may change while it is read, in a map, is searched for single lines only, in a way that cannot fail: then the result
//! is void.

use std::ops::Range;

use regex_automata::meta::Cache;
use regex_automata::{Input, Span};

pub use self::breaks::{behind_break, line_at, line_before, line_end};
pub use self::breaks::{find_line, whole_lines};
use self::breaks::{is_inside_crlf, last_char, line_start, next_char};
use super::Pattern;
use super::hit::{Counted, Hit};
use super::stoppable::{States, Step};
use text::{Stop, Stopped};

pub use self::places::{Finished, Groups, MAX_COPIED};

mod breaks;
mod places;

/// Bytes of lines between two looks whether the search goes on.
const WINDOW: usize = 32 << 10;

/// The same for a heavy pattern.
const SHORT_WINDOW: usize = 2 << 10;

/// Longer lines, and longer texts with matches that span lines, are searched in a slower way, which can be stopped. In bytes.
const LONG: usize = 256 << 10;

/// What a search needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A hit with its place.
    Hit,
    /// A hit whose beginning may be wrong: it is only counted.
    Count,
    Nothing,
}

/// A pattern and the memory that one thread needs to match it.
pub struct LineMatcher<'p> {
    pattern: &'p Pattern,
    cache: Cache,
    control: &'p (dyn Stop + Sync),
    /// For long texts.
    states: Option<States>,
    /// See [`LONG`].
    long: usize,
    /// The text is in a map, so matches that span lines are looked for in steps only.
    is_in_map: bool,
    /// That was not possible.
    has_failed: bool,
    /// No hit that was not told yet begins before this byte.
    searched: usize,
}

/// What was found in a text with matches that span lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapScan {
    /// What was counted.
    pub count: Counted,
    /// Where the first line begins that was not searched, if the time is up.
    pub rest: Option<usize>,
}

impl<'p> LineMatcher<'p> {
    /// For one thread. A search ends with an error when `control` says so.
    pub fn new(pattern: &'p Pattern, control: &'p (dyn Stop + Sync)) -> LineMatcher<'p> {
        let (cache, states) = (pattern.regex().create_cache(), None);
        LineMatcher {
            pattern,
            cache,
            control,
            states,
            long: LONG,
            is_in_map: false,
            has_failed: false,
            searched: 0,
        }
    }

    /// Counts the lines of `range` with a match, and adds the first ones to `hits` until there are `keep`. The range
    /// begins and ends where a line begins, or at the end of the text. Lines of a match that spans lines count together,
    /// once.
    pub fn scan(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        keep: usize,
        hits: &mut Vec<Hit>,
    ) -> Result<Counted, Stopped> {
        let mut count = Counted::default();
        self.scan_counting(text, range, keep, hits, &mut count)?;
        Ok(count)
    }

    fn scan_counting(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        keep: usize,
        hits: &mut Vec<Hit>,
        count: &mut Counted,
    ) -> Result<(), Stopped> {
        let next = |hits: &Vec<Hit>| if hits.len() < keep { Next::Hit } else { Next::Count };
        self.each_hit(text, range, next(hits), |hit| {
            count.add(hit);
            if hits.len() < keep {
                hits.push(hit);
            }
            next(hits)
        })
    }

    /// The same in a text that may change meanwhile, as in a map, where matches may span lines. `None`: the pattern needs a copy. If
    /// the time is up, what was found until then.
    pub fn scan_map(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        keep: usize,
        hits: &mut Vec<Hit>,
    ) -> Result<Option<MapScan>, Stopped> {
        (self.is_in_map, self.has_failed) = (true, false);
        let mut count = Counted::default();
        let scanned = self.scan_counting(text, range.clone(), keep, hits, &mut count);
        self.is_in_map = false;
        let rest = match scanned {
            Err(Stopped::TimedOut) => Some(line_start(text, range.start..self.searched)),
            scanned => scanned.map(|()| None)?,
        };
        Ok((!self.has_failed).then_some(MapScan { count, rest }))
    }

    /// Calls `found` with the hits in `range`, in order. It says what it needs next.
    fn each_hit(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        mut wanted: Next,
        mut found: impl FnMut(Hit) -> Next,
    ) -> Result<(), Stopped> {
        let (mut from, mut window_end) = (range.start, range.start);
        while from < range.end && wanted != Next::Nothing {
            self.searched = from;
            if from >= window_end {
                window_end = self.window_end(text, from..range.end)?;
            }
            let hit = match self.pattern.is_multiline() {
                true => self.next_spanning(text, from..window_end)?,
                false => self.next_line(text, from..window_end, wanted == Next::Hit)?,
            };
            let Some((hit, next)) = hit else {
                from = window_end;
                continue;
            };
            wanted = found(hit);
            // A map that changed may give anything; the scan must end.
            if next <= from {
                break;
            }
            from = next;
        }
        Ok(())
    }

    /// Where a look at the beginning of `range` ends, so that the search can be stopped: where a line begins, unless matches
    /// span lines.
    fn window_end(&self, text: &[u8], range: Range<usize>) -> Result<usize, Stopped> {
        self.control.check()?;
        match self.pattern.is_multiline() || range.len() <= WINDOW {
            true => Ok(range.end),
            false => Ok(find_line(text, range.start + WINDOW, self.control)?.min(range.end)),
        }
    }

    /// The next line with a match, and where the line behind it begins. Where the line begins is looked for if `with_start`.
    fn next_line(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        with_start: bool,
    ) -> Result<Option<(Hit, usize)>, Stopped> {
        let mut from = range.start;
        while from < range.end {
            let Some(at) = self.match_end(text, from..range.end)? else { return Ok(None) };
            // A match of nothing between the two bytes of a CRLF is in no line.
            if is_inside_crlf(text, at) {
                from = at + 1;
                continue;
            }
            let start = if with_start || at == range.end { line_start(text, from..at) } else { from };
            if start == range.end {
                return Ok(None);
            }
            let end = line_end(text, at..range.end);
            return Ok(Some((Hit { start, end, matches: 1 }, behind_break(text, end))));
        }
        Ok(None)
    }

    /// A byte of the first line of the range with a match: the first where it is known that there is one.
    fn match_end(&mut self, text: &[u8], range: Range<usize>) -> Result<Option<usize>, Stopped> {
        if self.needs_steps(&range)
            && let Some(stoppable) = self.pattern.stoppable()
        {
            let states = self.states.get_or_insert_with(|| stoppable.states());
            if let Step::Found(end) = stoppable.end(states, text, range.clone(), true, self.control)? {
                return Ok(end);
            }
        }
        for range in self.spans(range) {
            self.control.check()?;
            let input = Input::new(text).span(Span::from(range)).earliest(true);
            if let Some(found) = self.pattern.regex().search_half_with(&mut self.cache, &input) {
                return Ok(Some(found.offset()));
            }
        }
        Ok(None)
    }

    /// The first match in the range.
    fn next_match(&mut self, text: &[u8], range: Range<usize>) -> Result<Option<Range<usize>>, Stopped> {
        if self.is_in_map || self.needs_steps(&range) {
            if let Some(stoppable) = self.pattern.stoppable() {
                let states = self.states.get_or_insert_with(|| stoppable.states());
                if let Step::Found(found) = stoppable.find(states, text, range.clone(), self.control)? {
                    return Ok(found);
                }
            }
            if self.is_in_map {
                self.has_failed = true;
                return Ok(None);
            }
        }
        for range in self.spans(range) {
            self.control.check()?;
            if let Some(found) = self.match_in(text, range) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether the regex engine would look through the range for long.
    fn needs_steps(&self, range: &Range<usize>) -> bool {
        self.pattern.is_heavy() || range.len() > self.long && self.short_matches().is_none()
    }

    /// The longest match of the pattern, if no match is longer than a window.
    fn short_matches(&self) -> Option<usize> {
        self.pattern.longest().filter(|longest| *longest <= WINDOW)
    }

    /// The range in spans so that the search can be stopped between them, if each match fits into one; else as it is. A span
    /// ends behind each match that begins before the next one.
    fn spans(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (step, longest) = match self.short_matches() {
            Some(longest) if self.pattern.is_heavy() => (longest.max(SHORT_WINDOW), longest),
            Some(longest) => (WINDOW, longest),
            None => (range.len().max(1), 0),
        };
        // A match of nothing may be at the end of an empty range.
        let starts = (range.start..range.end.max(range.start + 1)).step_by(step);
        starts.map(move |start| start..range.end.min(start + step + longest))
    }

    /// The lines of the next match and of those that begin in them.
    fn next_spanning(&mut self, text: &[u8], range: Range<usize>) -> Result<Option<(Hit, usize)>, Stopped> {
        let mut hit: Option<Hit> = None;
        let mut from = range.start;
        while from <= range.end {
            let found = match (self.next_match(text, from..range.end), &hit) {
                (Ok(found), _) => found,
                (Err(stopped), hit) => {
                    let searched = self.states.as_ref().map_or(from, |states| states.searched);
                    match hit {
                        // No other match begins in its lines.
                        Some(hit) if behind_break(text, hit.end) <= searched => None,
                        Some(_) => return Err(stopped),
                        None => {
                            self.searched = searched.max(self.searched);
                            return Err(stopped);
                        }
                    }
                }
            };
            let Some(found) = found else { break };
            from = if found.is_empty() { next_char(text, found.end) } else { found.end };
            let is_inside = is_inside_crlf(text, found.start);
            if is_inside && found.is_empty() {
                continue;
            }
            // The two bytes of a CRLF are of one line.
            let start = line_start(text, range.start..found.start - usize::from(is_inside));
            if start == range.end {
                continue;
            }
            // A match that ends in a break does not reach into the line behind it.
            let last = if found.is_empty() { found.end } else { last_char(text, &found) };
            let last = last - usize::from(is_inside_crlf(text, last));
            let end = line_end(text, last..range.end);
            match &mut hit {
                Some(hit) if start > hit.end => break,
                Some(hit) => hit.end = end.max(hit.end),
                None => hit = Some(Hit { start, end, matches: 0 }),
            }
            if let Some(hit) = &mut hit {
                hit.matches += u64::from(!found.is_empty());
            }
        }
        Ok(hit.map(|hit| (Hit { matches: hit.matches.max(1), ..hit }, behind_break(text, hit.end))))
    }

    /// Where the first match in a line begins. The line may change while it is read: then the result is void.
    pub fn first_match(&mut self, line: &[u8]) -> Option<usize> {
        let mut first = None;
        let searched = self.each_match(line, |found| {
            first = Some(found.start);
            false
        });
        searched.ok().and(first)
    }

    /// The first hits from the byte `from` on, where a line begins: at most `count`, behind the first `skip`, and the number of matches of
    /// those. The text may be in a map.
    pub fn hits_behind(
        &mut self,
        text: &[u8],
        from: usize,
        skip: u64,
        count: usize,
    ) -> Result<(Vec<Hit>, u64), Stopped> {
        (self.is_in_map, self.has_failed) = (self.pattern.is_multiline(), false);
        let hits = self.hits_from(text, from, skip, count);
        // Such a text was copied.
        match std::mem::take(&mut self.is_in_map) && self.has_failed {
            true => self.hits_from(text, from, skip, count),
            false => hits,
        }
    }

    fn hits_from(
        &mut self,
        text: &[u8],
        from: usize,
        mut skip: u64,
        count: usize,
    ) -> Result<(Vec<Hit>, u64), Stopped> {
        let (mut hits, mut skipped) = (Vec::new(), 0);
        let first = if count > 0 { Next::Hit } else { Next::Nothing };
        self.each_hit(text, from..text.len(), first, |hit| {
            match skip {
                0 => hits.push(hit),
                _ => (skip, skipped) = (skip - 1, skipped + hit.matches),
            }
            if hits.len() < count { Next::Hit } else { Next::Nothing }
        })?;
        Ok((hits, skipped))
    }

    /// Calls `found` with each match in `lines`, the bytes of the lines of a hit with their last break, until it returns
    /// false. Matches of nothing are left out. The lines may change while they are read: then the result is void.
    pub fn matches(
        &mut self,
        lines: &[u8],
        mut found: impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), Stopped> {
        self.each_match(lines, |next| next.is_empty() || found(next))
    }

    fn each_match(
        &mut self,
        lines: &[u8],
        mut found: impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), Stopped> {
        // The regex engine needs bytes that do not change; a long text is not copied.
        let long = if self.pattern.is_heavy() { SHORT_WINDOW } else { self.long };
        let copy = if lines.len() > long { None } else { Some(lines.to_vec()) };
        let mut from = 0;
        while from <= lines.len() {
            self.control.check()?;
            let next = match (&copy, self.pattern.stoppable()) {
                (Some(copy), _) => self.match_in(copy, from..copy.len()),
                (None, Some(stoppable)) => {
                    let states = self.states.get_or_insert_with(|| stoppable.states());
                    match stoppable.find(states, lines, from..lines.len(), self.control)? {
                        Step::Found(next) => next,
                        Step::Unsupported => None,
                    }
                }
                (None, None) => None,
            };
            let Some(next) = next else { break };
            from = if next.is_empty() { next_char(lines, next.end) } else { next.end };
            if !found(next) {
                break;
            }
        }
        Ok(())
    }

    fn match_in(&mut self, text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
        let input = Input::new(text).span(Span::from(range));
        self.pattern.regex().search_with(&mut self.cache, &input).map(|found| found.range())
    }
}

#[cfg(test)]
mod tests;
