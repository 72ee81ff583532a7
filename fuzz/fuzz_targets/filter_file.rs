//! Reads a damaged file of filters.
//!
//! Must hold for any bytes: they are read without a panic, a filter that is found is one that was written for this very
//! stamp, and what a compaction keeps is found again.
//!
//! Input: changes of a file with four records. Each is a byte for its kind, two bytes for a place, and a byte; the last
//! kind takes the rest of the input as the whole file.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use engine::{FilterRecords, RecordsTail};
use folder::fs::version::FileStamp;
use libfuzzer_sys::fuzz_target;
use search::FileFilter;

type Filters = Vec<(FileStamp, FileFilter)>;

fuzz_target!(|data: &[u8]| {
    static WRITTEN: OnceLock<(Vec<u8>, Filters)> = OnceLock::new();
    let (bytes, filters) = WRITTEN.get_or_init(write);
    let mut bytes = bytes.clone();
    let mut changes = data;
    while let [kind, high, low, byte, rest @ ..] = changes {
        let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
        changes = rest;
        match kind % 6 {
            0 => bytes.get_mut(at..).and_then(<[u8]>::first_mut).into_iter().for_each(|old| *old ^= byte),
            1 => bytes.truncate(at),
            2 => bytes[at..].iter_mut().take(usize::from(*byte) * 16).for_each(|old| *old = 0),
            3 => drop(bytes.splice(at..at, vec![*byte; usize::from(*byte)])),
            // Not for ever longer.
            4 if bytes.len() < 1 << 14 => bytes.extend_from_within(at..),
            4 => {}
            _ => (bytes, changes) = (rest.to_vec(), &[]),
        }
    }
    check(&bytes, filters);
});

/// Four states of three files.
fn write() -> (Vec<u8>, Filters) {
    let text = |seed: usize| (0..900).map(|n| format!("word{} ", n * (seed + 7) % 991)).collect::<String>();
    let filter = |(seed, ino): (usize, u64)| {
        let text = text(seed);
        let stamp = FileStamp { dev: 7, ino, len: text.len() as u64, mtime_ns: -1, ctime_ns: seed as i128 };
        (stamp, FileFilter::build(text.as_bytes()))
    };
    let filters: Filters = [1, 2, 1, 3].into_iter().enumerate().map(filter).collect();
    let records =
        filters.iter().filter_map(|(stamp, filter)| FilterRecords::record(stamp, Path::new("/f"), filter));
    (FilterRecords::start(0).into_iter().chain(records.flatten()).collect(), filters)
}

fn read(bytes: &[u8]) -> FilterRecords {
    let mut records = FilterRecords::default();
    while records.read(bytes, 2) {}
    records
}

fn check(bytes: &[u8], filters: &Filters) {
    let records = read(bytes);
    assert!(records.end() <= bytes.len() && records.tail(bytes) != RecordsTail::Unread);
    let live = records.places().into_iter().filter_map(|at| FilterRecords::live(bytes, at, |_, _| true));
    let compacted: Vec<u8> = FilterRecords::start(1).into_iter().chain(live.flatten().copied()).collect();
    let again = read(&compacted);
    assert_eq!((again.end(), again.tail(&compacted)), (compacted.len(), RecordsTail::Nothing));
    for (stamp, filter) in filters {
        let found = |records: &FilterRecords, bytes| {
            records.place(stamp).and_then(|at| FilterRecords::filter(bytes, at, stamp))
        };
        let known = found(&records, bytes);
        assert!(known.as_ref().is_none_or(|known| known == filter));
        assert!(found(&again, &compacted) == known);
        for at in records.places() {
            let known = FilterRecords::filter(bytes, at, stamp);
            assert!(known.is_none_or(|known| known == *filter));
        }
    }
}
