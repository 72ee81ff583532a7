//! Records that are whole, cut off, damaged and foreign.

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
    let records = filters.iter().flat_map(|(stamp, filter)| {
        FilterRecords::record(stamp, Path::new(&format!("/f/{}", stamp.ino)), filter).unwrap()
    });
    (FilterRecords::start(0).into_iter().chain(records).collect(), filters)
}

fn read(bytes: &[u8]) -> FilterRecords {
    let mut records = FilterRecords::default();
    while records.read(bytes, 1) {}
    records
}

fn filter(bytes: &[u8], stamp: &FileStamp) -> Option<FileFilter> {
    FilterRecords::filter(bytes, read(bytes).place(stamp)?, stamp)
}

#[test]
fn what_was_written_is_read_for_the_very_stamp() {
    let (bytes, filters) = written();
    for (number, (stamp, expected)) in filters.iter().enumerate() {
        let expected = (number != 0).then_some(expected);
        assert!(filter(&bytes, stamp).as_ref() == expected, "{number}");
        for other in [
            FileStamp { ctime_ns: 3, ..*stamp },
            FileStamp { mtime_ns: 3, ..*stamp },
            FileStamp { len: 3, ..*stamp },
            FileStamp { dev: 3, ..*stamp },
        ] {
            assert!(filter(&bytes, &other).is_none());
        }
    }
    let strange = FileStamp { mtime_ns: i128::MAX, ..stamp(1, 1) };
    assert!(FilterRecords::record(&strange, Path::new("/f"), &filters[0].1).is_none());
}

#[test]
fn a_filter_of_the_beginning_of_a_file_is_kept_as_such() {
    let mut builder = search::FilterBuilder::default();
    builder.push(&text(1).repeat(8).as_bytes()[..150_000]);
    let partial = builder.finish(300_000);
    let stamp = stamp(9, 300_000);
    let record = FilterRecords::record(&stamp, Path::new("/f"), &partial).unwrap();
    let bytes = [FilterRecords::start(0), record].concat();
    assert!(filter(&bytes, &stamp).is_some_and(|read| read == partial && !read.is_complete()));
}

#[test]
fn records_that_are_appended_later_are_found() {
    let (bytes, filters) = written();
    let mut records = FilterRecords::default();
    for end in (0..bytes.len()).step_by(97) {
        while records.read(&bytes[..end], 2) {}
        let tail = if records.end() == end { RecordsTail::Nothing } else { RecordsTail::Torn };
        assert_eq!(records.tail(&bytes[..end]), tail, "{end}");
    }
    records.read(&bytes, 9);
    assert_eq!((records.end(), records.tail(&bytes)), (bytes.len(), RecordsTail::Nothing));
    let (stamp, expected) = &filters[3];
    let place = records.place(stamp).unwrap();
    assert!(FilterRecords::filter(&bytes, place, stamp).as_ref() == Some(expected));
}

#[test]
fn foreign_bytes_end_what_is_read_and_are_told_from_a_record_that_is_not_complete() {
    let (bytes, filters) = written();
    let with_foreign = [bytes.as_slice(), &[0; HEADER_BYTES]].concat();
    assert_eq!(read(&with_foreign).tail(&with_foreign), RecordsTail::Foreign);
    assert_eq!(read(b"a note, longer than the start of a file").end(), 0);
    assert_eq!(read(&[b'a'; 200]).tail(&[b'a'; 200]), RecordsTail::Foreign);
    // The header of the third record: those before it stay.
    let mut damaged = bytes.clone();
    let third = read(&bytes).place(&filters[2].0).unwrap();
    damaged[third + 9] ^= 1;
    assert_eq!((read(&damaged).end(), read(&damaged).tail(&damaged)), (third, RecordsTail::Foreign));
    assert!(filter(&damaged, &filters[1].0).as_ref() == Some(&filters[1].1));
    assert!(filter(&damaged, &filters[3].0).is_none());
}

#[test]
fn superseded_and_damaged_records_and_those_of_files_that_are_gone_are_dropped() {
    let (mut bytes, filters) = written();
    let records = read(&bytes);
    let live = |bytes: &[u8], gone: &str| -> Vec<u8> {
        let is_there = |path: &Path, _: &FileStamp| path != Path::new(gone);
        let live = |place| FilterRecords::live(bytes, place, is_there);
        records.places().into_iter().filter_map(live).flatten().copied().collect()
    };
    let compact = |bytes: &[u8], gone| [FilterRecords::start(5), live(bytes, gone)].concat();
    let compacted = compact(&bytes, "/f/3");
    assert_eq!(read(&compacted).compacted(), 5);
    for (stamp, expected) in &filters[1..3] {
        assert!(filter(&compacted, stamp).as_ref() == Some(expected));
    }
    assert!(filter(&compacted, &filters[3].0).is_none() && filter(&compacted, &filters[0].0).is_none());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_eq!(compact(&bytes, ""), compacted);
}

#[test]
fn the_format_has_another_number_when_a_text_has_other_bits() {
    let text = format!("{}Кот и Слон — é à la carte\n世界 mixed 界abc\n", text(5));
    assert_eq!(
        (FORMAT, xxh3_64(&FileFilter::build(text.as_bytes()).to_bytes())),
        (2, 10_576_231_894_562_486_374)
    );
}

proptest! {
    #[test]
    fn a_damaged_record_is_no_filter(
        changed in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
        zeros in prop::option::of(any::<prop::sample::Index>()),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (mut bytes, filters) = written();
        for (at, change) in changed {
            let at = at.index(bytes.len());
            bytes[at] ^= change;
        }
        // As a crash of the machine may leave a file.
        if let Some(page) = zeros.map(|page| page.index(bytes.len())) {
            let end = bytes.len().min(page + 4096);
            bytes[page..end].fill(0);
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        for (stamp, expected) in &filters {
            // An older state has another stamp.
            prop_assert!(filter(&bytes, stamp).is_none_or(|read| read == *expected));
        }
        let records = read(&bytes);
        for place in records.places() {
            FilterRecords::live(&bytes, place, |_, _| true);
        }
        records.tail(&bytes);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        body in prop::collection::vec(any::<u8>(), 0..200),
        len in any::<u64>(),
        lens in (any::<u64>(), any::<u64>()),
        is_true in any::<bool>(),
    ) {
        let stamp = FileStamp { dev: 1, ino: 1, len, mtime_ns: 0, ctime_ns: 0 };
        let (filter_bytes, path_bytes) = if is_true { (body.len() as u64, 0) } else { lens };
        let header = Header { stamp, filter_bytes, path_bytes, body_checksum: xxh3_64(&body) };
        let bytes = [FilterRecords::start(len), header.to_bytes().unwrap(), body.clone()].concat();
        filter(&bytes, &stamp);
        FilterRecords::filter(&bytes, START_BYTES, &stamp);
        filter(&body, &stamp);
        read(&body).tail(&body);
    }
}
