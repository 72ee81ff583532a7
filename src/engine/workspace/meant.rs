//! The path here that a path of another tree, of another system or for a shell means. Such a path creates nothing.

use std::io::Read;

use super::folders::Folders;
use super::found::{Found, Freshness, Want};
use folder::fs::equivalent::unseen_twin;
use folder::{Error, FilePath, NamePolicy, NameProblem, NameRule, NotFound, Result, foreign};
use text::lines::LineIndex;
use text::shown::{has_escape, in_lower_hex, in_one_line};

/// An entry that a path names within what a text has around it.
struct BareEntry<'p> {
    path: &'p str,
    lines: Option<(u64, u64)>,
    is_folder: bool,
    /// The file has the first of these lines.
    has_lines: bool,
}

/// Bytes of a file in which a line is looked for.
const SEARCHED: u64 = 1 << 20;

impl Folders {
    /// The error for a path that leads to nothing, whatever is there: it is in none of the served folders, or no name is like this.
    pub(super) fn outside(&self, path: &FilePath, freshness: Freshness) -> Error {
        if path.sent().contains(char::is_control) {
            let name = in_one_line(path.sent()).into_owned();
            let problem = match (self.meant_instead(path), freshness) {
                (Some(meant), Freshness::Recent) => {
                    let missing = NotFound { name, similar: vec![meant], ..NotFound::default() };
                    return missing.into();
                }
                (Some(meant), Freshness::Now) => NameProblem::Foreign { meant: Some(meant), lines: None },
                (None, _) => NameProblem::Policy(NameRule::NoControl),
            };
            return Error::InvalidName { problem };
        }
        let (plain, _) = foreign::plain(path.sent());
        let folders = self.paths().folders().to_vec();
        Error::InvalidName { problem: NameProblem::Outside { folders, meant: self.same_end(&plain) } }
    }

    /// What is here by the path that the missing `path` means.
    pub(super) fn meant_instead(&self, path: &FilePath) -> Option<String> {
        if let Some(bare) = self.bare_entry(path.sent()) {
            return Some(format!("{}{}", bare.path, if bare.is_folder { "/" } else { "" }));
        }
        let plain = foreign::without_blanks(path.sent()).filter(|plain| self.has(plain));
        if plain.is_some() {
            return plain;
        }
        if !path.is_in_tree() || !foreign::is_foreign_path(path.sent()) {
            return None;
        }
        self.same_end(&foreign::plain(path.sent()).0)
    }

    /// The line numbers behind `path`, if it is that of a file which has the first of these lines.
    pub(super) fn lines_behind(&self, path: &FilePath) -> Option<(u64, u64)> {
        self.bare_entry(path.sent()).filter(|bare| bare.has_lines)?.lines
    }

    /// The entry that `path` names if it is taken without what a text has around a path. A folder has line numbers behind it: a name in
    /// brackets may be beside one without.
    fn bare_entry<'p>(&self, path: &'p str) -> Option<BareEntry<'p>> {
        foreign::readings(path).find_map(|(path, lines)| {
            let found = self.look(path).filter(Found::exists)?;
            let is_folder = found.is_directory();
            let has_lines = lines.is_some_and(|(first, _)| !is_folder && has_line(&found, first));
            (!is_folder || lines.is_some()).then_some(BareEntry { path, lines, is_folder, has_lines })
        })
    }

    /// Refuses a new entry whose path, or that of a new folder above it, has around it what a text has around the path of an entry.
    fn check_bare(&self, path: &FilePath, found: &Found) -> Result<()> {
        let refused =
            |meant, lines| Err(Error::InvalidName { problem: NameProblem::Foreign { meant, lines } });
        let sent = path.sent();
        let new = found.place.missing.len();
        let above = sent.trim_end_matches('/').rmatch_indices('/').map(|(at, _)| &sent[..at]);
        for path in [sent].into_iter().chain(above.take(new)) {
            if let Some(bare) = self.bare_entry(path) {
                return refused(
                    Some(bare.path.into()),
                    bare.lines.filter(|_| path == sent && bare.has_lines),
                );
            }
        }
        let first = found.place.missing.first().map_or(&*found.place.name, |first| &**first);
        // Where its folder is, such a name is one like others.
        if new == 0 || !first.to_str().is_some_and(foreign::begins_with_mark) {
            return Ok(());
        }
        let is_in_folder = |plain: &String| plain.rsplit_once('/').is_none_or(|(folder, _)| self.has(folder));
        match foreign::unquoted(sent).filter(is_in_folder) {
            // It is a glob.
            None if first.to_str().is_some_and(|first| first.starts_with('*')) => Ok(()),
            meant => refused(meant, None),
        }
    }

    /// Refuses to create `found` if its new names come from a path of another system or for a shell, hold control characters or those of a glob,
    /// or have blanks around them, or if the path is that of a file with quotes, blanks, `@` or a line number around it. Where files have
    /// names, a backslash is part of one unless it reads as the path of an entry in a folder that is there.
    pub(super) fn check_new(&self, path: &FilePath, found: &Found) -> Result<()> {
        if path.is_known() {
            return Ok(());
        }
        let (place, real) = (&found.place, found.real_path(path));
        let new = place.missing.iter().chain([&place.name]);
        let is_first = real.iter().count() == place.missing.len() + 1;
        let refused = |problem| Err(Error::InvalidName { problem });
        self.check_bare(path, found)?;
        self.check_twin(path, found)?;
        for name in new.clone() {
            let name = name.to_string_lossy();
            if (foreign::without_device(&name).contains(['*', '?']) || foreign::is_extended_glob(&name))
                && !switches::is_off("glob-new")
            {
                return refused(NameProblem::Policy(NameRule::NoGlob));
            }
            if *name != *name.trim() && !switches::is_off("blank-new") {
                return refused(NameProblem::Foreign {
                    meant: foreign::without_blanks(path.sent()),
                    lines: None,
                });
            }
        }
        if !path.is_in_tree() {
            let (plain, _) = foreign::plain(path.sent());
            return match plain.rsplit_once('/') {
                Some((folder, _)) if self.has(folder) => refused(NameProblem::InFolder { path: plain }),
                _ => Ok(()),
            };
        }
        // Of a path with lines behind it, the last name is new in any case.
        let may_be_slip = foreign::before_lines(path.sent()).next().is_some()
            || new.clone().any(|name| foreign::is_slip(&name.to_string_lossy()));
        if let Some(meant) =
            foreign::without_slip(path.sent()).filter(|_| may_be_slip && !switches::is_off("slip-new"))
        {
            return refused(NameProblem::Foreign { meant, lines: None });
        }
        for (nth, name) in new.enumerate() {
            // A name that is no text was found by the folder's list.
            let name = name.to_str().unwrap_or_default();
            let is_escape = has_escape(&in_lower_hex(name));
            if is_escape || foreign::is_foreign(name, is_first && nth == 0, place.missing.is_empty()) {
                let (plain, has_root) = foreign::plain(path.sent());
                // In `arch\x86\boot`, the backslashes part names, if there is such a folder.
                let folder = plain.rsplit_once('/').map_or("", |(folder, _)| folder);
                if is_escape && !has_root && !self.has(&plain) && !self.has(folder) {
                    return refused(NameProblem::Policy(NameRule::NoEscape));
                }
                let meant = if has_root { self.same_end(&plain) } else { Some(plain) };
                return refused(NameProblem::Foreign { meant, lines: None });
            }
            if name.contains(char::is_control) {
                return refused(NameProblem::Policy(NameRule::NoControl));
            }
        }
        Ok(())
    }

    /// Refuses a new name in ASCII beside one that looks like it.
    pub(super) fn check_twin(&self, path: &FilePath, found: &Found) -> Result<()> {
        let (place, real) = (&found.place, found.real_path(path));
        let first = place.missing.first().map_or(&*place.name, |first| &**first);
        let twin = first.to_str().and_then(|first| unseen_twin(&place.dir, first));
        let folder = real.ancestors().nth(place.missing.len() + 1);
        let (Some(twin), Some(folder)) = (twin, folder) else { return Ok(()) };
        let there = folder.join(twin);
        if !self.is_seen(&there) {
            return Ok(());
        }
        let paths = vec![self.unmistakable(path, found.number, &there)];
        Err(Error::InvalidName { problem: NameProblem::Several { paths } })
    }

    /// The longest end of `path` that is here, or whose folder is.
    fn same_end(&self, path: &str) -> Option<String> {
        let longest = |path: &str| {
            let ends = [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at + 1));
            ends.map(|at| path[at..].to_owned()).find(|end| self.has(end))
        };
        longest(path).or_else(|| {
            let (folder, name) = path.rsplit_once('/')?;
            longest(folder).map(|folder| format!("{folder}/{name}"))
        })
    }

    fn has(&self, path: &str) -> bool {
        !path.is_empty() && self.look(path).is_some_and(|found| found.exists())
    }

    fn look(&self, path: &str) -> Option<Found> {
        let parsed = FilePath::parse(path, NamePolicy::Paths, self.paths()).ok()?;
        self.find(&parsed, Want::Entry, Freshness::Recent).ok()
    }
}

/// Whether a text in UTF-8 has the line of this number, counted from 1, and it is near enough to the beginning to be seen.
fn has_line(found: &Found, line: u64) -> bool {
    let Ok(Some(file)) = found.place.open() else { return false };
    let mut bytes = Vec::new();
    if file.file().take(SEARCHED).read_to_end(&mut bytes).is_err() {
        return false;
    }
    if bytes.len() as u64 == SEARCHED {
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
    }
    LineIndex::build(&bytes).is_ok_and(|index| line.max(1) <= index.len_lines() as u64)
}
