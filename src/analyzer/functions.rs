//! The functions of a file while it is walked: those that are begun, and the reports of those that are done.
//!
//! Knows no nodes. A function with a name that stands in a nameless one is held until that one ends: only then is it known
//! whether the nameless one is a mere wrapper, whose functions stand for themselves.

use std::ops::Range;

use analyzer_wire::FunctionReport;

use super::halstead::Tokens;

/// A function that begins.
#[derive(Debug)]
pub(super) struct Begun {
    /// Its name with that of its class.
    pub(super) name: String,
    /// The bytes of its own name in the text.
    pub(super) own_name: Range<usize>,
    /// Its first byte in the text.
    pub(super) start: usize,
    /// See [`FunctionReport`].
    pub(super) first_line: u32,
    /// See [`FunctionReport`].
    pub(super) last_line: u32,
    /// It has no name, so it may be a wrapper.
    pub(super) is_nameless: bool,
    /// The nesting of its body if it is a part of the function around it. `None`: it stands for itself.
    pub(super) held_at: Option<u64>,
}

/// A function that is begun, or held.
#[derive(Debug)]
pub(super) struct Frame {
    begun: Begun,
    cyclomatic: u32,
    cognitive: u64,
    /// Increments of the cognitive complexity that grow with nesting.
    nested: u64,
    is_recursive: bool,
    /// Its tokens. The end is valid once it is held.
    tokens: Range<usize>,
    held: Vec<Frame>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Functions {
    frames: Vec<Frame>,
    done: Vec<(usize, FunctionReport)>,
    /// The tokens of the functions that are begun.
    pub(super) tokens: Tokens,
}

impl Frame {
    /// Counts a branch for the cyclomatic complexity.
    pub(super) fn branch(&mut self) {
        self.cyclomatic = self.cyclomatic.saturating_add(1);
    }

    /// Counts 1 for the cognitive complexity.
    pub(super) fn flat(&mut self) {
        self.cognitive += 1;
    }

    /// Counts 1 and the nesting for the cognitive complexity.
    pub(super) fn nested(&mut self, nesting: u64) {
        self.cognitive += 1 + nesting;
        self.nested += 1;
    }

    /// The function calls itself. This counts once.
    pub(super) fn recursion(&mut self) {
        self.is_recursive = true;
    }

    /// Whether it has no name.
    pub(super) fn is_nameless(&self) -> bool {
        self.begun.is_nameless
    }

    /// The bytes of its own name in the text.
    pub(super) fn own_name(&self) -> Range<usize> {
        self.begun.own_name.clone()
    }

    /// Its name with that of its class.
    pub(super) fn name(&self) -> &str {
        &self.begun.name
    }

    /// Counts what is in a held function, too.
    fn absorb(&mut self, held: &Frame) {
        self.cyclomatic = self.cyclomatic.saturating_add(held.cyclomatic - 1);
        self.cognitive += held.cognitive + held.nested * held.begun.held_at.unwrap_or(0);
        self.nested += held.nested;
    }

    fn is_wrapper(&self) -> bool {
        self.begun.is_nameless && self.cyclomatic == 1 && self.cognitive == 0
    }
}

impl Functions {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.done.clear();
        self.tokens.clear();
    }

    /// Begins a function and gives its number.
    pub(super) fn begin(&mut self, begun: Begun) -> usize {
        let place = self.tokens.place();
        self.frames.push(Frame {
            begun,
            cyclomatic: 1,
            cognitive: 0,
            nested: 0,
            is_recursive: false,
            tokens: place..place,
            held: Vec::new(),
        });
        self.frames.len() - 1
    }

    /// A function that is begun.
    pub(super) fn frame(&mut self, number: usize) -> Option<&mut Frame> {
        self.frames.get_mut(number)
    }

    /// Ends the function that was begun last.
    pub(super) fn end(&mut self) {
        let Some(mut frame) = self.frames.pop() else { return };
        let held = std::mem::take(&mut frame.held);
        if frame.is_wrapper() {
            let ranges: Vec<_> = held.iter().map(|held| held.tokens.clone()).collect();
            held.into_iter().for_each(|held| self.report(held));
            self.tokens.remove(&ranges);
        } else {
            held.iter().for_each(|held| frame.absorb(held));
        }
        frame.cognitive += u64::from(frame.is_recursive);
        frame.tokens.end = self.tokens.place();
        match self.frames.last_mut() {
            Some(holder) if frame.begun.held_at.is_some() => holder.held.push(frame),
            _ => {
                let start = frame.tokens.start;
                self.report(frame);
                self.tokens.truncate(start);
            }
        }
    }

    fn report(&mut self, frame: Frame) {
        let effort = self.tokens.effort(frame.tokens.start, frame.tokens.end);
        let Frame { begun, cyclomatic, cognitive, .. } = frame;
        let Begun { name, start, first_line, last_line, .. } = begun;
        self.done
            .push((start, FunctionReport { name, first_line, last_line, cyclomatic, cognitive, effort }));
    }

    /// The reports, in the order in which the functions begin.
    pub(super) fn take_reports(&mut self) -> Vec<FunctionReport> {
        self.done.sort_by_key(|(start, _)| *start);
        self.done.drain(..).map(|(_, report)| report).collect()
    }
}
