//! Which folders git takes for its own by what is in them, whatever they are called: what a link or a file `.git` leads to, and a bare
//! repository.
//!
//! Git does so where `HEAD` holds a reference or a commit and stands beside `objects` and `refs`, or beside `commondir`
//! (gitrepository-layout(5)). It runs programs that such a folder names, and keeps credentials there. Knows no clients: what they may not do
//! there is for `git_guard` to say.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::resolve::{LastLink, ResolveError, ResolvedPath, file_type, open_as_found, stat_entry};
use crate::path::{is_in_git, is_taken_for};
use sys::fd::{AsFd, OwnedFd};
use sys::ffi::OsStrExt;
use sys::fs::{FileType, HAS_EXECUTE_BITS, Mode, OFlags, Stat};
use sys::io::Errno;
use sys::path::FOLDS_NAMES;

/// The one entry of such a folder that clients read: it names a branch or a commit.
pub const HEAD: &str = "HEAD";

/// The names by which git knows its folders.
const MARKS: [&str; 4] = [HEAD, "objects", "refs", "commondir"];

/// Hexadecimal digits of the shortest id of a commit.
const ID_DIGITS: usize = 40;

/// Which of these names a folder has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks([bool; MARKS.len()]);

/// For what a `HEAD` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadCounts {
    /// For what it holds now.
    AsItIs,
    /// For what it may hold after a write.
    AsAny,
}

impl Marks {
    /// Notes the name of an entry of the folder.
    pub fn note(&mut self, name: &[u8]) {
        let is = |mark: &&str| match FOLDS_NAMES {
            true => mark.as_bytes().eq_ignore_ascii_case(name),
            false => mark.as_bytes() == name,
        };
        for (has, mark) in self.0.iter_mut().zip(MARKS) {
            *has |= is(&mark);
        }
    }

    /// Whether git takes `folder`, which lists these names, for its own.
    pub fn are_of_git(self, folder: impl AsFd) -> bool {
        self.suffice() && is_of_git(folder, HeadCounts::AsItIs)
    }

    /// Whether a folder with these names may be one of git, by what they are.
    pub(crate) fn suffice(self) -> bool {
        let [head, objects, refs, common] = self.0;
        head && (objects && refs || common)
    }

    /// Those of an open folder that are what git wants them to be.
    fn of(folder: impl AsFd, counts: HeadCounts) -> Marks {
        let folder = folder.as_fd();
        let look = |mark| stat_entry(folder, OsStr::new(mark)).ok();
        let [head, objects, refs, common] = MARKS.map(look);
        let is_file = |stat: &Stat| file_type(stat) != FileType::Directory;
        let is_head =
            |stat: &Stat| is_file(stat) && (counts == HeadCounts::AsAny || may_be_head(folder, stat));
        Marks([
            head.as_ref().is_some_and(is_head),
            objects.as_ref().is_some_and(is_entered),
            refs.as_ref().is_some_and(is_entered),
            common.as_ref().is_some_and(is_file),
        ])
    }
}

/// Whether git takes `folder` for its own.
pub fn is_of_git(folder: impl AsFd, counts: HeadCounts) -> bool {
    Marks::of(folder, counts).suffice()
}

/// Whether git may enter an entry, as it asks with access(2): a folder, a link to something, or a file with the right to execute.
fn is_entered(stat: &Stat) -> bool {
    !HAS_EXECUTE_BITS
        || matches!(file_type(stat), FileType::Directory | FileType::Symlink)
        || stat.st_mode & 0o111 != 0
}

/// Whether `HEAD` in `folder` holds a reference or the id of a commit, or may, because it cannot be read.
fn may_be_head(folder: impl AsFd, stat: &Stat) -> bool {
    if file_type(stat) != FileType::RegularFile {
        return true;
    }
    let Ok(file) = open_as_found(folder, OsStr::new(HEAD), *stat) else { return true };
    let mut text = Vec::with_capacity(ID_DIGITS);
    match file.file().take(ID_DIGITS as u64).read_to_end(&mut text) {
        Ok(len) => text.starts_with(b"ref:") || len == ID_DIGITS && text.iter().all(u8::is_ascii_hexdigit),
        Err(_) => true,
    }
}

/// Whether git would take `folder` for its own if it had an entry `name`, or what some file system makes of that name.
pub fn would_be_of_git(folder: &OwnedFd, name: &OsStr) -> bool {
    let new = MARKS.map(|mark| is_taken_for(name.as_bytes(), &mark.to_ascii_lowercase()));
    if !new.contains(&true) {
        return false;
    }
    let Marks(mut marks) = Marks::of(folder, HeadCounts::AsAny);
    marks.iter_mut().zip(new).for_each(|(has, is_new)| *has |= is_new);
    Marks(marks).suffice()
}

/// The outermost folder of git on `path`, which goes through no link: `root` itself, a folder on the way, or the end of the path. Folders
/// from `known` up are known to be none.
///
/// # Errors
///
/// Why that cannot be told, as where descriptors are used up.
pub fn outermost<'p>(
    root: &Arc<OwnedFd>,
    path: &'p Path,
    known: Option<&Path>,
    counts: HeadCounts,
) -> Result<Option<&'p Path>, ResolveError> {
    let folders: Vec<&Path> = path.ancestors().take_while(|folder| Some(*folder) != known).collect();
    for folder in folders.into_iter().rev() {
        // Most folders have no HEAD: one look at each is enough.
        let head = match ResolvedPath::find_entry(root, &folder.join(HEAD), LastLink::Keep) {
            Ok(head) => head,
            // Nobody reads or writes there either.
            Err(ResolveError::System(Errno::ACCESS | Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG)) => {
                return Ok(None);
            }
            Err(unknown) => return Err(unknown),
        };
        if !head.missing.is_empty() {
            return Ok(None);
        }
        if head.stat.is_some() && is_of_git(&head.dir, counts) {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Whether the folder at the canonical path `path` of the system is in a folder of git, by the names or by what is in those above it.
pub fn is_within(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |folder: &Path| sys::fs::open(folder, flags, Mode::empty());
    let holds = |folder: &Path| {
        sys::fs::stat(folder.join(HEAD)).is_ok()
            && open(folder).is_ok_and(|folder| is_of_git(folder, HeadCounts::AsItIs))
    };
    is_in_git(path) || path.ancestors().skip(1).any(holds)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const REF: &str = "ref: refs/heads/main\n";

    /// A folder with these entries: a text in each file, and a folder for a path that ends in `/`.
    fn folder(entries: &[(&str, &str)]) -> (tempfile::TempDir, Arc<OwnedFd>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in entries {
            let at = dir.path().join(path);
            fs::create_dir_all(if path.ends_with('/') { &at } else { at.parent().unwrap() }).unwrap();
            if !path.ends_with('/') {
                fs::write(at, text).unwrap();
            }
        }
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        (dir, root)
    }

    #[test]
    fn a_folder_is_gits_by_what_is_in_it() {
        let (_dir, root) = folder(&[
            ("a/gg/HEAD", REF),
            ("a/gg/objects/", ""),
            ("a/gg/refs/", ""),
            ("a/gg/hooks/pre-commit", ""),
            ("tree/HEAD", &"a1".repeat(20)),
            ("tree/commondir", "../a/gg\n"),
            ("plain/HEAD", REF),
            ("plain/objects/", ""),
            ("plain/x", ""),
        ]);
        let outer = |path| outermost(&root, Path::new(path), None, HeadCounts::AsItIs);
        for (path, expected) in [
            ("a/gg", "a/gg"),
            ("a/gg/config", "a/gg"),
            ("a/gg/hooks/pre-commit", "a/gg"),
            ("a/gg/new/in/x", "a/gg"),
            ("tree/config", "tree"),
        ] {
            assert_eq!(outer(path), Ok(Some(Path::new(expected))), "{path}");
        }
        for path in ["", "a", "a/x", "plain/x", "plain/HEAD", "plain/x/y", "none/x"] {
            assert_eq!(outer(path), Ok(None), "{path}");
        }
        let below_known = outermost(&root, Path::new("a/gg/x"), Some(Path::new("a/gg")), HeadCounts::AsItIs);
        assert_eq!(below_known, Ok(None));
    }

    #[test]
    fn texts_with_the_names_that_git_knows_make_no_folder_of_git() {
        let (dir, root) = folder(&[
            ("texts/HEAD", REF),
            ("texts/objects", "a text\n"),
            ("texts/refs", "a text\n"),
            ("head/HEAD", "a text\n"),
            ("head/objects/", ""),
            ("head/refs/", ""),
            ("common/HEAD", REF),
            ("common/commondir/", ""),
        ]);
        let outer = |path, counts| outermost(&root, Path::new(path), None, counts).unwrap().is_some();
        for path in ["head", "common"] {
            assert!(!outer(path, HeadCounts::AsItIs), "{path}");
        }
        // A write could make of this HEAD what git takes.
        assert!(outer("head", HeadCounts::AsAny));
        for counts in [HeadCounts::AsItIs, HeadCounts::AsAny] {
            assert_eq!(outer("texts", counts), !HAS_EXECUTE_BITS, "{counts:?}");
        }
        for name in ["objects", "refs"] {
            use sys::testing::PermissionsExt;
            fs::set_permissions(dir.path().join("texts").join(name), fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        assert!(outer("texts", HeadCounts::AsItIs), "git asks for the right to enter");
    }

    #[test]
    fn the_last_entry_that_makes_a_folder_one_of_git_is_known() {
        let (dir, _root) = folder(&[
            ("one/HEAD", REF),
            ("one/objects/", ""),
            ("two/objects/", ""),
            ("two/refs/", ""),
            ("three/HEAD", ""),
            ("texts/HEAD", REF),
            ("texts/refs", "a text\n"),
        ]);
        let would = |path: &str, name: &str| {
            would_be_of_git(&sys::testing::open_folder(dir.path().join(path)), OsStr::new(name))
        };
        assert!(would("one", "refs") && would("two", "HEAD") && would("three", "commondir"));
        for name in ["Head", "HEAD.", "HE\u{200c}AD ", "head:x"] {
            assert!(would("two", name), "{name}");
        }
        for (path, name) in [("one", "config"), ("two", "HEADS"), ("three", "refs"), ("two", "commondir")] {
            assert!(!would(path, name), "{path} {name}");
        }
        assert_eq!(would("texts", "objects"), !HAS_EXECUTE_BITS);
    }
}
