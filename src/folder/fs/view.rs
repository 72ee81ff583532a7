//! One open file in one state: its stamp, and its bytes in the heap or in a map.
//!
//! Small parts are copied into the heap, large ones are mapped; callers need not know which. Another program
//! may write to the file at any time, so the bytes of a view may change while they are read (never make a
//! `&str` of them). Afterwards [`FileView::unchanged`] says whether the bytes were a real state of the file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use super::version::FileStamp;
use crate::error::NoRoom;
use sys::fs::FileExt;
use sys::fs::Stat;
use sys::io::Errno;
use sys::map::FileMap;
use sys::process::address_space_limit;
use text::budget::{Budget, Share};

/// Up to this many bytes are read into the heap: there a copy is cheaper than a map, and cannot fault.
pub const MAP_CUTOFF: usize = 64 * 1024;

/// The least size that a file of `/sys` says.
const PAGE: usize = 4096;

/// At most this many bytes are read into the heap at once: a file that turns out to be shorter takes no more than it has.
const PIECE: usize = 1 << 20;

/// Why a part of a file was not read into the heap.
const NO_MEMORY: &str = "there is too little memory to read so much of it at once";

/// Where the address space is limited, large parts of files have one in so many bytes of it together. The rest is for threads and for
/// the heap: a process that gets none when it needs some is ended.
const OF_SPACE: u64 = 8;

static LARGE: LazyLock<Budget> = LazyLock::new(|| Budget::new(room_for_large()));

/// In bytes.
fn room_for_large() -> usize {
    let limit = address_space_limit();
    let room = if limit == u64::MAX { limit } else { limit / OF_SPACE };
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// An open regular file and its state when it was opened.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    stamp: FileStamp,
    stat: Stat,
}

impl OpenFile {
    /// A file, and its status from when it was opened.
    pub fn new(file: File, stat: Stat) -> OpenFile {
        OpenFile { file, stamp: FileStamp::of(&stat), stat }
    }

    /// The state of the file when it was opened.
    pub fn stamp(&self) -> &FileStamp {
        &self.stamp
    }

    /// Size of the file in bytes when it was opened.
    pub fn len_bytes(&self) -> usize {
        self.stamp.len as usize
    }

    /// Whether the file has bytes although it says that it is empty, as files of `/proc` do.
    pub fn hides_its_size(&self) -> io::Result<bool> {
        let has_bytes = self.stamp.len == 0 && self.file.read_at(&mut [0], 0)? > 0;
        // Another program may have written to it since it was opened.
        Ok(has_bytes && sys::fs::fstat(&self.file)?.st_size == 0)
    }

    /// The file with the length that it has, if that is less than it says, as for files of `/sys`, which say that they have a page or a
    /// few. Reads nothing of others.
    pub fn of_its_length(self) -> io::Result<OpenFile> {
        let len = self.len_bytes();
        let is_pages = len.is_power_of_two() && (PAGE..=MAP_CUTOFF).contains(&len);
        if !is_pages
            || switches::is_off("overstated-size")
            || self.file.read_at(&mut [0], len as u64 - 1)? > 0
        {
            return Ok(self);
        }
        let (mut bytes, mut read) = (vec![0; len], 0);
        loop {
            match self.file.read_at(&mut bytes[read..], read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        // Another program may have cut it since it was opened.
        let is_unchanged = self.is_unchanged()?;
        let stamp = if is_unchanged { FileStamp { len: read as u64, ..self.stamp } } else { self.stamp };
        Ok(OpenFile { stamp, ..self })
    }

    fn clamped(&self, window: Range<usize>) -> Range<usize> {
        window.start.min(self.len_bytes())..window.end.min(self.len_bytes())
    }

    /// Its status when it was opened.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the file's bytes are still those of the stamp. Also compares the time of the last change,
    /// because a program can set the time of the last write back. Exception: when an edit replaces the file,
    /// it only loses its name; its bytes stay the same.
    pub fn unchanged(&self) -> bool {
        self.is_unchanged().unwrap_or(false)
    }

    /// The same, or the error of a system that does not tell the file's state.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        let now = sys::fs::fstat(&self.file)?;
        let stamp = FileStamp::of(&now);
        let then = FileStamp::of(&self.stat);
        Ok(stamp == then || (stamp.same_content(&then) && now.st_nlink < self.stat.st_nlink))
    }

    /// Whether the whole stamp is unchanged.
    pub fn is_as_found(&self) -> bool {
        sys::fs::fstat(&self.file).is_ok_and(|stat| FileStamp::of(&stat) == FileStamp::of(&self.stat))
    }

    /// The bytes of `window` (clamped to the file): a small part is copied, a large one is mapped.
    pub fn view(self: Arc<Self>, window: Range<usize>) -> io::Result<FileView> {
        let window = self.clamped(window);
        let (bytes, share) = Bytes::load(&self.file, &window)?;
        Ok(FileView { bytes, offset: window.start, file: self, _share: share })
    }

    /// The bytes of `window` if they are in memory. Never waits for a disk.
    pub fn view_if_cached(self: Arc<Self>, window: Range<usize>) -> Option<FileView> {
        let window = self.clamped(window);
        let bytes = Bytes::Heap(read_cached(&self.file, &window)?);
        Some(FileView { bytes, offset: window.start, file: self, _share: None })
    }
}

/// A part of one open file.
#[derive(Debug)]
pub struct FileView {
    bytes: Bytes,
    offset: usize,
    file: Arc<OpenFile>,
    /// Of the room for large parts.
    _share: Option<Share>,
}

#[derive(Debug)]
enum Bytes {
    Heap(Vec<u8>),
    Map(FileMap),
}

impl FileView {
    /// Bytes that were made of the file's, instead of them.
    pub fn made(bytes: Vec<u8>, file: Arc<OpenFile>) -> FileView {
        FileView { bytes: Bytes::Heap(bytes), offset: 0, file, _share: None }
    }

    /// The same bytes, as if they were of this file.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_file(self, file: Arc<OpenFile>) -> FileView {
        FileView { file, ..self }
    }

    /// The bytes, starting at [`FileView::offset`] in the file. Mapped bytes may change while they are read.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Heap(bytes) => bytes,
            Bytes::Map(map) => map.bytes(),
        }
    }

    /// Whether the bytes were copied into the heap, and cannot change any more.
    pub fn is_copy(&self) -> bool {
        matches!(self.bytes, Bytes::Heap(_))
    }

    /// The position of the view in the file, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The file.
    pub fn file(&self) -> &Arc<OpenFile> {
        &self.file
    }

    /// Whether all bytes read so far are those that the file held when it was opened.
    pub fn unchanged(&self) -> bool {
        self.is_unchanged().unwrap_or(false)
    }

    /// The same, or the error of a system that failed to read: a hole in a file that has not changed is none of the file.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        let has_hole = !switches::is_off("view-faulted") && self.has_hole();
        match self.file.is_unchanged()? {
            true if !switches::is_off("map-error") && has_hole => Err(Errno::IO.into()),
            unchanged => Ok(unchanged),
        }
    }

    /// Whether bytes were read that the file had lost. They are zeros, and stay so.
    pub fn has_hole(&self) -> bool {
        matches!(&self.bytes, Bytes::Map(map) if map.faulted())
    }
}

impl Bytes {
    /// Fails with [`NoRoom`] if others hold all room for large parts.
    fn load(file: &File, window: &Range<usize>) -> io::Result<(Bytes, Option<Share>)> {
        let is_large = !switches::is_off("view-cutoff") && window.len() > MAP_CUTOFF;
        if is_large && window.len() > room_for_large() {
            return Err(io::Error::other(
                "so much of a file does not fit into the limit of the address space (ulimit -v)",
            ));
        }
        let share = if is_large { Some(share_of_large(window.len())?) } else { None };
        // Some file systems in user space map nothing: where reads go past the page cache.
        if is_large {
            match FileMap::new(file, window) {
                Ok(Some(map)) => return Ok((Bytes::Map(map), share)),
                Err(error) if switches::is_off("no-map") => return Err(error),
                _ => {}
            }
        }
        Ok((Bytes::Heap(read(file, window)?), share))
    }
}

fn share_of_large(bytes: usize) -> io::Result<Share> {
    let mut share = LARGE.share();
    if switches::is_off("view-share") || share.grow(bytes) {
        Ok(share)
    } else {
        Err(io::Error::other(NoRoom))
    }
}

/// The bytes of `window`, read into the heap. An error if there is too little memory: a file may be larger than that.
fn read(file: &File, window: &Range<usize>) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; window.len().min(PIECE)];
    if window.len() <= PIECE {
        file.read_exact_at(&mut piece, window.start as u64)?;
        return Ok(piece);
    }
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(window.len()).is_err() {
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, NO_MEMORY));
    }
    while bytes.len() < window.len() {
        let piece = &mut piece[..PIECE.min(window.len() - bytes.len())];
        file.read_exact_at(piece, (window.start + bytes.len()) as u64)?;
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}

/// The bytes of `window` if all are in the page cache. `None` if not, or if the file system does not say.
fn read_cached(file: &File, window: &Range<usize>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; window.len()];
    if window.is_empty() {
        return Some(bytes);
    }
    let read = sys::io::read_if_cached(file, &mut bytes, window.start as u64)?;
    (read == window.len()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use std::sync::RwLock;

    use super::*;
    use sys::map::{MAPS_FILES, guards_until_full};

    /// Locked for writing by the test that fills the table of guarded maps, for reading by others.
    static TABLE: RwLock<()> = RwLock::new(());

    fn open(bytes: &[u8]) -> (File, Arc<OpenFile>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let stat = sys::fs::fstat(&file).unwrap();
        (file.try_clone().unwrap(), Arc::new(OpenFile::new(file, stat)))
    }

    fn is_map(view: &FileView) -> bool {
        matches!(view.bytes, Bytes::Map(_))
    }

    #[test]
    fn small_stretches_are_copied_and_large_ones_mapped_with_the_same_bytes() {
        let _shared = TABLE.read().unwrap();
        let bytes: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        for window in [0..0, 5..1000, 0..MAP_CUTOFF, 3..MAP_CUTOFF + 4, 100_001..200_000, 0..999_999] {
            let view = open(&bytes).1.view(window.clone()).unwrap();
            let expected = window.start..window.end.min(bytes.len());
            assert_eq!(is_map(&view), expected.len() > MAP_CUTOFF && MAPS_FILES);
            assert_eq!((view.bytes(), view.offset()), (&bytes[expected], window.start));
            assert!(view.unchanged());
        }
    }

    #[test]
    fn a_part_is_read_into_the_heap_to_the_byte_and_one_that_no_memory_holds_is_an_error() {
        let bytes: Vec<u8> = (0..2 * PIECE as u32 + 9).map(|n| (n % 251) as u8).collect();
        let (file, _) = open(&bytes);
        for window in [0..0, 0..bytes.len(), 3..PIECE + 3, 5..PIECE + 6, PIECE..bytes.len()] {
            assert_eq!(read(&file, &window).unwrap(), &bytes[window]);
        }
        let cut = read(&file, &(0..bytes.len() + 1)).unwrap_err();
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
        let refused = read(&file, &(0..usize::MAX / 4)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_map_of_a_truncated_file_reads_zeros_behind_the_hole_and_says_so() {
        if !MAPS_FILES {
            return;
        }
        let _shared = TABLE.read().unwrap();
        let bytes = vec![b'x'; 1 << 20];
        for keep in [0, 1, 4096, 70_000, (1 << 20) - 1] {
            let (writer, file) = open(&bytes);
            let view = file.view(0..bytes.len()).unwrap();
            writer.set_len(keep).unwrap();
            let sum = view.bytes().iter().filter(|&&byte| byte == b'x').count() as u64;
            assert_eq!(sum, keep);
            assert!(!view.unchanged());
        }
    }

    #[test]
    fn a_hole_that_was_read_is_told_whatever_the_file_looks_like_afterwards() {
        if !MAPS_FILES {
            return;
        }
        let _shared = TABLE.read().unwrap();
        let bytes = vec![b'x'; 1 << 20];
        let (writer, file) = open(&bytes);
        let view = file.view(0..bytes.len()).unwrap();
        writer.set_len(0).unwrap();
        assert_eq!(view.bytes().iter().filter(|&&byte| byte == 0).count(), bytes.len());
        writer.write_all_at(&bytes, 0).unwrap();
        // As if the file had had this state when it was opened.
        let now = OpenFile::new(writer.try_clone().unwrap(), sys::fs::fstat(&writer).unwrap());
        let view = view.of_file(Arc::new(now));
        assert!(view.file().unchanged() && !view.unchanged());
        assert!(view.is_unchanged().is_err(), "the system failed to read it");
    }

    #[test]
    fn maps_on_many_threads_fault_without_harm_to_each_other() {
        if !MAPS_FILES {
            return;
        }
        let _shared = TABLE.read().unwrap();
        let whole = open(&vec![b'y'; 300_000]).1.view(0..300_000).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let (writer, file) = open(&vec![b'x'; 200_000]);
                        let view = file.view(0..200_000).unwrap();
                        writer.set_len(10).unwrap();
                        assert_eq!(view.bytes().iter().filter(|&&byte| byte == b'x').count(), 10);
                        assert!(!view.unchanged());
                    }
                });
            }
        });
        assert!(whole.bytes().iter().all(|&byte| byte == b'y') && whole.unchanged());
    }

    #[test]
    fn a_write_whose_time_is_set_back_is_a_change_and_the_loss_of_the_name_is_none() {
        let named = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(named.path(), "old").unwrap();
        let open = || {
            let file = File::open(named.path()).unwrap();
            let stat = sys::fs::fstat(&file).unwrap();
            OpenFile::new(file, stat)
        };
        let (before, changed_at) = (open(), named.as_file().metadata().unwrap().modified().unwrap());
        assert!(before.unchanged());
        while !before.is_as_found() || open().stamp().is_racy(std::time::SystemTime::now()) {}
        std::fs::write(named.path(), "new").unwrap();
        named.as_file().set_modified(changed_at).unwrap();
        assert!(!before.unchanged());
        let after = open();
        drop(named);
        assert!(after.unchanged() && !after.is_as_found());
    }

    #[test]
    fn a_read_short_of_the_window_is_an_error_not_zeros() {
        let (writer, file) = open(&[b'x'; 1000]);
        writer.set_len(10).unwrap();
        assert!(file.view(0..1000).is_err());
    }

    #[test]
    fn a_map_that_cannot_be_guarded_is_a_copy_instead() {
        let _alone = TABLE.write().unwrap();
        let bytes = vec![b'x'; MAP_CUTOFF + 1];
        let guards = guards_until_full();
        assert!(guards.len() >= 1000 || !MAPS_FILES);
        let view = open(&bytes).1.view(0..bytes.len()).unwrap();
        assert!(!is_map(&view) && view.bytes() == bytes);
        drop(guards);
        assert_eq!(is_map(&open(&bytes).1.view(0..bytes.len()).unwrap()), MAPS_FILES);
    }
}
