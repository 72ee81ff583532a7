//! A position in the text under edit. Knows nothing of what is there.

/// A byte of the text, or the end of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cursor {
    pub(super) leaf: u32,
    pub(super) offset: u32,
}
