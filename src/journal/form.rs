//! The bytes of a change in a journal: [`FORMAT`], its fields in order, and a checksum of all that.
//!
//! `docs/changes.md` describes the form for other programs. A field that is added, moved or removed needs another [`FORMAT`].

use super::{Change, hash};

/// What the bytes of a change begin with. The fields behind it are in the wire format of postcard 1.
pub const FORMAT: &[u8] = b"file-editor change 2\n";

/// What the bytes of a change in any format begin with.
const ANY_FORMAT: &[u8] = b"file-editor change ";

/// Why bytes are no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// They are no change of this format, or not all of it.
    Damaged,
    /// They are a change in the format of another release.
    OtherFormat,
}

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
    /// If it did not write exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Change, Unreadable> {
        let has_version = |rest: &[u8]| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits > 0 && rest.get(digits) == Some(&b'\n')
        };
        if !bytes.starts_with(FORMAT) && bytes.strip_prefix(ANY_FORMAT).is_some_and(has_version) {
            return Err(Unreadable::OtherFormat);
        }
        let (checked, sum) = bytes.split_last_chunk().ok_or(Unreadable::Damaged)?;
        let fields = checked.strip_prefix(FORMAT).ok_or(Unreadable::Damaged)?;
        if hash(checked) != u64::from_le_bytes(*sum) {
            return Err(Unreadable::Damaged);
        }
        match postcard::take_from_bytes::<Change>(fields) {
            Ok((change, [])) if change.is_sound() => Ok(change),
            _ => Err(Unreadable::Damaged),
        }
    }

    /// Whether all places have a root, and all toggles an element.
    fn is_sound(&self) -> bool {
        let elements = self.elements();
        self.places().all(|place| place.root < self.roots.len())
            && self.toggles.iter().filter_map(|toggle| toggle.element).all(|element| element < elements)
    }
}
