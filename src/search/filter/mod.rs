//! A filter of n-grams for each block of a file: tells which blocks a search may skip.
//!
//! Knows no regex, no lock and no file system: a filter is made from bytes and asked with a [`Query`].
//! `literals.rs` finds what a match must contain.
//!
//! # Why no match is lost
//!
//! 1. A match contains what [`Query`] requires: a condition of literals (`literals.rs`). An occurrence of a literal
//!    contains the literal's n-grams, each at its place (`grams.rs`).
//! 2. An n-gram belongs to the block in which it begins. A block's bits have the bit of each of its n-grams, or say
//!    that this n-gram is not stored (`blocks.rs`). So a test of an n-gram of the block never fails.
//! 3. A literal is not longer than a block, so its n-grams begin in one block or in two neighbours. In the second
//!    case the first ones begin in the first block and the others in the second. As many n-grams from the start as
//!    pass in the first block are at least those that begin there, so the others must pass in the second block.
//! 4. A match of a line-oriented search lies within one line. If the line lies within a block, so do all literals of
//!    the match: the block alone must admit the condition. Else the line crosses at least one border, and the blocks
//!    between its first and its last one have no line feed. There is one such line for each run of such borders. It
//!    is admitted if the literals that may begin in all of its blocks together satisfy the condition. A range then
//!    contains the bytes at its borders, and the search extends it to the whole line.
//! 5. Any other match lies within the file: the literals that may begin in all blocks must satisfy the condition.
//! 6. A block of which nothing is known admits everything.
//!
//! Lines end with a line feed. A search that also takes a lone carriage return as the end of a line has shorter lines,
//! each within one of these; it too extends ranges to line feeds.
//!
//! # What it is worth
//!
//! Blocks of 64 KiB without the word that are not excluded (percent), for random words of the corpus by their length
//! in characters, and the filter's bytes for 100 bytes of text:
//!
//! | text | filter | 4 | 5 | 6-7 | 8-10 | 11-16 |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | Rust, 19 MB | 2.5 | 49 | 27 | 8 | 2 | 0.2 |
//! | Python, 12 MB | 2.7 | 44 | 28 | 5 | 2 | 0.7 |
//! | manuals, English, 7 MB | 2.1 | 45 | 24 | 6 | 3 | 2 |
//! | manuals, German, 2 MB | 3.0 | 50 | 36 | 16 | 9 | 7 |
//! | manuals, Russian, 0.6 MB | 2.9 | 22 | 22 | 22 | 29 | 24 |
//! | manuals, Chinese, 0.2 MB | 2.9 | 10 | 18 | 9 | 6 | |
//!
//! (The Russian words that are missing in a block mostly have another form of the same word there.) Twenty random
//! characters of a line of Rust with spaces and signs: 6. With only n-grams of four bytes, words of 8 to 10 letters
//! in Rust left 12 and such twenty characters 3; with five bytes 13 and words of four letters nothing excluded; with
//! three bytes 27.

mod blocks;
mod builder;
mod candidates;
mod grams;
mod query;
#[cfg(test)]
mod tests;

pub use self::blocks::{FileFilter, Shape};
pub use self::builder::FilterBuilder;
pub use self::query::Query;
