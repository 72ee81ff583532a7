//! The object folder of a repository: its packs, opened when they are needed, and objects outside packs. Shared by threads.
//!
//! Alternates are not followed, and nothing is fetched: an object that is not here is missing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::id::{HashKind, ObjectId};
use super::index::PackIndex;
use super::pack::is_pack;
use crate::churn::fault::{Fault, Result};
use engine::FolderHandle;
use folder::fs::view::FileView;
use folder::fs::view::OpenFile;
use folder::{Control, Error};

/// Packs of a repository. Each takes two file descriptors; git itself repacks from 50 on.
const MAX_PACKS: usize = 200;

/// Names in the folder of packs.
const MAX_NAMES: usize = 20_000;

/// Files above this size in bytes are compared one pair at a time.
const LARGE: u64 = 2 << 20;

/// See the module.
#[derive(Debug)]
pub struct Store {
    folder: FolderHandle,
    /// How long names are.
    pub kind: HashKind,
    packs: Vec<Pack>,
    /// The pack in which the last object was found; most neighbours are in the same.
    last: AtomicUsize,
    /// Held while large files are compared, so that threads do not hold several at a time.
    large: Mutex<()>,
    /// Why an object may be missing: alternates, or a partial clone.
    hint: &'static str,
}

#[derive(Debug)]
struct Pack {
    path: PathBuf,
    index: PackIndex,
    index_view: FileView,
    file: OnceLock<Arc<OpenFile>>,
}

/// Opens a file of the repository. `None` if there is no such file.
fn open_file(folder: &FolderHandle, path: &Path, control: &Control) -> Result<Option<Arc<OpenFile>>> {
    match folder.open_file(path, control) {
        Err(Error::PermissionDenied { .. } | Error::RefusedLink { .. } | Error::IsAFolder { .. }) => {
            Err(Fault::Unsuitable(format!(
                "{} of the repository cannot be read, or is a link that leads out of it, which is not followed",
                path.display()
            )))
        }
        opened => Ok(opened?),
    }
}

/// The whole content of a file of the repository. `None` if there is no such file.
pub fn read_file(folder: &FolderHandle, path: &Path, control: &Control) -> Result<Option<FileView>> {
    let Some(file) = open_file(folder, path, control)? else { return Ok(None) };
    let size = file.len_bytes();
    let view = file.view(0..size).map_err(|source| Error::ReadFailed { source })?;
    Ok(Some(view))
}

impl Store {
    /// Opens the packs of the object folder `folder`. `is_partial`: the repository is a partial clone.
    pub fn open(folder: FolderHandle, kind: HashKind, is_partial: bool, control: &Control) -> Result<Store> {
        let alternates = read_file(&folder, Path::new("info/alternates"), control)?;
        let hint = match alternates.is_some_and(|view| !view.bytes().is_empty()) {
            true => {
                "; objects/info/alternates names other folders, which are not followed: run 'git repack -ad'"
            }
            false if is_partial => {
                "; it is a partial clone, and nothing is fetched: run 'git fetch --refetch'"
            }
            false => "",
        };
        let mut store =
            Store { folder, kind, packs: Vec::new(), last: AtomicUsize::new(0), large: Mutex::new(()), hint };
        let Some(pack) = store.folder.folder(Path::new("pack"))? else { return Ok(store) };
        let mut names = pack.names(MAX_NAMES)?;
        names.retain(|name| Path::new(name).extension().is_some_and(|extension| extension == "idx"));
        text::order::sort_by(&mut names, Ord::cmp);
        if names.len() > MAX_PACKS {
            let packs = names.len();
            return Err(Fault::Unsuitable(format!(
                "the repository has {packs} packs; expected at most {MAX_PACKS}: run 'git gc'"
            )));
        }
        for name in names {
            let path = Path::new("pack").join(name);
            let Some(index_view) = read_file(&store.folder, &path, control)? else { continue };
            let index = PackIndex::read(index_view.bytes(), kind)
                .ok_or_else(|| Fault::damaged(path.display(), "it is no index of a pack"))?;
            store.packs.push(Pack { path, index, index_view, file: OnceLock::new() });
        }
        Ok(store)
    }

    /// The pack that holds the object `id`, and where it begins there.
    pub fn find(&self, id: &ObjectId) -> Result<Option<(usize, u64)>> {
        let last = self.last.load(Ordering::Relaxed);
        let others = (0..self.packs.len()).filter(|&number| number != last);
        for number in [last].into_iter().filter(|&last| last < self.packs.len()).chain(others) {
            if let Some(offset) = self.find_in(number, id)? {
                self.last.store(number, Ordering::Relaxed);
                return Ok(Some((number, offset)));
            }
        }
        Ok(None)
    }

    /// Where the object `id` begins in the pack `number`.
    pub fn find_in(&self, number: usize, id: &ObjectId) -> Result<Option<u64>> {
        let pack = &self.packs[number];
        let found = pack.index.find(pack.index_view.bytes(), id);
        found.map_err(|why| Fault::damaged(pack.path.display(), why))
    }

    /// The file of the pack `number`.
    pub fn pack(&self, number: usize, control: &Control) -> Result<&Arc<OpenFile>> {
        let pack = &self.packs[number];
        if let Some(file) = pack.file.get() {
            return Ok(file);
        }
        let path = pack.path.with_extension("pack");
        let damaged = || Fault::damaged(path.display(), "it is missing, or no pack of version 2 or 3");
        let file = open_file(&self.folder, &path, control)?.ok_or_else(damaged)?;
        let start = file.clone().view(0..12).map_err(|source| Error::ReadFailed { source })?;
        if !is_pack(start.bytes()) {
            return Err(damaged());
        }
        Ok(pack.file.get_or_init(|| file))
    }

    /// The file of an object outside packs. `None` if there is none.
    pub fn loose(&self, id: &ObjectId, control: &Control) -> Result<Option<FileView>> {
        let name = id.to_string();
        let (folder, file) = name.split_at(2);
        read_file(&self.folder, &Path::new(folder).join(file), control)
    }

    /// Waits until no other thread holds large files, if a file of this size in bytes is one.
    pub fn alone_if_large(&self, size: u64) -> Option<MutexGuard<'_, ()>> {
        (size > LARGE).then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The fault of an object that is not here.
    pub fn missing(&self, id: &ObjectId) -> Fault {
        Fault::Unsuitable(format!("the object {id} is not in the repository{}", self.hint))
    }
}

/// A store is shared by all threads of one analysis.
pub type SharedStore = Arc<Store>;
