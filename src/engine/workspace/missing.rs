//! The errors for paths that lead to nothing, with what could have been meant. Changes nothing.

use std::path::Path;
use std::time::Duration;

use super::Workspace;
use super::found::{Found, Freshness, Want};
use crate::list;
use folder::{Control, EntryKind, Error, FilePath, NamePolicy, Walk, WalkOptions, WalkStep};
use sys::path::{is_absolute, told, with_slashes};
use text::shown::{in_one_line, shown_line};

/// Maximum number of paths that the error for a missing file names.
const MAX_SIMILAR: usize = 5;

/// Bounds of the search for a missing file in other folders.
const ENTRIES_SEARCHED: usize = 2_000;
const LONGEST_SEARCH: Duration = Duration::from_millis(5);

impl Workspace {
    pub(super) fn not_found(&self, found: &Found, path: &FilePath, control: &Control) -> Error {
        self.not_found_among(self.similar_names(found, path), found, path, control)
    }

    /// The same, if the names like it are known.
    pub(super) fn not_found_among(
        &self,
        mut similar: Vec<String>,
        found: &Found,
        path: &FilePath,
        control: &Control,
    ) -> Error {
        if let Some(Error::OneFolderGone { folder }) = &found.beside_gone {
            return Error::OneFolderGone { folder: folder.clone() };
        }
        if path.is_in_tree() {
            for path in self.elsewhere(found, path, control) {
                if !similar.contains(&path) {
                    similar.push(path);
                }
            }
        }
        if let Some(meant) = self.folders.meant_instead(path) {
            similar.retain(|near| *near != meant);
            similar.insert(0, meant);
        }
        // It has come since, or is not found although it is listed.
        if !switches::is_off("not-similar-to-itself") {
            similar.retain(|near| near != path.as_str());
        }
        similar.truncate(MAX_SIMILAR);
        let above = if path.is_in_tree() { self.folder_above(path) } else { None };
        Error::NotFound { name: path.sent().into(), similar, above }
    }

    /// The error for a new entry whose folder does not exist. With several folders, the folder is told by its absolute path in the one
    /// where the entry would be, and by those in the others, as far as they have it or were looked in as well.
    pub(super) fn no_parent(&self, found: &Found, path: &FilePath) -> Error {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let parent = sent.rsplit_once('/').map_or(".", |(parent, _)| parent);
        let name = path.sent().into();
        if self.folders.roots().len() == 1 || path.folder().is_some() || is_absolute(parent) {
            return Error::NoParent {
                name,
                parent: told(parent).into_owned(),
                missing: Vec::new(),
                there: Vec::new(),
            };
        }
        let below = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        let paths = |number: &usize| self.folders.absolute(*number, below);
        let others = (0..self.folders.roots().len()).filter(|number| *number != found.number);
        let (there, missing): (Vec<String>, Vec<String>) =
            others.map(|number| paths(&number)).partition(|path| self.is_directory(path) == Some(true));
        Error::NoParent { name, parent: paths(&found.number), missing, there }
    }

    /// The part of a path that leads to a file, although more of the path follows.
    pub(super) fn file_above(&self, path: &FilePath) -> Option<String> {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let mut above = sent.match_indices('/').map(|(at, _)| &sent[..at]);
        above.find(|above| self.is_directory(above) == Some(false)).map(|above| told(above).into_owned())
    }

    /// The nearest folder above a path that there is.
    pub(super) fn folder_above(&self, path: &FilePath) -> Option<String> {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let top = (!is_absolute(sent)).then_some(".");
        let mut above = sent.rmatch_indices('/').map(|(at, _)| &sent[..at]).chain(top);
        above.find(|above| self.is_directory(above) == Some(true)).map(|above| told(above).into_owned())
    }

    /// Whether a path leads to a directory. `None` if it leads to nothing.
    fn is_directory(&self, path: &str) -> Option<bool> {
        let path = FilePath::parse(path, NamePolicy::Paths, self.folder_paths()).ok()?;
        // What is not read is not advised.
        let found = self.folders.find(&path, Want::Entry, Freshness::Recent).ok()?;
        found.exists().then(|| found.is_directory())
    }

    /// Names like that of the missing `found`, in the directory where it was looked for.
    pub(super) fn similar_names(&self, found: &Found, path: &FilePath) -> Vec<String> {
        let place = &found.place;
        let hides = |name: &str| {
            let sibling = found.real_path(path).with_file_name(name);
            // Which of the two it is was not asked.
            let excludes = self.folders.excludes();
            excludes.hides(&sibling, false) || excludes.hides(&sibling, true) || excludes.keeps(&sibling)
        };
        if !place.missing.is_empty() {
            return Vec::new();
        }
        let (name, policy) = (place.name.to_string_lossy(), self.options.names);
        let policy = if path.is_in_tree() { NamePolicy::Paths } else { policy };
        let names = list::names::similar_names(&place.dir, &name, policy, found.may_be_folder());
        let folder = path.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let shown = |name: String| format!("{}{}", in_one_line(&folder), shown_line(name.as_bytes()));
        names.into_iter().filter(|name| !hides(name)).map(shown).collect()
    }

    /// Paths in other folders that end in the name of the missing `found`. Looks at a bounded number of entries, in a
    /// bounded time, and no longer than the operation may take.
    pub(super) fn elsewhere(&self, found: &Found, path: &FilePath, operation: &Control) -> Vec<String> {
        let control = operation.briefly(LONGEST_SEARCH);
        let (root, wanted) = (found.folder.handle(), path.as_str().rsplit('/').next().unwrap_or_default());
        let mut paths = Vec::new();
        let Ok(folder) = root.try_clone() else { return paths };
        let options = WalkOptions::default();
        let walk = Walk::new(root, folder, Path::new(""), options, self.folders.excludes(), &control);
        let Ok(mut walk) = walk else { return paths };
        for _ in 0..ENTRIES_SEARCHED {
            let (Ok(()), Ok(Some(step))) = (operation.check(), walk.next_step()) else { break };
            let is_wanted = |kind| found.may_be_folder() || kind != EntryKind::Folder;
            let is_entry = matches!(step, WalkStep::Entry(entry) if is_wanted(entry.kind));
            if is_entry && walk.name().eq_ignore_ascii_case(wanted.as_bytes()) && !wanted.is_empty() {
                paths.push(shown_line(walk.path()).into_owned());
            }
        }
        paths
    }
}
