//! The names in one folder, sorted.
//!
//! Reads a folder, and asks for the kinds of entries where the order needs them; knows no paths and nothing that is excluded, except `.git` and the files of this program.

use std::ffi::OsStr;

use super::kind::{EntryKind, KindResult, kind_by_look, kind_of};
use super::{WalkOrder, failed};
use crate::fs::repository::Marks;
use crate::fs::temporary;
use crate::ignored::RuleFiles;
use crate::live::Kept;
use crate::path::is_git;
use crate::{Control, Result};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{Dir, FileType};

/// After how many names it looks whether the time is up.
const NAMES_BETWEEN_CHECKS: usize = 128;

/// The names in one folder, sorted. They share one buffer, so that many entries cost few allocations.
#[derive(Debug, Default, Clone)]
pub struct Names {
    bytes: Vec<u8>,
    entries: Vec<NameEntry>,
    /// Whether the folder holds temporary files of this program.
    pub(super) has_temporary: bool,
    /// Folders that have names of temporary files.
    pub(super) reserved: usize,
    /// Which files of rules for git the folder holds.
    pub(super) rules: RuleFiles,
    /// Which names the folder has by which git knows its own.
    pub(super) marks: Marks,
}

#[derive(Debug, Clone)]
struct NameEntry {
    start: usize,
    len: u16,
    /// `None` if its folder does not say; never in the order of paths.
    kind: Option<KindResult>,
    /// See [`key_of`]: of the name without the bytes that all names start with.
    key: u64,
}

/// A number that is ordered as the first bytes of a name: names with a smaller one come first.
fn key_of(name: &[u8]) -> u64 {
    let mut key = [0; 8];
    let len = name.len().min(8);
    key[..len].copy_from_slice(&name[..len]);
    u64::from_be_bytes(key)
}

impl Names {
    pub(super) fn get(&self, at: usize) -> Option<(&[u8], Option<KindResult>)> {
        let entry = self.entries.get(at)?;
        Some((self.name(entry), entry.kind))
    }

    fn name(&self, entry: &NameEntry) -> &[u8] {
        &self.bytes[entry.start..entry.start + usize::from(entry.len)]
    }

    /// Finds out the kinds that the file system did not say. An entry that is gone is left out.
    fn find_kinds(&mut self, folder: &OwnedFd) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain_mut(|entry| {
            if entry.kind.is_none() {
                entry.kind = kind_by_look(folder, OsStr::from_bytes(self.name(entry))).transpose();
            }
            entry.kind.is_some()
        });
        self.entries = entries;
    }

    /// Whether they are all that there is to know of the entries, so that they can be kept while the folder does not change.
    pub(super) fn are_enough(&self) -> bool {
        !self.marks.suffice() && self.entries.iter().all(|entry| matches!(entry.kind, Some(Ok(_))))
    }

    /// The same in another order. Needs the kinds.
    pub(super) fn in_order(&self, order: WalkOrder) -> Names {
        let mut names = self.clone();
        names.order(order);
        names
    }

    fn sort(&mut self, folder: &OwnedFd, order: WalkOrder) {
        if !switches::is_off("path-order-kinds") && order == WalkOrder::Path {
            self.find_kinds(folder);
        }
        self.order(order);
    }

    fn order(&mut self, order: WalkOrder) {
        let mut entries = std::mem::take(&mut self.entries);
        let common = self.common_start(&entries);
        for entry in &mut entries {
            entry.key = key_of(&self.name(entry)[common..]);
        }
        // Most names differ in the bytes of their keys. Where keys are equal, the names decide.
        match order {
            WalkOrder::Name => entries.sort_unstable_by(|one, other| {
                one.key.cmp(&other.key).then_with(|| self.name(one).cmp(self.name(other)))
            }),
            WalkOrder::Path => {
                entries.sort_unstable_by(|one, other| self.path_key(one).cmp(self.path_key(other)));
            }
        }
        self.entries = entries;
    }

    /// Number of bytes that all names start with.
    fn common_start(&self, entries: &[NameEntry]) -> usize {
        let Some((first, rest)) = entries.split_first() else { return 0 };
        let first = self.name(first);
        rest.iter().fold(first.len(), |common, entry| {
            let pairs = first[..common].iter().zip(self.name(entry));
            pairs.take_while(|(one, other)| one == other).count()
        })
    }

    /// The bytes of a name, for a folder with a final `/`.
    fn path_key<'n>(&'n self, entry: &NameEntry) -> impl Iterator<Item = u8> + use<'n> {
        let slash = (entry.kind == Some(Ok(EntryKind::Folder))).then_some(b'/');
        self.name(entry).iter().copied().chain(slash)
    }
}

impl Kept for Names {
    fn bytes(&self) -> usize {
        size_of::<Names>() + self.bytes.capacity() + self.entries.capacity() * size_of::<NameEntry>()
    }

    fn entries(&self) -> usize {
        self.entries.len()
    }

    fn name(&self, number: usize) -> Option<&[u8]> {
        self.entries.get(number).map(|entry| self.name(entry))
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).ok()
    }
}

/// Reads the names in `folder`, without `.git` and our temporary files. In time: of a part, the first names in order are not known.
pub(super) fn read_names(folder: &OwnedFd, order: WalkOrder, control: &Control) -> Result<Names> {
    let mut names = Names::default();
    for (nth, entry) in Dir::read_from(folder).map_err(failed)?.enumerate() {
        if nth % NAMES_BETWEEN_CHECKS == NAMES_BETWEEN_CHECKS - 1 {
            control.check()?;
        }
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_bytes();
        names.rules.note(name);
        names.marks.note(name);
        if matches!(name, b"." | b"..") || is_git(name) {
            continue;
        }
        if temporary::is_temporary(name) {
            names.has_temporary = true;
            names.reserved += usize::from(entry.file_type() == FileType::Directory);
            continue;
        }
        let Ok(len) = name.len().try_into() else { continue };
        let kind =
            Some(entry.file_type()).filter(|kind| *kind != FileType::Unknown).map(|kind| Ok(kind_of(kind)));
        names.entries.push(NameEntry { start: names.bytes.len(), len, kind, key: 0 });
        names.bytes.extend_from_slice(name);
    }
    names.sort(folder, order);
    names.bytes.shrink_to_fit();
    names.entries.shrink_to_fit();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn by_paths_the_order_is_the_same_where_the_file_system_does_not_say_the_kinds() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        for file in ["a-b", "a.txt", "a0", "gone"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let folder = sys::testing::open_folder(dir.path());
        let control = Control::new(std::time::Duration::from_secs(60));
        let mut names = read_names(&folder, WalkOrder::Name, &control).unwrap();
        names.entries.iter_mut().for_each(|entry| entry.kind = None);
        fs::remove_file(dir.path().join("gone")).unwrap();
        names.sort(&folder, WalkOrder::Path);
        let sorted: Vec<_> = names.entries.iter().map(|entry| (names.name(entry), entry.kind)).collect();
        let file = Some(Ok(EntryKind::File));
        let expected: [(&[u8], _); 4] =
            [(b"a-b", file), (b"a.txt", file), (b"a", Some(Ok(EntryKind::Folder))), (b"a0", file)];
        assert_eq!(sorted, expected);
    }
}
