//! Paths of files. A path is parsed once, so that no later function has to check or split text (contract 3, 8, 12).
//!
//! Knows no file system: whether a path leads to a file is for `fs/resolve.rs` to find out.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fs::temporary;
use crate::{Error, Result};
use sys::path::{below, is_absolute, is_usable_name, usual, with_slashes};
use text::order;
use text::shown::len_of_shown;

/// Which names are allowed (`--names`, contract 2 and 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamePolicy {
    /// `^[a-zA-Z0-9._-]+$`.
    Portable,
    /// Any single path component without control characters.
    Any,
    /// Paths of such components.
    Paths,
}

/// The longest name, in bytes.
pub const MAX_NAME: usize = 255;

/// The longest path, in bytes.
pub const MAX_PATH: usize = 4_096;

/// The largest number of components of a path.
pub const MAX_COMPONENTS: usize = 255;

/// Why a name or a path is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameProblem {
    /// The policy does not allow it, by this rule.
    Policy(NameRule),
    /// It holds the component `..`.
    Parent,
    /// It is longer than [`MAX_PATH`], or has more components than [`MAX_COMPONENTS`].
    TooLong,
    /// It is absolute, and in none of the served folders.
    Outside {
        /// The served folders.
        folders: Vec<PathBuf>,
        /// The path here that may be meant.
        meant: Option<String>,
    },
    /// It is the name of one entry, and what lists show of another one.
    Several {
        /// A path for each of them that means it alone.
        paths: Vec<String>,
    },
    /// It is written for another system or for a shell, and would create what it names.
    Foreign {
        /// The path here that may be meant.
        meant: Option<String>,
        /// The first and the last line, counted from 1, that it names, too.
        lines: Option<(u64, u64)>,
    },
    /// It reads as a path of another system into a folder that is there, where files have names.
    InFolder {
        /// The path of this system.
        path: String,
    },
}

/// What a name must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// It names something in the folder: neither empty nor `.` or `..`.
    Names,
    /// It has at most [`MAX_NAME`] bytes.
    Short,
    /// It is none of this server's temporary files.
    NotTemporary,
    /// The system can have it.
    Usable,
    /// It has only the characters of [`NamePolicy::Portable`].
    Portable,
    /// It is no path.
    NoPath,
    /// A new one has no control characters, and of those that exist only the tab is taken as it is.
    NoControl,
    /// A new one does not read as what lists show of bytes that no new name has.
    NoEscape,
    /// A new one has no `*` and no `?`.
    NoGlob,
}

/// The served folders, and the absolute paths that lead to them.
#[derive(Debug, Clone, Default)]
pub struct FolderPaths(Arc<Prefixes>, Option<Arc<str>>);

#[derive(Debug, Default)]
struct Prefixes {
    folders: Vec<PathBuf>,
    /// Paths with the number of their folder. Longer ones come first, so that a path in a folder within another folder
    /// belongs to the inner one.
    by_length: Vec<(PathBuf, usize)>,
}

impl FolderPaths {
    /// From the canonical path of each folder and the path that the operator gave for it.
    pub fn new(folders: Vec<(PathBuf, PathBuf)>) -> FolderPaths {
        let mut by_length = Vec::new();
        for (number, (canonical, given)) in folders.iter().enumerate() {
            by_length.push((canonical.clone(), number));
            if given.is_absolute() && given != canonical {
                by_length.push((given.clone(), number));
            }
        }
        order::sort_by_key(&mut by_length, |(path, _)| std::cmp::Reverse(path.as_os_str().len()));
        let folders = folders.into_iter().map(|(canonical, _)| usual(&canonical)).collect();
        FolderPaths(Arc::new(Prefixes { folders, by_length }), None)
    }

    /// The same, for a user with this home folder, which `~` is in a path.
    pub fn with_home(self, home: Option<&Path>) -> FolderPaths {
        let home = home.and_then(Path::to_str).map(|home| with_slashes(home).trim_end_matches('/').into());
        FolderPaths(self.0, home)
    }

    /// The absolute path of a text that begins with `~`, if that is in a served folder.
    fn below_home(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        let path = format!("{}{rest}", self.1.as_deref()?);
        self.split(&path).is_some().then_some(path)
    }

    /// The canonical paths of the folders, as users write them.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0.folders
    }

    /// All paths that lead to the folder `number`.
    pub fn paths_of(&self, number: usize) -> impl Iterator<Item = &Path> {
        self.0.by_length.iter().filter(move |(_, other)| *other == number).map(|(path, _)| &**path)
    }

    /// The number of the folder that holds the absolute path `text`, and the rest of the path.
    pub fn split<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        self.0.by_length.iter().find_map(|(folder, number)| {
            let folder = with_slashes(folder.to_str()?);
            let rest = below(text, folder.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then_some((*number, rest))
        })
    }
}

/// A path below a served folder: components joined by `/`, none of them empty, `.`, `..`, or the name of one of this
/// server's temporary files. Without components it is the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePath {
    relative: Box<str>,
    /// The number of the served folder, if the path was absolute.
    folder: Option<usize>,
    /// The path as it was sent, if it differs.
    sent: Option<Box<str>>,
    /// It may name files in subfolders.
    in_tree: bool,
    /// It is absolute and in no served folder, or has control characters that no name has, so it leads to nothing.
    outside: bool,
    /// The server itself names an entry that was there before.
    known: bool,
}

impl FilePath {
    /// Parses `text` under `policy`. Returns [`Error::InvalidName`] if the policy does not allow it. Absolute paths need
    /// the policy [`NamePolicy::Paths`].
    pub fn parse(text: &str, policy: NamePolicy, folders: &FolderPaths) -> Result<FilePath> {
        if policy == NamePolicy::Paths {
            return FilePath::parse_path(text, folders).map_err(|problem| Error::InvalidName { problem });
        }
        match broken_rule(text, policy) {
            Some(rule) => Err(Error::InvalidName { problem: NameProblem::Policy(rule) }),
            None => Ok(FilePath {
                relative: text.into(),
                folder: None,
                sent: None,
                in_tree: false,
                outside: false,
                known: false,
            }),
        }
    }

    /// The same for a path of a client: one that is absolute and outside, or has control characters, leads to an error when it is looked up,
    /// which can say what is meant.
    pub fn parse_sent(text: &str, policy: NamePolicy, folders: &FolderPaths) -> Result<FilePath> {
        match FilePath::parse(text, policy, folders) {
            Err(Error::InvalidName {
                problem: NameProblem::Outside { .. } | NameProblem::Policy(NameRule::NoControl),
            }) if policy == NamePolicy::Paths => Ok(FilePath {
                relative: text.trim_start_matches('/').into(),
                folder: None,
                sent: Some(text.into()),
                in_tree: true,
                outside: true,
                known: false,
            }),
            parsed => parsed,
        }
    }

    fn parse_path(sent: &str, folders: &FolderPaths) -> Result<FilePath, NameProblem> {
        if sent.len() > MAX_PATH {
            return Err(NameProblem::TooLong);
        }
        let text = with_slashes(sent);
        let text = &*folders.below_home(&text).map_or(text, Cow::Owned);
        if text.split('/').any(|component| component == "..") {
            return Err(NameProblem::Parent);
        }
        let (folder, rest) = match is_absolute(text) {
            true => {
                let outside = || NameProblem::Outside { folders: folders.folders().to_vec(), meant: None };
                let (folder, rest) = folders.split(text).ok_or_else(outside)?;
                (Some(folder), rest)
            }
            false => (None, text),
        };
        let components: Vec<&str> = rest.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if components.len() > MAX_COMPONENTS {
            return Err(NameProblem::TooLong);
        }
        // A tab is in names that exist.
        let broken = |name: &&str| broken_rule(&name.replace('\t', " "), NamePolicy::Any);
        if let Some(rule) = components.iter().find_map(broken) {
            return Err(NameProblem::Policy(rule));
        }
        let relative = components.join("/");
        let sent = (relative != sent).then(|| sent.into());
        Ok(FilePath { relative: relative.into(), folder, sent, in_tree: true, outside: false, known: false })
    }

    /// The path of `name`, an entry of the folder `self`.
    pub fn join(&self, name: &str) -> FilePath {
        let relative =
            if self.relative.is_empty() { name.into() } else { format!("{}/{name}", self.relative) };
        FilePath { relative: relative.into(), sent: None, in_tree: true, ..*self }
    }

    /// The path of the folder that holds it. `None` for the served folder itself.
    pub fn parent(&self) -> Option<FilePath> {
        if self.relative.is_empty() {
            return None;
        }
        let parent = self.relative.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(FilePath { relative: parent.into(), sent: None, in_tree: true, ..*self })
    }

    /// The same path in the served folder `number` only.
    pub fn in_folder(&self, number: usize) -> FilePath {
        FilePath { folder: Some(number), ..self.clone() }
    }

    /// The path of an entry that the server knows: `below` the served folder `number`, as names are shown.
    pub fn known(number: usize, below: &str) -> FilePath {
        let (sent, in_tree, outside, known) = (None, true, false, true);
        FilePath { relative: below.into(), folder: Some(number), sent, in_tree, outside, known }
    }

    /// Whether the server itself names an entry that was there before, whose name is kept to no rule.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The path `below` the served folder `number`. Errors name it as this one was sent.
    pub fn at(&self, number: usize, below: &Path) -> FilePath {
        let relative = with_slashes(&below.to_string_lossy()).trim_end_matches('/').into();
        FilePath {
            relative,
            folder: Some(number),
            sent: Some(self.sent().into()),
            in_tree: true,
            outside: false,
            known: self.known,
        }
    }

    /// The path below the served folder. Empty for the folder itself.
    pub fn as_str(&self) -> &str {
        &self.relative
    }

    /// The path as it was sent.
    pub fn sent(&self) -> &str {
        self.sent.as_deref().unwrap_or(&self.relative)
    }

    /// Whether it was sent with a slash at its end, so that a folder is meant.
    pub fn names_folder(&self) -> bool {
        !self.relative.is_empty() && with_slashes(self.sent()).ends_with('/')
    }

    /// The number of the served folder, if the path was absolute.
    pub fn folder(&self) -> Option<usize> {
        self.folder
    }

    /// Whether it is `.`, which every served folder is.
    pub fn is_top(&self) -> bool {
        self.relative.is_empty() && self.folder.is_none() && !self.outside
    }

    /// Whether it is absolute and in no served folder, or has control characters that no name has.
    pub fn is_outside(&self) -> bool {
        self.outside
    }

    /// Whether it was parsed under [`NamePolicy::Paths`], so that files in subfolders have paths, too.
    pub fn is_in_tree(&self) -> bool {
        self.in_tree
    }
}

/// Whether `policy` allows `name` as a component.
pub fn admits(name: &str, policy: NamePolicy) -> bool {
    broken_rule(name, policy).is_none()
}

/// The rule by which `policy` does not allow `name` as a component.
fn broken_rule(name: &str, policy: NamePolicy) -> Option<NameRule> {
    let is_portable = policy != NamePolicy::Portable || name.bytes().all(is_portable);
    let rules = [
        (switches::is_off("name-path") || !matches!(name, "" | "." | ".."), NameRule::Names),
        (!name.contains('/'), NameRule::NoPath),
        (len_of_shown(name) <= MAX_NAME, NameRule::Short),
        (
            switches::is_off("name-temporary") || !temporary::is_temporary(name.as_bytes()),
            NameRule::NotTemporary,
        ),
        (is_portable, NameRule::Portable),
        (!name.contains(char::is_control), NameRule::NoControl),
        (is_usable_name(name.as_bytes()), NameRule::Usable),
    ];
    rules.into_iter().find(|(is_kept, _)| !is_kept).map(|(_, rule)| rule)
}

fn is_portable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// Whether a component of a path is `.git`, or one that some file system takes for it, as git itself sees it. Such paths are never written
/// (contract 12), because git runs programs that its folder names.
pub(crate) fn is_git(component: &[u8]) -> bool {
    [".git", "git~1"].iter().any(|name| is_taken_for(component, name))
}

/// Whether a component of a path is `name`, which has no capitals, or one that some file system takes for it: in any case, with characters
/// that do not count, with dots and blanks at its end, or as a stream of it.
pub(crate) fn is_taken_for(component: &[u8], name: &str) -> bool {
    // Most names begin with another letter. Characters that do not count are not ASCII.
    let begins_otherwise =
        |first: &u8| first.is_ascii() && Some(&first.to_ascii_lowercase()) != name.as_bytes().first();
    if component.first().is_some_and(begins_otherwise) {
        return false;
    }
    let Ok(text) = str::from_utf8(component) else { return false };
    let mut letters = text
        .chars()
        .filter(|&c| switches::is_off("git-spelling") || !is_ignorable(c))
        .map(|c| c.to_ascii_lowercase());
    name.chars().all(|c| letters.next() == Some(c))
        && letters.take_while(|&c| c != ':').all(|c| matches!(c, '.' | ' '))
}

/// Whether some file system does not count this character of a name (HFS+; ext4 and F2FS where they ignore case).
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a path has such a component.
pub fn is_in_git(path: &Path) -> bool {
    path.iter().any(|component| is_git(component.as_encoded_bytes()))
}

/// Whether a path leads to what git keeps in `.git`, where credentials can be. Its `HEAD` names only a branch or a commit.
pub(crate) fn is_kept_by_git(path: &Path) -> bool {
    let mut rest = path.iter().skip_while(|component| !is_git(component.as_encoded_bytes()));
    rest.next().is_some() && !(rest.next().is_some_and(|name| name == "HEAD") && rest.next().is_none())
}

#[cfg(test)]
mod tests;
