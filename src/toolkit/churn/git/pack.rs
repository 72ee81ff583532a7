//! The head of an object in a pack: its kind, its size, and its base if it is a delta.

use super::id::{HashKind, ObjectId};

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A commit.
    Commit,
    /// A folder.
    Tree,
    /// The content of a file.
    Blob,
    /// A tag with a text.
    Tag,
}

impl Kind {
    /// By the word in the head of an object outside a pack.
    pub fn by_word(word: &[u8]) -> Option<Kind> {
        match word {
            b"commit" => Some(Kind::Commit),
            b"tree" => Some(Kind::Tree),
            b"blob" => Some(Kind::Blob),
            b"tag" => Some(Kind::Tag),
            _ => None,
        }
    }
}

/// What the data of an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The object itself.
    Whole(Kind),
    /// A delta on the object that begins here in the same pack.
    DeltaAt(u64),
    /// A delta on this object.
    DeltaOf(ObjectId),
}

/// The head of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What its data is.
    pub form: Form,
    /// Bytes of its inflated data.
    pub size: u64,
    /// Where its data begins in the pack.
    pub data: u64,
}

/// Whether these are the bytes of a pack that can be read.
pub fn is_pack(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PACK\0\0\0\x02") || bytes.starts_with(b"PACK\0\0\0\x03")
}

/// Reads the head of the entry that begins at `offset` in its pack, and with the first byte of `entry`. `None` if there is
/// none.
pub fn head(entry: &[u8], offset: u64, kind: HashKind) -> Option<Head> {
    let first = *entry.first()?;
    let mut at = 1;
    let (mut size, mut shift, mut byte) = (u64::from(first & 0x0f), 4, first);
    while byte & 0x80 != 0 {
        byte = *entry.get(at)?;
        at += 1;
        if shift > 57 {
            return None;
        }
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    let form = match first >> 4 & 7 {
        1 => Form::Whole(Kind::Commit),
        2 => Form::Whole(Kind::Tree),
        3 => Form::Whole(Kind::Blob),
        4 => Form::Whole(Kind::Tag),
        6 => {
            let distance = distance(entry, &mut at)?;
            Form::DeltaAt(offset.checked_sub(distance).filter(|_| distance > 0)?)
        }
        7 => {
            let base = ObjectId::read(entry.get(at..)?, kind)?;
            at += kind.len_bytes();
            Form::DeltaOf(base)
        }
        _ => return None,
    };
    Some(Head { form, size, data: offset.checked_add(at as u64)? })
}

/// How far before a delta its base begins: seven bits a byte, high ones first, each further byte counts one more.
fn distance(entry: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for number in 0..9 {
        let byte = *entry.get(*at)?;
        *at += 1;
        value = (value + u64::from(number > 0)) << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_tell_kind_size_and_base() {
        let read = |bytes: &[u8], offset| head(bytes, offset, HashKind::Sha1);
        assert_eq!(read(&[0x35], 0), Some(Head { form: Form::Whole(Kind::Blob), size: 5, data: 1 }));
        assert_eq!(
            read(&[0x95, 0x82, 1], 0),
            Some(Head { form: Form::Whole(Kind::Commit), size: 5 + (2 << 4) + (1 << 11), data: 3 })
        );
        let entry = [0x61, 0x81, 0x00];
        assert_eq!(read(&entry, 400), Some(Head { form: Form::DeltaAt(400 - 256), size: 1, data: 403 }));
        let mut pack = vec![0x72];
        pack.extend([9; 20]);
        let base = ObjectId::read(&[9; 20], HashKind::Sha1).unwrap();
        assert_eq!(read(&pack, 0), Some(Head { form: Form::DeltaOf(base), size: 2, data: 21 }));
    }

    #[test]
    fn a_head_that_is_cut_or_leads_nowhere_is_none() {
        let read = |bytes: &[u8], offset| head(bytes, offset, HashKind::Sha1);
        assert_eq!(read(&[], 0), None);
        assert_eq!(read(&[0x35], u64::MAX), None, "its data would begin behind all files");
        assert_eq!(read(&[0xb5], 0), None);
        assert_eq!(read(&[0xff; 30], 0), None, "a size of more than 64 bits");
        assert_eq!(read(&[0x05], 0), None, "kind 0");
        assert_eq!(read(&[0x55], 0), None, "kind 5");
        assert_eq!(read(&[0x61, 0], 0), None, "its own base");
        assert_eq!(read(&[0x61, 5], 0), None, "a base before the pack");
        assert_eq!(read(&[0x72, 1, 2], 0), None);
    }
}
