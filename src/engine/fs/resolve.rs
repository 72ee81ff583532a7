//! Resolves a `FileName` to a directory entry, never outside the folder (contract 8).
//!
//! Every step opens or reads one component relative to a directory handle and follows no link, so nothing can
//! change between a check and a use. A link is read as text and resolved by the same rule; `..` returns to
//! the previous handle. Links that are absolute, dangling, cyclic, or lead above the folder are refused.
//! Entries that are not regular files are refused by type, before an open. Needs no `openat2` and no `/proc`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::temporary;
use super::view::OpenFile;

/// Maximum number of links followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Flags for opening a file. NONBLOCK and NOCTTY matter only if a FIFO or a device has replaced the entry
/// since it was found.
const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// The directory entry of a name, after all links are resolved.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedPath {
    /// The directory of the entry: the served folder, or one below it that a link leads to.
    pub(crate) dir: Arc<OwnedFd>,
    /// The name in that directory.
    pub(crate) name: OsString,
    /// The regular file that was there, or `None` if nothing was.
    pub(crate) stat: Option<Stat>,
}

/// Why a name cannot be resolved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// It leads out of the folder, in a circle, to nothing, or to an entry that is not a regular file.
    Forbidden,
    /// A system call failed.
    System(Errno),
}

impl From<Errno> for ResolveError {
    fn from(errno: Errno) -> ResolveError {
        ResolveError::System(errno)
    }
}

impl ResolvedPath {
    /// Resolves `name` in `root`. A missing name resolves too (`stat` is `None`); a link to nothing does not.
    pub(crate) fn find(root: &Arc<OwnedFd>, name: &OsStr) -> Result<ResolvedPath, ResolveError> {
        match stat_entry(root, name) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    Ok(ResolvedPath { dir: root.clone(), name: name.to_owned(), stat: Some(stat) })
                }
                FileType::Symlink => walk(root, name),
                _ => Err(ResolveError::Forbidden),
            },
            Err(Errno::NOENT) => Ok(ResolvedPath { dir: root.clone(), name: name.to_owned(), stat: None }),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens the file for reading, and assumes that it is unchanged since it was found. The caller must check
    /// that after reading, before it uses the bytes ([`OpenFile::unchanged`] compares with the state found).
    pub(crate) fn open_as_found(&self) -> Option<OpenFile> {
        open_as_found(&self.dir, &self.name, self.stat?)
    }

    /// Opens the file for reading. `None` if the entry has changed since it was found: resolve it again.
    pub(crate) fn open(&self) -> Result<Option<OpenFile>, ResolveError> {
        let file = match rustix::fs::openat(&self.dir, &self.name, OPEN, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(OpenFile::new(file, stat))),
            _ => Ok(None),
        }
    }

    /// The state of the entry now; `None` if it does not exist any more.
    pub(crate) fn restat(&self) -> Result<Option<Stat>, Errno> {
        match stat_entry(&self.dir, &self.name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether the process has this access to the file.
    pub(crate) fn allows(&self, access: rustix::fs::Access) -> bool {
        rustix::fs::accessat(&self.dir, &self.name, access, AtFlags::EACCESS).is_ok()
    }
}

/// The state of the regular file `name` in `root`; `None` for a link or any other entry.
pub(crate) fn regular_file(root: &OwnedFd, name: &OsStr) -> Option<Stat> {
    let regular = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    stat_entry(root, name).ok().filter(regular)
}

fn stat_entry(dir: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Follows the link `name`, step by step.
fn walk(root: &Arc<OwnedFd>, name: &OsStr) -> Result<ResolvedPath, ResolveError> {
    let mut below: Vec<Arc<OwnedFd>> = Vec::new();
    let mut pending = VecDeque::from([name.to_owned()]);
    let mut links = 0;
    while let Some(step) = pending.pop_front() {
        let here = below.last().unwrap_or(root);
        match step.as_bytes() {
            b"" | b"." => continue,
            b".." => {
                below.pop().ok_or(ResolveError::Forbidden)?;
                continue;
            }
            // Temporary files of this server have no valid name, so a link must not lead to one.
            name if temporary::is_temporary(name) => return Err(ResolveError::Forbidden),
            _ => {}
        }
        let stat = match stat_entry(here, &step) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Err(ResolveError::Forbidden),
            Err(errno) => return Err(errno.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if pending.is_empty() => {
                return Ok(ResolvedPath { dir: here.clone(), name: step, stat: Some(stat) });
            }
            FileType::Directory if !pending.is_empty() => below.push(open_directory(here.as_fd(), &step)?),
            FileType::Symlink if links < MAX_LINKS => {
                links += 1;
                for part in read_link(here.as_fd(), &step)?.into_iter().rev() {
                    pending.push_front(part);
                }
            }
            _ => return Err(ResolveError::Forbidden),
        }
    }
    Err(ResolveError::Forbidden)
}

fn open_directory(here: BorrowedFd, name: &OsStr) -> Result<Arc<OwnedFd>, ResolveError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(here, name, flags, Mode::empty()) {
        Ok(fd) => Ok(Arc::new(fd)),
        // The entry was replaced after it was looked up.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => Err(ResolveError::Forbidden),
        Err(errno) => Err(errno.into()),
    }
}

/// The components of a relative link's target.
fn read_link(here: BorrowedFd, name: &OsStr) -> Result<Vec<OsString>, ResolveError> {
    let target = match rustix::fs::readlinkat(here, name, Vec::new()) {
        Ok(target) => target.into_bytes(),
        // The entry was replaced after it was looked up.
        Err(Errno::INVAL | Errno::NOENT) => return Err(ResolveError::Forbidden),
        Err(errno) => return Err(errno.into()),
    };
    if target.starts_with(b"/") {
        return Err(ResolveError::Forbidden);
    }
    Ok(target.split(|&byte| byte == b'/').map(|part| OsString::from_vec(part.to_vec())).collect())
}

/// Like [`ResolvedPath::open_as_found`], for an entry of `dir` that was found as `stat`.
pub(crate) fn open_as_found(dir: impl AsFd, name: &OsStr, stat: Stat) -> Option<OpenFile> {
    let file = rustix::fs::openat(dir, name, OPEN, Mode::empty()).ok()?;
    Some(OpenFile::new(File::from(file), stat))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn root(dir: &tempfile::TempDir) -> Arc<OwnedFd> {
        Arc::new(OwnedFd::from(File::open(dir.path().join("root")).unwrap()))
    }

    /// Creates `outside.txt`, `root/a.txt`, `root/sub/b.txt`, and links given as (name in root, target).
    fn tree(links: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("sub/deep")).unwrap();
        std::fs::write(dir.path().join("outside.txt"), "secret").unwrap();
        std::fs::write(root.join("a.txt"), "a").unwrap();
        std::fs::write(root.join("sub/b.txt"), "b").unwrap();
        for (name, target) in links {
            symlink(target, root.join(name)).unwrap();
        }
        dir
    }

    fn read(dir: &tempfile::TempDir, name: &str) -> Result<String, ResolveError> {
        let place = ResolvedPath::find(&root(dir), name.as_ref())?;
        let file = place.open()?.expect("opens");
        Ok(std::io::read_to_string(file.file()).unwrap())
    }

    #[test]
    fn relative_links_that_stay_inside_are_followed() {
        let dir = tree(&[
            ("one", "a.txt"),
            ("two", "one"),
            ("down", "sub/b.txt"),
            ("dots", "./sub/../sub/./b.txt"),
            ("sub/up", "../a.txt"),
            ("via", "sub/up"),
            ("dirlink", "sub"),
            ("through", "dirlink/b.txt"),
        ]);
        for (name, text) in
            [("one", "a"), ("two", "a"), ("down", "b"), ("dots", "b"), ("via", "a"), ("through", "b")]
        {
            assert_eq!(read(&dir, name).as_deref(), Ok(text), "{name}");
        }
    }

    #[test]
    fn links_that_leave_dangle_loop_or_are_absolute_are_refused() {
        let dir = tree(&[
            ("out", "../outside.txt"),
            ("sneaky", "sub/../../outside.txt"),
            ("back", "../root/a.txt"),
            ("beside", "../a.txt"),
            ("absolute", "/etc/hostname"),
            ("proc", "/proc/self/fd/0"),
            ("dangling", "nothing"),
            ("loop", "loop"),
            ("ping", "pong"),
            ("pong", "ping"),
            ("chained", "out"),
            ("file_as_dir", "a.txt/"),
            ("to_dir", "sub"),
            ("dot", "."),
        ]);
        for name in [
            "out",
            "sneaky",
            "back",
            "beside",
            "absolute",
            "proc",
            "dangling",
            "loop",
            "ping",
            "chained",
            "file_as_dir",
            "to_dir",
            "dot",
        ] {
            assert_eq!(read(&dir, name), Err(ResolveError::Forbidden), "{name}");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_refused_unopened() {
        let dir = tree(&[("fifo_link", "fifo")]);
        let fifo = dir.path().join("root/fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("root/socket")).unwrap();
        for name in ["fifo", "fifo_link", "socket", "sub"] {
            assert_eq!(read(&dir, name), Err(ResolveError::Forbidden), "{name}");
        }
    }

    #[test]
    fn a_link_to_a_temporary_file_of_ours_is_refused() {
        let temporary = temporary::new_name();
        let dir = tree(&[("link", temporary.to_str().unwrap()), ("other", ".file-editor-tmp-notes")]);
        for name in [temporary.as_os_str(), ".file-editor-tmp-notes".as_ref()] {
            std::fs::write(dir.path().join("root").join(name), "text").unwrap();
        }
        assert_eq!(read(&dir, "link"), Err(ResolveError::Forbidden));
        assert_eq!(read(&dir, "other").as_deref(), Ok("text"), "a user's file");
    }

    #[test]
    fn a_fifo_swapped_in_for_a_file_is_neither_waited_for_nor_opened() {
        let dir = tree(&[]);
        let place = ResolvedPath::find(&root(&dir), "a.txt".as_ref()).unwrap();
        let path = dir.path().join("root/a.txt");
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (said, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || said.send(place.open().map(|file| file.is_none())));
        let none = heard.recv_timeout(std::time::Duration::from_secs(20)).expect("nobody waits for a writer");
        assert_eq!(none, Ok(true));
    }

    #[test]
    fn a_folder_swapped_for_a_link_after_it_was_found_is_not_entered() {
        let dir = tree(&[("way_out", "..")]);
        assert!(matches!(
            open_directory(root(&dir).as_fd(), "way_out".as_ref()),
            Err(ResolveError::Forbidden)
        ));
        assert!(open_directory(root(&dir).as_fd(), "sub".as_ref()).is_ok());
    }

    #[test]
    fn an_entry_swapped_after_it_was_found_is_not_opened() {
        let dir = tree(&[]);
        let place = ResolvedPath::find(&root(&dir), "a.txt".as_ref()).unwrap();
        std::fs::remove_file(dir.path().join("root/a.txt")).unwrap();
        symlink("../outside.txt", dir.path().join("root/a.txt")).unwrap();
        assert!(place.open().unwrap().is_none());
        assert!(ResolvedPath::find(&root(&dir), "none".as_ref()).unwrap().stat.is_none());
    }
}
