//! The errors for paths that lead to nothing, with what could have been meant. Changes nothing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Workspace;
use super::found::{Found, Freshness, Want};
use super::relocate;
use crate::list;
use folder::fs::equivalent::look_alike;
use folder::{
    Control, EntryKind, Error, FilePath, NamePolicy, NoParent, NotFound, Result, Walk, WalkOptions, WalkStep,
};
use sys::fd::OwnedFd;
use sys::path::{is_absolute, told, with_slashes};
use text::order;
use text::shown::{in_bytes, in_one_line, shown_line};

/// Maximum number of paths that the error for a missing file names.
const MAX_SIMILAR: usize = 5;

/// Bounds of the search for a missing file in other folders.
const ENTRIES_SEARCHED: usize = 2_000;
const LONGEST_SEARCH: Duration = Duration::from_millis(5);

impl Workspace {
    pub(super) fn not_found(&self, found: &Found, path: &FilePath, control: &Control) -> Error {
        self.not_found_among(self.similar_names(found, path), found, path, control)
    }

    /// The error for a path where nothing is, if nothing more is known.
    pub(super) fn nothing_at(&self, path: &FilePath) -> Error {
        let above = if path.is_in_tree() { self.folder_above(path) } else { None };
        NotFound { name: path.sent().into(), above, ..NotFound::default() }.into()
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
        similar.iter_mut().for_each(|near| *near = self.unmistakable_near(found.number, path, near));
        if path.is_in_tree() {
            for path in self.elsewhere(found, path, control) {
                if !similar.contains(&path) {
                    similar.push(path);
                }
            }
            // A path that begins with the name of a served folder.
            let below = format!("/{}", path.as_str());
            order::sort_by_key(&mut similar, |near| !near.ends_with(&below));
        }
        if let Some(meant) = self.folders.meant_instead(path) {
            similar.retain(|near| near != meant.strip_prefix("./").unwrap_or(&meant));
            similar.insert(0, meant);
        }
        // It has come since, or is not found although it is listed.
        if !switches::is_off("not-similar-to-itself") {
            similar.retain(|near| near != path.as_str());
        }
        similar.truncate(MAX_SIMILAR);
        if similar.is_empty() && path.is_in_tree() {
            similar.extend(self.file_above(path));
        }
        let above = if path.is_in_tree() { self.folder_above(path) } else { None };
        let lines = self.folders.lines_behind(path);
        NotFound { name: path.sent().into(), similar, above, lines }.into()
    }

    /// The error for a new entry whose folder does not exist. With several folders, the folder is told by its absolute path in the one
    /// where the entry would be, and by those in the others, as far as they have it or were looked in as well.
    pub(super) fn no_parent(&self, found: &Found, path: &FilePath) -> Error {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let parent = sent.rsplit_once('/').map_or(".", |(parent, _)| parent);
        let name = path.sent().into();
        if self.folders.roots().len() == 1 || path.folder().is_some() || is_absolute(parent) {
            let parent = told(parent).into_owned();
            return NoParent { name, parent, ..NoParent::default() }.into();
        }
        let below = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        let paths = |number: &usize| self.folders.absolute(*number, below);
        let others = (0..self.folders.roots().len()).filter(|number| *number != found.number);
        let (mut there, mut missing) = (Vec::new(), Vec::new());
        for path in others.map(|number| paths(&number)) {
            match self.is_directory(&path, None) {
                Ok(Some(true)) => there.push(path),
                Ok(_) => missing.push(path),
                // Of what may not be looked at, nothing is said.
                Err(_) => {}
            }
        }
        NoParent { name, parent: paths(&found.number), missing, there, inside: None }.into()
    }

    /// The error for a file `source` that was to be moved or copied to `path`, which is meant as a folder, and where nothing is.
    pub(super) fn no_folder(&self, path: &FilePath, source: &FilePath) -> Error {
        let sent = with_slashes(path.sent());
        let parent = told(sent.trim_end_matches('/')).into_owned();
        let name = Path::new(source.as_str()).file_name().map(|name| name.to_string_lossy());
        let inside = name.map(|name| relocate::inside(path, &name));
        NoParent { name: path.sent().into(), parent, inside, ..NoParent::default() }.into()
    }

    /// The path `path` in the served folder `number`, as clients of one folder or of several give it.
    pub(super) fn path_in(&self, number: usize, path: &FilePath) -> String {
        match self.folders.roots().len() > 1 && path.folder().is_none() {
            true => self.folders.absolute(number, path.as_str()),
            false => path.sent().into(),
        }
    }

    /// The part of a path that leads to a file, although more of the path follows.
    pub(super) fn file_above(&self, path: &FilePath) -> Option<String> {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let mut above = sent.match_indices('/').map(|(at, _)| &sent[..at]);
        let is_file = |above: &&str| matches!(self.is_directory(above, path.folder()), Ok(Some(false)));
        above.find(is_file).map(|above| told(above).into_owned())
    }

    /// The error for a relative destination in the served folder `number`, with a folder of another one that is where a file is in this one.
    pub(super) fn with_folder_elsewhere(&self, error: Error, path: &FilePath, number: usize) -> Error {
        let Error::NotAFolder { name, .. } = error else { return error };
        let below = Path::new(path.as_str()).parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let others = (0..self.folders.roots().len()).filter(|other| *other != number);
        let mut others = others.map(|other| self.folders.absolute(other, &below));
        let folder = others.find(|path| matches!(self.is_directory(path, None), Ok(Some(true))));
        Error::NotAFolder { name: self.folders.absolute(number, &name), folder }
    }

    /// The nearest folder above a path that there is.
    pub(super) fn folder_above(&self, path: &FilePath) -> Option<String> {
        let sent = with_slashes(path.sent());
        let sent = sent.trim_end_matches('/');
        let top = (!is_absolute(sent)).then_some(".");
        let mut above = sent.rmatch_indices('/').map(|(at, _)| &sent[..at]).chain(top);
        let is_folder = |above: &&str| matches!(self.is_directory(above, path.folder()), Ok(Some(true)));
        above.find(is_folder).map(|above| told(above).into_owned())
    }

    /// Whether a path, of the served folder `number` if that is known, leads to a directory. `None` if it leads to nothing. An error: it may
    /// not be looked at.
    fn is_directory(&self, path: &str, number: Option<usize>) -> Result<Option<bool>> {
        let path = FilePath::parse(path, NamePolicy::Paths, self.folder_paths())?;
        let path = number.map_or(path.clone(), |number| path.in_folder(number));
        match self.folders.find(&path, Want::Entry, Freshness::Recent) {
            Ok(found) => Ok(found.exists().then(|| found.is_directory())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Names like that of the missing `found`, in the directory where it was looked for.
    pub(super) fn similar_names(&self, found: &Found, path: &FilePath) -> Vec<String> {
        let place = &found.place;
        let hides = |name: &str| {
            let sibling = found.real_path(path).with_file_name(name);
            // Which of the two it is was not asked.
            let excludes = self.folders.excludes();
            excludes.hides(&sibling, false)
                || excludes.hides(&sibling, true)
                || excludes.git().keeps_name(&sibling)
        };
        if !place.missing.is_empty() {
            return Vec::new();
        }
        let (name, policy) = (place.name.to_string_lossy(), self.options.names);
        let policy = if path.is_in_tree() { NamePolicy::Paths } else { policy };
        let names = list::names::similar_names(&place.dir, &name, policy, found.may_be_folder());
        let folder = path.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let sent = place.name.to_string_lossy();
        let shown = |name: String| {
            // A client cannot tell it from what it has sent.
            let name = match look_alike(&name, &sent) && name != *sent {
                true => in_bytes(name.as_bytes()),
                false => shown_line(name.as_bytes()).into_owned(),
            };
            format!("{}{name}", in_one_line(&folder))
        };
        names.into_iter().filter(|name| !hides(name)).map(shown).collect()
    }

    /// Paths in other folders that end in the name of the missing `found`. Looks at a bounded number of entries, in a
    /// bounded time, and no longer than the operation may take.
    pub(super) fn elsewhere(&self, found: &Found, path: &FilePath, operation: &Control) -> Vec<String> {
        let controls = (operation, &operation.briefly(LONGEST_SEARCH));
        let mut paths = self.elsewhere_in(found.number, found.folder.handle(), (found, path), controls);
        let is_asked = |number: &usize| *number != found.number && path.folder().is_none();
        for (number, root) in self.folders.roots().iter().enumerate().filter(|(number, _)| is_asked(number)) {
            // Another machine may be slow to answer.
            if let Some(folder) = root.is_local().then(|| root.folder().ok()).flatten() {
                paths.extend(self.elsewhere_in(number, folder.handle(), (found, path), controls));
            }
        }
        paths
    }

    /// The same in the served folder `number` alone, until the operation is called off or the time of the search is up.
    fn elsewhere_in(
        &self,
        number: usize,
        root: &Arc<OwnedFd>,
        (found, path): (&Found, &FilePath),
        (operation, control): (&Control, &Control),
    ) -> Vec<String> {
        let wanted = path.as_str().rsplit('/').next().unwrap_or_default();
        let mut paths = Vec::new();
        let Ok(folder) = root.try_clone() else { return paths };
        let options = WalkOptions::default();
        let walk = Walk::new(root, folder, Path::new(""), options, self.folders.excludes(), None, control);
        let Ok(mut walk) = walk else { return paths };
        for _ in 0..ENTRIES_SEARCHED {
            let (Ok(()), Ok(Some(step))) = (operation.check(), walk.next_step()) else { break };
            let is_wanted = |kind| found.may_be_folder() || kind != EntryKind::Folder;
            let is_entry = matches!(step, WalkStep::Entry(entry) if is_wanted(entry.kind));
            if is_entry && walk.name().eq_ignore_ascii_case(wanted.as_bytes()) && !wanted.is_empty() {
                paths.push(self.unmistakable_near(number, path, &shown_line(walk.path())));
            }
        }
        paths
    }

    /// The path `near` of the served folder `number`, for a client who sent `path`: absolute if a relative one leads to another folder, or
    /// may mean an entry of several.
    fn unmistakable_near(&self, number: usize, path: &FilePath, near: &str) -> String {
        let is_one = self.folders.roots().len() == 1 || !path.is_in_tree();
        let relative = || FilePath::parse(near, NamePolicy::Paths, self.folder_paths()).ok();
        let leads_there = |path: FilePath| {
            let found = self.folders.find(&path, Want::Entry, Freshness::Recent).ok();
            found.is_some_and(|found| found.exists() && found.number == number)
                && self.folders.holders(&path, Want::Entry).len() <= 1
        };
        match is_one || relative().is_some_and(leads_there) {
            true => near.into(),
            false => self.folders.absolute(number, near),
        }
    }
}
