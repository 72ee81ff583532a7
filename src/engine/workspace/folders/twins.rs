//! Entries that one path may mean: by names that are taken for each other, and in several served folders.
//!
//! Knows no texts of errors.

use std::path::{Path, PathBuf};

use super::{Folders, nearer};
use crate::workspace::found::{Found, Freshness, Want};
use folder::fs::equivalent::{self, Spelling};
use folder::{Error, FilePath, NameProblem, NotFound, Result};
use text::order;

impl Folders {
    /// Refuses a path that is the name of one entry and shows another one, in one served folder or in two.
    pub(super) fn check_one_meaning(&self, path: &FilePath, freshness: Freshness) -> Result<()> {
        let mut meant: Vec<(usize, PathBuf)> = Vec::new();
        for (number, root) in self.roots_of(path) {
            let Ok(folder) = root.folder() else { continue };
            let finds = |spelling: Option<&Path>| {
                let found = self.find_in(number, root, path, spelling, Want::Link, freshness);
                found.is_ok_and(|found| found.exists())
            };
            match equivalent::spelling(folder.handle(), Path::new(path.as_str())) {
                Spelling::AsSent if finds(None) => meant.push((number, path.as_str().into())),
                Spelling::Other(other) if finds(Some(&other)) => meant.push((number, other)),
                Spelling::Several(others) => {
                    let seen = others.into_iter().filter(|other| self.is_seen(other));
                    meant.extend(seen.map(|other| (number, other)));
                }
                _ => {}
            }
        }
        match meant.split_first() {
            Some(((_, first), others)) if others.iter().any(|(_, other)| other != first) => {
                let paths =
                    meant.iter().map(|(number, below)| self.unmistakable(path, *number, below)).collect();
                Err(Error::InvalidName { problem: NameProblem::Several { paths } })
            }
            _ => Ok(()),
        }
    }

    pub(in crate::workspace) fn is_seen(&self, path: &Path) -> bool {
        !self.excludes.hides(path, false) && !self.excludes.hides(path, true)
    }

    /// A path for a client who sent `path` that means the entry at `below` in the folder `number` alone: absolute if there are several
    /// folders, or if the other path is.
    pub(in crate::workspace) fn unmistakable(&self, path: &FilePath, number: usize, below: &Path) -> String {
        let root = &self.roots[number];
        let below = match root.folder() {
            Ok(folder) => equivalent::unmistakable(folder.handle(), below),
            Err(_) => below.to_string_lossy().into_owned(),
        };
        match path.folder().is_some() || self.roots.len() > 1 {
            true => self.absolute(number, &below),
            false => below,
        }
    }

    /// Looks for `path`, which leads to nothing, by the names that folders list. Where only a part of it has other names, the place
    /// below that part. `None`: there is no other spelling.
    pub(super) fn find_respelled(
        &self,
        path: &FilePath,
        want: Want,
        freshness: Freshness,
    ) -> Result<Option<Found>> {
        let mut place = None;
        for (number, root) in self.roots_of(path) {
            let Ok(folder) = root.folder() else { continue };
            match equivalent::spelling(folder.handle(), Path::new(path.as_str())) {
                Spelling::AsSent => {}
                Spelling::Other(spelling) => {
                    match self.find_in(number, root, path, Some(&spelling), want, freshness) {
                        Ok(found) if found.exists() => return Ok(Some(found)),
                        Ok(found) => place = Some(nearer(place.take(), found)),
                        _ => {}
                    }
                }
                Spelling::Several(candidates) => {
                    let is_seen = |path: &PathBuf| {
                        !self.excludes.hides(path, false) && !self.excludes.hides(path, true)
                    };
                    let seen = candidates.iter().filter(|candidate| is_seen(candidate));
                    let similar = seen.map(|candidate| self.unmistakable(path, number, candidate)).collect();
                    let missing = NotFound { name: path.sent().into(), similar, ..NotFound::default() };
                    return Err(missing.into());
                }
            }
        }
        Ok(place)
    }

    /// What a `path` that no folder has as it was sent leads to: `found` by another spelling, or, for a write, the place `as_sent`, where
    /// another folder has the names on the way as they were sent. Refused if that folder has some of them only.
    pub(super) fn respelled_or_as_sent(
        &self,
        path: &FilePath,
        found: Found,
        as_sent: Option<Found>,
        freshness: Freshness,
    ) -> Result<Found> {
        let Some(as_sent) = as_sent.filter(|place| place.number != found.number) else { return Ok(found) };
        let root = &self.roots[found.number];
        let there = self.find_in(found.number, root, path, None, found.want, freshness);
        let is_nearer = there.map_or(true, |there| as_sent.place.missing.len() < there.place.missing.len());
        if freshness == Freshness::Recent || !is_nearer || switches::is_off("respelled-folder") {
            return Ok(found);
        }
        if as_sent.place.missing.is_empty() {
            return Ok(as_sent);
        }
        let below = |found: &Found| found.spelling.clone().unwrap_or_else(|| path.as_str().into());
        let paths =
            [&found, &as_sent].map(|meant| self.unmistakable(path, meant.number, &below(meant))).to_vec();
        Err(Error::InvalidName { problem: NameProblem::Several { paths } })
    }

    /// The numbers of the folders that have a relative `path`, that which it leads to first. Empty for an absolute one. A folder that the
    /// call itself does not look in is looked in only if it is of this machine: another one may be slow to answer.
    pub(in crate::workspace) fn holders(&self, path: &FilePath, want: Want) -> Vec<usize> {
        if path.is_outside() || path.folder().is_some() {
            return Vec::new();
        }
        let mut holders = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            let may_tell = match holders.is_empty() {
                // The last folder alone is not several.
                true => number + 1 < self.roots.len(),
                false => root.is_local(),
            };
            let found = || self.entry_in(number, path, want, Freshness::Recent);
            if let Some(found) = may_tell.then(found).flatten() {
                holders.push((found.spelling.is_some(), number));
            }
        }
        // A name as it was sent goes before one that is taken for it.
        order::sort_by(&mut holders, Ord::cmp);
        holders.into_iter().map(|(_, number)| number).collect()
    }

    /// Absolute paths of what the relative `path` leads to in each folder, beginning with `found`, if others have it, too: to change one
    /// of them by it is to guess. A folder that cannot be asked is passed over.
    pub(in crate::workspace) fn all_at(&self, path: &FilePath, found: &Found) -> Vec<String> {
        let told = |found: &Found| {
            let below = found.spelling.as_deref().unwrap_or(Path::new(path.as_str()));
            self.unmistakable(path, found.number, below)
        };
        let there = |number| self.entry_in(number, path, found.want, Freshness::Now);
        let others =
            (0..self.roots.len()).filter(|number| path.folder().is_none() && *number != found.number);
        let others: Vec<String> = others.filter_map(there).map(|other| told(&other)).collect();
        if others.is_empty() { others } else { [told(found)].into_iter().chain(others).collect() }
    }

    /// What the served folder `number` has at `path`, by that name or by one that is taken for it.
    fn entry_in(&self, number: usize, path: &FilePath, want: Want, freshness: Freshness) -> Option<Found> {
        let exact = self.find_in(number, &self.roots[number], path, None, want, freshness);
        let respelled = || self.find_respelled(&path.in_folder(number), want, freshness).ok().flatten();
        exact.ok().filter(Found::exists).or_else(respelled).filter(Found::exists)
    }
}
