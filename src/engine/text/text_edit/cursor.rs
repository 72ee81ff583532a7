//! A position in the edited text. Knows nothing of the text there.

/// The position of a byte, or the end of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cursor {
    pub(super) leaf: u32,
    pub(super) offset: u32,
}
