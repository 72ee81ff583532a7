//! A model of the disk on which a tree and the journal are, and what a loss of power leaves of it.
//!
//! The live state is that of the folders themselves. Each change of names that was seen is kept or lost as a whole, as file systems with a
//! log do it. In one folder, those before it are kept with it; in different folders, any may be lost that no flush has made durable.
//! Bytes that were not flushed may be there, missing, or there in part.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::path::{Path, PathBuf};

use folder::fs::failpoint::Event;
use sys::testing::{MetadataExt, PermissionsExt};

type Inode = u64;

/// The names in each folder.
type Names = BTreeMap<Inode, BTreeMap<String, Inode>>;

/// What was seen to change at once.
struct Step {
    /// By folder and name, what has this name then.
    names: BTreeMap<(Inode, String), Option<Inode>>,
    /// The folders in which names changed, and those that are new or have a new name: a flush of a folder keeps its own name, too.
    touched: BTreeSet<Inode>,
    is_durable: bool,
}

struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
}

/// See the module.
pub(super) struct Disk {
    roots: Vec<(PathBuf, Inode)>,
    first: Names,
    live: Names,
    steps: Vec<Step>,
    contents: BTreeMap<Inode, Content>,
    /// All folders that were ever seen.
    folders: BTreeSet<Inode>,
    /// All that was ever seen, so that nothing new gets the same inode.
    open: BTreeMap<Inode, File>,
}

/// What chance decides.
pub(super) trait Chance: FnMut(usize) -> usize {}

impl<F: FnMut(usize) -> usize> Chance for F {}

fn inode(path: &Path) -> Inode {
    path.symlink_metadata().unwrap().ino()
}

/// The names in a folder and in all folders in it, and the bytes of the files. `open` gets all that are not in it.
fn read(
    path: &Path,
    names: &mut Names,
    files: &mut BTreeMap<Inode, Vec<u8>>,
    open: &mut BTreeMap<Inode, File>,
) {
    let mut here = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
        let inode = inode(&entry.path());
        open.entry(inode).or_insert_with(|| File::open(entry.path()).unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => read(&entry.path(), names, files, open),
            false => _ = files.insert(inode, fs::read(entry.path()).unwrap()),
        }
        here.insert(entry.file_name().into_string().unwrap(), inode);
    }
    names.insert(inode(path), here);
}

impl Disk {
    /// A disk on which everything in these folders is durable.
    pub(super) fn new(roots: &[&Path]) -> Disk {
        let roots = roots.iter().map(|root| (root.to_path_buf(), inode(root))).collect();
        let (first, live, steps, contents) = (Names::new(), Names::new(), Vec::new(), BTreeMap::new());
        let (folders, open) = (BTreeSet::new(), BTreeMap::new());
        let mut disk = Disk { roots, first, live, steps, contents, folders, open };
        disk.look();
        (disk.first, disk.steps) = (disk.live.clone(), Vec::new());
        disk.contents.values_mut().for_each(|content| content.durable = content.live.clone());
        disk
    }

    /// Reads the live state.
    fn look(&mut self) {
        let (mut names, mut files) = (Names::new(), BTreeMap::new());
        self.roots.iter().for_each(|(root, _)| read(root, &mut names, &mut files, &mut self.open));
        for (inode, live) in files {
            let content =
                self.contents.entry(inode).or_insert(Content { live: Vec::new(), durable: Vec::new() });
            content.live = live;
        }
        let mut changed = BTreeMap::new();
        let nothing = BTreeMap::new();
        let folders: BTreeSet<Inode> = self.live.keys().chain(names.keys()).copied().collect();
        for folder in &folders {
            let [before, now] = [&self.live, &names].map(|names| names.get(folder).unwrap_or(&nothing));
            for name in before.keys().chain(now.keys()) {
                if before.get(name) != now.get(name) {
                    changed.insert((*folder, name.clone()), now.get(name).copied());
                }
            }
        }
        let new = names.keys().filter(|folder| !self.live.contains_key(folder));
        let moved = changed.values().flatten().filter(|inode| names.contains_key(inode));
        let touched = changed.keys().map(|(folder, _)| *folder).chain(new.copied()).chain(moved.copied());
        let touched: BTreeSet<Inode> = touched.collect();
        if !touched.is_empty() {
            self.steps.push(Step { names: changed, touched, is_durable: false });
        }
        self.folders.extend(folders);
        self.live = names;
    }

    pub(super) fn hear(&mut self, event: Event) {
        self.look();
        match event {
            Event::Step => {}
            Event::FileFlushed(inode) => {
                let content = self.contents.get_mut(&inode).expect("a file with a name");
                content.durable = content.live.clone();
            }
            Event::FolderFlushed(inode) => {
                // What came before in a folder is durable with what came later.
                let mut folders = BTreeSet::from([inode]);
                for step in self.steps.iter_mut().rev() {
                    if !step.touched.is_disjoint(&folders) {
                        step.is_durable = true;
                        folders.extend(&step.touched);
                    }
                }
            }
        }
    }

    /// The names that a loss of power leaves.
    fn names_left(&self, chance: &mut impl Chance) -> Names {
        let (mut names, mut lost) = (self.first.clone(), BTreeSet::new());
        // Of a hundred, so many changes that are not durable are kept.
        let kept = [0, 100, 50, 80][chance(4)];
        for step in &self.steps {
            let can_be_kept = step.touched.is_disjoint(&lost);
            assert!(can_be_kept || !step.is_durable);
            if !(step.is_durable || can_be_kept && chance(100) < kept) {
                lost.extend(&step.touched);
                continue;
            }
            for ((folder, name), now) in &step.names {
                let names = names.entry(*folder).or_default();
                match now {
                    Some(inode) => _ = names.insert(name.clone(), *inode),
                    None => _ = names.remove(name),
                }
            }
        }
        names
    }

    fn bytes_left(&self, inode: Inode, chance: &mut impl Chance) -> Vec<u8> {
        let Content { live, durable } = &self.contents[&inode];
        match chance(4) {
            0 if live != durable => Vec::new(),
            1 if live != durable => live[..live.len() / 2].to_vec(),
            2 => live.clone(),
            _ => durable.clone(),
        }
    }

    /// Makes of the folders what a loss of power leaves. Files and folders that are still there stay the same ones.
    pub(super) fn lose_power(&mut self, chance: &mut impl Chance) {
        self.look();
        let names = self.names_left(chance);
        let stash = tempfile::tempdir_in(self.roots[0].0.parent().unwrap()).unwrap();
        self.roots.iter().for_each(|(root, _)| take_all(root, stash.path()));
        let mut placed = BTreeMap::new();
        for (root, inode) in &self.roots {
            self.place_all(root, *inode, &names, stash.path(), &mut placed, chance);
        }
    }

    fn place_all(
        &self,
        path: &Path,
        folder: Inode,
        names: &Names,
        stash: &Path,
        placed: &mut BTreeMap<Inode, PathBuf>,
        chance: &mut impl Chance,
    ) {
        for (name, inode) in names.get(&folder).into_iter().flatten() {
            let (at, stashed) = (path.join(name), stash.join(inode.to_string()));
            if let Some(placed) = placed.get(inode) {
                fs::hard_link(placed, &at).unwrap();
                continue;
            }
            let is_there = fs::rename(&stashed, &at).is_ok();
            placed.insert(*inode, at.clone());
            if self.folders.contains(inode) {
                let _ = fs::create_dir(&at);
                self.place_all(&at, *inode, names, stash, placed, chance);
            } else {
                fs::write(&at, self.bytes_left(*inode, chance)).unwrap();
            }
            if !is_there {
                fs::set_permissions(&at, Permissions::from_mode(0o700)).unwrap();
            }
        }
    }
}

/// Moves all that is in a folder to where each entry has its inode as its name.
fn take_all(folder: &Path, stash: &Path) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let to = stash.join(inode(&path).to_string());
        if path.symlink_metadata().unwrap().is_dir() {
            take_all(&path, stash);
        }
        match to.exists() {
            true => fs::remove_file(&path).unwrap(),
            false => fs::rename(&path, &to).unwrap(),
        }
    }
}
