//! A read-only file system in user space whose every answer waits for the same time, as over a network: `load delayed
//! <folder> <mount> <microseconds>`. It serves a copy of `folder` in memory, and any number of requests wait at the
//! same time. Ends when it is unmounted. Needs root.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry,
    ReplyOpen, Request,
};

use crate::Outcome;

/// How long the kernel may use names and attributes without asking.
const FRESH: Duration = Duration::from_secs(1);

/// One answer that is to be sent.
type Answer = Box<dyn FnOnce() + Send>;

/// A file or a folder. Its number is its place in the list of all, plus 1.
enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, u64>),
}

struct Delayed {
    nodes: Vec<Node>,
    line: Sender<(Instant, Answer)>,
}

/// Serves until the mount ends.
pub(crate) fn run(folder: &str, mount: &str, microseconds: &str) -> Outcome<()> {
    let delay =
        microseconds.parse().map(Duration::from_micros).map_err(|why| format!("{microseconds}: {why}"))?;
    let mut nodes = Vec::new();
    copy(Path::new(folder), &mut nodes).map_err(|why| format!("{folder}: {why}"))?;
    let (line, answers) = mpsc::channel();
    thread::spawn(move || send_late(&answers, delay));
    let mut config = Config::default();
    config.mount_options = vec![MountOption::RO, MountOption::FSName("delayed".into())];
    let session = fuser::spawn_mount(Delayed { nodes, line }, mount, &config);
    let session = session.map_err(|why| format!("{mount}: {why}"))?;
    crate::say(&"ready")?;
    session.join().map_err(|why| format!("{mount}: {why}"))
}

/// Sends each answer `delay` after it was made. All wait equally long, so they are in order.
fn send_late(answers: &Receiver<(Instant, Answer)>, delay: Duration) {
    for (made, answer) in answers {
        thread::sleep((made + delay).saturating_duration_since(Instant::now()));
        answer();
    }
}

/// Adds what is at `path`, and what is below it. Returns its number.
fn copy(path: &Path, nodes: &mut Vec<Node>) -> io::Result<u64> {
    if !path.is_dir() {
        nodes.push(Node::File(std::fs::read(path)?));
        return Ok(nodes.len() as u64);
    }
    let place = nodes.len();
    nodes.push(Node::Folder(BTreeMap::new()));
    let mut names = BTreeMap::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        names.insert(entry.file_name(), copy(&entry.path(), nodes)?);
    }
    nodes[place] = Node::Folder(names);
    Ok(place as u64 + 1)
}

impl Delayed {
    fn later(&self, answer: impl FnOnce() + Send + 'static) {
        // The receiver lives as long as the process.
        let _ = self.line.send((Instant::now(), Box::new(answer)));
    }

    fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(number.checked_sub(1)? as usize)
    }

    fn attributes(&self, number: u64) -> Option<FileAttr> {
        let (kind, perm, size) = match self.node(number)? {
            Node::File(text) => (FileType::RegularFile, 0o644, text.len() as u64),
            Node::Folder(_) => (FileType::Directory, 0o755, 0),
        };
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let (atime, mtime, ctime, crtime) = (time, time, time, time);
        let ino = INodeNo(number);
        let (blocks, nlink, uid, gid, rdev, blksize, flags) = (size.div_ceil(512), 1, 0, 0, 0, 4096, 0);
        Some(FileAttr {
            ino,
            size,
            blocks,
            atime,
            mtime,
            ctime,
            crtime,
            kind,
            perm,
            nlink,
            uid,
            gid,
            rdev,
            blksize,
            flags,
        })
    }
}

impl Filesystem for Delayed {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Refused by kernels that do not know it: then look-ups in one folder wait for each other.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        let _ = config.set_max_background(256);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = match self.node(parent.into()) {
            Some(Node::Folder(names)) => names.get(name).and_then(|number| self.attributes(*number)),
            _ => None,
        };
        self.later(move || match found {
            Some(attributes) => reply.entry(&FRESH, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.attributes(number.into());
        self.later(move || match found {
            Some(attributes) => reply.attr(&FRESH, &attributes),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.later(move || reply.opened(FileHandle(0), FopenFlags::empty()));
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(Node::File(text)) = self.node(number.into()) else { return reply.error(Errno::EISDIR) };
        let part = text.iter().skip(offset as usize).take(size as usize).copied().collect::<Vec<u8>>();
        self.later(move || reply.data(&part));
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.later(move || reply.opened(FileHandle(0), FopenFlags::empty()));
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let Some(Node::Folder(names)) = self.node(number.into()) else { return reply.error(Errno::ENOTDIR) };
        for (place, (name, number)) in names.iter().enumerate().skip(offset as usize) {
            let kind = self.attributes(*number).map_or(FileType::RegularFile, |found| found.kind);
            if reply.add(INodeNo(*number), place as u64 + 1, kind, name) {
                break;
            }
        }
        self.later(move || reply.ok());
    }
}
