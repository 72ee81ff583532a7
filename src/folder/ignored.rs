//! Which files git ignores (contract 12): the rules of `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! The rules of git, and those of ripgrep where git has none:
//!
//! - the last rule of a file of rules that names an entry decides; of several files of one kind, that of the nearest
//!   folder does;
//! - every `.ignore` goes before every `.gitignore`, and that before `.git/info/exclude`;
//! - a folder with an entry `.git` is a repository of its own: the `.gitignore` and `exclude` of the folders above say
//!   nothing about what is in it. `.ignore` knows no repositories.
//!
//! An `exclude` that a file `.git` leads to is not read, because it may lie outside. A walk enters and leaves folders here
//! as it does on the disk. Knows no other patterns.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::lookups::Lookups;
use sys::fd::{AsFd, OwnedFd};
use sys::fs::{AtFlags, FileType, Mode, OFlags};
use text::gitignore::as_git_reads;

/// Bytes of rules that are in force at once, of all folders that a walk is in. More are left out, because a rule may take 300
/// times its length when it is compiled.
const MAX_RULES: usize = 128 << 10;

/// What git and ripgrep look for in a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RuleFiles {
    /// `.git`, which makes it a repository.
    pub(crate) git: bool,
    /// `.gitignore`
    pub(crate) gitignore: bool,
    /// `.ignore`
    pub(crate) ignore: bool,
}

impl RuleFiles {
    /// Notes the name of an entry of the folder.
    pub(crate) fn note(&mut self, name: &[u8]) {
        match name {
            b".git" => self.git = true,
            b".gitignore" => self.gitignore = true,
            b".ignore" => self.ignore = true,
            _ => {}
        }
    }

    /// Of a folder whose names are not known.
    fn of(folder: impl AsFd, lookups: &Lookups) -> RuleFiles {
        let look = |name| sys::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let has = |name| lookups.one(|| look(name));
        RuleFiles { git: has(".git"), gitignore: has(".gitignore"), ignore: has(".ignore") }
    }
}

/// The rules of one folder. Most have none.
#[derive(Debug, Default)]
struct Level {
    ignore: Option<Box<Gitignore>>,
    gitignore: Option<Box<Gitignore>>,
    exclude: Option<Box<Gitignore>>,
    is_repository: bool,
    /// Bytes of its files of rules.
    bytes: usize,
}

impl Level {
    /// The rules of a folder, of which at most `room` bytes are read.
    fn read(folder: impl AsFd, path: &Path, files: RuleFiles, room: usize) -> Level {
        let mut bytes = 0;
        let mut rules = |exists: bool, name: &str| {
            let text = exists.then(|| read(&folder, name, room - bytes)).flatten()?;
            bytes += text.len();
            rules(&text, path)
        };
        let ignore = rules(files.ignore, ".ignore");
        let gitignore = rules(files.gitignore, ".gitignore");
        let exclude = rules(files.git, ".git/info/exclude");
        Level { ignore, gitignore, exclude, is_repository: files.git, bytes }
    }
}

/// The rules of the folders that a walk has entered, outermost first.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules(Vec<Level>);

impl IgnoreRules {
    /// Adds the rules of the served folder `root` and of the folders down to the parent of `path`.
    pub(crate) fn enter_all_above(&mut self, root: &Arc<OwnedFd>, path: &Path, lookups: &Lookups) {
        let mut here: Option<Arc<OwnedFd>> = Some(root.clone());
        let mut entered = PathBuf::new();
        for component in path.iter() {
            let room = self.room();
            let read = |here: &Arc<OwnedFd>| Level::read(here, &entered, RuleFiles::of(here, lookups), room);
            self.0.push(here.as_ref().map(read).unwrap_or_default());
            let flags = sys::fs::ONLY_PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = |here: Arc<OwnedFd>| sys::fs::openat(&here, component, flags, Mode::empty()).ok();
            here = here.and_then(next).map(Arc::new);
            entered.push(component);
        }
    }

    /// Adds the rules of a folder, whose path is `path`, and which has `files`. `None`: it cannot be opened.
    pub(crate) fn enter<F: AsFd>(
        &mut self,
        folder: impl FnOnce() -> Option<F>,
        path: &Path,
        files: RuleFiles,
    ) {
        let folder = if files == RuleFiles::default() { None } else { folder() };
        let read = |folder| Level::read(folder, path, files, self.room());
        self.0.push(folder.map(read).unwrap_or_default());
    }

    /// Bytes of rules that may be read.
    fn room(&self) -> usize {
        MAX_RULES.saturating_sub(self.0.iter().map(|level| level.bytes).sum())
    }

    /// Drops the rules of the folder that was entered last.
    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// Whether the entry at `path`, in the folder that was entered last, is ignored. `None`: no rule names it.
    pub(crate) fn ignores(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let decides = |rules: &Option<Box<Gitignore>>| match rules.as_ref()?.matched(path, is_folder) {
            Match::None => None,
            decided => Some(decided.is_ignore()),
        };
        let (mut by_gitignore, mut by_exclude, mut in_repository) = (None, None, true);
        for level in self.0.iter().rev() {
            if let Some(decided) = decides(&level.ignore) {
                return Some(decided);
            }
            if in_repository {
                by_gitignore = by_gitignore.or_else(|| decides(&level.gitignore));
                by_exclude = by_exclude.or_else(|| decides(&level.exclude));
                if !switches::is_off("search-repository") {
                    in_repository = !level.is_repository;
                }
            }
        }
        by_gitignore.or(by_exclude)
    }
}

/// The rules in the text of a file in the folder `path`; `None` if there are none.
fn rules(text: &[u8], path: &Path) -> Option<Box<Gitignore>> {
    let mut builder = GitignoreBuilder::new(path);
    // Lines that are not valid are left out, as git does.
    for line in String::from_utf8_lossy(text).trim_start_matches('\u{feff}').split('\n') {
        // Git takes one CR for a part of the break.
        if let Some(rule) = as_git_reads(line.strip_suffix('\r').unwrap_or(line)) {
            let _ = builder.add_line(None, &rule);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Box::new)
}

/// The first `room` bytes of a file of rules, whole lines of them.
fn read(folder: impl AsFd, name: &str, room: usize) -> Option<Vec<u8>> {
    let (parent, name) = name.rsplit_once('/').unwrap_or((".", name));
    let flags = sys::fs::ONLY_PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut here = None;
    for component in parent.split('/') {
        let from = here.as_ref().map_or(folder.as_fd(), OwnedFd::as_fd);
        here = Some(sys::fs::openat(from, component, flags, Mode::empty()).ok()?);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let here = here?;
    // Nothing else is opened, because to open a FIFO or a device can have effects.
    let stat = sys::fs::statat(&here, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if sys::fs::file_type(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let file = File::from(sys::fs::openat(here, name, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(room as u64 + 1).read_to_end(&mut text).ok()?;
    if text.len() > room {
        text.truncate(memchr::memrchr(b'\n', &text[..room]).map_or(0, |at| at + 1));
    }
    Some(text)
}

#[cfg(test)]
mod tests;
