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
    /// Where it was first, or where it was made as a folder. `None`: it is a new file.
    pub was: Option<String>,
    /// Whether it was deleted.
    pub is_deleted: bool,
    /// Whether it was not deleted, but moved to where this server serves nothing.
    pub is_away: bool,
    /// The changes that changed it, in order.
    pub changes: Vec<ChangeNumber>,
    /// What another program has done with it since the first of them.
    pub by_others: ByOthers,
    /// Its content before the first change, which is empty if it is new, and now. `None`: its content did not change, or that before is not known.
    pub contents: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether `contents` also differ by what changes did that are not asked for, though only those are wanted.
    pub has_others: bool,
    /// Whether one of them has made it.
    pub is_new: bool,
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
    /// at that path or below. `alone`: the contents differ only by what those did that are asked for, where that can be told. By paths; new
    /// folders, and what is new and gone again, are left out.
    pub fn changed_files(
        &self,
        changes: &[(ChangeNumber, Change)],
        is_asked: &dyn Fn(ChangeNumber) -> bool,
        alone: bool,
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
        // Nothing tells what was at an excluded path.
        let is_excluded = |place: &Place| self.folders.excludes().hides(&place.1, false);
        let was_within = |track: &Track| {
            let was = track.was.as_ref().or(track.made.as_ref());
            was.is_some_and(|was| is_within(was) && !is_excluded(was))
        };
        let is_wanted = |(place, track): &(Place, Track)| {
            track.is_told()
                && track.changes.iter().any(|number| is_asked(*number))
                && !is_excluded(place)
                && (is_within(place) || was_within(track))
        };
        let known = tracks.places();
        let is_own: &dyn Fn(ChangeNumber) -> bool = if alone { is_asked } else { &|_| true };
        let mut left = MOST_COMPARED;
        let mut files: Vec<ChangedFile> = tracks
            .into_all()
            .filter(is_wanted)
            .map(|(place, track)| self.changed_file(place, track, is_own, (&known, &mut left), control))
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

    /// `is_own`: the changes by which its contents are to differ. `known`: [`Tracks::places`]. `left`: how many bytes of texts may still
    /// be held.
    fn changed_file(
        &self,
        place: Place,
        track: Track,
        is_own: &dyn Fn(ChangeNumber) -> bool,
        (known, left): (&HashMap<Place, bool>, &mut usize),
        control: &Control,
    ) -> Result<ChangedFile> {
        let was = track.was.as_ref().or(track.made.as_ref()).map(|was| self.told(was));
        let (path, is_new) = (self.told(&place), track.was.is_none());
        let is_deleted = track.is_deleted;
        let mut by_others = self.by_others(&place, &track, known);
        let (mut contents, mut has_others) = (None, false);
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
            contents = before.filter(|before| *before != now).map(|before| (before, now.clone()));
            if track.changes.iter().any(|number| !is_own(*number)) {
                let own = track.own(&now, is_own);
                has_others = own.is_none() && contents.is_some();
                contents = own.map_or(contents, |own| Some(own).filter(|(before, now)| before != now));
            }
            let held = contents.as_ref().map_or(0, |(before, now)| before.len() + now.len());
            match left.checked_sub(held) {
                Some(rest) => *left = rest,
                None => contents = None,
            }
        }
        let mut changes = track.changes;
        // What has become of its name is what all of them did.
        if !is_new && !is_deleted && was.as_ref() == Some(&path) {
            changes.retain(|number| is_own(*number));
        }
        let is_away = track.is_away;
        Ok(ChangedFile {
            path,
            was,
            is_new,
            is_deleted,
            is_away,
            changes,
            by_others,
            contents,
            has_others,
            is_part,
        })
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
        (Some(was), Some(above)) if !folder.is_new => {
            was.strip_prefix(above.as_str()) == Some(&file.path[end..])
        }
        _ => false,
    };
    file.changes.iter().all(|number| folder.changes.binary_search(number).is_ok()) && is_moved_along()
}
