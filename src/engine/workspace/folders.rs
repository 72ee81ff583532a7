//! The served folders: finds the folder that holds a path, and the path's entry in it (contract 12).
//!
//! Knows which paths are excluded or never written. Knows no text and no locks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::OpenError;
use super::found::{Found, Freshness, Obstacle, Want, refused};
use super::given::distinct;
use folder::fs::file_system::{self, FileSystem};
use folder::fs::resolve::{LastLink, PassedEntry, ResolveError, ResolvedPath};
use folder::fs::root::{Folder, Root};
use folder::fs::spelling;
use folder::fs::version::identity;
use folder::fs::view::OpenFile;
use folder::{Error, Excludes, FilePath, FolderPaths, Result};
use sys::io::Errno;
use sys::path::{told, usual};
use text::shown::has_escape;

mod git;
mod twins;

#[derive(Debug)]
pub(super) struct Folders {
    roots: Vec<Root>,
    paths: FolderPaths,
    excludes: Excludes,
}

impl Folders {
    /// Opens the folders at `paths`. Equal folders, and those within another one, count once.
    pub(super) fn open(
        paths: &[PathBuf],
        excludes: Excludes,
        home: Option<&Path>,
    ) -> Result<Folders, OpenError> {
        let unusable = |path: &Path, error| OpenError::Unusable(path.into(), error);
        let canonical =
            |path: &PathBuf| Ok((path.canonicalize().map_err(|error| unusable(path, error))?, path.clone()));
        let given = paths.iter().map(canonical).collect::<Result<Vec<(PathBuf, PathBuf)>, OpenError>>()?;
        let canonical: Vec<PathBuf> = given.iter().map(|(path, _)| path.clone()).collect();
        let served: Vec<_> = distinct(&canonical).map(|number| given[number].clone()).collect();
        let open = |(path, given): &(PathBuf, PathBuf)| {
            Root::open(path.clone(), given).map_err(|error| unusable(given, error))
        };
        let roots = served.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Folders { roots, paths: FolderPaths::new(served).with_home(home), excludes })
    }

    /// The paths of the folders.
    pub(super) fn paths(&self) -> &FolderPaths {
        &self.paths
    }

    /// The patterns of excluded paths.
    pub(super) fn excludes(&self) -> &Excludes {
        &self.excludes
    }

    /// The handles of the folders.
    pub(super) fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The file system of an open file. Asks the system only about other devices than those of the folders: on a network that
    /// takes as long as a read.
    pub(super) fn file_system_of(&self, file: &OpenFile) -> FileSystem {
        let known = self.roots.iter().find_map(|root| root.file_system_of(file.stamp().dev));
        known.unwrap_or_else(|| file_system::of(file.file()))
    }

    /// Whether reads of all folders may be tried without a thread: on other file systems a look may wait for another machine,
    /// and nothing that was read is known to be unchanged.
    pub(super) fn are_read_at_once(&self) -> bool {
        self.roots.iter().all(|root| root.file_system().shows_writers)
    }

    /// The first folder.
    pub(super) fn first(&self) -> &Root {
        &self.roots[0]
    }

    /// The handle that `found` was found by.
    pub(super) fn root_of(&self, found: &Found) -> &Root {
        &self.roots[found.number]
    }

    /// Looks for `path` in each folder, in order. If it is in none, the place for it: in the first of the folders that have the most of
    /// the folders on its way. What git keeps to itself is refused, whether it is there or not: a read but for `HEAD`, and every write.
    pub(super) fn find(&self, path: &FilePath, want: Want, freshness: Freshness) -> Result<Found> {
        if path.is_outside() {
            return Err(self.outside(path, freshness));
        }
        let name = || path.sent().into();
        let kept = || match freshness {
            Freshness::Recent => Error::KeptByGit { name: name() },
            Freshness::Now => Error::GitFolder { name: name() },
        };
        if self.is_gits_by_name(path, freshness) {
            return Err(kept());
        }
        let found = match self.find_entry(path, want, freshness) {
            // Its file system may not answer, so it is not asked again.
            Err(error @ (Error::FolderGone | Error::OneFolderGone { .. } | Error::FolderSwitched)) => {
                return Err(error);
            }
            // What stands in the way there is told to nobody.
            Err(_) if !switches::is_off("git-told") && self.leads_into_git(path, freshness) => {
                return Err(kept());
            }
            // What a link leads to is told only if it may be read.
            Err(error @ Error::IsAFolder { .. }) if want == Want::File => {
                self.find(path, Want::Entry, Freshness::Recent)?;
                return Err(error);
            }
            found => found?,
        };
        match freshness {
            Freshness::Recent if self.keeps(path, &found)? => Err(kept()),
            Freshness::Recent => Ok(found),
            Freshness::Now => found.check_not_git(path).map(|()| found),
        }
    }

    /// The served folders in which `path` is looked for, with their numbers.
    fn roots_of(&self, path: &FilePath) -> impl Iterator<Item = (usize, &Root)> {
        let only = path.folder();
        self.roots.iter().enumerate().filter(move |(number, _)| only.is_none_or(|only| only == *number))
    }

    fn find_entry(&self, path: &FilePath, want: Want, freshness: Freshness) -> Result<Found> {
        // What is shown so goes before what is called so, and both together are refused.
        if has_escape(path.as_str()) && !switches::is_off("shown-alike") {
            self.check_one_meaning(path, freshness)?;
            if let Some(found) = self.find_respelled(path, want, freshness)?.filter(Found::exists) {
                return Ok(found);
            }
        }
        let (mut first, mut barred, mut unknown, mut gone) = (None, None, None, None);
        for (number, root) in self.roots_of(path) {
            match self.find_in(number, root, path, None, want, freshness) {
                Ok(found) if found.exists() => {
                    // The path may mean another entry, of the folder that is gone.
                    let unsure =
                        gone.filter(|_| freshness == Freshness::Now && !switches::is_off("gone-twin"));
                    return unsure.map_or(Ok(found), Err);
                }
                // The first folder decides, unless its file is a folder here.
                Ok(found) if barred.as_ref().is_some_and(|(by, _)| !self.goes_round(*by, path, &found)) => {}
                Ok(found) => first = Some(nearer(first, found)),
                Err(Obstacle::Absent(error)) if first.is_none() => {
                    barred.get_or_insert((number, error));
                }
                Err(Obstacle::Absent(_)) => {}
                Err(Obstacle::Unknown(error)) => drop(unknown.get_or_insert(error)),
                // The folder itself is no path that another one has.
                Err(Obstacle::Gone(error)) if path.as_str().is_empty() => {
                    return Err(self.is_gone(root, error));
                }
                Err(Obstacle::Gone(error)) => drop(gone.get_or_insert(self.is_gone(root, error))),
                Err(Obstacle::Refused(error)) => return Err(error),
            }
        }
        if let Some(error) = unknown {
            return Err(error);
        }
        let respelled = if switches::is_off("spelling-other") {
            None
        } else {
            self.find_respelled(path, want, freshness)?
        };
        match (respelled, gone) {
            (Some(found), _) if found.exists() => self.respelled_or_as_sent(path, found, first, freshness),
            // A read does not say that nothing is there: that folder may have had it.
            (_, Some(error)) if freshness == Freshness::Recent || first.is_none() && barred.is_none() => {
                Err(error)
            }
            (place, gone) => {
                let place = place.filter(|_| barred.is_none());
                let first = place.map(|place| nearer(first.take(), place)).or(first);
                let barred = || barred.map_or(Error::FolderGone, |(_, error)| error);
                first.map(|found| Found { beside_gone: gone, ..found }).ok_or_else(barred)
            }
        }
    }

    /// Whether the place `found` for `path` is in a folder that takes the place of a file in the served folder `barred`.
    fn goes_round(&self, barred: usize, path: &FilePath, found: &Found) -> bool {
        let above = (0..=found.place.missing.len()).try_fold(path.clone(), |path, _| path.parent());
        let Some(folder) = above.filter(|folder| !folder.as_str().is_empty()) else { return false };
        let there = self.find_in(barred, &self.roots[barred], &folder, None, Want::Entry, Freshness::Recent);
        !there.is_ok_and(|there| there.is_directory())
    }

    /// The error for a path that may be in `root`, whose folder is gone.
    fn is_gone(&self, root: &Root, error: Error) -> Error {
        match error {
            Error::FolderGone | Error::FolderSwitched
                if self.gone().len() < self.roots.len() && self.roots.len() > 1 =>
            {
                Error::OneFolderGone { folder: usual(root.path()).to_string_lossy().into_owned() }
            }
            error => error,
        }
    }

    /// The numbers of the folders that are gone, while others are served.
    pub(super) fn gone(&self) -> Vec<usize> {
        let is_gone = |number: &usize| self.roots[*number].is_local() && !self.roots[*number].is_there();
        if self.roots.len() > 1 { (0..self.roots.len()).filter(is_gone).collect() } else { Vec::new() }
    }

    /// The absolute path of `below` in the folder `number`, as users write it.
    pub(super) fn absolute(&self, number: usize, below: &str) -> String {
        let root = self.roots[number].path();
        let path = if below.is_empty() { root.to_owned() } else { root.join(below) };
        told(&usual(&path).to_string_lossy()).into_owned()
    }

    /// What is at a place on the disk: below the served folder of this number, by this path and no other spelling. Errors name `path`.
    pub(super) fn find_at(
        &self,
        (number, below): &(usize, PathBuf),
        path: &FilePath,
        want: Want,
    ) -> Result<Found> {
        let path = path.at(*number, below);
        let found = self.find_in(*number, &self.roots[*number], &path, Some(below), want, Freshness::Now);
        found.map_err(Obstacle::into_error)
    }

    fn find_in(
        &self,
        number: usize,
        root: &Root,
        path: &FilePath,
        spelling: Option<&Path>,
        want: Want,
        freshness: Freshness,
    ) -> Result<Found, Obstacle> {
        let text = Path::new(path.as_str());
        let looked = look(root, spelling.unwrap_or(text), want, freshness);
        let (folder, place, passed) = looked.map_err(|error| Obstacle::of_root(error, root.is_local()))?;
        let refused = |refusal| Obstacle::of(path.sent(), refusal);
        // Nothing tells one place of what is excluded from another.
        let nowhere = |folder: &Folder| ResolvedPath::nowhere(folder.handle(), text);
        let excluded = self.leads_through_excluded(text, &place, &passed);
        let mut place = if excluded { nowhere(&folder) } else { place.map_err(refused)? };
        let spelling = spelling.map(Path::to_owned);
        place.real = place.real.or_else(|| spelling.clone());
        let mut found = Found { number, folder, want, spelling, excluded, place, beside_gone: None };
        if !switches::is_off("exclude-spelling") && !found.excluded && !self.excludes.is_empty() {
            found.excluded = self.excludes.hides(text, found.is_directory())
                || self.hides_by_another_name(path, &mut found);
        }
        if found.excluded && found.place.real.is_some() {
            found.place = nowhere(&found.folder);
        } else if found.excluded {
            found.place.stat = None;
        } else if want == Want::File {
            found.place = found.place.regular().map_err(refused)?;
        }
        Ok(found)
    }

    /// Whether a look at `path` went through what is excluded or ended in it; of one that was refused, whether it may have. What refused
    /// it must not be told then.
    fn leads_through_excluded(
        &self,
        path: &Path,
        place: &Result<ResolvedPath, ResolveError>,
        passed: &[PassedEntry],
    ) -> bool {
        let is_directory = place.as_ref().is_ok_and(ResolvedPath::is_directory);
        let is_hidden = match place {
            Ok(place) => place.real.as_ref().is_some_and(|real| self.excludes.hides(real, is_directory)),
            Err(_) => self.excludes.may_hide(path, true) || self.excludes.may_hide(path, false),
        };
        is_hidden
            || !switches::is_off("exclude-passed")
                && spelling::passes_hidden(&self.excludes, passed, is_directory)
    }

    /// Whether `path` is another name of what is excluded. Gives `found` the path that folders list.
    fn hides_by_another_name(&self, path: &FilePath, found: &mut Found) -> bool {
        let (text, is_directory) = (Path::new(path.as_str()), found.is_directory());
        let real = found.real_path(path);
        let Some(listed) = spelling::listed(found.folder.handle(), real, &found.place) else { return true };
        // The names of links on the way are not among the listed ones.
        let goes_through_links = found.place.real.as_deref().is_some_and(|real| real != text);
        if listed != real {
            found.place.real = Some(listed);
        }
        self.excludes.hides(found.real_path(path), is_directory)
            || !switches::is_off("exclude-new") && !found.exists() && self.hides_new(path, found, false)
            || goes_through_links && self.excludes.may_hide(text, is_directory)
    }

    /// Whether an entry at the place of `found`, where none is, would be excluded, or found by the name of what is. As a file, or as a
    /// folder that a pattern names: a new file of that name would tell that there is none.
    pub(super) fn hides_new(&self, path: &FilePath, found: &Found, as_folder: bool) -> bool {
        let real = found.real_path(path);
        if self.excludes.hides(real, as_folder)
            || self.excludes.hides(real, false)
            || self.excludes.names_folder(real)
        {
            return true;
        }
        // The folder is none of those, whatever it is called: only the new names count.
        let folder = real.ancestors().nth(1 + found.place.missing.len()).unwrap_or(Path::new(""));
        (self.excludes.may_hide(real, as_folder) || self.excludes.may_hide(real, false))
            && !self.excludes.may_hide(folder, true)
    }

    /// Checks that `path` still leads to the directory in which `found` has its entry: no folder on the way was moved or exchanged
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if it does not. A look that fails is no change: its own error.
    pub(super) fn check_still_leads_to(&self, path: &FilePath, found: &Found) -> Result<()> {
        let (root, failed) = (self.root_of(found), |errno| Error::read(path.sent(), errno));
        match root.names(&found.folder).map_err(failed)? {
            true => {}
            false if root.is_lost() => return Err(Error::FolderGone),
            false => return Err(changed(path)),
        }
        // The directory is the served folder itself.
        if Arc::ptr_eq(&found.place.dir, found.folder.handle()) {
            return Ok(());
        }
        let spelled = found.spelling.as_deref().unwrap_or(Path::new(path.as_str()));
        let (now, _) = resolve(&found.folder, spelled, found.want);
        let now = now.map_err(|refusal| match refused(path.sent(), refusal) {
            error @ Error::ReadFailed { .. } if !switches::is_off("look-in-change") => error,
            _ => changed(path),
        })?;
        let id = |place: &ResolvedPath| sys::fs::fstat(&place.dir).map(|stat| identity(&stat));
        let same = now.missing.is_empty()
            && now.name == found.place.name
            && id(&now).map_err(failed)? == id(&found.place).map_err(failed)?;
        if same { Ok(()) } else { Err(changed(path)) }
    }
}

/// The one of two places that misses fewer folders on its way, or the first.
fn nearer(first: Option<Found>, other: Found) -> Found {
    match first {
        Some(first) if first.place.missing.len() <= other.place.missing.len() => first,
        _ => other,
    }
}

/// Resolves `path` in `root`, whose folder is opened again if it has another one now.
fn look(
    root: &Root,
    path: &Path,
    want: Want,
    freshness: Freshness,
) -> Result<(Folder, Result<ResolvedPath, ResolveError>, Vec<PassedEntry>)> {
    if !switches::is_off("inner-mount-watched") {
        root.check_answers_at(path)?;
    }
    let folder = match freshness {
        Freshness::Recent => root.folder()?,
        Freshness::Now => root.folder_now()?,
    };
    let (place, passed) = resolve(&folder, path, want);
    let other = match &place {
        Ok(place) if place.stat.is_none() => root.other_than(&folder)?,
        // The file system behind the handle is gone.
        Err(refusal) if is_dead(refusal) => Some(root.reopen()?),
        _ => None,
    };
    Ok(match other {
        None => (folder, place, passed),
        Some(folder) => {
            let (place, passed) = resolve(&folder, path, want);
            (folder, place, passed)
        }
    })
}

/// Whether the file system behind a handle is gone.
fn is_dead(refusal: &ResolveError) -> bool {
    !switches::is_off("folder-dead") && matches!(refusal, ResolveError::System(Errno::NOTCONN | Errno::STALE))
}

fn resolve(
    folder: &Folder,
    path: &Path,
    want: Want,
) -> (Result<ResolvedPath, ResolveError>, Vec<PassedEntry>) {
    let last = if want == Want::Link { LastLink::Keep } else { LastLink::Follow };
    ResolvedPath::follow(folder.handle(), path, last)
}

fn changed(path: &FilePath) -> Error {
    Error::Changed { name: path.sent().into() }
}
