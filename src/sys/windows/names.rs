//! Names of files: as bytes, as the system's text of 16-bit units, and which of them the system keeps as they are.
//!
//! Bytes are WTF-8: UTF-8, and for units that are no text, what UTF-8 would be for them.
#![allow(unsafe_code)] // Bytes that are checked become a name.

use std::ffi::{CStr, OsStr, OsString};
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::io::{Errno, Result};

/// The longest name, in units.
const LONGEST: usize = 255;

/// Whether no two names differ in case alone, while a look-up tells case apart.
pub const IGNORES_CASE: bool = true;

/// What bytes that are no name become: a name that no file has.
const NO_NAME: &str = "?";

/// Names as bytes.
pub trait OsStrExt {
    /// Bytes that are no WTF-8 become a name that no file has.
    fn from_bytes(bytes: &[u8]) -> &Self;
    fn as_bytes(&self) -> &[u8];
}

impl OsStrExt for OsStr {
    fn from_bytes(bytes: &[u8]) -> &OsStr {
        match std::str::from_utf8(bytes) {
            Ok(text) => OsStr::new(text),
            // SAFETY: these are the bytes of an `OsString`.
            Err(_) if is_name(bytes) => unsafe { OsStr::from_encoded_bytes_unchecked(bytes) },
            Err(_) => OsStr::new(NO_NAME),
        }
    }

    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }
}

/// Owned names as bytes.
pub trait OsStringExt {
    /// As [`OsStrExt::from_bytes`].
    fn from_vec(bytes: Vec<u8>) -> Self;
    #[allow(dead_code)] // Other systems need it.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> OsString {
        OsStr::from_bytes(&bytes).to_owned()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}

/// Whether these are the bytes of a name that is no UTF-8: of one made from units.
fn is_name(bytes: &[u8]) -> bool {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((text, after)) = rest.utf8_chunks().next().map(|chunk| {
        let text = chunk.valid();
        (text, &rest[text.len()..])
    }) {
        units.extend(text.encode_utf16());
        rest = match after {
            [] => after,
            // One half of a pair, written like a character of three bytes.
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, after @ ..] => {
                units.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                after
            }
            _ => return false,
        };
    }
    OsString::from_wide(&units).as_encoded_bytes() == bytes
}

/// What a call takes as a name or a path.
pub trait Arg {
    fn as_os_str(&self) -> &OsStr;
}

impl<T: Arg + ?Sized> Arg for &T {
    fn as_os_str(&self) -> &OsStr {
        (**self).as_os_str()
    }
}

macro_rules! arg {
    ($($name:ty),+) => {
        $(impl Arg for $name {
            fn as_os_str(&self) -> &OsStr {
                self.as_ref()
            }
        })+
    };
}
arg!(str, String, OsStr, OsString, Path, PathBuf);

impl Arg for CStr {
    fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(self.to_bytes())
    }
}

/// The units of a name in a folder; none for `.`, the folder itself. ENOENT if no file can have this name: it would be looked
/// up as another one, as a path, or as a device.
pub(super) fn units_of_name(name: &impl Arg) -> Result<Vec<u16>> {
    let name = name.as_os_str();
    match name.as_encoded_bytes() {
        b"." => Ok(Vec::new()),
        bytes if is_usable_name(bytes) => Ok(name.encode_wide().collect()),
        bytes if bytes.len() > LONGEST => Err(Errno::NAMETOOLONG),
        _ => Err(Errno::NOENT),
    }
}

/// Whether the system keeps a file by this name, and by no other: no reserved character, no device, and no dot or blank at
/// the end, which it would cut off.
pub fn is_usable_name(name: &[u8]) -> bool {
    let is_reserved = |byte: &u8| *byte < 0x20 || br#"<>:"/\|?*"#.contains(byte);
    let units = || String::from_utf8_lossy(name).encode_utf16().count();
    !name.is_empty()
        && !name.iter().any(is_reserved)
        && !matches!(name.last(), Some(b'.' | b' '))
        && !is_device(name)
        && (name.len() <= LONGEST || units() <= LONGEST)
}

/// Whether this is the name of a device, with any extension, in any case.
fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|&byte| byte == b'.').next().unwrap_or_default().trim_ascii_end();
    let is = |device: &&str| stem.eq_ignore_ascii_case(device.as_bytes());
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].iter().any(is) {
        return true;
    }
    let port = ["COM", "LPT"].iter().find_map(|port| {
        let (start, number) = stem.split_at_checked(port.len())?;
        start.eq_ignore_ascii_case(port.as_bytes()).then_some(number)
    });
    // Some systems take superscript digits for digits.
    port.is_some_and(|number| {
        matches!(number, [b'0'..=b'9']) || ["¹", "²", "³"].iter().any(|digit| number == digit.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_system_would_change_or_take_for_something_else_are_not_usable() {
        for name in ["a", "a.txt", ".env", "a b", "ä漢", "COM", "COM10", "CONSOLE", "nul_", "a.nul", "..."]
        {
            assert_eq!(is_usable_name(name.as_bytes()), name != "...", "{name}");
        }
        let refused = [
            "",
            ".",
            "..",
            "a.",
            "a ",
            "a. .",
            "a:b",
            "a.txt::$DATA",
            "a/b",
            "a\\b",
            "a|b",
            "a?",
            "*",
            "<",
            ">",
            "\"",
            "a\n",
            "a\0",
            "CON",
            "con.txt",
            "nul.tar.gz",
            "Aux",
            "prn ",
            "COM1",
            "com9.log",
            "LPT0",
            "COM¹",
            "lpt³.x",
            "CONIN$",
            "conout$.txt",
            "NUL .txt",
        ];
        for name in refused {
            assert!(!is_usable_name(name.as_bytes()), "{name:?}");
        }
        assert!(is_usable_name("x".repeat(255).as_bytes()) && !is_usable_name("x".repeat(256).as_bytes()));
    }

    #[test]
    fn bytes_lead_back_to_the_name_and_what_is_none_becomes_one_that_no_file_has() {
        let odd = OsString::from_wide(&[0x61, 0xd800, 0x2f, 0xdc00, 0xe4]);
        for name in [odd.as_os_str(), OsStr::new("ä漢"), OsStr::new("")] {
            assert_eq!(OsStr::from_bytes(name.as_bytes()), name);
            assert_eq!(OsString::from_vec(name.to_owned().into_vec()), name);
        }
        // The last one would be a pair, which is one character.
        for bytes in [&b"a\xff"[..], b"\xed\xa0", b"\xc3", b"\xed\xa0\x80\xed\xb0\x80"] {
            assert_eq!(OsStr::from_bytes(bytes), NO_NAME, "{bytes:?}");
        }
        assert_eq!(units_of_name(&"?"), Err(Errno::NOENT));
        assert_eq!(units_of_name(&"."), Ok(Vec::new()));
    }
}
