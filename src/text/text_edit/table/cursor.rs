//! A position in the edited text. Knows nothing of the text there.

/// The position of a byte, or the end of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cursor {
    pub(crate) leaf: u32,
    pub(crate) offset: usize,
}
