//! What the journal keeps of a job: what it will change, written down before anything changes, and what takes that back.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use super::draft::{Draft, DraftFile};
use super::seen::SeenEntries;
use super::stage::Staged;
use super::steps::{Before, Step};
use super::{JobNote, PieceUndone, Place, Recorded};
use crate::change_log::OpenChange;
use crate::workspace::Workspace;
use folder::Control;
use folder::fs::atomic::Durability;
use folder::fs::version::identity;
use journal::{Change, ContentHash, FileChange, Toggle};
use sys::ffi::OsStrExt;

mod deleted;

/// Why a change is not kept.
const TOO_LARGE: &str = "it is too large for the journal; a larger --journal-size would keep it";

/// A job that the journal has, but not as done.
pub(super) struct Recording<'l> {
    /// `Err`: the journal cannot be written.
    open: Result<OpenChange<'l>, std::io::Error>,
    /// Why it cannot be taken back. Empty: it can.
    not_undoable: String,
    /// Whether it is flushed when it is done: of several files, it was before.
    flush: bool,
    /// What it keeps of each step that deletes, if all of it is kept.
    seen: HashMap<usize, SeenEntries>,
}

impl<'l> Recording<'l> {
    /// Writes down what `draft` will change.
    pub(super) fn write(
        &mut self,
        workspace: &Workspace,
        draft: &Draft,
        staged: &Staged,
        note: JobNote,
        control: &Control,
    ) {
        let Ok(open) = &mut self.open else { return };
        let most = open.max_bytes() / 2;
        let (problem, seen) = (String::new(), HashMap::new());
        let mut recorder = Recorder { workspace, draft, control, most, left: most, problem, seen };
        let change = recorder.change(staged, note);
        // One rename is all or nothing without a journal.
        let flush = workspace.options.durability == Durability::Full && !draft.is_one_rename();
        match open.write(&change, flush) {
            Err(error) => self.open = Err(error),
            Ok(()) if change.not_undoable.is_empty() => self.seen = recorder.seen,
            Ok(()) => {}
        }
        self.not_undoable = change.not_undoable;
    }

    /// What it keeps of each step that deletes, as that was when it was read.
    pub(super) fn take_seen(&mut self) -> HashMap<usize, SeenEntries> {
        std::mem::take(&mut self.seen)
    }

    /// Notes that all names are changed and on the disk.
    pub(super) fn mark(&mut self, workspace: &Workspace) {
        let Ok(open) = &mut self.open else { return };
        if let Err(error) = open.mark(workspace.options.durability == Durability::Full) {
            // What is not marked would be taken back when the old files are gone.
            self.open = Err(error);
        }
    }

    /// Notes that what could not be removed is to be removed later. False: nobody will.
    pub(super) fn remove_later(&self, workspace: &Workspace) -> bool {
        let Ok(open) = &self.open else { return false };
        let noted = open.read().and_then(|change| workspace.remove_later(change));
        noted.inspect_err(|error| tracing::warn!("--journal: what is left is not noted: {error}")).is_ok()
    }

    /// Leaves it open: not all that was done could be taken back.
    pub(super) fn keep(self) {
        if let Some(open) = self.into_open() {
            open.keep();
        }
    }

    /// The change as the journal has it. `None`: it has not.
    pub(super) fn into_open(self) -> Option<OpenChange<'l>> {
        self.open.ok()
    }

    /// Notes that it is done, and runs `meanwhile` beside the flush.
    pub(super) fn done<T>(self, meanwhile: impl FnOnce() -> T) -> (Recorded, T) {
        let (done, result) = match self.open {
            Ok(open) => open.done(self.flush, meanwhile),
            Err(error) => (Err(error), meanwhile()),
        };
        let recorded = match done {
            Ok(number) if self.not_undoable.is_empty() => Recorded::Change(number),
            Ok(_) => Recorded::NotUndoable(self.not_undoable),
            Err(error) => Recorded::Unwritten(error.to_string()),
        };
        (recorded, result)
    }
}

impl Workspace {
    /// Begins the record of a job. Of several files, it has the places where temporary files will be. `None`: there is no journal.
    pub(super) fn begin_record(&self, draft: &Draft) -> Option<Recording<'_>> {
        let log = self.change_log.as_ref()?;
        let places: Vec<journal::Place> = draft.places().map(place).collect();
        let first = places.iter().map(|place| place.root).min().unwrap_or(0);
        let at = |from: journal::Place| FileChange { at: from.clone(), from, ..FileChange::default() };
        let open = log.begin(first).and_then(|mut open| {
            if !draft.is_one_rename() {
                let (roots, files) = (self.root_paths(), places.into_iter().map(at).collect());
                open.write(&Change { roots, files, ..Change::default() }, false)?;
            }
            Ok(open)
        });
        let flush = self.options.durability == Durability::Full && draft.is_one_rename();
        Some(Recording { open, not_undoable: String::new(), flush, seen: HashMap::new() })
    }

    fn root_paths(&self) -> Vec<Vec<u8>> {
        self.folders.roots().iter().map(|root| root.path().as_os_str().as_bytes().to_vec()).collect()
    }
}

/// Makes the record of one job.
struct Recorder<'r> {
    workspace: &'r Workspace,
    draft: &'r Draft<'r>,
    control: &'r Control,
    /// The largest record, in bytes.
    most: u64,
    /// Bytes that may still be kept.
    left: u64,
    /// Why it cannot be taken back.
    problem: String,
    seen: HashMap<usize, SeenEntries>,
}

impl Recorder<'_> {
    fn change(&mut self, staged: &Staged, note: JobNote) -> Change {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut change = Change {
            time_ms: now.as_millis() as u64,
            author: note.author.clone(),
            tool: note.tool.into(),
            message: note.message.into(),
            undoes: note.undoes.map(|undoes| undoes.change),
            roots: self.workspace.root_paths(),
            files: self.files(staged),
            steps: self.steps(staged),
            not_undoable: std::mem::take(&mut self.problem),
            toggles: Vec::new(),
        };
        change.toggles = note.undoes.map_or(Vec::new(), |undoes| self.toggles(undoes.pieces, &change));
        let is_used = |number| change.places().any(|place| place.root == number);
        let unused: Vec<usize> = (0..change.roots.len()).filter(|number| !is_used(*number)).collect();
        unused.into_iter().for_each(|number| change.roots[number].clear());
        // Also hunks and names are kept, which were not counted.
        if change.not_undoable.is_empty() && change.to_bytes().len() as u64 > self.most {
            change.not_undoable = TOO_LARGE.into();
        }
        if !change.not_undoable.is_empty() {
            change.files.iter_mut().for_each(|file| file.hunks = Vec::new());
            change.steps.iter_mut().for_each(|step| {
                if let journal::Step::Deleted { entries, .. } = step {
                    *entries = Vec::new();
                }
            });
        }
        change
    }

    fn files(&mut self, staged: &Staged) -> Vec<FileChange> {
        let changed =
            self.draft.on_disk.iter().filter(|(_, file)| !self.draft.files[**file].plan.changes_nothing());
        let mut files = Vec::new();
        for ((from, number), replacement) in changed.zip(&staged.replacements) {
            let file = &self.draft.files[*number];
            let change = self.with_old(file, |old| FileChange::of(&file.plan, old));
            let kept = change.hunks.iter().flat_map(|hunk| &hunk.replaced);
            self.keep(kept.map(|one| one.old.len() + one.new.len()).sum());
            let at = self.draft.after(from, 0).unwrap_or_else(|| from.clone());
            let hidden = replacement.hidden.as_bytes().to_vec();
            files.push(FileChange {
                from: place(from),
                at: place(&at),
                id: replacement.new.id(),
                hidden,
                ..change
            });
        }
        files
    }

    /// What a job that takes pieces back has done with each of them.
    fn toggles(&self, pieces: &[PieceUndone], change: &Change) -> Vec<Toggle> {
        let changed =
            self.draft.on_disk.values().filter(|file| !self.draft.files[**file].plan.changes_nothing());
        let files: HashMap<usize, usize> =
            changed.enumerate().map(|(element, file)| (*file, element)).collect();
        let element = |piece: &PieceUndone| {
            let outcome = self.draft.outcomes.get(piece.operation?)?;
            let step = outcome.step.map(|step| change.files.len() + step);
            step.or_else(|| files.get(&outcome.file?).copied())
        };
        let toggle = |piece: &PieceUndone| {
            let element = element(piece);
            let toggle = Toggle { piece: piece.piece, is_done: piece.is_done, element };
            (element.is_some() || !piece.may_stay).then_some(toggle)
        };
        pieces.iter().filter_map(toggle).collect()
    }

    fn steps(&mut self, staged: &Staged) -> Vec<journal::Step> {
        let draft = self.draft;
        let id_of = |taken: &Option<usize>| {
            let found = taken.and_then(|taken| draft.taken.get(taken)).map(|taken| &taken.found.place.stat);
            found.and_then(Option::as_ref).map(identity).unwrap_or_default()
        };
        let step = |(number, step): (usize, &Step)| match step {
            Step::Folder { at, .. } => journal::Step::Folder { at: place(at) },
            Step::Link { at, target, .. } => journal::Step::Link { at: place(at), target: target.clone() },
            Step::New { at, file, .. } => {
                let (after, id) = (self.hash_of(&draft.files[*file]), staged.id_of_new(*file));
                journal::Step::New { at: place(at), after, id }
            }
            Step::Moved { from, to, taken, .. } => {
                // The file that takes the place of one that is edited, or that is new.
                let id = match draft.steps.before(from, number) {
                    Before::New(file) => staged.id_of_new(file),
                    Before::OnDisk(at) => self.id_of_edited(staged, &at).unwrap_or_else(|| id_of(taken)),
                    Before::Folder | Before::Link | Before::Nothing => journal::EntryId::default(),
                };
                self.check_name(from.1.as_os_str().as_bytes());
                journal::Step::Moved { from: place(from), to: place(to), id }
            }
            Step::Deleted { at, taken, hidden, .. } => {
                let entries = self.deleted(number, at, *taken);
                let hidden = hidden.as_bytes().to_vec();
                journal::Step::Deleted { at: place(at), entries, id: id_of(taken), hidden }
            }
        };
        draft.steps.iter().enumerate().map(step).collect()
    }

    /// The file that takes the place of the one on the disk at `at`, if that is edited.
    fn id_of_edited(&self, staged: &Staged, at: &Place) -> Option<journal::EntryId> {
        let changed =
            self.draft.on_disk.iter().filter(|(_, file)| !self.draft.files[**file].plan.changes_nothing());
        let mut edited = changed.zip(&staged.replacements);
        edited.find(|((known, _), _)| *known == at).map(|(_, replacement)| replacement.new.id())
    }

    /// Notes a name by which a path cannot lead to a new entry.
    fn check_name(&mut self, path: &[u8]) {
        let is_plain = |path: &str| !path.contains(|c: char| c.is_control() || c == '\\');
        if !std::str::from_utf8(path).is_ok_and(is_plain) {
            let name = text::shown::shown_line(path);
            self.problem = format!("'{name}' is no name that a new entry can get");
        }
    }

    fn unread<T>(&mut self) -> Option<T> {
        self.problem = "it deletes what could not be read".into();
        None
    }

    /// Notes that so many bytes are kept.
    fn keep(&mut self, bytes: usize) {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => {
                self.problem = TOO_LARGE.into();
            }
        }
    }

    fn hash_of(&mut self, file: &DraftFile) -> u64 {
        let hash = |old: &[u8]| {
            let mut hash = ContentHash::default();
            // A write to a hash cannot fail.
            let _ = file.plan.write_to(old, &mut hash);
            hash.hash()
        };
        self.with_old(file, hash)
    }

    /// Calls `with` with the bytes to which a file's plan applies. They were read before, and looked at afterwards.
    fn with_old<T: Default>(&mut self, file: &DraftFile, with: impl FnOnce(&[u8]) -> T) -> T {
        let Some(base) = &file.base else { return with(b"") };
        let name = file.path.sent();
        match base.open(name).and_then(|open| self.workspace.any_bytes(open, name)) {
            Ok(Some((view, _))) => with(view.bytes()),
            _ => {
                self.problem = "it changes what could not be read".into();
                T::default()
            }
        }
    }
}

fn place((root, path): &Place) -> journal::Place {
    journal::Place { root: *root, path: path.as_os_str().as_bytes().to_vec() }
}
