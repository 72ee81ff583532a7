//! The form of filters on disk: records, one behind the other.
//!
//! Pure over bytes: knows no file. A record is a header and the filter's blocks and words, all in little-endian order
//! and each with a checksum. Nothing is believed before it is checked: a record that is cut off, damaged, or of
//! another format is no filter. Who can write to the file can also write a wrong record with right checksums; such a
//! file must be the server's own.
//!
//! Records are only appended. Of two records for one file, the later one counts.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::fs::version::FileStamp;
use crate::engine::search::filter::FileFilter;

const MAGIC: [u8; 8] = *b"FEfilter";

/// Must change with all that gives a text other bits (a test notices), and with the form of a record.
const FORMAT: u64 = 1;

/// Numbers in a header: magic, format, device, inode, length, two times, bytes of the body, its checksum, and the
/// checksum of all that.
const NUMBERS: usize = 10;

/// Bytes of a header.
const HEADER_BYTES: usize = NUMBERS * size_of::<u64>();

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    stamp: FileStamp,
    body_bytes: u64,
    body_checksum: u64,
}

impl Header {
    fn to_bytes(self) -> Option<Vec<u8>> {
        let FileStamp { dev, ino, len, mtime_ns, ctime_ns } = self.stamp;
        let times = [i64::try_from(mtime_ns).ok()?, i64::try_from(ctime_ns).ok()?].map(|time| time as u64);
        let numbers = [FORMAT, dev, ino, len, times[0], times[1], self.body_bytes, self.body_checksum];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        Some(bytes)
    }

    /// The header at the start of `bytes`.
    fn of(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let (checked, checksum) = bytes.split_last_chunk()?;
        let numbers =
            checked.chunks_exact(8).filter_map(|chunk| Some(u64::from_le_bytes(*chunk.first_chunk()?)));
        let numbers: Vec<u64> = numbers.skip(1).collect();
        let [FORMAT, dev, ino, len, mtime, ctime, body_bytes, body_checksum] = numbers[..] else {
            return None;
        };
        let [mtime_ns, ctime_ns] = [mtime, ctime].map(|time| i128::from(time as i64));
        let is_ours = checked.starts_with(&MAGIC) && xxh3_64(checked) == u64::from_le_bytes(*checksum);
        let stamp = FileStamp { dev, ino, len, mtime_ns, ctime_ns };
        is_ours.then_some(Header { stamp, body_bytes, body_checksum })
    }
}

/// Where the records for files are.
#[derive(Debug, Default)]
pub struct FilterRecords {
    /// The start of each file's last record, by device and inode.
    starts: HashMap<(u64, u64), usize>,
    /// The end of the last record that was read.
    end: usize,
}

impl FilterRecords {
    /// The record for the filter of a file in this state. `None`: its times do not fit into a record.
    pub fn record(stamp: &FileStamp, filter: &FileFilter) -> Option<Vec<u8>> {
        let body = filter.to_bytes();
        let (body_bytes, body_checksum) = (body.len() as u64, xxh3_64(&body));
        let mut record = Header { stamp: *stamp, body_bytes, body_checksum }.to_bytes()?;
        record.extend_from_slice(&body);
        Some(record)
    }

    /// Reads the headers of the records that were appended to `all` since the last call, up to one that is damaged or
    /// not complete. Returns the end of what is in order: another program may still write there.
    pub fn read(&mut self, all: &[u8]) -> usize {
        while let Some(header) = all.get(self.end..).and_then(Header::of) {
            let next = usize::try_from(header.body_bytes).ok().and_then(|len| len.checked_add(HEADER_BYTES));
            let next = next.and_then(|len| self.end.checked_add(len)).filter(|next| *next <= all.len());
            let Some(next) = next else { break };
            self.starts.insert((header.stamp.dev, header.stamp.ino), self.end);
            self.end = next;
        }
        self.end
    }

    /// The filter of the file in this state, read from `all`.
    pub fn filter(&self, all: &[u8], stamp: &FileStamp) -> Option<FileFilter> {
        let record = all.get(*self.starts.get(&(stamp.dev, stamp.ino))?..)?;
        let header = Header::of(record).filter(|header| header.stamp == *stamp)?;
        let body = record.get(HEADER_BYTES..)?.get(..usize::try_from(header.body_bytes).ok()?)?;
        let checked = Some(body).filter(|body| xxh3_64(body) == header.body_checksum)?;
        FileFilter::from_bytes(checked).filter(|filter| filter.len_bytes() == stamp.len)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;

    fn stamp(ino: u64, len: usize) -> FileStamp {
        FileStamp { dev: 7, ino, len: len as u64, mtime_ns: -1, ctime_ns: 1 << 60 }
    }

    fn text(seed: usize) -> String {
        (0..3000).map(|n| format!("word{} ", n * (seed + 7) % 991)).collect()
    }

    type Written = (Vec<u8>, Vec<(FileStamp, FileFilter)>);

    /// Records of four states of three files.
    fn written() -> Written {
        static WRITTEN: OnceLock<Written> = OnceLock::new();
        WRITTEN.get_or_init(write).clone()
    }

    fn write() -> Written {
        let filters: Vec<_> = [1, 2, 1, 3]
            .iter()
            .enumerate()
            .map(|(seed, ino)| (stamp(*ino, text(seed).len()), FileFilter::build(text(seed).as_bytes())))
            .collect();
        let bytes = filters
            .iter()
            .flat_map(|(stamp, filter)| FilterRecords::record(stamp, filter).unwrap())
            .collect();
        (bytes, filters)
    }

    fn read(bytes: &[u8]) -> FilterRecords {
        let mut records = FilterRecords::default();
        records.read(bytes);
        records
    }

    #[test]
    fn what_was_written_is_read_for_the_very_stamp() {
        let (bytes, filters) = written();
        let records = read(&bytes);
        for (number, (stamp, filter)) in filters.iter().enumerate() {
            let expected = (number != 0).then_some(filter);
            assert!(records.filter(&bytes, stamp).as_ref() == expected, "{number}");
            assert!(records.filter(&bytes, &FileStamp { ctime_ns: 3, ..*stamp }).is_none());
        }
        let (partial, len) = (FilterRecords::record(&stamp(9, 300_000), &partial()).unwrap(), 300_000);
        assert!(read(&partial).filter(&partial, &stamp(9, len)).is_some_and(|read| read == self::partial()));
        assert!(
            FilterRecords::record(&FileStamp { mtime_ns: i128::MAX, ..stamp(1, 1) }, &filters[0].1).is_none()
        );
    }

    fn partial() -> FileFilter {
        let mut builder = super::super::FilterBuilder::default();
        builder.push(&text(1).repeat(8).as_bytes()[..150_000]);
        builder.finish(300_000)
    }

    #[test]
    fn records_that_are_appended_later_are_found() {
        let (bytes, filters) = written();
        let mut records = FilterRecords::default();
        for end in (0..bytes.len()).step_by(997) {
            assert!(records.read(&bytes[..end]) <= end);
        }
        assert_eq!(records.read(&bytes), bytes.len());
        assert!(records.filter(&bytes, &filters[3].0).as_ref() == Some(&filters[3].1));
    }

    #[test]
    fn the_format_has_another_number_when_a_text_has_other_bits() {
        let text = format!("{}Кот и Слон — é à la carte\n世界 mixed 界abc\n", text(5));
        assert_eq!(
            (FORMAT, xxh3_64(&FileFilter::build(text.as_bytes()).to_bytes())),
            (1, 10_576_231_894_562_486_374)
        );
    }

    proptest! {
        #[test]
        fn a_damaged_record_is_no_filter(
            changed in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let (mut bytes, filters) = written();
            for (at, change) in changed {
                let at = at.index(bytes.len());
                bytes[at] ^= change;
            }
            bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
            let records = read(&bytes);
            for (stamp, filter) in &filters {
                // An older state has another stamp.
                prop_assert!(records.filter(&bytes, stamp).is_none_or(|read| read == *filter));
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..200), len in any::<u64>()) {
            let stamp = FileStamp { dev: 1, ino: 1, len, mtime_ns: 0, ctime_ns: 0 };
            let (body_bytes, body_checksum) = (body.len() as u64, xxh3_64(&body));
            let mut bytes = Header { stamp, body_bytes, body_checksum }.to_bytes().unwrap();
            bytes.extend_from_slice(&body);
            read(&bytes).filter(&bytes, &stamp);
            read(&body).filter(&body, &stamp);
        }
    }
}
