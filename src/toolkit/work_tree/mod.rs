//! What differs between the files of a work tree and the last commit of its repository (contract 20).
//!
//! The repository is read as [`crate::churn::git`] reads it: nothing of it runs, so no filter changes a text. A file counts as
//! unchanged if its bytes are those of the commit, or become these with line feeds in the place of CR LF, as git may have written
//! them. Links and submodules are not compared. Knows no formats of answers.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::blob_id::{BlobIds, Namer};
use crate::churn::Fault;
use crate::churn::fault::Result;
use crate::churn::git::commit::Commit;
use crate::churn::git::id::{HashKind, ObjectId};
use crate::churn::git::objects::Objects;
use crate::churn::git::pack::Kind;
use crate::churn::git::repository::Repository;
use crate::churn::tree_changes::{TreeChanges, tree_changes};
use engine::{AnalysedFile, AnalysisKind, AnalysisOptions, FileAnalyser, FileOutcome, Workspace};
use folder::{Control, EntryKind, Error, FilePath};
use sys::ffi::OsStrExt;
use text::order;
use text::shown::shown_line;

mod blob_id;

/// The largest file that is compared, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// The most bytes of contents that are held. Beyond, files have none.
const MAX_CONTENTS: usize = 32 << 20;

/// What differs from the last commit.
#[derive(Debug, Default)]
pub struct SinceHead {
    /// The commit.
    pub head: String,
    /// When it was committed, in seconds since 1970.
    pub date: i64,
    /// The files that differ, by their paths.
    pub files: Vec<WorkTreeFile>,
    /// Files that could not be compared.
    pub uncompared: u64,
    /// Whether the time was up before all files were compared.
    pub is_late: bool,
}

/// A file that differs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WorkTreeFile {
    /// The number of its served folder, 0-based, and its path below it; of one that was deleted, that of the commit.
    pub place: (usize, PathBuf),
    /// Where it is in the commit, if that is another path. `None`, too, if it is new.
    pub moved_from: Option<PathBuf>,
    /// Whether the commit does not have it.
    pub is_new: bool,
    /// Whether only the commit has it.
    pub is_deleted: bool,
    /// Its content in the commit, and now; empty where there is none. `None`: both are the same, or they are too large.
    pub contents: Option<(Vec<u8>, Vec<u8>)>,
}

/// Compares the files at `path`, or below it, with the last commit.
///
/// # Errors
///
/// [`Fault`] if `path` is in no repository that can be read, if an object of it is damaged, or if the operation must stop.
pub fn since_head(workspace: &Workspace, path: &FilePath, control: &Control) -> Result<SinceHead> {
    let is_folder = workspace.info(path).is_ok_and(|info| info.kind == EntryKind::Folder);
    let project = if is_folder { path.clone() } else { path.parent().unwrap_or_else(|| path.clone()) };
    let repository = Repository::open(workspace, &project, control)?;
    let mut objects = Objects::new(repository.store.clone(), control);
    let kind = objects.store().kind;
    let commit = objects.read(&repository.head, Kind::Commit)?;
    let commit = Commit::read(&commit, kind)
        .ok_or_else(|| Fault::damaged(repository.head, "it is no commit that can be read"))?;
    let TreeChanges::All(all) = tree_changes(&mut objects, None, &commit.tree)? else {
        return Err(Fault::Unsuitable("the last commit has too many files; expected at most 300,000".into()));
    };
    let mut comparison = Comparison {
        workspace,
        control,
        kind,
        number: project.folder().unwrap_or(0),
        top: repository.top.as_str().to_owned(),
        within: path.as_str().to_owned(),
        tracked: HashMap::new(),
        opaque: Vec::new(),
        new: Vec::new(),
        changed: Vec::new(),
        since: SinceHead { head: repository.head.to_string(), date: commit.date, ..SinceHead::default() },
    };
    for file in all {
        let Some(version) = file.new else { continue };
        let path = comparison.below_root(&file.path);
        if !comparison.is_wanted(&path) || workspace.hides(&repository.top, as_path(&file.path)) {
            continue;
        }
        match version.mode.is_regular() {
            true => _ = comparison.tracked.insert(path, version.id),
            false => comparison.opaque.push(path),
        }
    }
    comparison.walk(&project)?;
    comparison.look_at_rest()?;
    comparison.finish(&mut objects)
}

/// The work of one call. All paths are those below the served folder.
struct Comparison<'c> {
    workspace: &'c Workspace,
    control: &'c Control,
    kind: HashKind,
    /// The number of the served folder.
    number: usize,
    /// The top of the work tree.
    top: String,
    /// What is compared is there, or below.
    within: String,
    /// Files of the commit that have not been seen yet.
    tracked: HashMap<Vec<u8>, ObjectId>,
    /// Links and submodules of the commit.
    opaque: Vec<Vec<u8>>,
    /// Files that the commit does not have.
    new: Vec<(Vec<u8>, ObjectId)>,
    /// Files that the commit has otherwise.
    changed: Vec<(Vec<u8>, ObjectId)>,
    since: SinceHead,
}

impl Comparison<'_> {
    /// The path of a file of the commit below the served folder.
    fn below_root(&self, path: &[u8]) -> Vec<u8> {
        let top = if self.top.is_empty() { String::new() } else { format!("{}/", self.top) };
        [top.as_bytes(), path].concat()
    }

    fn is_wanted(&self, path: &[u8]) -> bool {
        as_path(path).starts_with(&self.within)
    }

    /// Compares the files that a walk meets: all but those that git ignores.
    fn walk(&mut self, project: &FilePath) -> Result<()> {
        let (within, opaque) = (Path::new(&self.within), &self.opaque);
        let wants = |path: &Path, _: &Path, is_folder: bool| {
            let is_opaque = is_folder && opaque.iter().any(|opaque| as_path(opaque) == path);
            (path.starts_with(within) || is_folder && within.starts_with(path)) && !is_opaque
        };
        let options = AnalysisOptions {
            kind: AnalysisKind::Figures,
            path: Some(project),
            wants: &wants,
            max_bytes: MAX_FILE,
            skip_ignored: true,
            skip_hidden: false,
        };
        let kind = self.kind;
        let namer = || Box::new(Namer(kind)) as Box<dyn FileAnalyser>;
        let found = self.workspace.analyse_files(options, &namer, self.control)?;
        self.since.is_late = found.late.is_some();
        found.files.into_iter().for_each(|file| self.add(file));
        Ok(())
    }

    fn add(&mut self, file: AnalysedFile) {
        let AnalysedFile { folder, path, outcome, .. } = file;
        self.number = folder;
        let tracked = self.tracked.remove(&path);
        match outcome {
            FileOutcome::Analysed(made) => match blob_id::known(made.as_ref()) {
                Some(ids) => self.compare(path, tracked, &ids),
                None => self.since.uncompared += 1,
            },
            FileOutcome::TooLarge | FileOutcome::Unreadable | FileOutcome::Changing => {
                self.since.uncompared += 1;
            }
        }
    }

    fn compare(&mut self, path: Vec<u8>, tracked: Option<ObjectId>, ids: &BlobIds) {
        match tracked {
            Some(id) if ids.has(&id) => {}
            Some(id) => self.changed.push((path, id)),
            None => self.new.push((path, ids.id)),
        }
    }

    /// Looks at the files of the commit that the walk has not met: they are deleted, or git ignores them all the same.
    fn look_at_rest(&mut self) -> Result<()> {
        if self.since.is_late {
            return Ok(());
        }
        for (path, id) in by_path(std::mem::take(&mut self.tracked)) {
            self.control.check()?;
            let known = self.known(&path);
            match self.workspace.info(&known) {
                Ok(info) if info.kind == EntryKind::File => match self.now(&path)? {
                    Some(bytes) => self.compare(path, Some(id), &BlobIds::of(&bytes, self.kind)),
                    None => self.since.uncompared += 1,
                },
                Ok(_) => self.since.uncompared += 1,
                Err(Error::NotFound { .. }) => _ = self.tracked.insert(path, id),
                Err(error @ (Error::TimedOut | Error::Cancelled)) => return Err(error.into()),
                Err(_) => self.since.uncompared += 1,
            }
        }
        Ok(())
    }

    fn finish(mut self, objects: &mut Objects) -> Result<SinceHead> {
        let mut left = MAX_CONTENTS;
        let mut files = Vec::new();
        for (path, id) in std::mem::take(&mut self.changed) {
            let contents = self.contents(objects, Some(&id), Some(&path), &mut left)?;
            files.push(WorkTreeFile { place: self.place(&path), contents, ..WorkTreeFile::default() });
        }
        let deleted = if self.since.is_late { HashMap::new() } else { std::mem::take(&mut self.tracked) };
        let mut gone: HashMap<ObjectId, Vec<Vec<u8>>> = HashMap::new();
        by_path(deleted).into_iter().for_each(|(path, id)| gone.entry(id).or_default().push(path));
        for (path, id) in by_path(std::mem::take(&mut self.new)) {
            // The same content under another name was moved.
            let moved_from = gone.get_mut(&id).and_then(Vec::pop).map(|from| as_path(&from).to_owned());
            let is_new = moved_from.is_none();
            let contents = if is_new { self.contents(objects, None, Some(&path), &mut left)? } else { None };
            let place = self.place(&path);
            files.push(WorkTreeFile { place, moved_from, is_new, is_deleted: false, contents });
        }
        let deleted = gone.into_iter().flat_map(|(id, paths)| paths.into_iter().map(move |path| (path, id)));
        for (path, id) in by_path(deleted) {
            let contents = self.contents(objects, Some(&id), None, &mut left)?;
            let place = self.place(&path);
            files.push(WorkTreeFile { place, is_deleted: true, contents, ..WorkTreeFile::default() });
        }
        order::sort_by(&mut files, |one, other| one.place.cmp(&other.place));
        Ok(SinceHead { files, ..self.since })
    }

    fn place(&self, path: &[u8]) -> (usize, PathBuf) {
        (self.number, as_path(path).to_owned())
    }

    /// The contents in the commit and now. `left`: how many bytes of contents may still be held.
    fn contents(
        &self,
        objects: &mut Objects,
        old: Option<&ObjectId>,
        now: Option<&[u8]>,
        left: &mut usize,
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let old = match old.map(|id| objects.read(id, Kind::Blob)).transpose() {
            Err(Fault::TooLarge { .. }) => return Ok(None),
            old => old?.map_or(Vec::new(), |bytes| bytes.to_vec()),
        };
        let Some(now) = now.map_or(Ok(Some(Vec::new())), |path| self.now(path))? else { return Ok(None) };
        Ok(left.checked_sub(old.len() + now.len()).map(|rest| {
            *left = rest;
            (old, now)
        }))
    }

    fn known(&self, path: &[u8]) -> FilePath {
        FilePath::known(self.number, &shown_line(path))
    }

    /// The content of a file now. `None`: it cannot be read whole.
    fn now(&self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.workspace.read_bytes(&self.known(path), self.control) {
            Ok((excerpt, _)) => Ok(Some(excerpt.bytes().to_vec())),
            Err(error @ (Error::TimedOut | Error::Cancelled)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

fn by_path(files: impl IntoIterator<Item = (Vec<u8>, ObjectId)>) -> Vec<(Vec<u8>, ObjectId)> {
    let mut files: Vec<_> = files.into_iter().collect();
    order::sort_by(&mut files, |one, other| one.0.cmp(&other.0));
    files
}

/// A path in a repository, which may have any bytes.
fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}
