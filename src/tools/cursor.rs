//! Cursors: where a list goes on (contract 11). A cursor carries its own state, so any server of the same folder takes it.
//!
//! The checksum tells a cursor of ours from a made-up one. It is no protection against someone who computes it, and
//! needs none: a cursor gives no rights.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::arguments::{Argument, Value};
use super::wrong_cursor;
use crate::engine::Result;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The tool and what it walks, such as its path and pattern.
    pub(super) of: String,
    /// What was shown last.
    pub(super) after: String,
    /// The state of the folder that holds it, when the cursor was made.
    pub(super) state: u64,
}

impl Cursor {
    /// Refuses a cursor that belongs to another call than `of`.
    pub(super) fn check(cursor: Option<&Cursor>, of: &str) -> Result<()> {
        match cursor {
            Some(cursor) if cursor.of != of => Err(wrong_cursor()),
            _ => Ok(()),
        }
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        let body = format!("{:x}\0{}\0{}", self.state, self.of, self.after);
        let sum = checksum(body.as_bytes()).to_le_bytes();
        URL_SAFE_NO_PAD.encode([&sum[..], body.as_bytes()].concat())
    }

    /// Reads a text. `None` if no server made it.
    fn parse(text: &str) -> Option<Cursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, body) = bytes.split_first_chunk::<4>()?;
        if *sum != checksum(body).to_le_bytes() {
            return None;
        }
        let mut parts = std::str::from_utf8(body).ok()?.splitn(3, '\0');
        let state = u64::from_str_radix(parts.next()?, 16).ok()?;
        Some(Cursor { of: parts.next()?.into(), after: parts.next()?.into(), state })
    }
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

impl Argument for Cursor {
    fn expected() -> String {
        "a cursor that an earlier answer gave".into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Cursor> {
        Cursor::parse(&value.string()?).ok_or_else(|| value.wrong(&Cursor::expected()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is_one() {
        let cursor = Cursor { of: "list_directory a\tb".into(), after: "ä/b".into(), state: u64::MAX };
        let text = cursor.text();
        assert_eq!(Cursor::parse(&text), Some(cursor));
        assert_eq!(Cursor::parse(&text[..text.len() - 1]), None);
        let mut other = text.into_bytes();
        let last = other.len() - 2;
        other[last] = if other[last] == b'A' { b'B' } else { b'A' };
        assert_eq!(Cursor::parse(std::str::from_utf8(&other).unwrap()), None);
        for text in ["", "x", "AAAA", "AAAAAAAA"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }
}
