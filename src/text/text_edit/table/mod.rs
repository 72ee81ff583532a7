//! The text while it is edited: a piece table, positions in it, its lines, and the memory that it may take. Knows no search.

pub(crate) mod cursor;
pub(crate) mod matches;
pub(crate) mod memory;
pub(crate) mod piece_table;
pub(crate) mod snippet;
pub(crate) mod window;
