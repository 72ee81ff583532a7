//! What changes of the journal have made of each file, all of them together (contract 20).

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::Path;

use super::trail::{At, Gone, Trail};
use super::{Place, Workspace};
use crate::change_log::ChangeNumber;
use folder::{Control, Error, FilePath, Result};
use journal::{Change, FileChange, Step};
use sys::ffi::OsStrExt;
use text::shown::shown_line;

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
    /// Its content before the first change, and now. `None`: its content did not change, or that before is not known.
    pub contents: Option<(Vec<u8>, Vec<u8>)>,
}

/// The most bytes of texts that are held to be compared. Beyond, files have no contents.
const MOST_COMPARED: usize = 32 << 20;

/// An entry on its way through the changes.
#[derive(Debug, Default, Clone)]
struct Track {
    /// Its first place. `None`: it is new.
    was: Option<Place>,
    is_deleted: bool,
    changes: Vec<ChangeNumber>,
    files: Vec<FileChange>,
    /// The hash of its content when it was made.
    made: Option<u64>,
}

impl Workspace {
    /// What these changes, in order, have made of each file; with `within`, of those at that path or below. By paths; those that are gone
    /// again are left out.
    pub fn changed_files(
        &self,
        changes: &[(ChangeNumber, Change)],
        within: Option<&FilePath>,
        control: &Control,
    ) -> Result<Vec<ChangedFile>> {
        let is_wanted = |(place, track): &(Place, Track)| {
            (track.was.is_some() || !track.is_deleted)
                && !self.folders.excludes().hides(&place.1, false)
                && (is_within(within, place) || track.was.as_ref().is_some_and(|was| is_within(within, was)))
        };
        let all = self.tracks(changes, control)?.into_iter().map(|(end, track)| match end {
            Ok(place) => (place, track),
            Err(gone) => (gone.place, Track { is_deleted: true, ..track }),
        });
        let all = all.filter(is_wanted);
        let mut left = MOST_COMPARED;
        let mut files: Vec<ChangedFile> = all
            .map(|(place, track)| self.changed_file(place, track, &mut left, control))
            .collect::<Result<_>>()?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    /// What has become of each entry, by where it is behind all changes, or how it went.
    fn tracks(
        &self,
        changes: &[(ChangeNumber, Change)],
        control: &Control,
    ) -> Result<BTreeMap<Result<Place, Gone>, Track>> {
        let trail = Trail::of(self, changes);
        let mut tracks = BTreeMap::<Result<Place, Gone>, Track>::new();
        let mut gone = HashMap::<Place, Gone>::new();
        for (index, (number, change)) in changes.iter().enumerate() {
            control.check()?;
            let place = |place: &journal::Place| self.served_place(change, place);
            for (element, file) in change.files.iter().enumerate() {
                let Some(from) = place(&file.from) else { continue };
                let end = trail.now(from.clone(), (index, element)).place;
                gone.extend(end.clone().err().map(|gone| (gone.place.clone(), gone)));
                let track = tracks.entry(end).or_insert_with(|| Track::of(from));
                track.note(*number);
                track.files.push(file.clone());
            }
            for (step, element) in change.steps.iter().zip(change.files.len()..) {
                let Some((at, end)) = self.end(&trail, change, step, (index, element)) else { continue };
                let first = match step {
                    Step::New { .. } | Step::Link { .. } if tracks.contains_key(&end) => Track::default(),
                    // What was deleted at this place before has come back.
                    Step::New { .. } | Step::Link { .. } => {
                        gone.remove(&at).and_then(|gone| tracks.remove(&Err(gone))).unwrap_or_default()
                    }
                    _ => Track::of(at),
                };
                gone.extend(end.clone().err().map(|gone| (gone.place.clone(), gone)));
                let track = tracks.entry(end).or_insert(first);
                if let Step::New { after, .. } = step {
                    track.made = Some(*after);
                }
                track.note(*number);
            }
        }
        Ok(tracks)
    }

    /// The place that a step names first, and where its entry is behind all changes, or how it went. `None`: it is a folder that is new,
    /// or not served.
    fn end(
        &self,
        trail: &Trail,
        change: &Change,
        step: &Step,
        (index, element): At,
    ) -> Option<(Place, Result<Place, Gone>)> {
        let at = self.served_place(change, step.place())?;
        let now = match step {
            Step::Folder { .. } => return None,
            Step::New { .. } | Step::Link { .. } => trail.now(at.clone(), (index, element + 1)),
            Step::Moved { to, .. } => trail.now(self.served_place(change, to)?, (index, element + 1)),
            Step::Deleted { .. } => trail.now(at.clone(), (index, element)),
        };
        Some((at, now.place))
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
        let Track { was, is_deleted, changes, files, made } = track;
        let path = self.told(&place);
        let was = was.map(|was| self.told(&was));
        let (mut by_others, mut contents) = (false, None);
        let now =
            if is_deleted || files.is_empty() && made.is_none() { None } else { self.now(&place, control)? };
        if let Some(now) = now {
            let last = files.last().map(|file| file.after).or(made);
            by_others = last.is_some_and(|last| last != journal::hash(&now))
                || files.windows(2).any(|pair| pair[0].after != pair[1].before);
            contents = before(&files, &now).filter(|before| *before != now).map(|before| (before, now));
            let held = contents.as_ref().map_or(0, |(before, now)| before.len() + now.len());
            match left.checked_sub(held) {
                Some(rest) => *left = rest,
                None => contents = None,
            }
        }
        Ok(ChangedFile { path, was, is_deleted, changes, by_others, contents })
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

impl Track {
    /// That of an entry that was at this place before.
    fn of(was: Place) -> Track {
        Track { was: Some(was), ..Track::default() }
    }

    fn note(&mut self, number: ChangeNumber) {
        if self.changes.last() != Some(&number) {
            self.changes.push(number);
        }
    }
}

/// The content before these changes. `None`: what others have changed since cannot be told from it.
fn before(files: &[FileChange], now: &[u8]) -> Option<Vec<u8>> {
    let mut text = now.to_vec();
    for file in files.iter().rev() {
        if file.hunks.is_empty() && file.before != file.after {
            // What it replaced is not kept.
            return None;
        }
        let plan = journal::undo_plan(file, &text, &[]).ok()?;
        let mut older = Vec::with_capacity(plan.len_after(text.len()));
        // A write to memory cannot fail.
        let _ = plan.write_to(&text, &mut older);
        text = older;
    }
    Some(text)
}
