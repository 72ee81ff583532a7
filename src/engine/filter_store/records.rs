//! The form of filters on disk: a start, and records one behind the other.
//!
//! Pure over bytes: knows no file. A record is a header, the filter's blocks and words, and the path of the text. All
//! numbers are in little-endian order. Header and body each have a checksum: nothing is believed before it is checked,
//! and a record that is cut off, damaged or of another format is no filter. Who can write to the file can also write a
//! wrong record with right checksums; so such a file must belong to the server's user alone.
//!
//! Records are only appended. Of two records for one file, the later one counts.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use folder::fs::version::FileStamp;
use search::FileFilter;
use sys::ffi::OsStrExt;

/// What the file begins with.
const START: [u8; 8] = *b"FEstart\n";

/// What a record begins with.
const RECORD: [u8; 8] = *b"FEfilter";

const FORMAT: u64 = FilterRecords::FORMAT;

/// Bytes of the start: magic, format, the length of the file after it was last compacted, and their checksum.
const START_BYTES: usize = 4 * size_of::<u64>();

/// Numbers in a header: magic, format, device, inode, length, two times, bytes of the filter, bytes of the path, the
/// checksum of both, and the checksum of all that.
const NUMBERS: usize = 11;

/// Bytes of a header.
const HEADER_BYTES: usize = NUMBERS * size_of::<u64>();

/// The most records that are read: an index of them takes about 50 MB.
const MAX_RECORDS: usize = 1 << 20;

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    stamp: FileStamp,
    filter_bytes: u64,
    path_bytes: u64,
    body_checksum: u64,
}

impl Header {
    /// `None`: the times of the file do not fit.
    fn to_bytes(self) -> Option<Vec<u8>> {
        let FileStamp { dev, ino, len, mtime_ns, ctime_ns } = self.stamp;
        let [mtime, ctime] = [i64::try_from(mtime_ns).ok()?, i64::try_from(ctime_ns).ok()?];
        let Header { filter_bytes, path_bytes, body_checksum, .. } = self;
        let file = [FORMAT, dev, ino, len, mtime as u64, ctime as u64];
        Some(checked(RECORD, file.into_iter().chain([filter_bytes, path_bytes, body_checksum])))
    }

    /// The header at the start of `bytes`.
    fn of(bytes: &[u8]) -> Option<Header> {
        // A copy: other programs may change the bytes between the check and the use.
        let bytes: [u8; HEADER_BYTES] = *bytes.first_chunk()?;
        let numbers: [u64; NUMBERS - 2] = numbers_of(RECORD, &bytes)?;
        let [FORMAT, dev, ino, len, mtime, ctime, filter_bytes, path_bytes, body_checksum] = numbers else {
            return None;
        };
        let [mtime_ns, ctime_ns] = [mtime, ctime].map(|time| i128::from(time as i64));
        let stamp = FileStamp { dev, ino, len, mtime_ns, ctime_ns };
        Some(Header { stamp, filter_bytes, path_bytes, body_checksum })
    }

    /// Bytes of the whole record.
    fn record_bytes(&self) -> Option<usize> {
        let body = self.filter_bytes.checked_add(self.path_bytes)?;
        usize::try_from(body).ok()?.checked_add(HEADER_BYTES)
    }

    /// The filter and the path of the record in `record`, copied and checked.
    fn body(&self, record: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut filter = record.get(HEADER_BYTES..self.record_bytes()?)?.to_vec();
        if !switches::is_off("filter-disk-checksum") && xxh3_64(&filter) != self.body_checksum {
            return None;
        }
        let path = filter.split_off(usize::try_from(self.filter_bytes).ok()?);
        Some((filter, path))
    }
}

/// A magic and numbers, with their checksum behind.
fn checked(magic: [u8; 8], numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// The numbers between a magic and their checksum.
fn numbers_of<const N: usize>(magic: [u8; 8], bytes: &[u8]) -> Option<[u64; N]> {
    let (checked, checksum) = bytes.split_last_chunk()?;
    let (found, numbers) = checked.split_first_chunk()?;
    let is_whole = *found == magic && xxh3_64(checked) == u64::from_le_bytes(*checksum);
    let (numbers, _) = numbers.as_chunks();
    let numbers = <&[[u8; 8]; N]>::try_from(numbers).ok()?;
    is_whole.then(|| numbers.map(u64::from_le_bytes))
}

/// What lies behind the records that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordsTail {
    /// Nothing.
    Nothing,
    /// The beginning of a record or of a start: its writer is at it, or died.
    Torn,
    /// Records that were not read yet.
    Unread,
    /// Something else.
    Foreign,
}

/// Where the records for files are.
#[derive(Debug, Default)]
pub struct FilterRecords {
    /// The start of each file's last record, by device and inode.
    starts: HashMap<(u64, u64), usize>,
    /// The end of the last record that was read; 0: the start was not read.
    end: usize,
    /// The length of the file after it was last compacted.
    compacted: u64,
}

impl FilterRecords {
    /// The number of the format. Must change with all that gives a text other bits (a test notices), with what is taken as text
    /// in UTF-8, and with the form of a record.
    pub const FORMAT: u64 = 2;

    /// What a file begins with that had this length when it was compacted; 0: it never was.
    pub fn start(compacted: u64) -> Vec<u8> {
        checked(START, [FORMAT, compacted])
    }

    /// The record for the filter of a file in this state. `None`: its times do not fit into a record.
    pub fn record(stamp: &FileStamp, path: &Path, filter: &FileFilter) -> Option<Vec<u8>> {
        let (mut body, path) = (filter.to_bytes(), path.as_os_str().as_bytes());
        let filter_bytes = body.len() as u64;
        body.extend_from_slice(path);
        let header = Header {
            stamp: *stamp,
            filter_bytes,
            path_bytes: path.len() as u64,
            body_checksum: xxh3_64(&body),
        };
        let mut record = header.to_bytes()?;
        record.extend_from_slice(&body);
        Some(record)
    }

    /// Reads the headers of up to `most` of the records that were appended to `all` since the last call, up to what is
    /// damaged or not complete. Returns whether there may be more.
    pub fn read(&mut self, all: &[u8], most: usize) -> bool {
        if self.end == 0 {
            let start = all.get(..START_BYTES).and_then(|start| numbers_of(START, start));
            let Some([FORMAT, compacted]) = start else { return false };
            (self.end, self.compacted) = (START_BYTES, compacted);
        }
        for _ in 0..most {
            let Some(header) = all.get(self.end..).and_then(Header::of) else { return false };
            let next = header.record_bytes().and_then(|len| self.end.checked_add(len));
            let Some(next) = next.filter(|next| *next <= all.len()) else { return false };
            if self.is_full() {
                return false;
            }
            self.starts.insert((header.stamp.dev, header.stamp.ino), self.end);
            self.end = next;
        }
        true
    }

    /// The end of the records that were read; 0: not even a start was.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Whether no further record is read.
    pub fn is_full(&self) -> bool {
        self.starts.len() >= MAX_RECORDS
    }

    /// The length of the file after it was last compacted; 0: it never was.
    pub fn compacted(&self) -> u64 {
        self.compacted
    }

    /// What lies behind the records that were read. Another program may just be writing it.
    pub fn tail(&self, all: &[u8]) -> RecordsTail {
        let rest = all.get(self.end..).unwrap_or_default();
        let least = if self.end == 0 { START_BYTES } else { HEADER_BYTES };
        match Header::of(rest).filter(|_| self.end > 0) {
            _ if rest.is_empty() => RecordsTail::Nothing,
            _ if rest.len() < least => RecordsTail::Torn,
            Some(header) if header.record_bytes().is_some_and(|len| len <= rest.len()) => RecordsTail::Unread,
            Some(_) => RecordsTail::Torn,
            None => RecordsTail::Foreign,
        }
    }

    /// Where the last record of a file is, in whatever state.
    pub fn place(&self, stamp: &FileStamp) -> Option<usize> {
        self.starts.get(&(stamp.dev, stamp.ino)).copied()
    }

    /// Forgets the record at `place`, which turned out to be damaged.
    pub fn forget(&mut self, stamp: &FileStamp, place: usize) {
        let key = (stamp.dev, stamp.ino);
        if self.starts.get(&key) == Some(&place) {
            self.starts.remove(&key);
        }
    }

    /// Where the last records of all files are, in order.
    pub fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.starts.values().copied().collect();
        places.sort_unstable();
        places
    }

    /// Whether the record at `place` of `all` is for a file in this state. Does not check its filter.
    pub fn is_of(all: &[u8], place: usize, stamp: &FileStamp) -> bool {
        all.get(place..).and_then(Header::of).is_some_and(|header| header.stamp == *stamp)
    }

    /// The filter at `place` of `all`, if it is for the file in this state.
    pub fn filter(all: &[u8], place: usize, stamp: &FileStamp) -> Option<FileFilter> {
        let record = all.get(place..)?;
        let header = Header::of(record)
            .filter(|header| header.stamp == *stamp || switches::is_off("filter-disk-stamp"))?;
        let (filter, _) = header.body(record)?;
        FileFilter::from_bytes(&filter).filter(|filter| filter.len_bytes() == stamp.len)
    }

    /// The record at `place` of `all`, unless it is damaged or `is_there` is false for its file.
    pub fn live(all: &[u8], place: usize, is_there: impl FnOnce(&Path, &FileStamp) -> bool) -> Option<&[u8]> {
        let record = all.get(place..)?;
        let header = Header::of(record)?;
        let (_, path) = header.body(record)?;
        let is_there = is_there(Path::new(OsStr::from_bytes(&path)), &header.stamp);
        record.get(..header.record_bytes()?).filter(|_| is_there)
    }
}

#[cfg(test)]
mod tests;
