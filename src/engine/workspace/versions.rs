//! The versions of files: what a read tells, and what a change expects (contract 12).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::Workspace;
use super::change::ChangeOptions;
use super::excerpt::{loaded, unchanged};
use super::found::{Freshness, Want};
use super::read::Cacheable;
use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;
use folder::{ContentHash, Control, Error, FilePath, FileVersion, Result};

/// The largest file whose content is hashed for a version, in bytes. It takes about 10 ms.
const MAX_HASHED: usize = 64 << 20;

/// Bytes that are hashed before the operation is checked and its progress reported.
const HASHED_AT_ONCE: usize = 1 << 20;

impl Workspace {
    /// The version of an open file. `None` if the file changes while its content is hashed.
    pub(super) fn version(
        &self,
        file: &Arc<OpenFile>,
        name: &str,
        control: &Control,
    ) -> Result<Option<FileVersion>> {
        if self.cache.get(file.stamp()).is_some() {
            return Ok(Some(FileVersion::of_stamp(file.stamp())));
        }
        match self.before_version(file, control)? {
            Some(Cacheable::Yes) => Ok(Some(FileVersion::of_stamp(file.stamp()))),
            Some(Cacheable::No) => content_version(file, name, control),
            None => Ok(None),
        }
    }

    /// The stamp of the file at `path`.
    pub fn stamp(&self, path: &FilePath) -> Result<FileStamp> {
        self.stamp_of(path, Want::File)
    }

    /// The stamp of the file or folder at `path`.
    pub fn entry_stamp(&self, path: &FilePath) -> Result<FileStamp> {
        self.stamp_of(path, Want::Entry)
    }

    fn stamp_of(&self, path: &FilePath, want: Want) -> Result<FileStamp> {
        let missing = || Error::not_found(path.sent());
        let found = self.folders.find(path, want, Freshness::Recent)?;
        found.place.stat.as_ref().map(FileStamp::of).ok_or_else(missing)
    }

    /// Refuses a file that does not have the expected version.
    pub(super) fn check_version(
        &self,
        file: &Arc<OpenFile>,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<()> {
        let Some(expected) = &options.expected else { return Ok(()) };
        let now = match expected {
            FileVersion::Stamp(_) => Some(FileVersion::of_stamp(file.stamp())),
            FileVersion::Content(_) => content_version(file, path.sent(), control)?,
            FileVersion::Unknown(_) => None,
        };
        if now.as_ref() == Some(expected) {
            return Ok(());
        }
        let actual = self.version(file, path.sent(), control)?;
        Err(Error::OtherVersion { name: path.sent().into(), expected: *expected, actual })
    }
}

/// The version by the content. `None` if the file changes meanwhile. Reports how many bytes are hashed.
fn content_version(file: &Arc<OpenFile>, name: &str, control: &Control) -> Result<Option<FileVersion>> {
    let len = file.len_bytes();
    if len > MAX_HASHED {
        // A number that was never given before.
        return Ok(Some(FileVersion::Unknown(RandomState::new().hash_one(file.stamp()))));
    }
    let Some(view) = loaded(file.clone().view(0..len), name)? else { return Ok(None) };
    let (mut content, mut done) = (ContentHash::default(), 0);
    for block in view.bytes().chunks(HASHED_AT_ONCE) {
        content.push(block);
        done += block.len() as u64;
        control.progress(done, Some(len as u64));
        control.check()?;
    }
    Ok(unchanged(&view, name)?.then_some(content.version()))
}
