//! Reads made-up parts of a git repository, and compares made-up versions of a file.
//!
//! Must hold for any bytes: they are read without a panic; what is inflated, or made by a delta, has the size that was
//! allowed; the counted lines are no more than the lines there are, and the same number of lines is left on both sides.
//!
//! Input: a byte for what is read, and its bytes. For two texts or a base and its delta, the second begins behind a byte 0xff.

#![no_main]

use std::time::Duration;

use folder::Control;
use libfuzzer_sys::fuzz_target;
use toolkit::churn::diff;
use toolkit::churn::git::commit::Commit;
use toolkit::churn::git::config::Config;
use toolkit::churn::git::id::{HashKind, ObjectId};
use toolkit::churn::git::index::PackIndex;
use toolkit::churn::git::inflate::Inflater;
use toolkit::churn::git::{delta, pack, tree};

/// The largest object that is allowed here.
const MOST: usize = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let Some((what, data)) = data.split_first() else { return };
    let kind = if what & 0x80 == 0 { HashKind::Sha1 } else { HashKind::Sha256 };
    match what % 8 {
        0 => inflate(data),
        1 => deltas(data),
        2 => index(data, kind),
        3 => heads(data, kind),
        4 => trees(data, kind),
        5 => drop(Commit::read(data, kind).map(|commit| commit.author())),
        6 => drop(Config::read(data)),
        _ => lines(data),
    }
});

fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    let at = data.iter().position(|&byte| byte == 0xff).unwrap_or(data.len());
    (&data[..at], data.get(at + 1..).unwrap_or_default())
}

fn inflate(data: &[u8]) {
    let [high, low, stream @ ..] = data else { return };
    let size = usize::from(u16::from_be_bytes([*high, *low]));
    let mut inflater = Inflater::default();
    let mut start = [0; 32];
    let begins = inflater.beginning(stream, &mut start);
    if let Ok(bytes) = inflater.whole(stream, size) {
        let len = begins.expect("a whole stream has a beginning");
        assert!(bytes.len() == size && len == size.min(32) && bytes.starts_with(&start[..len]));
    }
}

fn deltas(data: &[u8]) {
    let (base, instructions) = halves(data);
    if let Ok(made) = delta::apply(base, instructions, MOST) {
        let (of, size, _) = delta::sizes(instructions).expect("sizes of a delta that was applied");
        assert!(made.len() <= MOST && made.len() as u64 == size && base.len() as u64 == of);
    }
}

fn index(data: &[u8], kind: HashKind) {
    let Some(index) = PackIndex::read(data, kind) else { return };
    for start in (0..data.len()).step_by(kind.len_bytes()).take(50) {
        if let Some(id) = ObjectId::read(&data[start..], kind) {
            let _ = index.find(data, &id);
        }
    }
}

fn heads(data: &[u8], kind: HashKind) {
    for offset in [0, 1, 1_000, u64::MAX] {
        if let Some(head) = pack::head(data, offset, kind) {
            assert!(head.data > offset && head.data - offset <= data.len() as u64);
            assert!(!matches!(head.form, pack::Form::DeltaAt(base) if base >= offset));
        }
    }
}

fn trees(data: &[u8], kind: HashKind) {
    for entry in tree::entries(data, kind).map_while(Result::ok) {
        assert!(!entry.name.is_empty() && !entry.name.contains(&b'/') && !entry.name.contains(&0));
    }
}

fn lines(data: &[u8]) {
    let (old, new) = halves(data);
    let control = Control::new(Duration::from_secs(60));
    let counts = diff::count(old, new, &control).expect("in time").expect("few lines");
    let number = |text: &[u8]| text.split_inclusive(|&byte| byte == b'\n').count() as u64;
    let (left, right) = (number(old).checked_sub(counts.deleted), number(new).checked_sub(counts.added));
    assert!(left.is_some() && left == right);
    assert_eq!((counts.added, counts.deleted) == (0, 0), old == new);
}
