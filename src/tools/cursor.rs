//! Cursors: where a list goes on (contract 11). A cursor carries its own state, so any server of the same folder takes it.
//!
//! The checksum tells a cursor of ours from a made-up one. It is no protection against someone who computes it, and
//! needs none: a cursor gives no rights.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use xxhash_rust::xxh3::xxh3_64;

use super::arguments::{Argument, Value};
use super::wrong_cursor;
use engine::Workspace;
use folder::fs::version::FileStamp;
use folder::{FilePath, Result};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    /// What it belongs to: see [`call_key`].
    pub(super) call: u64,
    /// What was shown last.
    pub(super) after: String,
    /// The state of what it points into, when it was made.
    pub(super) state: u64,
}

/// A number for a tool, what it works on, and the other arguments that decide what it answers. A path counts as where it
/// leads to, so the number tells served folders apart and is the same on every server of one folder. Where its file system is
/// mounted does not count: other machines may mount it elsewhere.
pub(super) fn call_key(workspace: &Workspace, tool: &str, path: &FilePath, arguments: &str) -> Result<u64> {
    let place = workspace.path_in_mount(path)?;
    let parts = [tool.as_bytes(), b"\0", place.as_os_str().as_encoded_bytes(), b"\0", arguments.as_bytes()];
    Ok(xxh3_64(&parts.concat()))
}

/// What a cursor keeps of the state of a file or a folder. Without the device: it may have another number after a restart.
/// The time of the last change is in it, because programs set the time of the last write back.
pub(super) fn state_of(stamp: &FileStamp) -> u64 {
    let FileStamp { dev: _, ino, len, mtime_ns, ctime_ns } = *stamp;
    let ctime_ns = if switches::is_off("cursor-state") { 0 } else { ctime_ns };
    let (numbers, times) = ([ino, len].map(u64::to_le_bytes), [mtime_ns, ctime_ns].map(i128::to_le_bytes));
    xxh3_64(&[numbers.concat(), times.concat()].concat())
}

impl Cursor {
    /// Refuses a cursor that belongs to another call.
    pub(super) fn check(&self, call: u64) -> Result<()> {
        if switches::is_off("cursor-call") || self.call == call { Ok(()) } else { Err(wrong_cursor()) }
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        let numbers = [self.call.to_le_bytes(), self.state.to_le_bytes()].concat();
        let body = [&numbers, self.after.as_bytes()].concat();
        URL_SAFE_NO_PAD.encode([&checksum(&body)[..], &body].concat())
    }

    /// Reads a text. `None` if no server made it.
    fn parse(text: &str) -> Option<Cursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, body) = bytes.split_first_chunk::<4>()?;
        if *sum != checksum(body) {
            return None;
        }
        let (call, rest) = body.split_first_chunk()?;
        let (state, after) = rest.split_first_chunk()?;
        let after = std::str::from_utf8(after).ok()?.into();
        Some(Cursor { call: u64::from_le_bytes(*call), state: u64::from_le_bytes(*state), after })
    }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    (xxh3_64(bytes) as u32).to_le_bytes()
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
        let cursor = Cursor { call: 7, after: "ä/b".into(), state: u64::MAX };
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
