//! Compares file names with a naive reading of contract 3.
//!
//! Must hold for any string: a name is allowed exactly if it has 1 to 255 bytes, is not `.` or `..`, is not
//! one of the server's temporary files, and the policy knows every character. An allowed name is unchanged,
//! is one path component that stays in its folder, and if `portable` allows it, `any` does too.
//!
//! Input: the name. After `*`: a character, a character whose code is how often to repeat it, and the rest.

#![no_main]

use std::path::{Component, Path};

use file_editor::engine::{FilePath, NamePolicy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Names near the limit are long for a fuzzer, so repeat a character.
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('*'), Some(what), Some(times)) => {
            check(&(what.to_string().repeat(times as usize % 300) + chars.as_str()));
        }
        _ => check(text),
    }
});

fn check(name: &str) {
    for policy in [NamePolicy::Portable, NamePolicy::Any] {
        let parsed = FilePath::parse(name, policy).ok();
        assert_eq!(parsed.is_some(), admitted(name, policy), "{name:?} under {policy:?}");
        let Some(parsed) = parsed else { continue };
        assert_eq!(parsed.as_str(), name);
        let mut components = Path::new(name).components();
        assert_eq!(components.next(), Some(Component::Normal(name.as_ref())));
        assert_eq!(components.next(), None);
        assert!(FilePath::parse(name, NamePolicy::Any).is_ok());
    }
}

fn admitted(name: &str, policy: NamePolicy) -> bool {
    if name.is_empty() || name.len() > 255 || name == "." || name == ".." {
        return false;
    }
    if file_editor_fuzz::is_temporary(name) {
        return false;
    }
    name.chars().all(|c| match policy {
        NamePolicy::Portable => matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-'),
        NamePolicy::Any => !matches!(c, '/' | '\0'..='\x1F' | '\x7F'..='\u{9F}'),
    })
}
