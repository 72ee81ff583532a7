//! What the journal keeps of entries that a job deletes.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::Recorder;
use crate::workspace::Place;
use crate::workspace::found::Found;
use crate::workspace::job::draft::Taken;
use crate::workspace::job::seen::Seen;
use crate::workspace::job::steps::{Step, below};
use folder::fs::resolve::{ResolvedPath, file_type};
use folder::{EntryKind, FilePath, Walk, WalkOptions, WalkStep};
use journal::KeptEntry;
use sys::ffi::OsStrExt;
use sys::fs::{FileType, Stat};

/// An entry, and its path in what is deleted.
type KeptAt = (Vec<u8>, KeptEntry);

impl Recorder<'_> {
    /// What the step of this number deletes.
    pub(super) fn deleted(&mut self, number: usize, at: &Place, taken: Option<usize>) -> Vec<KeptAt> {
        let draft = self.draft;
        let is_inside = |step: usize| match &draft.steps[step] {
            Step::Folder { at: made, .. }
            | Step::New { at: made, .. }
            | Step::Link { at: made, .. }
            | Step::Moved { to: made, .. } => draft
                .steps
                .after(made, step + 1..number)
                .is_some_and(|now| below(&now, at).is_some_and(|rest| rest != Path::new(""))),
            Step::Deleted { .. } => false,
        };
        self.check_name(at.1.as_os_str().as_bytes());
        let taken = taken.and_then(|taken| draft.taken.get(taken));
        // Only a folder has something in it.
        let keeps_made = |taken: &Taken| taken.found.is_directory() && (0..number).any(is_inside);
        let Some(taken) = taken.filter(|taken| !keeps_made(taken)) else {
            self.problem = "it deletes what it has made or moved itself".into();
            return Vec::new();
        };
        let kept = match taken.found.is_directory() {
            true => self.folder(number, at, &taken.found, &taken.path),
            false => self.entry(&taken.found.place).map(|(entry, seen)| vec![(Vec::new(), entry, seen)]),
        };
        let seen = |(rest, _, seen): &(Vec<u8>, KeptEntry, Seen)| (rest.clone(), *seen);
        self.seen.extend(kept.iter().map(|kept| (number, kept.iter().map(seen).collect())));
        kept.into_iter().flatten().map(|(rest, kept, _)| (rest, kept)).collect()
    }

    /// A folder, and all in it that is not moved away before the step of this number.
    fn folder(
        &mut self,
        number: usize,
        at: &Place,
        found: &Found,
        path: &FilePath,
    ) -> Option<Vec<(Vec<u8>, KeptEntry, Seen)>> {
        let folder = |stat: &Stat| (KeptEntry::Folder { mode: stat.st_mode & 0o7777 }, Seen::of(stat));
        let (kept, seen) = found.place.stat.as_ref().map(folder).or_else(|| self.unread())?;
        let mut entries = vec![(Vec::new(), kept, seen)];
        let (workspace, on_disk) = (self.workspace, (found.number, found.real_path(path).to_owned()));
        let opened = found.place.open_folder().ok().or_else(|| self.unread())?;
        let excludes = workspace.folders.excludes();
        let walk = Walk::new(
            found.folder.handle(),
            opened,
            &on_disk.1,
            WalkOptions::default(),
            excludes,
            None,
            self.control,
        );
        let mut walk = walk.ok().or_else(|| self.unread())?;
        while let Some(step) = walk.next_step().ok().or_else(|| self.unread())? {
            let WalkStep::Entry(entry) = step else { continue };
            let rest = walk.path_from_start().to_vec();
            let inner = |folder: &Place| (folder.0, folder.1.join(OsStr::from_bytes(&rest)));
            if self.draft.steps.after(&inner(&on_disk), 0..number) != Some(inner(at)) {
                if entry.kind == EntryKind::Folder {
                    walk.skip_folder();
                }
                continue;
            }
            let Ok(Some(stat)) = walk.stat() else { return self.unread() };
            let (kept, seen) = match (entry.kind, walk.folder()) {
                (EntryKind::Folder, _) => folder(&stat),
                (_, Some(dir)) => {
                    let Ok(dir) = dir.handle() else { return self.unread() };
                    self.entry(&ResolvedPath::in_folder(dir, OsStr::from_bytes(walk.name()), stat))?
                }
                (_, None) => return self.unread(),
            };
            self.check_name(&rest);
            entries.push((rest, kept, seen));
            self.keep(64);
            if !self.problem.is_empty() {
                return None;
            }
        }
        Some(entries)
    }

    /// A file or link.
    fn entry(&mut self, place: &ResolvedPath) -> Option<(KeptEntry, Seen)> {
        let stat = place.stat.as_ref()?;
        match file_type(stat) {
            FileType::RegularFile => {
                self.keep(stat.st_size as usize);
                if !self.problem.is_empty() {
                    return None;
                }
                let file = place.open().ok().flatten().or_else(|| self.unread())?;
                let file = Arc::new(file);
                let view = file.clone().view(0..file.len_bytes()).ok().or_else(|| self.unread())?;
                let content = view.bytes().to_vec();
                match view.is_unchanged() {
                    Ok(true) => {
                        let (mode, seen) = (file.stat().st_mode & 0o7777, Seen::read(&file, &content));
                        Some((KeptEntry::File { mode, content }, seen))
                    }
                    _ => self.unread(),
                }
            }
            FileType::Symlink => {
                let target = sys::fs::readlinkat(&place.dir, &place.name, Vec::new());
                let target = target.ok().or_else(|| self.unread())?;
                let target = target.into_bytes();
                let seen = Seen::link(stat, &target);
                Some((KeptEntry::Link { target }, seen))
            }
            _ => {
                self.problem = "it deletes what is neither a file nor a link nor a folder".into();
                None
            }
        }
    }
}
