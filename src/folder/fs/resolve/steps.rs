//! Resolves a path component by component, where a link is on the way or the kernel has no openat2(2).
//!
//! Each step opens or reads one component relative to a directory handle and follows no link, so nothing can change between a check and
//! a use. A link is read as text and resolved by the same rule; `..` in it returns to the previous handle.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LastLink, PASS, PassedEntry, ResolveError, ResolvedPath, file_type, stat_entry};
use crate::fs::temporary;
use sys::fd::{AsFd, BorrowedFd, OwnedFd};
use sys::ffi::{OsStrExt, OsStringExt};
use sys::fs::{FileType, Mode, Stat};
use sys::io::Errno;

/// Maximum number of links followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// A directory that the way has entered.
struct Level {
    handle: Arc<OwnedFd>,
    name: OsString,
    stat: Stat,
}

/// A component that is still to be resolved.
struct Step {
    name: OsString,
    /// It comes from the target of a link.
    from_link: bool,
}

/// Resolves `path`, and keeps in `passed` what it leads through.
pub(super) fn resolve(
    root: &Arc<OwnedFd>,
    path: &Path,
    last: LastLink,
    passed: &mut Vec<PassedEntry>,
) -> Result<ResolvedPath, ResolveError> {
    let own = |name: &OsStr| Step { name: name.to_owned(), from_link: false };
    let mut steps = Steps { way: Vec::new(), pending: path.iter().map(own).collect(), links: 0, passed };
    while let Some(step) = steps.pending.pop_front() {
        let name = step.name.clone();
        match steps.take(root, step, last) {
            Ok(None) => {}
            Ok(Some(found)) => return Ok(found),
            Err(refusal) => {
                steps.pass(Some(&name));
                return Err(refusal);
            }
        }
    }
    steps.end_in_directory(root)
}

/// The resolution of one path.
struct Steps<'p> {
    way: Vec<Level>,
    pending: VecDeque<Step>,
    links: usize,
    passed: &'p mut Vec<PassedEntry>,
}

impl Steps<'_> {
    /// Takes one step. Returns the entry if it is the last one.
    fn take(
        &mut self,
        root: &Arc<OwnedFd>,
        step: Step,
        last: LastLink,
    ) -> Result<Option<ResolvedPath>, ResolveError> {
        let here = self.way.last().map_or(root, |level| &level.handle).clone();
        match step.name.as_bytes() {
            b"" | b"." => return Ok(None),
            b".." => {
                self.pass(None);
                if self.way.pop().is_none() && !switches::is_off("place-above") {
                    return Err(ResolveError::Forbidden);
                }
                return Ok(None);
            }
            // Temporary files of this server have no valid name, so a link must not lead to one.
            name if !switches::is_off("leftover-hidden") && temporary::is_temporary(name) => {
                return Err(ResolveError::Forbidden);
            }
            _ => {}
        }
        let stat = match stat_entry(&here, &step.name) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if !step.from_link => return Ok(Some(self.missing(&here, step.name))),
            Err(Errno::NOENT) => return Err(ResolveError::Forbidden),
            Err(errno) => return Err(errno.into()),
        };
        match file_type(&stat) {
            FileType::Directory => {
                let handle = open_directory(here.as_fd(), &step.name)?;
                self.way.push(Level { handle, name: step.name, stat });
            }
            FileType::Symlink if last == LastLink::Keep && !step.from_link && self.pending.is_empty() => {
                return Ok(Some(self.found(&here, step.name, stat)));
            }
            FileType::Symlink if switches::is_off("place-loop") || self.links < MAX_LINKS => {
                self.links += 1;
                self.pass(Some(&step.name));
                for name in read_link(here.as_fd(), &step.name)?.into_iter().rev() {
                    self.pending.push_front(Step { name, from_link: true });
                }
            }
            FileType::Symlink => return Err(ResolveError::Forbidden),
            _ if self.pending.is_empty() => return Ok(Some(self.found(&here, step.name, stat))),
            _ if step.from_link => return Err(ResolveError::Forbidden),
            _ => return Err(Errno::NOTDIR.into()),
        }
        Ok(None)
    }

    /// The directory in which the path ends.
    fn end_in_directory(mut self, root: &Arc<OwnedFd>) -> Result<ResolvedPath, ResolveError> {
        let Some(Level { name, stat, .. }) = self.way.pop() else {
            let (stat, real) = (Some(sys::fs::fstat(root)?), (self.links > 0).then(PathBuf::new));
            return Ok(ResolvedPath { dir: root.clone(), name: ".".into(), stat, missing: Vec::new(), real });
        };
        let here = self.way.last().map_or(root, |level| &level.handle).clone();
        Ok(self.found(&here, name, stat))
    }

    /// Keeps that the path leads through the entry `name`, or leaves the current directory.
    fn pass(&mut self, name: Option<&OsString>) {
        let (real, as_folder) = (self.real_path(name), name.is_none() || !self.pending.is_empty());
        self.passed.push(PassedEntry { real, as_folder });
    }

    /// The entry `name` in `here`, the current directory.
    fn found(&self, here: &Arc<OwnedFd>, name: OsString, stat: Stat) -> ResolvedPath {
        let real = (self.links > 0).then(|| self.real_path([&name]));
        ResolvedPath { dir: here.clone(), name, stat: Some(stat), missing: Vec::new(), real }
    }

    /// The place of a missing entry: `first` is the first missing component, the pending ones are the rest.
    fn missing(&mut self, here: &Arc<OwnedFd>, first: OsString) -> ResolvedPath {
        let rest = self.pending.drain(..).map(|step| step.name);
        let mut missing: Vec<OsString> = [first].into_iter().chain(rest).collect();
        let real = (self.links > 0).then(|| self.real_path(&missing));
        let name = missing.pop().unwrap_or_default();
        ResolvedPath { dir: here.clone(), name, stat: None, missing, real }
    }

    fn real_path<'n>(&'n self, then: impl IntoIterator<Item = &'n OsString>) -> PathBuf {
        self.way.iter().map(|level| &level.name).chain(then).collect()
    }
}

pub(super) fn open_directory(here: BorrowedFd, name: &OsStr) -> Result<Arc<OwnedFd>, ResolveError> {
    match sys::fs::openat(here, name, PASS, Mode::empty()) {
        Ok(fd) => Ok(Arc::new(fd)),
        // The entry was replaced after it was looked up.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) if !switches::is_off("moved-again") => {
            Err(ResolveError::Moved)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// The components of a relative link's target.
fn read_link(here: BorrowedFd, name: &OsStr) -> Result<Vec<OsString>, ResolveError> {
    let target = match sys::fs::readlinkat(here, name, Vec::new()) {
        Ok(target) => target.into_bytes(),
        // The entry was replaced after it was looked up.
        Err(Errno::INVAL | Errno::NOENT) => return Err(ResolveError::Moved),
        Err(errno) => return Err(errno.into()),
    };
    if !switches::is_off("place-absolute") && target.starts_with(b"/") {
        return Err(ResolveError::Forbidden);
    }
    Ok(target.split(|&byte| byte == b'/').map(|part| OsString::from_vec(part.to_vec())).collect())
}
