//! A symbolic link that is moved: the link itself gets the new path, and must lead to what it led to.
//!
//! Knows nothing of how entries are moved.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::found::{Found, Want};
use super::{Place, Workspace};
use folder::fs::resolve::file_type;
use folder::fs::version::identity;
use folder::{Error, FilePath, Result};
use sys::ffi::OsStrExt;
use sys::fs::FileType;

impl Workspace {
    /// Refuses to move the entry `from` at `path` if it is a relative link that would lead elsewhere from `to`. `on_disk`: where what will be at
    /// a place is now. `at`: the argument that names the new path.
    pub(super) fn check_leads_on(
        &self,
        (from, path): (&Found, &FilePath),
        to: &Place,
        at: &str,
        on_disk: impl Fn(&Place) -> Option<Place>,
    ) -> Result<()> {
        if from.place.stat.as_ref().map(file_type) != Some(FileType::Symlink) {
            return Ok(());
        }
        let link = (from.number, from.real_path(path).to_owned());
        let (old, new) = (link.1.parent(), to.1.parent().unwrap_or(Path::new("")));
        let text = sys::fs::readlinkat(&from.place.dir, &from.place.name, Vec::new());
        let text = text.map_err(|errno| Error::read(path.sent(), errno))?.into_bytes();
        if text.starts_with(b"/") || from.number == to.0 && old == Some(new) {
            return Ok(());
        }
        let leads_to = target_from(new, &text).and_then(|target| on_disk(&(to.0, target)));
        let now = self.entry_behind(&link, path);
        if now.is_some() && now == leads_to.and_then(|place| self.entry_behind(&place, path)) {
            return Ok(());
        }
        let problem = format!(
            "'{}' is a link whose target is relative to its folder, so it would lead elsewhere from there; give it a new name in its \
             folder, or give the path of what it leads to",
            text::shown::in_one_line(path.sent())
        );
        Err(Error::InvalidArguments { at: at.into(), problem })
    }

    /// Device and inode of what a place leads to, links followed. Nothing is said of what clients do not see.
    fn entry_behind(&self, place: &Place, path: &FilePath) -> Option<(u64, u64)> {
        let found = self.folders.find_at(place, path, Want::Entry).ok()?;
        let is_seen = !found.excluded && found.check_not_git(path).is_ok();
        found.place.stat.as_ref().filter(|_| is_seen).map(identity)
    }
}

/// The path below the served folder that the target `text` of a link in `folder` has there. `None`: it leads out. What comes behind its first
/// name may go through links, so that a `..` there stays.
fn target_from(folder: &Path, text: &[u8]) -> Option<PathBuf> {
    let (mut path, mut has_name) = (folder.to_owned(), false);
    for name in text.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." if !has_name => path.pop().then_some(())?,
            name => {
                has_name = true;
                path.push(OsStr::from_bytes(name));
            }
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_path_below_the_served_folder_or_leads_out_of_it() {
        let target = |folder: &str, text: &[u8]| target_from(Path::new(folder), text);
        for (folder, text, expected) in [
            ("", &b"x"[..], Some("x")),
            ("a/b", b"../x/./y", Some("a/x/y")),
            ("a", b"..//b/", Some("b")),
            ("a/b", b"../../x", Some("x")),
            ("a", b"x/../y", Some("a/x/../y")),
            ("a", b"../../x", None),
            ("", b"..", None),
        ] {
            assert_eq!(target(folder, text), expected.map(PathBuf::from), "{folder} {text:?}");
        }
    }
}
