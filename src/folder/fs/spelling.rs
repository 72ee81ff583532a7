//! The names that folders list for the entries of a path.
//!
//! Some file systems find an entry by other names than its own, too: in another case, with letters composed in another way, with
//! characters that do not count, or by a short name. What is excluded is known by its own name. No table of file systems helps here: case
//! is a matter of single folders on some, and of the other end on a network. So each folder is asked.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::resolve::{PASS, PassedEntry, ResolveError, ResolvedPath, stat_entry};
use super::version::identity;
use crate::exclude::Excludes;
use sys::fd::{AsFd, OwnedFd};
use sys::ffi::{OsStrExt, OsStringExt};
use sys::fs::{Dir, Mode, OFlags};
use sys::path::IGNORES_CASE;

/// How often a folder is read in which an entry is not listed: one that is replaced meanwhile may be missing.
const ATTEMPTS: usize = 3;

/// The path `path` of `place` below `root`, which goes through no link, with the names that folders list. `None` if that is not known:
/// because the file system does not tell under which name it has an entry, or because a folder on the way was moved meanwhile.
///
/// What does not exist keeps its name.
pub fn listed(root: &Arc<OwnedFd>, path: &Path, place: &ResolvedPath) -> Option<PathBuf> {
    // There a look-up finds an entry by its own name only.
    if IGNORES_CASE || path.as_os_str().is_empty() {
        return Some(path.into());
    }
    let names: Vec<&OsStr> = path.iter().collect();
    let parents = names.len().checked_sub(1 + place.missing.len())?;
    let (mut here, mut found) = (root.clone(), PathBuf::new());
    for name in &names[..parents] {
        let name = listed_name(&here, name)?;
        here = Arc::new(sys::fs::openat(&here, &name, PASS, Mode::empty()).ok()?);
        found.push(name);
    }
    // Else the names are those of another folder. A folder has one name, so it was found by its own.
    let is_same = Arc::ptr_eq(&here, &place.dir) || identity_of(&here)? == identity_of(&place.dir)?;
    for (nth, name) in names[parents..].iter().enumerate() {
        match nth == 0 && place.stat.is_some() {
            true => found.push(listed_name(&here, name)?),
            false => found.push(name),
        }
    }
    is_same.then_some(found)
}

/// Whether the target of a link may not be shown: it is excluded, by any of its names, or is reached by what is, or git keeps it to itself.
///
/// # Errors
///
/// Why that cannot be told.
pub fn hides_target(
    excludes: &Excludes,
    root: &Arc<OwnedFd>,
    place: &ResolvedPath,
    passed: &[PassedEntry],
) -> Result<bool, ResolveError> {
    let Some(real) = &place.real else { return Ok(false) };
    let hides = |path: &Path| excludes.hides(path, place.is_directory());
    let git_keeps = || match excludes.git().allows_reads() || switches::is_off("git-link") {
        true => Ok(false),
        false => excludes.git().keeps((root, identity(&sys::fs::fstat(root)?)), real, place.is_directory()),
    };
    Ok(git_keeps()?
        || !excludes.is_empty()
            && (hides(real)
                || passes_hidden(excludes, passed, place.is_directory())
                || listed(root, real, place).is_none_or(|listed| hides(&listed))))
}

/// Whether a path that leads through `passed`, perhaps to a folder, leads through what is excluded, or may be.
pub fn passes_hidden(excludes: &Excludes, passed: &[PassedEntry], is_directory: bool) -> bool {
    passed.iter().any(|passed| excludes.may_hide(&passed.real, passed.as_folder || is_directory))
}

/// The name under which `folder` lists what it has at `name`. `None` if it lists none, or several that may be it.
fn listed_name(folder: &OwnedFd, name: &OsStr) -> Option<OsString> {
    if !may_have_other_names(folder, name) {
        return Some(name.into());
    }
    (0..ATTEMPTS).find_map(|_| {
        let mut names = Vec::new();
        // The handle may be one for paths only.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = sys::fs::openat(folder, ".", flags, Mode::empty());
        for entry in opened.and_then(Dir::new).ok()? {
            let entry = entry.ok()?;
            let bytes = entry.file_name().to_bytes();
            if bytes == name.as_bytes() {
                return Some(name.into());
            }
            names.push(OsString::from_vec(bytes.to_vec()));
        }
        let wanted = identity(&stat_entry(folder, name).ok()?);
        let is_it = |other: &OsString| stat_entry(folder, other).is_ok_and(|stat| identity(&stat) == wanted);
        let mut same = names.into_iter().filter(is_it);
        let first = same.next()?;
        same.next().is_none().then_some(first)
    })
}

/// Whether `folder` may list what it has at `name` under another name. Where it tells the case of ASCII letters apart, only a name that is
/// not plain may be another one's: it is composed in another way, or short, or has an end that is dropped.
fn may_have_other_names(folder: &OwnedFd, name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    if !bytes.is_ascii() || bytes.contains(&b'~') || bytes.ends_with(b".") || bytes.ends_with(b" ") {
        return true;
    }
    let swapped = |&byte: &u8| match byte.is_ascii_lowercase() {
        true => byte.to_ascii_uppercase(),
        false => byte.to_ascii_lowercase(),
    };
    let other: Vec<u8> = bytes.iter().map(swapped).collect();
    other != bytes && !matches!(stat_entry(folder, OsStr::from_bytes(&other)), Err(sys::io::Errno::NOENT))
}

fn identity_of(folder: impl AsFd) -> Option<(u64, u64)> {
    sys::fs::fstat(folder).ok().map(|stat| identity(&stat))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fs::resolve::LastLink;

    #[test]
    fn where_case_counts_each_path_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/Über~1")).unwrap();
        for file in ["a/x", "a/X", "a/Über~1/1", "a/Über~1/end.", "a/e\u{301}"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        for path in
            ["", "a", "a/x", "a/X", "a/Über~1/1", "a/Über~1/end.", "a/e\u{301}", "a/new", "a/new/in/x"]
        {
            let path = Path::new(path);
            let place = ResolvedPath::find_entry(&root, path, LastLink::Keep).unwrap();
            assert_eq!(listed(&root, path, &place).as_deref(), Some(path));
        }
    }

    #[test]
    fn the_name_of_an_entry_in_another_folder_is_not_taken_for_its_own() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/x"), "").unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let place = ResolvedPath::find_entry(&root, Path::new("a/x"), LastLink::Keep).unwrap();
        fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
        fs::create_dir_all(dir.path().join("a")).unwrap();
        assert_eq!(listed(&root, Path::new("a/x"), &place), None);
    }
}
