//! Files that stay open from one small read to the next: to open and close one takes as long as all else of such a read.
//!
//! Whoever asks has looked at the file by its name a moment ago and gets it only in that very state. An open file keeps
//! its inode, so the number cannot meanwhile be another file's. On a network it is the opening that asks the server what
//! is new, so only files of this machine stay open. Knows no names and no bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};

use super::view::{FileStamp, OpenFile};

/// Few, as each keeps a deleted file's space: who pages through a file asks for the same one again and again.
const MOST: u64 = 16;

/// Of the descriptors that the process may have, one in so many.
const SHARE: u64 = 64;

/// File systems whose every state the kernel itself knows, by their numbers for statfs(2): ext2 to 4, XFS, Btrfs, F2FS,
/// ZFS, bcachefs, tmpfs, overlayfs.
const LOCAL: [u32; 8] =
    [0x0000_ef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e, 0x0102_1994, 0x794c_7630];

/// See the module.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The one asked for last comes last.
    files: Vec<Arc<OpenFile>>,
    /// The device asked about last, and whether it is of this machine.
    device: Option<(u64, bool)>,
}

impl OpenFiles {
    /// None yet, and never more than a small part of the descriptors that the process may have.
    pub(crate) fn new() -> OpenFiles {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        OpenFiles { most: (descriptors / SHARE).min(MOST) as usize, state: Mutex::default() }
    }

    /// The file in this very state, if it is open.
    pub(crate) fn get(&self, stamp: &FileStamp) -> Option<Arc<OpenFile>> {
        let mut state = self.lock();
        let nth = state.files.iter().rposition(|file| file.stamp() == stamp)?;
        state.files[nth..].rotate_left(1);
        state.files.last().cloned()
    }

    /// Keeps a file open, perhaps instead of another, if it is of this machine.
    pub(crate) fn keep(&self, file: Arc<OpenFile>) {
        let mut state = self.lock();
        if self.most == 0 || !state.is_local(&file) {
            return;
        }
        // In another state, or by another who was as fast.
        let old = state.files.iter().position(|other| other.stamp().same_file(file.stamp()));
        let nth = old.or_else(|| (state.files.len() == self.most).then_some(0));
        let closed = nth.map(|nth| state.files.remove(nth));
        state.files.push(file);
        drop(state);
        // Outside the lock: the last to close a deleted file waits until its space is free.
        drop(closed);
    }

    /// Closes a file, in whatever state.
    pub(crate) fn close(&self, stamp: &FileStamp) {
        let mut state = self.lock();
        let nth = state.files.iter().position(|file| file.stamp().same_file(stamp));
        let closed = nth.map(|nth| state.files.remove(nth));
        drop(state);
        drop(closed);
    }

    /// Closes all.
    pub(crate) fn close_all(&self) {
        let files = std::mem::take(&mut self.lock().files);
        drop(files);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the list whole at every step, so a panic in one harms no other.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_local(&mut self, file: &OpenFile) -> bool {
        let device = file.stamp().dev;
        if let Some((_, local)) = self.device.filter(|(known, _)| *known == device) {
            return local;
        }
        let local =
            rustix::fs::fstatfs(file.file()).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)));
        self.device = Some((device, local));
        local
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn file() -> (File, Arc<OpenFile>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"text\n").unwrap();
        let opened = open(&file);
        (file, opened)
    }

    fn open(file: &File) -> Arc<OpenFile> {
        let stat = rustix::fs::fstat(file).unwrap();
        Arc::new(OpenFile::new(file.try_clone().unwrap(), stat))
    }

    #[test]
    fn a_file_is_found_in_the_very_state_in_which_it_was_kept() {
        let (open_files, (mut writer, one), (_, other)) = (OpenFiles::new(), file(), file());
        open_files.keep(one.clone());
        open_files.keep(other.clone());
        assert!(Arc::ptr_eq(&open_files.get(one.stamp()).unwrap(), &one));
        assert!(Arc::ptr_eq(&open_files.get(other.stamp()).unwrap(), &other));
        writer.write_all(b"more\n").unwrap();
        let now = open(&writer);
        assert!(open_files.get(now.stamp()).is_none());
        open_files.keep(now.clone());
        assert!(open_files.get(one.stamp()).is_none(), "one state of a file is enough");
        open_files.close(one.stamp());
        assert!(open_files.get(now.stamp()).is_none(), "in whatever state");
        open_files.close_all();
        assert!(open_files.get(other.stamp()).is_none());
        assert_eq!(Arc::strong_count(&other), 1);
    }

    #[test]
    fn past_the_bound_the_file_that_nobody_asked_for_is_closed() {
        let (open_files, (_, asked), (_, unasked)) = (OpenFiles::new(), file(), file());
        assert_eq!(open_files.most, MOST as usize);
        open_files.keep(asked.clone());
        open_files.keep(unasked.clone());
        for _ in 2..=open_files.most {
            assert!(open_files.get(asked.stamp()).is_some());
            open_files.keep(file().1);
        }
        assert!(open_files.get(asked.stamp()).is_some() && open_files.get(unasked.stamp()).is_none());
        assert_eq!(open_files.lock().files.len(), open_files.most);
        assert_eq!(Arc::strong_count(&unasked), 1);
    }

    #[test]
    fn files_of_another_machine_and_of_a_process_with_few_descriptors_do_not_stay_open() {
        let (open_files, (_, kept)) = (OpenFiles { most: 0, state: Mutex::default() }, file());
        open_files.keep(kept.clone());
        assert!(open_files.get(kept.stamp()).is_none());
        // A file system that is none of those for files.
        let foreign = open(&File::open("/proc/self/status").unwrap());
        let open_files = OpenFiles::new();
        open_files.keep(foreign.clone());
        assert!(open_files.get(foreign.stamp()).is_none());
        open_files.keep(kept.clone());
        assert!(open_files.get(kept.stamp()).is_some());
    }
}
