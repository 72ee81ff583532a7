//! The bytes of a change in a journal: [`FORMAT`], its fields in order, and a checksum of all that.
//!
//! `docs/changes.md` describes the form for other programs. A field that is added, moved or removed needs another [`FORMAT`].

use super::{Change, hash};

/// What the bytes of a change begin with. The fields behind it are in the wire format of postcard 1.
pub const FORMAT: &[u8] = b"file-editor change 1\n";

/// The bytes are no change of this format, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl Change {
    /// Its bytes in a journal.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Only a writer that is full fails, and fields whose length is not known.
        let mut out = postcard::to_extend(self, FORMAT.to_vec()).unwrap_or_default();
        out.extend_from_slice(&hash(&out).to_le_bytes());
        out
    }

    /// Reads what [`Change::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// [`Damaged`] if it did not write exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Change, Damaged> {
        let (checked, sum) = bytes.split_last_chunk().ok_or(Damaged)?;
        let fields = checked.strip_prefix(FORMAT).ok_or(Damaged)?;
        if hash(checked) != u64::from_le_bytes(*sum) {
            return Err(Damaged);
        }
        match postcard::take_from_bytes(fields) {
            Ok((change, [])) => Ok(change),
            _ => Err(Damaged),
        }
    }
}
