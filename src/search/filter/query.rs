//! A question to filters: the condition of a pattern, with the bits of its literals' n-grams.

use regex_syntax::hir::Hir;

use crate::filter::grams;
use crate::literals::{self, Condition, MAX_LITERALS};

/// What a search for a pattern asks of every filter. Made once for each search.
#[derive(Debug)]
pub struct Query {
    /// The bits of the n-grams of each literal, in the literal's order; none is empty.
    literals: Vec<Box<[u16]>>,
    /// `None`: anything may match.
    test: Option<Test>,
}

#[derive(Debug)]
enum Test {
    /// The literal of this number.
    Literal(usize),
    All(Vec<Test>),
    Any(Vec<Test>),
}

impl Query {
    /// The question for `pattern`, as it will be run, with its flags applied.
    pub fn of(pattern: &Hir) -> Query {
        let mut literals = Vec::new();
        let test = Test::of(literals::required(pattern), &mut literals);
        Query { literals, test }
    }

    /// Whether anything may match, so that no filter can exclude a block.
    pub fn is_empty(&self) -> bool {
        self.test.is_none()
    }

    pub(super) fn literals(&self) -> &[Box<[u16]>] {
        &self.literals
    }

    /// Whether a text that contains these literals may match.
    pub(super) fn admits(&self, contained: &LiteralSet) -> bool {
        self.test.as_ref().is_none_or(|test| test.admits(contained))
    }
}

impl Test {
    /// The test for a condition, without what cannot be tested. `None`: anything will do.
    fn of(condition: Condition, literals: &mut Vec<Box<[u16]>>) -> Option<Test> {
        match condition {
            Condition::Literal(literal) => {
                let bits: Box<[u16]> = grams::bits(&literal, literal.len()).collect();
                if bits.is_empty() {
                    return None;
                }
                let known = literals.iter().position(|known| *known == bits);
                if known.is_none() && literals.len() == MAX_LITERALS {
                    return None;
                }
                Some(Test::Literal(known.unwrap_or_else(|| {
                    literals.push(bits);
                    literals.len() - 1
                })))
            }
            Condition::All(parts) => {
                let mut tests: Vec<Test> =
                    parts.into_iter().filter_map(|part| Test::of(part, literals)).collect();
                match tests.len() {
                    0 | 1 => tests.pop(),
                    _ => Some(Test::All(tests)),
                }
            }
            Condition::Any(parts) => {
                let tests: Option<Vec<Test>> =
                    parts.into_iter().map(|part| Test::of(part, literals)).collect();
                tests.map(Test::Any)
            }
        }
    }

    fn admits(&self, contained: &LiteralSet) -> bool {
        match self {
            Test::Literal(number) => contained.has(*number),
            Test::All(tests) => tests.iter().all(|test| test.admits(contained)),
            Test::Any(tests) => tests.iter().any(|test| test.admits(contained)),
        }
    }
}

/// Numbers of literals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LiteralSet([u64; MAX_LITERALS / 64]);

impl LiteralSet {
    pub(super) const ALL: LiteralSet = LiteralSet([u64::MAX; MAX_LITERALS / 64]);

    pub(super) fn add(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(super) fn add_all(&mut self, other: &LiteralSet) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, others)| *mine |= others);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64] & 1 << (number % 64) != 0
    }
}
