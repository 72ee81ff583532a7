//! A folder for one test.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How the names of the server's temporary files begin.
const TEMPORARY: &str = ".file-editor-tmp-";

/// Everything in a folder: name to what `lstat` and `read` say.
pub(crate) type Snapshot = BTreeMap<String, Entry>;

/// One entry of a [`Snapshot`]; `bytes` is None for what is not a regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
    pub(crate) modified: (i64, i64),
}

/// A fresh folder to serve, with room beside it ([`Folder::outside`]) that no server may reach.
pub(crate) struct Folder {
    root: TempDir,
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let root =
            tempfile::Builder::new().prefix("file-editor-test-").tempdir().expect("a temporary folder");
        // Also for a server that runs as another user.
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).expect("an open folder");
        let path = root.path().canonicalize().expect("a path").join("folder");
        fs::create_dir(&path).expect("the folder to serve");
        Folder { root, path }
    }

    /// The folder that is served, as a canonical path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A path beside the served folder, for what must stay out of reach.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path.join(name), bytes).expect("a file written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The file as text, for assertions that should print as text.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    /// Whether the file is there and holds this text: on Windows, the name of a file that is replaced may be of no file for a moment.
    pub(crate) fn holds(&self, name: &str, text: &str) -> bool {
        fs::read(self.path.join(name)).is_ok_and(|bytes| bytes == text.as_bytes())
    }

    /// All entries, hidden ones too, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).expect("a readable folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                String::from_utf8_lossy(entry.expect("an entry").file_name().as_bytes()).into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// Everything there is, for `assert_eq!` of before and after.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let entry = |name: String| {
            let path = self.path.join(&name);
            let meta = path.symlink_metadata().expect("an entry");
            let bytes = meta.is_file().then(|| fs::read(&path).unwrap_or_default());
            let modified = (meta.mtime(), meta.mtime_nsec());
            (name, Entry { bytes, inode: meta.ino(), mode: meta.mode(), modified })
        };
        self.names().into_iter().map(entry).collect()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        self.path.join(name).metadata().expect("a file").mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path.join(name), Permissions::from_mode(mode)).expect("a mode set");
    }

    /// Sets the mode of the folder itself.
    pub(crate) fn set_own_mode(&self, mode: u32) {
        fs::set_permissions(&self.path, Permissions::from_mode(mode)).expect("a mode set");
    }

    /// The names of the server's temporary files.
    pub(crate) fn temporaries(&self) -> Vec<String> {
        let mut names = self.names();
        names.retain(|name| name.starts_with(TEMPORARY));
        names
    }

    /// Sets the modification time, in whole seconds since 1970.
    pub(crate) fn set_modified(&self, name: &str, seconds: u64) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = fs::File::options().append(true).open(self.path.join(name)).expect("a file");
        file.set_modified(time).expect("a time set");
    }

    /// A symbolic link `name` in the folder that says `target`.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path.join(name)).expect("a link");
    }

    pub(crate) fn fifo(&self, name: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mkfifoat(rustix::fs::CWD, self.path.join(name), mode).expect("a FIFO");
    }
}

impl Drop for Folder {
    /// A test may have taken away the folder's own permissions.
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.path, Permissions::from_mode(0o755));
    }
}
