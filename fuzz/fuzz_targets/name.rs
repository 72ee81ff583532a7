//! Compares file names and paths with a naive reading of contract 3 and 12.
//!
//! Must hold for any string: a name is allowed exactly if it has 1 to 255 bytes, is not `.` or `..`, is not
//! one of the server's temporary files, and the policy knows every character. An allowed name is unchanged,
//! is one path component that stays in its folder, and if `portable` allows it, `any` does too.
//!
//! A path is allowed if it has no `..`, is relative or in one of two folders, and each of its components is a name.
//!
//! Input: the name. After `*`: a character, a character whose code is how often to repeat it, and the rest.

#![no_main]

use std::path::{Component, Path};

use folder::{FilePath, FolderPaths, MAX_COMPONENTS, MAX_PATH, NamePolicy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Names near the limit are long for a fuzzer, so repeat a character.
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('*'), Some(what), Some(times)) => {
            let text = what.to_string().repeat(times as usize % 300) + chars.as_str();
            check(&text);
            check_path(&text);
        }
        _ => {
            check(text);
            check_path(text);
        }
    }
});

fn check(name: &str) {
    for policy in [NamePolicy::Portable, NamePolicy::Any] {
        let parsed = FilePath::parse(name, policy, &FolderPaths::default()).ok();
        assert_eq!(parsed.is_some(), admitted(name, policy), "{name:?} under {policy:?}");
        let Some(parsed) = parsed else { continue };
        assert_eq!(parsed.as_str(), name);
        let mut components = Path::new(name).components();
        assert_eq!(components.next(), Some(Component::Normal(name.as_ref())));
        assert_eq!(components.next(), None);
        assert!(FilePath::parse(name, NamePolicy::Any, &FolderPaths::default()).is_ok());
    }
}

/// Two served folders, one within the other; the first has two spellings.
const SERVED: [(&str, &str); 2] = [("/a", "/l/x"), ("/a/b", "/a/b")];

fn check_path(text: &str) {
    let folders = FolderPaths::new(SERVED.map(|(path, given)| (path.into(), given.into())).to_vec());
    let parsed = FilePath::parse(text, NamePolicy::Paths, &folders).ok();
    let expected = naive_path(text);
    assert_eq!(parsed.is_some(), expected.is_some(), "{text:?}");
    let (Some(parsed), Some((folder, relative))) = (parsed, expected) else { return };
    assert_eq!((parsed.folder(), parsed.as_str(), parsed.sent()), (folder, relative.as_str(), text));
    if !relative.is_empty() {
        let again = FilePath::parse(&relative, NamePolicy::Paths, &folders).expect("its own path");
        assert_eq!(again.as_str(), relative);
        assert!(
            !relative.starts_with('/') && !relative.split('/').any(|part| part.is_empty() || part == "..")
        );
    }
}

/// The number of the folder, if the path is absolute, and the path below it.
fn naive_path(text: &str) -> Option<(Option<usize>, String)> {
    if text.len() > MAX_PATH || text.split('/').any(|part| part == "..") {
        return None;
    }
    let below = |folder: &str| {
        let rest = text.strip_prefix(folder)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let (folder, rest) = if text.starts_with('/') {
        let inner = below("/a/b").map(|rest| (Some(1), rest));
        inner.or_else(|| below("/l/x").or_else(|| below("/a")).map(|rest| (Some(0), rest)))?
    } else {
        (None, text.to_owned())
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // A tab is in names that exist.
    let is_name = |part: &&str| admitted(&part.replace('\t', " "), NamePolicy::Any);
    let allowed = parts.len() <= MAX_COMPONENTS && parts.iter().all(is_name);
    allowed.then(|| (folder, parts.join("/")))
}

fn admitted(name: &str, policy: NamePolicy) -> bool {
    // A byte may be written as `\xNN`, as names are shown.
    let is_escape = |part: &&[u8]| part.starts_with(b"\\x") && part[2..].iter().all(u8::is_ascii_hexdigit);
    let escapes = name.as_bytes().windows(4).filter(is_escape).count();
    if name.is_empty() || name.len() - 3 * escapes > 255 || name == "." || name == ".." {
        return false;
    }
    if file_editor_fuzz::is_temporary(name) {
        return false;
    }
    name.chars().all(|c| match policy {
        NamePolicy::Portable => matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-'),
        NamePolicy::Any | NamePolicy::Paths => !matches!(c, '/' | '\0'..='\x1F' | '\x7F'..='\u{9F}'),
    })
}
