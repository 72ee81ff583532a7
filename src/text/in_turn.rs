//! Gives in order what several threads make out of order. Knows no threads.

use std::collections::VecDeque;

/// What was made before its turn. The first number is 0.
#[derive(Debug)]
pub struct InTurn<T> {
    given: usize,
    early: VecDeque<Option<T>>,
}

impl<T> Default for InTurn<T> {
    fn default() -> Self {
        InTurn { given: 0, early: VecDeque::new() }
    }
}

impl<T> InTurn<T> {
    /// Keeps what has this number. Each number comes once.
    pub fn put(&mut self, number: usize, made: T) {
        let Some(at) = number.checked_sub(self.given) else { return };
        if self.early.len() <= at {
            self.early.resize_with(at + 1, || None);
        }
        self.early[at] = Some(made);
    }

    /// Gives what comes next, if it was put.
    pub fn take(&mut self) -> Option<T> {
        let made = self.early.front_mut()?.take()?;
        self.early.pop_front();
        self.given += 1;
        Some(made)
    }

    /// How many were given.
    pub fn given(&self) -> usize {
        self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_of_order_is_given_in_order_and_nothing_before_what_precedes_it() {
        let (mut turns, mut given) = (InTurn::default(), Vec::new());
        for number in [2, 0, 1, 5, 3, 4, 7] {
            turns.put(number, number);
            given.extend(std::iter::from_fn(|| turns.take()));
        }
        assert_eq!(given, [0, 1, 2, 3, 4, 5]);
        assert_eq!(turns.given(), 6);
    }
}
