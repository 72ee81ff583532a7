//! What changes of the journal have made of each file, all of them together (contract 20).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use self::tracks::{Track, Tracks};
use super::found::Want;
use super::trail::Trail;
use super::{Place, Workspace};
use crate::change_log::ChangeNumber;
use folder::{Control, Error, FilePath, Result};
use journal::Change;
use sys::ffi::OsStrExt;
use text::order;
use text::shown::shown_line;

pub(super) use self::within::Within;

mod tracks;
mod within;

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
    /// What another program has done with it since the first of them.
    pub by_others: ByOthers,
    /// Its content before the first change, which is empty if it is new, and now. `None`: its content did not change, or that before is not known.
    pub contents: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether a folder above it tells the same: it was deleted with that, or is as it was with that.
    pub is_part: bool,
}

/// What other programs have done with an entry since the first of its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByOthers {
    /// Nothing that is known.
    Nothing,
    /// They have changed its content.
    Changed,
    /// It is gone, and no change has deleted it.
    Deleted,
    /// A change has deleted it, and something is there again.
    MadeAgain,
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
        let within = within.map(|path| self.within(path));
        let is_within = |place: &Place| within.as_ref().is_none_or(|within| within.holds(place));
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
                && (is_within(place) || track.was.as_ref().is_some_and(is_within))
        };
        let known = tracks.places();
        let mut left = MOST_COMPARED;
        let mut files: Vec<ChangedFile> = tracks
            .into_all()
            .filter(is_wanted)
            .map(|(place, track)| self.changed_file(place, track, &known, &mut left, control))
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

    /// `known`: [`Tracks::places`]. `left`: how many bytes of texts may still be held.
    fn changed_file(
        &self,
        place: Place,
        track: Track,
        known: &HashMap<Place, bool>,
        left: &mut usize,
        control: &Control,
    ) -> Result<ChangedFile> {
        let (path, was) = (self.told(&place), track.was.as_ref().map(|was| self.told(was)));
        let is_deleted = track.is_deleted;
        let mut by_others = self.by_others(&place, &track, known);
        let mut contents = None;
        // What is there as it was may be told by its folder.
        let mut is_part = by_others == ByOthers::Nothing && (is_deleted || track.content.is_none());
        let is_read = match by_others {
            ByOthers::Deleted => false,
            ByOthers::MadeAgain => track.had_content(),
            ByOthers::Nothing | ByOthers::Changed => !is_deleted && track.content.is_some(),
        };
        if let Some(now) = if is_read { self.now(&place, control)? } else { None } {
            if !is_deleted && track.content != Some(journal::hash(&now)) {
                by_others = ByOthers::Changed;
            }
            let before = track.before(&now);
            is_part = by_others == ByOthers::Nothing && before.as_ref() == Some(&now);
            contents = before.filter(|before| *before != now).map(|before| (before, now));
            let held = contents.as_ref().map_or(0, |(before, now)| before.len() + now.len());
            match left.checked_sub(held) {
                Some(rest) => *left = rest,
                None => contents = None,
            }
        }
        Ok(ChangedFile { path, was, is_deleted, changes: track.changes, by_others, contents, is_part })
    }

    /// What others have done with an entry, but for its content now.
    fn by_others(&self, place: &Place, track: &Track, known: &HashMap<Place, bool>) -> ByOthers {
        let path = FilePath::known(place.0, &shown_line(place.1.as_os_str().as_bytes()));
        let found = self.folders.find_at(place, &path, Want::Link);
        let is_there = match &found {
            Ok(found) => Some(found.exists()).filter(|_| !found.excluded),
            Err(Error::NotFound { .. }) => Some(false),
            Err(_) => None,
        };
        // What is in a folder that was moved there is no other program's.
        let is_moved = |above: &Path| known.get(&(place.0, above.into())) == Some(&true);
        let is_known = || known.contains_key(place) || place.1.ancestors().any(is_moved);
        match (track.is_deleted, is_there) {
            (false, Some(false)) => ByOthers::Deleted,
            (true, Some(true)) if !is_known() => ByOthers::MadeAgain,
            _ if track.by_others => ByOthers::Changed,
            _ => ByOthers::Nothing,
        }
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
