//! A filter of n-grams for each block of a file: tells which blocks a search may skip.
//!
//! Knows no regex, no lock and no file system: a filter is made from bytes and asked with a [`Query`].
//! `literals.rs` finds what a match must contain; `cache.rs` keeps filters for states of files.

mod blocks;
mod builder;
mod cache;
mod candidates;
mod grams;
mod query;
#[cfg(test)]
mod tests;

pub use self::blocks::{FileFilter, Shape};
pub use self::builder::FilterBuilder;
pub use self::cache::FilterCache;
pub use self::query::Query;
