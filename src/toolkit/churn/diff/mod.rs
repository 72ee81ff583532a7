//! How many lines two versions of a file differ by, as git counts them.
//!
//! The number depends on the way that a diff finds, so each step does what git's default algorithm does: lines that stand
//! alone are left out, the rest is compared by Myers' algorithm with the same bounds on its effort. Knows no files and no
//! repository.

mod bounds;
mod counts;
mod lines;
mod relevant;
mod split;

pub use counts::{LineCounts, count, is_binary};
pub use lines::TooManyLines;
