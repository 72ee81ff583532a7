//! File names. A name is parsed once, so that no later function has to check a path (contract 3, 8).

use crate::engine::fs::temporary;
use crate::engine::{Error, Result};

/// Which names are allowed (`--names`, contract 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamePolicy {
    /// `^[a-zA-Z0-9._-]+$`.
    Portable,
    /// Any single path component without control characters.
    Any,
}

/// The longest name, in bytes.
pub const MAX_NAME: usize = 255;

/// One path component that the policy allows: not empty, at most 255 bytes, never `.`, `..`, a path, or the
/// name of one of this server's temporary files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileName(Box<str>);

impl FileName {
    /// Parses `name` under `policy`. Returns [`Error::InvalidName`] if the policy does not allow it.
    pub fn parse(name: &str, policy: NamePolicy) -> Result<FileName> {
        if FileName::admits(name, policy) { Ok(FileName(name.into())) } else { Err(Error::InvalidName) }
    }

    /// Whether `policy` allows `name`.
    pub(crate) fn admits(name: &str, policy: NamePolicy) -> bool {
        !name.is_empty()
            && name.len() <= MAX_NAME
            && !matches!(name, "." | "..")
            && !temporary::is_temporary(name.as_bytes())
            && match policy {
                NamePolicy::Portable => name.bytes().all(portable),
                NamePolicy::Any => !name.contains(|c: char| c == '/' || c.is_control()),
            }
    }

    /// The name as in the folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn portable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(name: &str, policy: NamePolicy) -> bool {
        FileName::parse(name, policy).is_ok()
    }

    #[test]
    fn portable_names_are_letters_digits_dot_underscore_and_hyphen() {
        for name in ["a", "A-1_b.txt", ".env", "...", "-", &"x".repeat(255)] {
            assert!(admits(name, NamePolicy::Portable), "{name}");
        }
        for name in ["", ".", "..", "a/b", "/a", "a b", "ä", "a\0", "a\n", "..\\x", &"x".repeat(256)] {
            assert!(!admits(name, NamePolicy::Portable), "{name:?}");
        }
    }

    #[test]
    fn any_admits_one_component_without_control_characters() {
        for name in ["a b", "ä漢.txt", "a\\b", "%2e%2e", "~"] {
            assert!(admits(name, NamePolicy::Any), "{name}");
        }
        for name in ["", ".", "..", "../x", "a/", "a\u{7f}", "a\u{85}", "a\tb", &"ä".repeat(128)] {
            assert!(!admits(name, NamePolicy::Any), "{name:?}");
        }
    }

    #[test]
    fn our_temporary_files_have_no_name() {
        for policy in [NamePolicy::Portable, NamePolicy::Any] {
            assert!(!admits(temporary::new_name().to_str().unwrap(), policy));
            assert!(admits(".file-editor-tmp-notes", policy), "a user's");
        }
    }
}
