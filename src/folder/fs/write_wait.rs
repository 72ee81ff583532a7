//! Waits for the end of other programs' writes, with one thread per file, so that a write that never ends
//! harms only requests for its file (contract 8).
//!
//! A thread that waits in the kernel for a write(2) cannot be interrupted. So only one request for a file
//! waits there at a time. The others wait here, until their deadline, for a kernel wait that began after they
//! arrived. `writers.rs` explains the effect of a running write.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::file_system::FileSystem;
use super::view::OpenFile;
use super::writers::wait_for_running_write;
use crate::{Control, Result};

/// The longest time until a request notices that it was stopped.
const LOOK: Duration = Duration::from_millis(25);

/// Device and inode.
type File = (u64, u64);

/// The waits for writes of other programs, by file.
#[derive(Debug, Default)]
pub struct WriteWaits {
    files: Mutex<HashMap<File, Waits>>,
    ended: Condvar,
}

/// The kernel waits for one file, numbered from 1 in the order of their start.
#[derive(Debug, Default)]
struct Waits {
    begun: u64,
    ended: u64,
    /// Requests that use this entry. The last one removes it.
    requests: usize,
}

/// A request that uses the entry of a file.
struct Request<'w> {
    waits: &'w WriteWaits,
    file: File,
}

impl WriteWaits {
    /// Waits until every write(2) that is running on `file` now has ended. Returns an error if the time is up
    /// before that is certain, or if the request is stopped.
    pub fn wait(&self, file: &OpenFile, system: FileSystem, control: &Control) -> Result<()> {
        let in_kernel = || wait_for_running_write(file.file(), system);
        self.wait_with((file.stamp().dev, file.stamp().ino), control, in_kernel)
    }

    fn wait_with(&self, file: File, control: &Control, in_kernel: impl FnOnce()) -> Result<()> {
        let request = self.enter(file);
        let mut files = self.lock();
        let of = |files: &HashMap<File, Waits>| files.get(&file).map_or((0, 0), |of| (of.begun, of.ended));
        let first_that_counts = of(&files).0 + 1;
        loop {
            match of(&files) {
                (_, ended) if first_that_counts <= ended => return Ok(()),
                (begun, ended) if begun == ended || switches::is_off("write-wait-turns") => break,
                _ => {}
            }
            control.check()?;
            let left = control.wait_deadline().saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(control.waited_out());
            }
            let waited = self.ended.wait_timeout(files, LOOK.min(left));
            files = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        files.entry(file).or_default().begun += 1;
        drop(files);
        in_kernel();
        self.lock().entry(file).or_default().ended += 1;
        self.ended.notify_all();
        drop(request);
        Ok(())
    }

    fn enter(&self, file: File) -> Request<'_> {
        self.lock().entry(file).or_default().requests += 1;
        Request { waits: self, file }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<File, Waits>> {
        // Every critical section leaves the map consistent.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let mut files = self.waits.lock();
        if let Some(of) = files.get_mut(&self.file) {
            of.requests -= 1;
            if of.requests == 0 {
                files.remove(&self.file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::thread;

    use super::*;
    use crate::Error;

    const FILE: File = (1, 1);

    fn patient() -> Control {
        Control::new(Duration::from_secs(60))
    }

    /// A wait in the kernel that reports its start, and ends on a message.
    fn held() -> (impl FnOnce() + Send, Receiver<()>, Sender<()>) {
        let (began, begins) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let wait = move || {
            began.send(()).unwrap();
            ends.recv().unwrap();
        };
        (wait, begins, end)
    }

    #[test]
    fn of_those_that_wait_for_one_file_one_is_in_the_kernel_and_the_others_end_when_their_time_is_up() {
        let waits = WriteWaits::default();
        let (in_first, begins, end) = held();
        thread::scope(|scope| {
            let first = scope.spawn(|| waits.wait_with(FILE, &patient(), in_first));
            begins.recv().unwrap();
            let must_not = || panic!("a second one is in the kernel");
            let late = Control::new(Duration::from_millis(1));
            assert!(matches!(waits.wait_with(FILE, &late, must_not).err(), Some(Error::TimedOut)));
            let cancelled = patient();
            cancelled.cancel();
            assert!(matches!(waits.wait_with(FILE, &cancelled, must_not).err(), Some(Error::Cancelled)));
            let mut other = false;
            waits.wait_with((1, 2), &patient(), || other = true).unwrap();
            assert!(other, "another file is waited for");
            end.send(()).unwrap();
            first.join().unwrap().unwrap();
        });
        assert!(waits.lock().is_empty());
    }

    #[test]
    fn one_wait_that_begins_after_they_came_does_for_all_that_came_meanwhile() {
        const MANY: usize = 8;
        let (waits, in_kernel) = (WriteWaits::default(), Mutex::new(0));
        let (in_first, begins, end) = held();
        thread::scope(|scope| {
            scope.spawn(|| waits.wait_with(FILE, &patient(), in_first));
            begins.recv().unwrap();
            for _ in 0..MANY {
                scope
                    .spawn(|| waits.wait_with(FILE, &patient(), || *in_kernel.lock().unwrap() += 1).unwrap());
            }
            while waits.lock()[&FILE].requests < 1 + MANY {
                thread::yield_now();
            }
            end.send(()).unwrap();
        });
        // A request may have entered without checking the entry yet when the wait of the others began.
        assert!((1..MANY).contains(&*in_kernel.lock().unwrap()), "{}", in_kernel.lock().unwrap());
        assert!(waits.lock().is_empty());
    }
}
