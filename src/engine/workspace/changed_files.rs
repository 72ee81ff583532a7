//! What changes of the journal have made of each file, all of them together (contract 20).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use self::tracks::{Track, Tracks};
use super::trail::Trail;
use super::{Place, Workspace};
use crate::change_log::ChangeNumber;
use folder::{Control, Error, FilePath, Result};
use journal::Change;
use sys::ffi::OsStrExt;
use text::order;
use text::shown::shown_line;

mod tracks;

/// What has become of a file or folder.
#[derive(Debug)]
pub struct ChangedFile {
    /// Where it is now, or was when it was deleted. Of several served folders, an absolute path.
    pub path: String,
    /// Where it was first, if that is another place. `None`: it is new.
    pub was: Option<String>,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// The changes that changed it, in order.
    pub changes: Vec<ChangeNumber>,
    /// Whether another program has changed its content since the first of them.
    pub by_others: bool,
    /// Its content before the first change, which is empty if it is new, and now. `None`: its content did not change, or that before is not known.
    pub contents: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether a folder above it tells the same: it was deleted with that, or is as it was with that.
    pub is_part: bool,
}

/// The most bytes of texts that are held to be compared. Beyond, files have no contents.
const MOST_COMPARED: usize = 32 << 20;

impl Workspace {
    /// What these changes, in order, have made of each file that one of those that `is_asked` for has changed; with `within`, of those
    /// at that path or below. By paths; new folders, and what is new and gone again, are left out.
    pub fn changed_files(
        &self,
        changes: &[(ChangeNumber, Change)],
        is_asked: impl Fn(ChangeNumber) -> bool,
        within: Option<&FilePath>,
        control: &Control,
    ) -> Result<Vec<ChangedFile>> {
        let trail = Trail::of(self, changes);
        let mut tracks = Tracks::new(&trail);
        for (index, change) in changes.iter().enumerate() {
            control.check()?;
            tracks.add(index, change, |place| self.served_place(&change.1, place));
        }
        let is_wanted = |(place, track): &(Place, Track)| {
            track.is_told()
                && track.changes.iter().any(|number| is_asked(*number))
                && !self.folders.excludes().hides(&place.1, false)
                && (is_within(within, place) || track.was.as_ref().is_some_and(|was| is_within(within, was)))
        };
        let mut left = MOST_COMPARED;
        let mut files: Vec<ChangedFile> = tracks
            .into_all()
            .filter(is_wanted)
            .map(|(place, track)| self.changed_file(place, track, &mut left, control))
            .collect::<Result<_>>()?;
        order::sort_by(&mut files, |one, other| one.path.cmp(&other.path));
        find_parts(&mut files);
        Ok(files)
    }

    /// The place in the served folders, also in one that is below or above the folder in which it was changed. `None`: it is in none,
    /// or a served folder itself.
    pub(super) fn served_place(&self, change: &Change, place: &journal::Place) -> Option<Place> {
        let root =
            Path::new(OsStr::from_bytes(change.roots.get(place.root).filter(|root| !root.is_empty())?));
        let below = Path::new(OsStr::from_bytes(&place.path));
        if let Some(number) = self.folders.roots().iter().position(|served| served.path() == root) {
            return Some((number, below.into()));
        }
        let path = root.join(below);
        self.folders.roots().iter().enumerate().find_map(|(number, served)| {
            let below = path.strip_prefix(served.path()).ok().filter(|below| *below != Path::new(""))?;
            let names: Vec<&OsStr> = below.iter().collect();
            Some((number, names.join(OsStr::new("/")).into()))
        })
    }

    /// `left`: how many bytes of texts may still be held.
    fn changed_file(
        &self,
        place: Place,
        track: Track,
        left: &mut usize,
        control: &Control,
    ) -> Result<ChangedFile> {
        let (path, was) = (self.told(&place), track.was.as_ref().map(|was| self.told(was)));
        let (is_deleted, mut by_others, mut contents) = (track.is_deleted, track.by_others, None);
        // What is there as it was may be told by its folder.
        let mut is_part = is_deleted || track.content.is_none();
        let is_read = !is_deleted && track.content.is_some();
        if let Some(now) = if is_read { self.now(&place, control)? } else { None } {
            by_others |= track.content != Some(journal::hash(&now));
            let before = track.before(&now);
            is_part = !by_others && before.as_ref() == Some(&now);
            contents = before.filter(|before| *before != now).map(|before| (before, now));
            let held = contents.as_ref().map_or(0, |(before, now)| before.len() + now.len());
            match left.checked_sub(held) {
                Some(rest) => *left = rest,
                None => contents = None,
            }
        }
        Ok(ChangedFile { path, was, is_deleted, changes: track.changes, by_others, contents, is_part })
    }

    /// The content of a file now. `None`: there is none that can be read whole.
    fn now(&self, (number, below): &Place, control: &Control) -> Result<Option<Vec<u8>>> {
        let path = FilePath::known(*number, &shown_line(below.as_os_str().as_bytes()));
        match self.read_bytes(&path, control) {
            Ok((excerpt, _)) => Ok(Some(excerpt.bytes().to_vec())),
            Err(error @ (Error::TimedOut | Error::Cancelled)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// Whether a place is at the path `within` or below it. `None`: everywhere.
pub(super) fn is_within(within: Option<&FilePath>, place: &Place) -> bool {
    within.is_none_or(|path| {
        path.folder().is_none_or(|number| number == place.0) && place.1.starts_with(path.as_str())
    })
}

/// Of what may be a part of a folder, tells whether it is.
fn find_parts(files: &mut [ChangedFile]) {
    let numbers =
        files.iter().enumerate().map(|(number, file)| ((file.path.as_str(), file.is_deleted), number));
    let numbers: HashMap<(&str, bool), usize> = numbers.collect();
    let is_part = |file: &ChangedFile| {
        let slashes = file.path.rmatch_indices('/').map(|(slash, _)| slash);
        let mut above =
            slashes.filter_map(|end| Some((end, numbers.get(&(&file.path[..end], file.is_deleted))?)));
        above.any(|(end, folder)| is_told_by(file, end, &files[*folder]))
    };
    let parts: Vec<bool> = files.iter().map(|file| file.is_part && is_part(file)).collect();
    files.iter_mut().zip(parts).for_each(|(file, is_part)| file.is_part = is_part);
}

/// Whether the folder whose path ends at `end` in that of `file` was changed and moved like it.
fn is_told_by(file: &ChangedFile, end: usize, folder: &ChangedFile) -> bool {
    let is_moved_along = || match (&file.was, &folder.was) {
        (Some(was), Some(folder)) => was.strip_prefix(folder.as_str()) == Some(&file.path[end..]),
        _ => false,
    };
    file.changes.iter().all(|number| folder.changes.binary_search(number).is_ok()) && is_moved_along()
}
