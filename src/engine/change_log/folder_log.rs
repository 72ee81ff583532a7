//! The changes of one served folder that are done: each is a file, whose name is its number.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::journal_folder::JournalFolder;
use super::{ChangeNumber, DAMAGED, held};

/// The most changes that are kept of one folder.
const MAX_CHANGES: usize = 50_000;

/// The most changes since the last one of this server that are looked at one by one. The sizes of all are asked for beyond.
const MOST_LOOKED_AT: u64 = 1_000;

/// Digits of the name of a change that is done.
const DIGITS: usize = 12;

/// Numbers are below.
pub(super) const LARGEST_NUMBER: ChangeNumber = 10u64.pow(DIGITS as u32) - MAX_CHANGES as ChangeNumber;

/// The folder of the changes of one served folder that are done.
const DONE: &str = "done";

/// A file that is there if changes were removed to make room.
pub(super) const DROPPED: &str = "dropped";

/// The changes of one served folder that are done.
#[derive(Debug)]
pub(super) struct FolderLog {
    pub(super) path: PathBuf,
    pub(super) done: JournalFolder,
    /// What this process knows of the changes.
    known: Mutex<Option<Known>>,
}

/// What was kept when the last change was added.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Bytes of all changes.
    bytes: u64,
    /// The number of the last change.
    last: ChangeNumber,
}

impl FolderLog {
    /// The changes of the served folder at the path `root`, in the journal at `path`.
    pub(super) fn new(path: &Path, root: &[u8]) -> Arc<FolderLog> {
        let path = path.join(format!("{:016x}", journal::hash(root)));
        let done = JournalFolder::new(path.join(DONE));
        Arc::new(FolderLog { path, done, known: Mutex::default() })
    }

    /// The numbers of the changes that were set aside.
    pub(super) fn damaged(&self) -> io::Result<Vec<ChangeNumber>> {
        let Some(done) = self.done.known()? else { return Ok(Vec::new()) };
        let names = done.names_in()?;
        let number = |name: &OsString| number_of(name.to_str()?.strip_suffix(DAMAGED)?.as_ref());
        Ok(names.iter().filter_map(number).collect())
    }

    pub(super) fn numbers(&self) -> io::Result<Vec<ChangeNumber>> {
        let Some(done) = self.done.look()? else { return Ok(Vec::new()) };
        let names = done.names_in()?;
        Ok(names.iter().filter_map(|name| number_of(name)).collect())
    }

    /// Removes the oldest changes if those that are kept have more bytes than `max`, whichever server has added them. `last`: the change
    /// that was added now.
    pub(super) fn keep_to(&self, last: ChangeNumber, max: u64) -> io::Result<()> {
        let mut known = held(&self.known);
        if let Some(estimate) = self.estimate(*known, last)?.filter(|estimate| estimate.bytes <= max) {
            *known = Some(estimate);
            return Ok(());
        }
        let done = self.done.make()?;
        let mut numbers = self.numbers()?;
        numbers.sort_unstable();
        let lens: Vec<u64> =
            numbers.iter().map(|number| done.len_of(&name_of(*number)).unwrap_or(0)).collect();
        let (mut bytes, mut left) = (lens.iter().sum::<u64>(), numbers.len());
        // The last one stays, so that its number is not given again.
        for (number, len) in numbers.iter().zip(lens) {
            if left <= 1 || bytes <= max && left <= MAX_CHANGES {
                break;
            }
            if left == numbers.len() && done.len_of(DROPPED.as_ref()).is_none() {
                done.open_or_make(DROPPED.as_ref())?;
            }
            done.unlink(&name_of(*number))?;
            (bytes, left) = (bytes - len, left - 1);
        }
        *known = Some(Known { bytes, last });
        Ok(())
    }

    /// What is kept at most behind the change `last`, with those that other servers have added since. `None`: all have to be counted.
    fn estimate(&self, known: Option<Known>, last: ChangeNumber) -> io::Result<Option<Known>> {
        let Some(before) = known.filter(|before| last.saturating_sub(before.last) <= MOST_LOOKED_AT) else {
            return Ok(None);
        };
        let Some(done) = self.done.known()? else { return Ok(None) };
        // Another thread may have added a later one before.
        let new = before.last.min(last - 1) + 1..=last;
        let added: u64 = new.map(|number| done.len_of(&name_of(number)).unwrap_or(0)).sum();
        Ok(Some(Known { bytes: before.bytes + added, last: last.max(before.last) }))
    }
}

/// The name of a change that is done.
pub(super) fn name_of(number: ChangeNumber) -> OsString {
    format!("{number:0DIGITS$}").into()
}

/// The number in such a name. `None`: it is none.
fn number_of(name: &OsStr) -> Option<ChangeNumber> {
    let digits =
        name.to_str().filter(|name| name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}
