//! The entries that changes have touched: where each was first, where it is behind them, and what it held.
//!
//! What was deleted and comes back, by an undo or as something new at its place, is the same entry. Looks at nothing on the disk.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::Path;

use super::super::Place;
use super::super::job::{below, joined};
use super::super::trail::{At, Gone, Trail};
use crate::change_log::ChangeNumber;
use journal::{Change, FileChange, KeptEntry, Step};
use sys::ffi::OsStrExt;

/// An entry.
#[derive(Debug, Default)]
pub(super) struct Track<'c> {
    /// Its first place. `None`: it is new.
    pub(super) was: Option<Place>,
    /// Where it was made first, if it is a new folder.
    pub(super) made: Option<Place>,
    /// Whether it is gone.
    pub(super) is_deleted: bool,
    /// Whether it was moved to where this server serves nothing.
    pub(super) is_away: bool,
    /// The changes that changed it, in order.
    pub(super) changes: Vec<ChangeNumber>,
    /// Whether another program has changed its content between two of them.
    pub(super) by_others: bool,
    /// The hash of the content that the last of them left, if they say it.
    pub(super) content: Option<u64>,
    is_folder: bool,
    before: Before<'c>,
    text: Text<'c>,
    /// Its text that was deleted last, if it was new, and the hash of that.
    deleted: Option<(u64, Text<'c>)>,
}

/// Where the text of an entry comes from.
#[derive(Debug, Default)]
struct Text<'c> {
    /// The change that made it, since what is before. What an undo brings back is made by whom it was made first.
    maker: Option<ChangeNumber>,
    /// The changes of its content, since it was made or came back, with their numbers.
    edits: Vec<(ChangeNumber, &'c FileChange)>,
}

/// What a file held before the first change.
#[derive(Debug, Default)]
enum Before<'c> {
    /// What its edits made the text of now from.
    #[default]
    Edits,
    /// There was no such file.
    Nothing,
    /// What these edits made the content from that was deleted.
    Deleted(Vec<(ChangeNumber, &'c FileChange)>, &'c [u8]),
    Unknown,
}

/// See the module.
pub(super) struct Tracks<'c> {
    trail: &'c Trail,
    /// By where each is behind all changes, or how it went.
    by_end: BTreeMap<End, Track<'c>>,
    /// How what was at a place went.
    gone: HashMap<Place, Gone>,
}

/// Where an entry is behind all changes, or how it went.
type End = Result<Place, Gone>;

impl<'c> Tracks<'c> {
    /// `trail`: that of the changes.
    pub(super) fn new(trail: &'c Trail) -> Tracks<'c> {
        Tracks { trail, by_end: BTreeMap::new(), gone: HashMap::new() }
    }

    /// Adds the next change, with its index. `place`: where a place is in the served folders.
    pub(super) fn add(
        &mut self,
        index: usize,
        (number, change): &'c (ChangeNumber, Change),
        place: impl Fn(&journal::Place) -> Option<Place>,
    ) {
        for (element, file) in change.files.iter().enumerate() {
            if let Some(from) = place(&file.from) {
                self.known(&from, (index, element)).edit(*number, file);
            }
        }
        for (step, element) in change.steps.iter().zip(change.files.len()..) {
            let before = (index, element);
            let Some(at) = place(step.place()) else {
                // What comes from where this server serves nothing is new here.
                if let Step::Moved { to, .. } = step
                    && let Some(to) = place(to)
                {
                    self.made(&to, before, false).make(*number, None, false);
                }
                continue;
            };
            match step {
                Step::Folder { .. } => self.made(&at, before, true).make(*number, None, false),
                Step::New { after, .. } => {
                    let is_back = change.undoes.is_some();
                    self.made(&at, before, false).make(*number, Some(*after), is_back);
                }
                Step::Link { .. } => self.made(&at, before, false).make(*number, None, false),
                Step::Moved { .. } => self.known(&at, before).note(*number),
                Step::Deleted { entries, .. } => self.delete(*number, &at, entries, before),
            }
        }
    }

    /// Where those are that are there, and whether each was moved: what is in such a folder was not made there.
    pub(super) fn places(&self) -> HashMap<Place, bool> {
        let there = self.by_end.iter().filter_map(|(end, track)| Some((end.as_ref().ok()?, track)));
        let is_moved = |track: &Track, at: &Place| track.was.as_ref().is_some_and(|was| was != at);
        there.map(|(at, track)| (at.clone(), is_moved(track, at))).collect()
    }

    /// All entries, and where they are, or were when they went.
    pub(super) fn into_all(self) -> impl Iterator<Item = (Place, Track<'c>)> {
        self.by_end.into_iter().map(|(end, track)| match end {
            Ok(place) => (place, track),
            Err(gone) => (gone.place, Track { is_deleted: true, is_away: gone.is_away, ..track }),
        })
    }

    /// The entry that is at a place at that time.
    fn known(&mut self, place: &Place, at: At) -> &mut Track<'c> {
        let end = self.trail.now(place.clone(), at).place;
        self.note_gone(&end);
        let was = if self.by_end.contains_key(&end) { None } else { Some(self.first_place(place, at)) };
        self.by_end.entry(end).or_insert_with(|| Track { was, ..Track::default() })
    }

    /// Where an entry was first that no change has named so far: it came there with the folder that it is in.
    fn first_place(&self, place: &Place, at: At) -> Place {
        let above = place.1.ancestors().skip(1).filter(|above| *above != Path::new(""));
        let known = |above: &Path| {
            let above = (place.0, above.to_owned());
            let folder = self.by_end.get(&self.trail.now(above.clone(), at).place)?;
            Some((above, folder))
        };
        let folder = above.into_iter().find_map(known);
        let first = folder.and_then(|(at, folder)| Some(joined(folder.was.as_ref()?, below(place, &at)?)));
        first.unwrap_or_else(|| place.clone())
    }

    /// The entry that comes to a place at that time: the one that an undo brings back, or that was deleted there, or a new one.
    fn made(&mut self, place: &Place, (change, element): At, is_folder: bool) -> &mut Track<'c> {
        let end = self.trail.now(place.clone(), (change, element + 1)).place;
        let mut track = None;
        if !self.by_end.contains_key(&end) {
            let gone = self.gone.get(place).map(|gone| Err(gone.clone()));
            let gone =
                gone.filter(|gone| self.by_end.get(gone).is_some_and(|was| was.is_folder == is_folder));
            track = gone.and_then(|gone| self.by_end.remove(&gone));
        }
        self.note_gone(&end);
        let made = is_folder.then(|| place.clone());
        let new = || Track { before: Before::Nothing, is_folder, made, ..Track::default() };
        self.by_end.entry(end).or_insert_with(|| track.unwrap_or_else(new))
    }

    fn note_gone(&mut self, end: &End) {
        if let Err(gone) = end {
            self.gone.insert(gone.place.clone(), gone.clone());
        }
    }

    fn delete(&mut self, number: ChangeNumber, place: &Place, entries: &'c [(Vec<u8>, KeptEntry)], at: At) {
        for (rest, kept) in entries {
            let place = joined(place, Path::new(OsStr::from_bytes(rest)));
            self.known(&place, at).delete(number, Some(kept));
        }
        if entries.is_empty() {
            self.known(place, at).delete(number, None);
        }
        // What is not kept.
        let first = Gone { at, place: Place::default(), is_away: false };
        let gone = self.by_end.range_mut(Err(first)..);
        let gone = gone.take_while(|(end, _)| end.as_ref().is_err_and(|gone| gone.at == at));
        for (_, track) in gone.filter(|(_, track)| track.changes.last() != Some(&number)) {
            track.delete(number, None);
        }
    }
}

impl<'c> Track<'c> {
    /// Whether anything has become of it: it is no new folder that is where it was made, and not new and gone again.
    pub(super) fn is_told(&self) -> bool {
        self.was.is_some() || !self.is_deleted && !self.is_folder_as_made()
    }

    /// Whether it is a new folder that only the change names that made it.
    fn is_folder_as_made(&self) -> bool {
        self.is_folder && self.changes.len() < 2
    }

    /// What it held before the first change, if it holds `now`. `None`: that is not known.
    pub(super) fn before(&self, now: &[u8]) -> Option<Vec<u8>> {
        match &self.before {
            Before::Edits => without(&self.text.edits, now, |_| true),
            Before::Nothing => Some(Vec::new()),
            Before::Deleted(edits, content) => without(edits, content, |_| true),
            Before::Unknown => None,
        }
    }

    /// The content `now`, and what it would be without what some of the changes did: of a new text that these made, nothing, beside what it
    /// would be without the others. `None`: others have changed the same lines, or it was deleted meanwhile.
    pub(super) fn own(
        &self,
        now: &[u8],
        is_own: impl Fn(ChangeNumber) -> bool,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        match self.before {
            Before::Nothing if self.text.maker.is_some_and(&is_own) => {
                Some((Vec::new(), without(&self.text.edits, now, |number| !is_own(number))?))
            }
            Before::Edits | Before::Nothing => Some((without(&self.text.edits, now, is_own)?, now.to_vec())),
            Before::Deleted(..) | Before::Unknown => None,
        }
    }

    /// Whether what it held before is the content of a file.
    pub(super) fn had_content(&self) -> bool {
        matches!(self.before, Before::Deleted(..))
    }

    fn note(&mut self, number: ChangeNumber) {
        if self.changes.last() != Some(&number) {
            self.changes.push(number);
        }
    }

    fn edit(&mut self, number: ChangeNumber, file: &'c FileChange) {
        self.note(number);
        self.by_others |= self.content.is_some_and(|content| content != file.before);
        self.content = Some(file.after);
        self.text.edits.push((number, file));
    }

    /// `content`: the hash of what it holds, if it is a file. `is_back`: an undo may bring it back.
    fn make(&mut self, number: ChangeNumber, content: Option<u64>, is_back: bool) {
        self.note(number);
        self.content = content;
        let back = self.deleted.take().filter(|(deleted, _)| is_back && content == Some(*deleted));
        let new = || Text { maker: Some(number), edits: Vec::new() };
        self.text = back.map_or_else(new, |(_, text)| text);
    }

    /// `kept`: what it was. `None`: that is not kept.
    fn delete(&mut self, number: ChangeNumber, kept: Option<&'c KeptEntry>) {
        self.note(number);
        if let Some(kept) = kept {
            self.is_folder = matches!(kept, KeptEntry::Folder { .. });
        }
        let text = std::mem::take(&mut self.text);
        let content = self.content.take();
        if let (Some(KeptEntry::File { content: kept, .. }), Some(content)) = (kept, content) {
            self.by_others |= journal::hash(kept) != content;
        }
        if let Before::Edits = self.before {
            self.before = match kept {
                Some(KeptEntry::File { content, .. }) => Before::Deleted(text.edits, content),
                Some(KeptEntry::Link { .. } | KeptEntry::Folder { .. }) => Before::Nothing,
                None => Before::Unknown,
            };
        } else if let Some(KeptEntry::File { content, .. }) = kept {
            self.deleted = Some((journal::hash(content), text));
        }
    }
}

/// A content without those edits that `is_out`. `None`: what was changed since cannot be told from them.
fn without(
    edits: &[(ChangeNumber, &FileChange)],
    content: &[u8],
    is_out: impl Fn(ChangeNumber) -> bool,
) -> Option<Vec<u8>> {
    let mut text = content.to_vec();
    // What came behind the edit that is next, with what was taken out of the text since.
    let (mut later, mut taken) = (Vec::<&FileChange>::new(), Vec::<FileChange>::new());
    let is_mixed = edits.iter().any(|(number, _)| !is_out(*number));
    for (number, file) in edits.iter().rev() {
        if is_out(*number) {
            if file.hunks.is_empty() && file.before != file.after {
                // What it replaced is not kept.
                return None;
            }
            let since: Vec<&FileChange> = later.iter().rev().copied().chain(&taken).collect();
            let plan = journal::undo_plan(file, &text, &since).ok()?;
            let mut older = Vec::with_capacity(plan.len_after(text.len()));
            // A write to memory cannot fail.
            let _ = plan.write_to(&text, &mut older);
            if is_mixed {
                taken.push(FileChange::of(&plan, &text));
            }
            text = older;
        }
        if is_mixed {
            later.push(file);
        }
    }
    Some(text)
}
