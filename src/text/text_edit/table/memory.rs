//! Limits the memory of one call, and of all calls together (contract 9).

use crate::budget::{Budget, Share};

/// Bytes for a call of any size, for each of its edits, and those not counted in the shared budget.
const FREE: usize = 640 * 1024;
const EACH_EDIT: usize = 4 * 1024;
const UNCOUNTED: usize = 256 * 1024;

/// Why an edit cannot be planned.
#[derive(Debug)]
pub(crate) enum Full {
    /// The text would be too long for 32-bit addresses.
    Text,
    /// The call would need too much memory.
    Memory,
    /// Other calls hold the memory that it needs.
    Busy,
}

/// The memory of one call: at most two and a half times its text, plus [`FREE`], plus [`EACH_EDIT`] per edit.
/// What exceeds [`UNCOUNTED`] bytes is taken from the shared budget.
#[derive(Debug)]
pub(crate) struct Memory {
    share: Share,
    most: usize,
}

impl Memory {
    /// The memory for `edits` edits of a text of `len` bytes.
    pub(crate) fn new(budget: &Budget, len: usize, edits: usize) -> Memory {
        Memory { share: budget.share(), most: len * 5 / 2 + FREE + edits * EACH_EDIT }
    }

    /// Maximum number of bytes.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Sets the memory held to `bytes`. Fails if the call may not hold that many.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), Full> {
        if bytes <= self.most || switches::is_off("text-memory") {
            self.expect(bytes)
        } else {
            Err(Full::Memory)
        }
    }

    /// Sets the memory held to `bytes`, or to the maximum if that is less.
    pub(crate) fn expect(&mut self, bytes: usize) -> Result<(), Full> {
        let counted = bytes.min(self.most).saturating_sub(UNCOUNTED);
        if switches::is_off("text-budget") || self.share.resize(counted) { Ok(()) } else { Err(Full::Busy) }
    }

    /// The share that holds the memory; drop it to free the memory.
    pub(crate) fn into_share(self) -> Share {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_holds_no_more_than_it_may_and_all_calls_no_more_than_there_is() {
        let budget = Budget::new(3_200_000);
        let (mut one, mut other) = (Memory::new(&budget, 1_000_000, 1), Memory::new(&budget, 1_000_000, 1));
        assert!(matches!(one.hold(one.most() + 1), Err(Full::Memory)));
        assert!(one.hold(one.most()).is_ok() && one.expect(usize::MAX).is_ok());
        assert!(other.hold(UNCOUNTED).is_ok(), "a little is always there");
        assert!(matches!(other.hold(other.most()), Err(Full::Busy)));
        assert!(one.hold(1_000_000).is_ok() && other.hold(1_000_000).is_ok());
        drop(one.into_share());
        assert!(other.hold(other.most()).is_ok());
    }

    #[test]
    fn a_plan_that_finds_no_memory_left_is_refused_and_gives_back_what_it_had() {
        use crate::Error;
        use crate::lines::LineIndex;
        use crate::text_edit::{TextEdit, TextEdits, TextLimits, plan as plan_text_edits};
        let (budget, text) = (Budget::new(100_000), "a.".repeat(500_000));
        let index = LineIndex::build(text.as_bytes()).unwrap();
        let limits = TextLimits { passages: 0, max_bytes: u64::MAX, memory: &budget };
        let plan = |old: &str, occurrences| {
            let edit = TextEdit { old_text: old.into(), new_text: "b".into(), occurrences };
            plan_text_edits(&index, text.as_bytes(), &TextEdits::new(vec![edit]), limits, &crate::Unstopped)
                .map(|_| ())
        };
        let many = plan("a", 500_000);
        assert!(matches!(many, Err(Error::Busy)), "{many:?}");
        assert!(budget.share().grow(100_000));
        let long = &text[..999_990];
        assert!(plan(long, 1).is_ok());
    }
}
