//! What a client must start: this program, or npx or uvx if they started it out of a cache that is cleared at some time.
//!
//! npx is known by the npm wrapper, which says what was asked of it; uvx by where it puts programs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The variable in which the npm wrapper says how npx starts it: a JSON array of words. It is set with `--print-config` only.
const VARIABLE: &str = "FILE_EDITOR_STARTED_BY";

/// What a client must start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Starter {
    /// The program by its path.
    Path,
    /// These words before the arguments. There is at least one.
    Words(Vec<String>),
    /// The program by its path, which will not stay: it came to the cache from a folder that is not known any more.
    PathInCache,
}

impl Starter {
    /// What started the program with this path.
    pub(super) fn find(program: &Path) -> Self {
        let told = std::env::var_os(VARIABLE).and_then(words);
        told.map(Self::Words).or_else(|| by_uvx(program)).unwrap_or(Self::Path)
    }

    /// One line for the user.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self {
            Self::Path => None,
            Self::Words(_) => Some(
                "this program lies in a cache that may be cleared, so the entry starts it as it was started now; \
                 options such as an index or a registry are not in it",
            ),
            Self::PathInCache => Some(
                "this program lies in the cache of uv, which may be cleared: install it with `uv tool install`, and print \
                 the entry again",
            ),
        }
    }
}

/// The words in the variable; `None` if they are not what the wrapper writes.
fn words(text: OsString) -> Option<Vec<String>> {
    let words: Vec<String> = serde_json::from_str(text.to_str()?).ok()?;
    (!words.is_empty()).then_some(words)
}

/// How uvx starts the program, if its path is that of an environment in uv's cache: `<cache>/archive-v0/<name>/bin/<program>`.
fn by_uvx(program: &Path) -> Option<Starter> {
    let environment = program.parent()?.parent()?;
    let archives = environment.parent()?;
    let is_archive = archives.file_name()?.to_str()?.starts_with("archive-v");
    if !is_archive || !archives.parent()?.join("CACHEDIR.TAG").exists() {
        return None;
    }
    let about = libraries(environment).find_map(|folder| {
        let about = folder.join(concat!("file_editor-", env!("CARGO_PKG_VERSION"), ".dist-info"));
        about.is_dir().then_some(about)
    })?;
    // uv writes the first for what has an address of its own, and the second for what comes from this machine.
    Some(match fs::read(about.join("direct_url.json")) {
        Ok(origin) => address(&origin).map_or(Starter::PathInCache, |address| {
            Starter::Words(vec!["uvx".into(), "--from".into(), address, "file-editor".into()])
        }),
        Err(_) if about.join("uv_cache.json").exists() => Starter::PathInCache,
        Err(_) => Starter::Words(vec!["uvx".into(), "file-editor".into()]),
    })
}

/// The folders in which an environment may have its libraries.
fn libraries(environment: &Path) -> impl Iterator<Item = PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|entry| entry.path()).chain([environment.join("Lib")]); // Windows
    folders.map(|folder| folder.join("site-packages"))
}

/// The address of a package file in its `direct_url.json` (PEP 610).
fn address(origin: &[u8]) -> Option<String> {
    let origin: Value = serde_json::from_slice(origin).ok()?;
    origin.get("archive_info")?;
    origin.get("url")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: &str = concat!("file_editor-", env!("CARGO_PKG_VERSION"), ".dist-info");

    /// What is found for a program at `<cache>/<at>/bin/file-editor` with these files beside its package.
    fn found(at: &str, tag: bool, libraries: &str, files: &[(&str, &str)]) -> Starter {
        let cache = tempfile::tempdir().unwrap();
        let environment = cache.path().join(at);
        let about = environment.join(libraries).join("site-packages").join(ABOUT);
        fs::create_dir_all(&about).unwrap();
        if tag {
            fs::write(cache.path().join("CACHEDIR.TAG"), "").unwrap();
        }
        for (name, text) in files {
            fs::write(about.join(name), text).unwrap();
        }
        by_uvx(&environment.join("bin/file-editor")).unwrap_or(Starter::Path)
    }

    fn uvx(words: &[&str]) -> Starter {
        Starter::Words(words.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_program_in_the_cache_of_uv_is_started_by_uvx() {
        for (at, libraries) in [("archive-v0/a1", "lib/python3.11"), ("archive-v2/a1", "Lib")] {
            assert_eq!(found(at, true, libraries, &[]), uvx(&["uvx", "file-editor"]), "{at}");
        }
    }

    #[test]
    fn a_program_elsewhere_is_started_by_its_path() {
        let lib = "lib/python3.11";
        assert_eq!(found("archive-v0/a1", false, lib, &[]), Starter::Path, "no cache");
        assert_eq!(found("tools/a1", true, lib, &[]), Starter::Path, "below a cache, no archive of uv");
        assert_eq!(by_uvx(Path::new("file-editor")), None);
        assert_eq!(by_uvx(Path::new("/usr/bin/file-editor")), None);
    }

    #[test]
    fn a_package_that_no_index_has_is_named_by_its_address_or_not_at_all() {
        let (at, lib, local) = ("archive-v0/a1", "lib/python3.11", ("uv_cache.json", "{}"));
        let file = r#"{"url":"file:///a.whl","archive_info":{}}"#;
        let git = r#"{"url":"https://host/a","vcs_info":{"vcs":"git"}}"#;
        let named = uvx(&["uvx", "--from", "file:///a.whl", "file-editor"]);
        assert_eq!(found(at, true, lib, &[("direct_url.json", file), local]), named);
        for odd in [git, "{", r#"{"archive_info":{}}"#, ""] {
            assert_eq!(found(at, true, lib, &[("direct_url.json", odd)]), Starter::PathInCache, "{odd}");
        }
        assert_eq!(found(at, true, lib, &[local]), Starter::PathInCache);
    }

    #[test]
    fn only_a_list_of_words_is_taken_from_the_variable() {
        let read = |text: &str| words(text.into());
        assert_eq!(read(r#"["npx","--yes"]"#), Some(vec!["npx".into(), "--yes".into()]));
        for odd in ["", "npx", "[]", "[1]", r#"{"npx":1}"#] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
