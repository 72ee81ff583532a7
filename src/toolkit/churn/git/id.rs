//! The name of a git object: the SHA-1 or SHA-256 of its content. Knows no files and checks no content.

use std::fmt;

/// The longest name, in bytes.
const MOST: usize = 32;

/// How long the names of a repository are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashKind {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl HashKind {
    /// Bytes of a name.
    pub fn len_bytes(self) -> usize {
        match self {
            HashKind::Sha1 => 20,
            HashKind::Sha256 => 32,
        }
    }
}

/// See the module. A shorter name has zeros behind it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    bytes: [u8; MOST],
    len: u8,
}

impl ObjectId {
    /// From the first bytes of `bytes`. `None` if they are too few.
    pub fn read(bytes: &[u8], kind: HashKind) -> Option<ObjectId> {
        let name = bytes.get(..kind.len_bytes())?;
        let mut id = ObjectId { bytes: [0; MOST], len: name.len() as u8 };
        id.bytes[..name.len()].copy_from_slice(name);
        Some(id)
    }

    /// From hexadecimal digits, exactly as many as a name has.
    pub fn parse(text: &[u8], kind: HashKind) -> Option<ObjectId> {
        if text.len() != 2 * kind.len_bytes() {
            return None;
        }
        let mut bytes = [0; MOST];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        ObjectId::read(&bytes, kind)
    }

    /// The bytes of the name.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_digits_and_written_as_them() {
        for (kind, len) in [(HashKind::Sha1, 40), (HashKind::Sha256, 64)] {
            let text = "0123456789abcdef".repeat(4)[..len].to_owned();
            let id = ObjectId::parse(text.as_bytes(), kind).unwrap();
            assert_eq!((id.to_string(), id.bytes().len()), (text.clone(), len / 2));
            assert_eq!(ObjectId::read(id.bytes(), kind), Some(id));
            for wrong in [&text[1..], &(text.clone() + "0"), &("g".to_owned() + &text[1..]), ""] {
                assert_eq!(ObjectId::parse(wrong.as_bytes(), kind), None, "{wrong}");
            }
        }
        assert_eq!(ObjectId::read(&[0; 19], HashKind::Sha1), None);
    }
}
