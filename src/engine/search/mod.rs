//! Search in the bytes of files.

mod filter;
mod literals;

pub use filter::{FileFilter, FilterBuilder, FilterCache, FilterRecords, Query, Shape};
