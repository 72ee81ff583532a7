//! Compares globs with a naive matcher, as far as that goes.
//!
//! Must hold for any pattern and path: reading, dividing and matching end soon and do not panic. For patterns of ASCII letters,
//! digits, dots, slashes, `*`, `?` and `**` in paths of such components, a naive matcher agrees.
//!
//! Input: the pattern; after a line break, the path.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::glob::{Glob, GlobBudget, RootedGlob, TreeExclude};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, path) = text.split_once('\n').unwrap_or((text, "a/b"));
    if let Ok(exclude) = TreeExclude::within(pattern, &mut GlobBudget::default()) {
        exclude.matches(path);
    }
    let rooted = RootedGlob::new(pattern);
    let (folder, below) = rooted.divided();
    assert!(
        rooted.is_negated && folder.is_empty()
            || rooted.text.starts_with(folder) && rooted.text.ends_with(below)
    );
    if let Ok(glob) = rooted.glob(&mut GlobBudget::default()) {
        glob.matches(path);
    }
    let Ok(glob) = Glob::parse(pattern) else { return };
    let matched = glob.matches(path);
    if plain(pattern, "*?") && plain(path, "") && pattern.len() < 40 && path.len() < 40 {
        let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
        assert_eq!(matched, whole(&pattern, &path), "{text:?}");
    }
});

/// Whether the components have ordinary characters only and none is empty, `.` or `..`, or begins or ends with a dot.
fn plain(text: &str, special: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '.' || special.contains(c);
    text.split('/').all(|part| {
        !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && part.chars().all(good)
    })
}

fn whole(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skipped| whole(rest, &path[skipped..])),
        [first, rest @ ..] => {
            path.first().is_some_and(|name| component(first.as_bytes(), name.as_bytes()))
                && whole(rest, &path[1..])
        }
    }
}

fn component(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|taken| component(rest, &name[taken..])),
        [first, rest @ ..] => {
            name.first().is_some_and(|c| *first == b'?' || first == c) && component(rest, &name[1..])
        }
    }
}
