//! Power loss after any step of an edit, with a model of the disk (contract 8).
//!
//! The live image is the folder itself. The durable image is what was flushed: the bytes of a file when the
//! file is flushed, the names of a folder when the folder is flushed. After a power loss, a name that was not
//! flushed may exist or not; bytes that were not flushed may be there, missing, or there in part.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use sys::testing::MetadataExt;

use std::path::PathBuf;

use super::*;
use folder::fs::failpoint::Event;
use folder::fs::temporary;

/// The names in one folder, each with its inode.
type Names = BTreeMap<String, u64>;

/// The files of a folder and its subfolders, by path.
type Image = BTreeMap<PathBuf, Vec<u8>>;

#[derive(Debug, Clone)]
struct Folder {
    path: PathBuf,
    inode: u64,
    /// The names at the last flush, and after each step since then. A power loss may leave any of these sets.
    names: Vec<Names>,
}

#[derive(Debug, Clone)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Disk {
    folders: Vec<Folder>,
    contents: BTreeMap<u64, Content>,
}

impl Disk {
    /// A disk on which everything in `folders` is durable.
    fn new(folders: &[&Path]) -> Disk {
        let inode = |path: &Path| path.metadata().unwrap().ino();
        let folder = |path: &&Path| Folder { path: path.into(), inode: inode(path), names: Vec::new() };
        let mut disk = Disk { folders: folders.iter().map(folder).collect(), contents: BTreeMap::new() };
        disk.look();
        disk.contents.values_mut().for_each(|content| content.durable = content.live.clone());
        disk
    }

    /// Reads the live state.
    fn look(&mut self) {
        let before = std::mem::take(&mut self.contents);
        for folder in &mut self.folders {
            let mut names = Names::new();
            for entry in std::fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap()) {
                if !entry.file_type().unwrap().is_file() {
                    continue;
                }
                let inode = entry.metadata().unwrap().ino();
                let known = before.get(&inode).map(|content| content.durable.clone());
                let (live, durable) = (std::fs::read(entry.path()).unwrap(), known.unwrap_or_default());
                self.contents.insert(inode, Content { live, durable });
                names.insert(entry.file_name().into_string().unwrap(), inode);
            }
            if folder.names.last() != Some(&names) {
                folder.names.push(names);
            }
        }
        // A durable name may lead to a file that has lost this name since.
        for (inode, content) in before {
            self.contents.entry(inode).or_insert(content);
        }
    }

    fn hear(&mut self, event: Event) {
        self.look();
        match event {
            Event::Step => {}
            Event::FileFlushed(inode) => {
                let content = self.contents.get_mut(&inode).expect("a file with a name");
                content.durable = content.live.clone();
            }
            Event::FolderFlushed(inode) => {
                let folder = self.folders.iter_mut().find(|folder| folder.inode == inode);
                let names = &mut folder.expect("a folder of ours").names;
                names.drain(..names.len() - 1);
            }
        }
    }

    /// All images that a power loss now may leave.
    fn images(&self) -> Vec<Image> {
        let mut images = vec![Image::new()];
        for folder in &self.folders {
            let states = folder.names.iter().flat_map(|names| self.images_of(folder, names));
            let states: Vec<Image> = states.collect();
            let both =
                |image: &Image, state: &Image| image.clone().into_iter().chain(state.clone()).collect();
            images =
                images.iter().flat_map(|image| states.iter().map(move |state| both(image, state))).collect();
        }
        images
    }

    fn images_of(&self, folder: &Folder, names: &Names) -> Vec<Image> {
        let mut images = vec![Image::new()];
        for (name, inode) in names {
            let Content { live, durable, .. } = &self.contents[inode];
            let mut left = vec![durable.clone()];
            if live != durable {
                left.extend([Vec::new(), live[..live.len() / 2].to_vec(), live.clone()]);
            }
            let with = |image: &Image, bytes: &Vec<u8>| {
                let mut image = image.clone();
                image.insert(folder.path.join(name), bytes.clone());
                image
            };
            images =
                images.iter().flat_map(|image| left.iter().map(move |bytes| with(image, bytes))).collect();
        }
        images
    }
}

/// An edit of the file `file` (through the name `a`), with its text before and after.
struct Case {
    file: &'static str,
    old: Option<String>,
    edits: LineEdits,
    new: String,
}

impl Case {
    /// The folders with the file before the edit.
    fn folders(&self) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        if let Some(old) = &self.old {
            std::fs::write(dir.path().join(self.file), old).unwrap();
        }
        if self.file != "a" {
            symlink(self.file, dir.path().join("a")).unwrap();
        }
        (dir, sub)
    }

    fn edit(&self, workspace: &Workspace) -> Result<Edited> {
        let name = workspace.parse_path("a").unwrap();
        workspace.edit_lines(&name, &self.edits, true, &control())
    }

    /// Cuts the power after each step. Returns the number of steps, or the problem.
    fn cut_everywhere(&self, durability: Durability) -> std::result::Result<usize, String> {
        for step in 1.. {
            let (dir, sub) = self.folders();
            let workspace = open_with(dir.path(), durability);
            let disk = Rc::new(RefCell::new(Disk::new(&[dir.path(), &sub])));
            let (watched, mut answer) = (disk.clone(), None);
            let work = || answer = Some(self.edit(&workspace));
            let watched = move |event| watched.borrow_mut().hear(event);
            let cut = failpoint::crash_at(step, || failpoint::watch(watched, work));
            let answered = answer.is_some_and(|answer| answer.is_ok());
            assert_eq!(answered, !cut, "an edit that is not cut succeeds");
            for image in disk.borrow().images() {
                self.check_after(&image, dir.path(), answered)
                    .map_err(|problem| format!("step {step}: {problem}"))?;
            }
            if !cut {
                return Ok(step - 1);
            }
        }
        unreachable!("a write has an end")
    }

    /// Restarts on the image and checks the file.
    fn check_after(&self, image: &Image, lost: &Path, answered: bool) -> std::result::Result<(), String> {
        let (dir, _) = self.folders();
        let _ = std::fs::remove_file(dir.path().join(self.file));
        for (path, bytes) in image {
            std::fs::write(dir.path().join(path.strip_prefix(lost).unwrap()), bytes).unwrap();
        }
        let workspace = open(dir.path());
        let found = std::fs::read_to_string(dir.path().join(self.file)).ok();
        let is_new = found.as_ref() == Some(&self.new);
        if !is_new && (answered || found != self.old) {
            let found = found.as_deref().map(|text| format!("{} bytes {text:.20?}", text.len()));
            return Err(format!("{found:?} is left, answered: {answered}"));
        }
        assert!(!names(dir.path()).iter().any(|name| temporary::is_temporary(name.as_bytes())), "a leftover");
        self.edit(&workspace).map(|_| ()).map_err(|error| format!("{error:?}"))
    }
}

fn cases() -> [Case; 4] {
    let large = "0123456789abcdef\n".repeat(20_000);
    [
        Case {
            file: "a",
            old: Some("one\ntwo\n".into()),
            edits: replace_line(1, "TWO"),
            new: "one\nTWO\n".into(),
        },
        Case { file: "a", new: format!("{large}end\n"), edits: append("end"), old: Some(large) },
        Case { file: "a", old: None, edits: append("one"), new: "one\n".into() },
        Case { file: "sub/b", old: Some("one\n".into()), edits: append("two"), new: "one\ntwo\n".into() },
    ]
}

#[test]
fn a_loss_of_power_after_any_step_leaves_the_old_file_or_the_new_one_and_after_the_answer_the_new_one() {
    for case in cases() {
        let steps = case
            .cut_everywhere(Durability::Full)
            .unwrap_or_else(|problem| panic!("{}: {problem}", case.file));
        assert!(steps >= 7, "create, write, mode, time, flush, rename, flush of the folder: {steps}");
    }
}

#[test]
fn without_flushes_the_model_of_the_disk_shows_what_a_loss_of_power_takes() {
    for case in cases() {
        let problem = case.cut_everywhere(Durability::None).expect_err("nothing was flushed");
        assert!(problem.contains("is left"), "{problem}");
    }
}
