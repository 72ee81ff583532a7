//! Files that stay open from one small read to the next: to open and close one takes as long as all else of such a read.
//!
//! Whoever asks has looked at the file by its name a moment ago and gets it only in that very state. An open file keeps
//! its inode, so the number cannot meanwhile be another file's. On a network it is the opening that asks the server what
//! is new, so only files of this machine stay open. Knows no names and no bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use rustix::process::{Resource, getrlimit};

use super::version::FileStamp;
use super::view::OpenFile;

/// Few, as each keeps a deleted file's space: who pages through a file asks for the same one again and again.
const MOST: u64 = 16;

/// Of the descriptors that the process may have, one in so many.
const SHARE: u64 = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    most: usize,
    files: Mutex<Vec<Arc<OpenFile>>>,
}

impl OpenFiles {
    /// None yet, and never more than a small part of the descriptors that the process may have.
    pub(crate) fn new() -> OpenFiles {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        OpenFiles { most: (descriptors / SHARE).min(MOST) as usize, files: Mutex::default() }
    }

    /// The file in this very state, if it is open.
    pub(crate) fn get(&self, stamp: &FileStamp) -> Option<Arc<OpenFile>> {
        self.lock().iter().find(|file| file.stamp() == stamp).cloned()
    }

    /// Keeps open a file of a local file system that was found to be in the state of its stamp, if that is not racy and
    /// there is room. None makes room for another: to be the last to close a deleted file is to wait until its space is free.
    pub(crate) fn keep(&self, file: Arc<OpenFile>) {
        if file.stamp().is_racy(SystemTime::now()) {
            return;
        }
        let mut files = self.lock();
        // In another state, or by another who was as fast.
        match files.iter().position(|other| other.stamp().same_file(file.stamp())) {
            Some(nth) => files[nth] = file,
            None if files.len() < self.most => files.push(file),
            None => {}
        }
    }

    /// Closes a file, in whatever state. May wait for the disk.
    pub(crate) fn close(&self, stamp: &FileStamp) {
        let mut files = self.lock();
        let nth = files.iter().position(|file| file.stamp().same_file(stamp));
        let closed = nth.map(|nth| files.swap_remove(nth));
        drop(files);
        drop(closed);
    }

    /// Closes all, on a thread that may wait for the disk.
    pub(crate) fn close_all(&self) {
        let files = std::mem::take(&mut *self.lock());
        if !files.is_empty() {
            // Where there is no thread for it, it happens here.
            let _ = thread::Builder::new().name("close".into()).stack_size(64 * 1024).spawn(|| drop(files));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OpenFile>>> {
        // Every critical section leaves the list whole at every step, so a panic in one harms no other.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn open_files(most: usize) -> OpenFiles {
        OpenFiles { most, files: Mutex::default() }
    }

    /// An old file.
    fn file() -> (File, Arc<OpenFile>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"text\n").unwrap();
        let opened = open(&file);
        (file, opened)
    }

    fn open(file: &File) -> Arc<OpenFile> {
        let mut stat = rustix::fs::fstat(file).unwrap();
        // Only the clock can set this time.
        stat.st_ctime -= 10;
        Arc::new(OpenFile::new(file.try_clone().unwrap(), stat))
    }

    fn until_nobody_else_has(file: &Arc<OpenFile>) {
        while Arc::strong_count(file) > 1 {
            thread::yield_now();
        }
    }

    #[test]
    fn a_file_is_found_in_the_very_state_in_which_it_was_kept() {
        let (open_files, (mut writer, one), (_, other)) = (open_files(16), file(), file());
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
        until_nobody_else_has(&other);
    }

    #[test]
    fn past_the_bound_no_more_stay_open_until_all_are_closed() {
        let (open_files, (_, first), (_, last)) = (open_files(2), file(), file());
        open_files.keep(first.clone());
        open_files.keep(file().1);
        open_files.keep(last.clone());
        assert!(open_files.get(first.stamp()).is_some() && open_files.get(last.stamp()).is_none());
        open_files.close_all();
        until_nobody_else_has(&first);
        open_files.keep(last.clone());
        assert!(open_files.get(last.stamp()).is_some());
    }

    #[test]
    fn a_file_that_changed_a_moment_ago_does_not_stay_open_as_it_may_change_again_unseen() {
        let (open_files, (writer, _)) = (open_files(16), file());
        let mut stat = rustix::fs::fstat(&writer).unwrap();
        // However long this test is held up.
        stat.st_ctime += 1_000;
        let young = Arc::new(OpenFile::new(writer.try_clone().unwrap(), stat));
        open_files.keep(young.clone());
        assert!(open_files.get(young.stamp()).is_none());
    }

    #[test]
    fn files_of_a_process_with_few_descriptors_do_not_stay_open() {
        let (none, (_, kept)) = (open_files(0), file());
        none.keep(kept.clone());
        assert!(none.get(kept.stamp()).is_none());
        assert!(OpenFiles::new().most <= MOST as usize);
    }
}
