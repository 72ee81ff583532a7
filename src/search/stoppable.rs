//! Finds matches in texts of any length, in steps: between two steps the search can be stopped.
//!
//! The regex engine of [`Pattern`](super::Pattern) is faster, but looks through a text in one go. Here the lazy DFA is driven
//! byte by byte. It cannot tell words apart in text beyond ASCII; then the answer is [`Step::Unsupported`]. Knows no lines.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Builder, Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, Compiler};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor};

use text::{Stop, Stopped};

/// Bytes between two looks whether the search goes on.
const STEP: usize = 16 << 10;

/// The same for a pattern each byte of which takes long.
const SHORT_STEP: usize = 256;

/// Bytes in which the next end of a match is looked for between two looks whether the search goes on.
const SUFFIX_STEP: usize = 1 << 20;

/// A pattern in the form for searches in steps.
#[derive(Debug)]
pub(super) struct Stoppable {
    /// Finds where a match ends.
    forward: DFA,
    /// Finds where the match begins that ends at a byte.
    reverse: DFA,
    /// Finds where a match may begin, quickly, if the pattern begins with certain texts.
    prefilter: Option<Prefilter>,
    /// Finds where a match may end, if the pattern ends with certain texts.
    suffix: Option<Prefilter>,
    /// The longest match, in bytes, if that is bounded.
    longest: Option<usize>,
    /// Bytes between two looks whether the search goes on.
    step: usize,
}

/// The states of both automata that one thread has met.
#[derive(Debug)]
pub(super) struct States {
    forward: Cache,
    reverse: Cache,
    /// No match that the last search looked for begins before this byte.
    pub(super) searched: usize,
}

/// What a search in steps found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step<T> {
    /// This, or nothing.
    Found(Option<T>),
    /// The automaton cannot tell.
    Unsupported,
}

impl Stoppable {
    /// The form of a pattern, unless it would be larger than `max_compiled` bytes. The states that a thread keeps for one
    /// direction are bounded by `max_states` bytes. `is_heavy`: one byte may take many microseconds.
    pub(super) fn new(
        hir: &Hir,
        max_compiled: usize,
        max_states: usize,
        is_heavy: bool,
    ) -> Option<Stoppable> {
        let dfa = |is_reverse: bool| {
            let nfa = thompson::Config::new()
                .reverse(is_reverse)
                .nfa_size_limit(Some(max_compiled))
                .which_captures(thompson::WhichCaptures::None);
            let nfa = Compiler::new().configure(nfa).build_from_hir(hir).ok()?;
            let config = Config::new()
                .match_kind(if is_reverse { MatchKind::All } else { MatchKind::LeftmostFirst })
                .specialize_start_states(!is_reverse)
                .unicode_word_boundary(true)
                .skip_cache_capacity_check(true)
                .cache_capacity(max_states);
            Builder::new().configure(config).build_from_nfa(nfa).ok()
        };
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir);
        let suffix = if is_heavy { Prefilter::new(MatchKind::LeftmostFirst, &suffixes(hir)) } else { None };
        let longest = hir.properties().maximum_len();
        let step = if is_heavy { SHORT_STEP } else { STEP };
        Some(Stoppable { forward: dfa(false)?, reverse: dfa(true)?, prefilter, suffix, longest, step })
    }

    /// For one thread.
    pub(super) fn states(&self) -> States {
        States { forward: self.forward.create_cache(), reverse: self.reverse.create_cache(), searched: 0 }
    }

    /// The first match that begins in the range, bytes of the text. The text may change meanwhile: then the result is void.
    pub(super) fn find(
        &self,
        states: &mut States,
        text: &[u8],
        range: Range<usize>,
        control: &dyn Stop,
    ) -> Result<Step<Range<usize>>, Stopped> {
        let end = match self.end(states, text, range.clone(), false, control)? {
            Step::Found(Some(end)) => end,
            Step::Found(None) => return Ok(Step::Found(None)),
            Step::Unsupported => return Ok(Step::Unsupported),
        };
        Ok(match self.start(states, text, range.start..end, control)? {
            Some(start) if start < end || is_boundary(text, end) => Step::Found(Some(start..end)),
            _ => Step::Unsupported,
        })
    }

    /// Where the first match in the range ends; with `earliest`, the first byte at which it is known that there is one.
    pub(super) fn end(
        &self,
        states: &mut States,
        text: &[u8],
        range: Range<usize>,
        earliest: bool,
        control: &dyn Stop,
    ) -> Result<Step<usize>, Stopped> {
        states.searched = range.start;
        let mut ends = Ends { suffix: self.suffix.as_ref(), known: range.start };
        let Some(first) = ends.next(text, range.clone(), control)? else { return Ok(Step::Found(None)) };
        // A match does not begin further before its end than it is long.
        let begin_of = |end: usize| self.longest.map_or(range.start, |longest| end.saturating_sub(longest));
        let begin = range.start.max(begin_of(first));
        states.searched = begin;
        let mut walk = Walk { dfa: &self.forward, cache: &mut states.forward, text };
        let Some(mut state) = walk.start(begin..range.end) else { return Ok(Step::Unsupported) };
        let (mut at, mut found) = (begin, None);
        while at < range.end {
            if (at - begin).is_multiple_of(self.step) {
                control.check()?;
                let Some(end) = ends.next(text, at..range.end, control)? else { break };
                if found.is_none() && begin_of(end) > at {
                    at = begin_of(end);
                    let Some(next) = walk.start(at..range.end) else { return Ok(Step::Unsupported) };
                    state = next;
                }
            }
            if state.is_start() && found.is_none() {
                states.searched = at;
                let step = range.end.min(at + self.step - (at - begin) % self.step);
                let next = self.candidate(text, at..range.end, step);
                if next > at {
                    at = next;
                    let Some(next) = walk.start(at..range.end) else { return Ok(Step::Unsupported) };
                    state = next;
                    continue;
                }
            }
            let Some(next) = walk.next(state, text[at]) else { return Ok(Step::Unsupported) };
            state = next;
            if state.is_match() {
                // An automaton knows of a match one byte behind its end.
                found = Some(at);
                if earliest {
                    break;
                }
            } else if state.is_dead() {
                break;
            } else if state.is_quit() {
                return Ok(Step::Unsupported);
            }
            at += 1;
        }
        if at == range.end {
            let Some(last) = walk.behind(state, text.get(at)) else { return Ok(Step::Unsupported) };
            if last.is_quit() {
                return Ok(Step::Unsupported);
            }
            found = if last.is_match() { Some(at) } else { found };
        }
        // A match of nothing may seem to end inside a character.
        Ok(match found {
            Some(end) if !is_boundary(text, end) => Step::Unsupported,
            found => Step::Found(found),
        })
    }

    /// Where the longest match begins that ends at `range.end`. `None` if the automaton cannot tell.
    fn start(
        &self,
        states: &mut States,
        text: &[u8],
        range: Range<usize>,
        control: &dyn Stop,
    ) -> Result<Option<usize>, Stopped> {
        let mut walk = Walk { dfa: &self.reverse, cache: &mut states.reverse, text };
        let Some(mut state) = walk.start_reverse(range.clone()) else { return Ok(None) };
        let mut found = None;
        for at in range.clone().rev() {
            if (range.end - at).is_multiple_of(self.step) {
                control.check()?;
            }
            let Some(next) = walk.next(state, text[at]) else { return Ok(None) };
            state = next;
            if state.is_match() {
                found = Some(at + 1);
            } else if state.is_dead() {
                return Ok(found);
            } else if state.is_quit() {
                return Ok(None);
            }
        }
        let before = range.start.checked_sub(1).and_then(|at| text.get(at));
        let last = walk.behind(state, before).filter(|last| !last.is_quit());
        Ok(last.and_then(|last| if last.is_match() { Some(range.start) } else { found }))
    }

    /// The first byte of the range, up to `until`, where a match may begin.
    fn candidate(&self, text: &[u8], range: Range<usize>, until: usize) -> usize {
        let Some(prefilter) = &self.prefilter else { return range.start };
        // A text that begins before `until` may end behind it.
        let end = range.end.min(until + prefilter.max_needle_len());
        let found = prefilter.find(text, Span::from(range.start..end));
        found.map_or(until, |found| found.start.min(until))
    }
}

/// The texts with one of which every match ends. None if that is not known.
fn suffixes(hir: &Hir) -> Vec<Vec<u8>> {
    let mut suffixes = Extractor::new().kind(ExtractKind::Suffix).extract(hir);
    suffixes.optimize_for_suffix_by_preference();
    let literals = suffixes.literals().unwrap_or_default();
    let all: Vec<Vec<u8>> = literals.iter().map(|literal| literal.as_bytes().to_vec()).collect();
    if all.iter().any(Vec::is_empty) { Vec::new() } else { all }
}

/// Where matches may end.
struct Ends<'s> {
    suffix: Option<&'s Prefilter>,
    /// What [`Ends::next`] returned last.
    known: usize,
}

impl Ends<'_> {
    /// A byte of the range before which no match ends there. `None` if no match ends in the range.
    fn next(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        control: &dyn Stop,
    ) -> Result<Option<usize>, Stopped> {
        let Some(suffix) = self.suffix else { return Ok(Some(range.start)) };
        if self.known > range.start {
            return Ok(Some(self.known));
        }
        // The text with which a match ends may begin before the range.
        let reach = suffix.max_needle_len();
        let mut from = range.start.saturating_sub(reach);
        loop {
            let until = range.end.min(from + SUFFIX_STEP + reach);
            if let Some(found) = suffix.find(text, Span::from(from..until)) {
                // Another one may begin at the same byte and be shorter.
                self.known = range.start.max(found.start + 1);
                return Ok(Some(self.known));
            }
            if until == range.end {
                return Ok(None);
            }
            from = until - reach;
            control.check()?;
        }
    }
}

/// An automaton, its states, and the text that it reads.
struct Walk<'w> {
    dfa: &'w DFA,
    cache: &'w mut Cache,
    text: &'w [u8],
}

type State = regex_automata::hybrid::LazyStateID;

/// `None` everywhere: the automaton cannot go on.
impl Walk<'_> {
    fn start(&mut self, range: Range<usize>) -> Option<State> {
        let input = Input::new(self.text).span(Span::from(range));
        self.dfa.start_state_forward(self.cache, &input).ok()
    }

    fn start_reverse(&mut self, range: Range<usize>) -> Option<State> {
        let input = Input::new(self.text).span(Span::from(range)).anchored(Anchored::Yes);
        self.dfa.start_state_reverse(self.cache, &input).ok()
    }

    fn next(&mut self, state: State, byte: u8) -> Option<State> {
        self.dfa.next_state(self.cache, state, byte).ok()
    }

    /// The state at the end of what is searched, before or behind which `byte` stands.
    fn behind(&mut self, state: State, byte: Option<&u8>) -> Option<State> {
        match byte {
            Some(byte) => self.next(state, *byte),
            None => self.dfa.next_eoi_state(self.cache, state).ok(),
        }
    }
}

/// Whether no character has bytes on both sides of `at`.
fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}
