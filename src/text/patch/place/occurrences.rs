//! Finds the old lines of many hunks in one pass over a text.
//!
//! Aho and Corasick's automaton over whole lines: the time is linear in the text and in the patch, but for the places found.

use std::collections::{HashMap, VecDeque};

use super::sides::Sides;
use crate::lines::LineIndex;
use crate::{Stop, Stopped};

/// Maximum number of places kept for one pattern, and for all patterns. Further ones are only counted.
const KEPT: usize = 1 << 20;
const KEPT_BY_ALL: usize = 1 << 22;

/// How often the work asks whether it must stop, in bytes of the text.
const ASKED: usize = 1 << 18;

/// The places of one pattern.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Their first lines, ascending; as many as are kept.
    pub(super) lines: Vec<usize>,
    pub(super) total: usize,
}

/// The places of the old lines of hunks.
#[derive(Default)]
pub(super) struct Occurrences<'h> {
    /// The number of the pattern of each hunk that has old lines.
    patterns: HashMap<&'h [&'h str], usize>,
    places: Vec<Places>,
}

/// A state: the longest start of a pattern that the last lines are.
#[derive(Default)]
struct State {
    /// The state of the longest proper end of these lines that starts a pattern.
    shorter: u32,
    /// The next one by `shorter` in which a pattern ends; 0 if there is none.
    next_end: u32,
    /// The number of the pattern that ends here, and its lines.
    end: Option<(u32, u32)>,
}

/// The lines of all patterns by number, and the states.
struct Automaton<'h> {
    numbers: HashMap<&'h [u8], u32>,
    states: Vec<State>,
    next: HashMap<(u32, u32), u32>,
}

impl<'h> Occurrences<'h> {
    pub(super) fn find(
        sides: &'h [Sides<'h>],
        index: &LineIndex,
        old: &[u8],
        stop: &dyn Stop,
    ) -> Result<Occurrences<'h>, Stopped> {
        let mut found = Occurrences::default();
        // Longer ones fit nowhere.
        let fitting = 1..=index.len_lines();
        for side in sides.iter().filter(|side| fitting.contains(&side.old.len())) {
            let number = found.patterns.len();
            found.patterns.entry(&side.old).or_insert(number);
        }
        found.places.resize_with(found.patterns.len(), Places::default);
        let automaton = Automaton::of(&found.patterns, stop)?;
        let (mut state, mut kept, mut unasked) = (0, 0, 0);
        for (number, line) in lines(old, index).enumerate() {
            unasked += line.len() + 8;
            if unasked > ASKED {
                stop.check()?;
                unasked = 0;
            }
            state = automaton.after(state, line);
            let mut end = state;
            while let Some(at) = automaton.states.get(end as usize).filter(|_| end != 0) {
                if let Some((pattern, len)) = at.end {
                    let places = &mut found.places[pattern as usize];
                    places.total += 1;
                    if places.lines.len() < KEPT && kept < KEPT_BY_ALL {
                        places.lines.push(number + 1 - len as usize);
                        kept += 1;
                    }
                }
                unasked += 8;
                end = at.next_end;
            }
        }
        Ok(found)
    }

    pub(super) fn of(&self, side: &Sides) -> Option<&Places> {
        self.places.get(*self.patterns.get(&side.old[..])?)
    }
}

impl<'h> Automaton<'h> {
    fn of(patterns: &HashMap<&'h [&'h str], usize>, stop: &dyn Stop) -> Result<Automaton<'h>, Stopped> {
        let mut automaton =
            Automaton { numbers: HashMap::new(), states: vec![State::default()], next: HashMap::new() };
        for (lines, &pattern) in patterns {
            stop.check()?;
            let mut state = 0;
            for line in lines.iter() {
                let fresh = automaton.numbers.len() as u32;
                let number = *automaton.numbers.entry(line.as_bytes()).or_insert(fresh);
                let states = &mut automaton.states;
                state = *automaton.next.entry((state, number)).or_insert_with(|| {
                    states.push(State::default());
                    states.len() as u32 - 1
                });
            }
            automaton.states[state as usize].end = Some((pattern as u32, lines.len() as u32));
        }
        automaton.link(stop)?;
        Ok(automaton)
    }

    /// Finds the shorter state of each one, the shortest first.
    fn link(&mut self, stop: &dyn Stop) -> Result<(), Stopped> {
        let mut children = vec![Vec::new(); self.states.len()];
        for (&(from, number), &to) in &self.next {
            children[from as usize].push((number, to));
        }
        let mut queue = VecDeque::from([0u32]);
        let mut done = 0;
        while let Some(from) = queue.pop_front() {
            done += 1;
            if done % 4_096 == 0 {
                stop.check()?;
            }
            for &(number, to) in &children[from as usize] {
                let shorter =
                    if from == 0 { 0 } else { self.step(self.states[from as usize].shorter, number) };
                let end = &self.states[shorter as usize];
                let next_end = if end.end.is_some() { shorter } else { end.next_end };
                let state = &mut self.states[to as usize];
                (state.shorter, state.next_end) = (shorter, next_end);
                queue.push_back(to);
            }
        }
        Ok(())
    }

    fn step(&self, mut state: u32, number: u32) -> u32 {
        loop {
            match self.next.get(&(state, number)) {
                Some(&next) => return next,
                None if state == 0 => return 0,
                None => state = self.states[state as usize].shorter,
            }
        }
    }

    fn after(&self, state: u32, line: &[u8]) -> u32 {
        self.numbers.get(line).map_or(0, |&number| self.step(state, number))
    }
}

/// The lines of a text, without their breaks.
pub(super) fn lines<'o>(old: &'o [u8], index: &LineIndex) -> impl Iterator<Item = &'o [u8]> {
    let mut rest = old.get(index.first_byte()..).unwrap_or_default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = match behind {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        Some(line)
    })
}
