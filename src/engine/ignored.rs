//! Which files git ignores (contract 12): the rules of `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! A walk enters and leaves folders here as it does on the disk. Knows no other patterns.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// The largest file of rules that is read, in bytes. More than that is left out.
const MAX_RULES: u64 = 1 << 20;

/// The files of rules in one folder. A later one decides over those before it.
const FILES: [&str; 3] = [".git/info/exclude", ".gitignore", ".ignore"];

/// The rules of the folders that a walk has entered, outermost first.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules(Vec<Option<Gitignore>>);

impl IgnoreRules {
    /// Adds the rules of the served folder `root` and of the folders down to the parent of `path`.
    pub(crate) fn enter_all_above(&mut self, root: &Arc<OwnedFd>, path: &Path) {
        let mut here: Option<Arc<OwnedFd>> = Some(root.clone());
        let mut entered = PathBuf::new();
        for component in path.iter() {
            self.0.push(here.as_ref().and_then(|here| rules(here, &entered)));
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = |here: Arc<OwnedFd>| rustix::fs::openat(&here, component, flags, Mode::empty()).ok();
            here = here.and_then(next).map(Arc::new);
            entered.push(component);
        }
    }

    /// Adds the rules of `folder`, whose path is `path`.
    pub(crate) fn enter(&mut self, folder: impl AsFd, path: &Path) {
        self.0.push(rules(folder, path));
    }

    /// Drops the rules of the folder that was entered last.
    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// Whether the entry at `path`, in the folder that was entered last, is ignored. `None`: no rule names it.
    pub(crate) fn ignores(&self, path: &Path, is_folder: bool) -> Option<bool> {
        self.0.iter().rev().flatten().find_map(|rules| match rules.matched(path, is_folder) {
            Match::None => None,
            decided => Some(decided.is_ignore()),
        })
    }
}

/// The rules in `folder`; `None` if it has none.
fn rules(folder: impl AsFd, path: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(path);
    for name in FILES {
        // Lines that are not valid are left out, as git does.
        for line in read(&folder, name).unwrap_or_default().lines() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn read(folder: impl AsFd, name: &str) -> Option<String> {
    let (parent, name) = name.rsplit_once('/').unwrap_or((".", name));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut here = None;
    for component in parent.split('/') {
        let from = here.as_ref().map_or(folder.as_fd(), OwnedFd::as_fd);
        here = Some(rustix::fs::openat(from, component, flags, Mode::empty()).ok()?);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let here = here?;
    // Nothing else is opened, because to open a FIFO or a device can have effects.
    let stat = rustix::fs::statat(&here, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let file = File::from(rustix::fs::openat(here, name, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(MAX_RULES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_rule_decides_and_rules_hold_below_their_folder() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at(".git/info")).unwrap();
        fs::write(at(".git/info/exclude"), "local\n").unwrap();
        fs::write(at(".gitignore"), "*.log\n/top\nbuild/\n").unwrap();
        fs::write(at("a/.gitignore"), "!keep.log\n").unwrap();
        fs::write(at("a/b/.ignore"), "keep.log\n").unwrap();
        let open = |path: &str| OwnedFd::from(File::open(at(path)).unwrap());
        let root = Arc::new(open("."));
        let mut rules = IgnoreRules::default();
        rules.enter_all_above(&root, Path::new("a"));
        rules.enter(open("a"), Path::new("a"));
        let ignores = |rules: &IgnoreRules, path: &str| rules.ignores(Path::new(path), false) == Some(true);
        assert!(ignores(&rules, "a/x.log") && ignores(&rules, "a/local"));
        assert!(!ignores(&rules, "a/keep.log") && !ignores(&rules, "a/top") && !ignores(&rules, "a/build"));
        assert_eq!(rules.ignores(Path::new("a/build"), true), Some(true));
        assert_eq!(rules.ignores(Path::new("a/keep.log"), false), Some(false));
        rules.enter(open("a/b"), Path::new("a/b"));
        assert!(ignores(&rules, "a/b/keep.log"));
        rules.leave();
        assert!(!ignores(&rules, "a/keep.log"));
    }
}
