//! Watches of folders (inotify(7)), and changes of the list of mounts.
//!
//! When a system call of any program has returned, its event can be read here. A queue that was full says so, and no event is lost
//! silently but those of changes that raise none: stores through a map, mounts, and writes through names outside the watched folders.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::Errno;

use crate::watch::{Change, FolderId, NameStep, Notice};

/// What is told of a folder and of the entries in it.
const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// What is told of the content of the files in a folder. An open comes before all that a program does with a file.
const CONTENT_EVENTS: WatchFlags = WatchFlags::OPEN
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR);

/// Bytes of events that are read at a time.
const BUFFER: usize = 16 << 10;

/// A queue of events.
#[derive(Debug)]
pub struct Watches {
    queue: OwnedFd,
    /// The list of mounts, of a queue that tells of folders.
    mounts: Option<File>,
    events: WatchFlags,
}

/// A watched folder. Numbers are not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Watch(i32);

impl Watches {
    /// An empty queue for what folders hold, and for mounts.
    pub fn new() -> Result<Watches, Errno> {
        let mounts = File::open("/proc/self/mountinfo").map_err(|_| Errno::NOENT)?;
        Ok(Watches { queue: empty()?, mounts: Some(mounts), events: EVENTS })
    }

    /// An empty queue for what programs do with files in folders. One of its own: it may overflow when others only read.
    pub fn of_contents() -> Result<Watches, Errno> {
        Ok(Watches { queue: empty()?, mounts: None, events: CONTENT_EVENTS })
    }

    /// Watches a folder. One that is watched already, by whatever path, has the same watch.
    ///
    /// # Errors
    ///
    /// `Errno::NOSPC`: the user has as many watches as the system allows.
    pub fn add(&self, folder: impl AsFd) -> Result<Watch, Errno> {
        let path = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        inotify::add_watch(&self.queue, path, self.events).map(Watch)
    }

    /// Ends a watch. What it told before may still be in the queue.
    pub fn remove(&self, watch: Watch) {
        // It may have ended with its folder.
        let _ = inotify::remove_watch(&self.queue, watch.0);
    }

    /// Tells all events of system calls that returned before. Never waits; with nothing to tell, one system call.
    pub fn drain(&self, tell: &mut dyn FnMut(Notice)) -> Result<(), Errno> {
        let ready = |flags| PollFlags::intersects(&flags, PollFlags::PRI | PollFlags::ERR);
        if let Some(mounts) = &self.mounts {
            let mut handles = [PollFd::new(mounts, PollFlags::PRI), PollFd::new(&self.queue, PollFlags::IN)];
            poll(&mut handles, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            if ready(handles[0].revents()) {
                tell(Notice::Mounts);
            }
            if handles[1].revents().is_empty() {
                return Ok(());
            }
        }
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut events = Reader::new(&self.queue, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => notice(&event).into_iter().for_each(&mut *tell),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

fn empty() -> Result<OwnedFd, Errno> {
    inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
}

/// What an event tells. `None`: that a folder was opened, or a change of the attributes of one, which its own watch tells.
fn notice<'e>(event: &'e inotify::Event<'e>) -> Option<Notice<'e>> {
    let (flags, watch) = (event.events(), Watch(event.wd()));
    if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Some(Notice::Lost);
    }
    if flags.intersects(ReadFlags::IGNORED | ReadFlags::UNMOUNT) {
        return Some(Notice::Ended(watch));
    }
    let is_folder = flags.contains(ReadFlags::ISDIR);
    let of_content = ReadFlags::OPEN | ReadFlags::MODIFY | ReadFlags::CLOSE_WRITE | ReadFlags::ATTRIB;
    let change = match event.file_name() {
        None if flags.intersects(ReadFlags::MOVE_SELF | ReadFlags::DELETE_SELF) => Change::Moved,
        None if flags.contains(ReadFlags::ATTRIB) => Change::Itself,
        Some(_) if is_folder && flags.intersects(of_content) => return None,
        None => return None,
        Some(name) if flags.intersects(of_content) => Change::Content(name.to_bytes()),
        Some(name) => {
            let cookie = event.cookie();
            let step = match () {
                () if is_folder && flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) => {
                    NameStep::NewFolder
                }
                () if is_folder => NameStep::GoneFolder,
                () if flags.contains(ReadFlags::CREATE) => NameStep::New,
                () if flags.contains(ReadFlags::MOVED_FROM) => NameStep::MovedFrom(cookie),
                () if flags.contains(ReadFlags::MOVED_TO) => NameStep::MovedTo(cookie),
                () => NameStep::Gone,
            };
            Change::Name(name.to_bytes(), step)
        }
    };
    Some(Notice::Change(watch, change))
}

/// Which folder this is, by which mount it was reached. `None` if the system does not tell.
pub fn folder_id(folder: impl AsFd) -> Option<FolderId> {
    let wanted = StatxFlags::INO | StatxFlags::MNT_ID;
    let found = rustix::fs::statx(folder, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    // Before Linux 5.8 the number of the mount is missing.
    let told = StatxFlags::from_bits_retain(found.stx_mask);
    told.contains(wanted).then(|| FolderId {
        mount: found.stx_mnt_id,
        device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
    })
}
