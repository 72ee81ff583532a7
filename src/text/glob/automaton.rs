//! Matches one component of a path with an automaton, in time proportional to the product of their lengths.
//!
//! Runs from the end of the component to its start. A state is active at a position if the rest of the component, from
//! there on, can be matched from that state. A negation is an automaton of its own: what it looks ahead for is known
//! at each position before the states that ask for it are looked at, so that nothing is ever tried twice.

use super::class::{Class, is_high, is_low, join};
use super::source::{Expression, Item, Source, Times};

type StateId = usize;

#[derive(Debug)]
pub(super) enum State {
    /// The end of a match.
    Match,
    Never,
    /// One character, then the state.
    Char(u32, StateId),
    Any(StateId),
    Class(Class, StateId),
    /// Any characters, then the state.
    Star(StateId),
    Either(StateId, StateId),
    NotDots(StateId),
    Start(StateId),
    End(StateId),
    /// The automaton with this number matches nothing from here on.
    Not(usize, StateId),
}

#[derive(Debug)]
struct Machine {
    states: Vec<State>,
    entry: StateId,
    /// It matches only up to the end.
    to_end: bool,
}

/// The automaton of one component.
#[derive(Debug)]
pub(super) struct Automaton {
    /// Those that look ahead come before those that ask for it; the last is the whole.
    machines: Vec<Machine>,
    unicode: bool,
    len: usize,
}

impl Automaton {
    pub(super) fn new(expression: Expression) -> Automaton {
        let Expression { source, unicode } = expression;
        let mut builder = Builder { machines: Vec::new(), unicode };
        builder.machine(source, true);
        let len = builder.machines.iter().map(|machine| machine.states.len()).sum();
        Automaton { machines: builder.machines, unicode, len }
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn matches(&self, component: &str) -> bool {
        let chars: Vec<u32> = match self.unicode {
            true => component.chars().map(u32::from).collect(),
            false => component.encode_utf16().map(u32::from).collect(),
        };
        let dots = matches!(component, "." | "..");
        let mut rows: Vec<[Vec<bool>; 2]> =
            self.machines.iter().map(|machine| [(); 2].map(|()| vec![false; machine.states.len()])).collect();
        for at in (0..=chars.len()).rev() {
            let place = Place { next: chars.get(at).copied(), start: at == 0, dots };
            for number in 0..self.machines.len() {
                let (before, row) = rows.split_at_mut(number);
                let machine = &self.machines[number];
                machine.step(&place, &mut row[0], |other| before[other][1][self.machines[other].entry]);
            }
            let (Some(machine), Some([_, row])) = (self.machines.last(), rows.last()) else { return false };
            if row[machine.entry] {
                return true;
            }
            if machine.to_end && !row.contains(&true) {
                return false;
            }
            for [later, now] in &mut rows {
                std::mem::swap(later, now);
            }
        }
        false
    }
}

/// A position in a component.
struct Place {
    next: Option<u32>,
    start: bool,
    dots: bool,
}

impl Machine {
    /// Finds the states that are active at a place (`rows[1]`), from those one character later (`rows[0]`).
    fn step(&self, place: &Place, rows: &mut [Vec<bool>; 2], matches: impl Fn(usize) -> bool) {
        let [later, now] = rows;
        for (active, state) in now.iter_mut().zip(&self.states) {
            *active = match (state, place.next) {
                (State::Match, next) => !self.to_end || next.is_none(),
                (State::Char(c, to), Some(next)) => *c == next && later[*to],
                (State::Any(to), Some(_)) => later[*to],
                (State::Class(class, to), Some(next)) => later[*to] && class.contains(next),
                _ => false,
            };
        }
        // Few rounds: a state mostly leads to one that was looked at before it.
        loop {
            let mut changed = false;
            for id in 0..self.states.len() {
                if now[id] {
                    continue;
                }
                now[id] = match self.states[id] {
                    State::Star(to) => now[to] || place.next.is_some() && later[id],
                    State::Either(one, other) => now[one] || now[other],
                    State::NotDots(to) => now[to] && !(place.start && place.dots),
                    State::Start(to) => now[to] && place.start,
                    State::End(to) => now[to] && place.next.is_none(),
                    State::Not(other, to) => now[to] && !matches(other),
                    _ => false,
                };
                changed |= now[id];
            }
            if !changed {
                return;
            }
        }
    }
}

struct Builder {
    machines: Vec<Machine>,
    unicode: bool,
}

impl Builder {
    /// Adds the machine of `source` and returns its number.
    fn machine(&mut self, source: Source, whole: bool) -> usize {
        let mut states = vec![State::Match];
        // A bar that the reference takes for its own parts even its anchors.
        let to_end = whole && source.len() == 1;
        let bars = source.len();
        let entry = if whole {
            let ends = |(at, mut sequence): (usize, Vec<Item>)| {
                sequence.extend((at + 1 == bars).then_some(Item::End));
                sequence
            };
            let mut sequences: Source = source.into_iter().enumerate().map(ends).collect();
            let first = sequences.remove(0);
            let first = self.sequence(first, 0, &mut states);
            let start = add(&mut states, State::Start(first));
            self.either(start, sequences, 0, &mut states)
        } else {
            self.source(source, 0, &mut states)
        };
        self.machines.push(Machine { states, entry, to_end });
        self.machines.len() - 1
    }

    fn source(&mut self, mut source: Source, next: StateId, states: &mut Vec<State>) -> StateId {
        if source.is_empty() {
            return add(states, State::Never);
        }
        let first = source.remove(0);
        let first = self.sequence(first, next, states);
        self.either(first, source, next, states)
    }

    fn either(
        &mut self,
        mut one: StateId,
        others: Source,
        next: StateId,
        states: &mut Vec<State>,
    ) -> StateId {
        for sequence in others {
            let other = self.sequence(sequence, next, states);
            one = add(states, State::Either(one, other));
        }
        one
    }

    fn sequence(&mut self, sequence: Vec<Item>, mut next: StateId, states: &mut Vec<State>) -> StateId {
        let mut items = sequence.into_iter().rev().peekable();
        while let Some(item) = items.next() {
            let state = match item {
                Item::Unit(unit) => match items.peek() {
                    Some(&Item::Unit(high))
                        if self.unicode && is_high(u32::from(high)) && is_low(u32::from(unit)) =>
                    {
                        items.next();
                        State::Char(join(u32::from(high), u32::from(unit)), next)
                    }
                    _ => State::Char(u32::from(unit), next),
                },
                Item::Any => State::Any(next),
                Item::Star(some) => {
                    let star = add(states, State::Star(next));
                    if !some {
                        next = star;
                        continue;
                    }
                    State::Any(star)
                }
                Item::Class(mut class) => {
                    if self.unicode {
                        class.join_surrogates();
                    }
                    State::Class(class, next)
                }
                Item::Never => State::Never,
                Item::NotDots => State::NotDots(next),
                Item::End => State::End(next),
                Item::Not(source) => State::Not(self.machine(source, false), next),
                Item::Group(source, times) => {
                    next = self.group(source, times, next, states);
                    continue;
                }
                // The reference reads it as an expression: its first character and an empty group.
                Item::Hollow(kind, _) => State::Char(u32::from(kind), next),
            };
            next = add(states, state);
        }
        next
    }

    fn group(&mut self, source: Source, times: Times, next: StateId, states: &mut Vec<State>) -> StateId {
        match times {
            Times::One => self.source(source, next, states),
            Times::Optional => {
                let inner = self.source(source, next, states);
                add(states, State::Either(inner, next))
            }
            Times::Any | Times::Some => {
                let turn = add(states, State::Either(next, next));
                let inner = self.source(source, turn, states);
                states[turn] = State::Either(inner, next);
                if times == Times::Any { turn } else { inner }
            }
        }
    }
}

fn add(states: &mut Vec<State>, state: State) -> StateId {
    states.push(state);
    states.len() - 1
}
