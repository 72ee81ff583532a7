//! Compares the line index with a scan byte by byte.
//!
//! Must hold for any bytes and any block size:
//! - `build_with` refuses bytes with a NUL as binary, otherwise bytes that are not UTF-8, and nothing else;
//! - the index passes `LineIndex::assert_describes`, which unit and property tests share, and has the correct
//!   kinds of line breaks;
//! - several threads give the same result, whatever parts they read;
//! - an `IndexBuilder` that gets the bytes in pieces builds the same index;
//! - a lookup in bytes that were truncated meanwhile does not panic.
//!
//! Input: block shift (from 128 on: after a long line that ends at the border of a scan), three lengths of
//! pieces, and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::lines::{BreakKinds, IndexBuilder, LineIndex, NotText};

/// Bytes that `LineIndex::build` scans at once.
const CHUNK: usize = 64 * 1024;

fuzz_target!(|data: &[u8]| {
    let Some(([shift, cuts @ ..], bytes)) = data.split_first_chunk::<4>() else { return };
    if *shift < 128 {
        check(bytes, u32::from(shift % 7), *cuts);
    } else {
        let pad = CHUNK - usize::from(cuts[0]).min(bytes.len());
        check(&[&vec![b'p'; pad], bytes].concat(), 10 + u32::from(shift % 7), *cuts);
    }
});

fn check(bytes: &[u8], shift: u32, cuts: [u8; 3]) {
    let built = LineIndex::build_with(bytes, shift);
    let expected = if bytes.contains(&0) {
        Some(NotText::Nul)
    } else {
        std::str::from_utf8(bytes).is_err().then_some(NotText::InvalidUtf8)
    };
    assert_eq!(built.as_ref().err(), expected.as_ref());

    let part = (1 + usize::from(cuts[1] % 4)) << shift;
    let by_threads = LineIndex::build_in_parts(bytes, shift, part, 1 + usize::from(cuts[2] % 3), &|_| true);
    assert_eq!(by_threads.as_ref(), Some(&built), "by threads");

    let pieced = in_pieces(bytes, shift, cuts);
    let Ok(index) = built else { return };
    assert_eq!(pieced, index, "built in pieces");
    index.assert_describes(bytes);
    assert_eq!(index.len_bytes(), bytes.len());
    assert_eq!(index.break_kinds(), kinds(bytes));

    let cut = &bytes[..usize::from(cuts[0]) % (bytes.len() + 1)];
    for line in 0..index.len_lines().min(50) {
        let _ = index.line(line, cut);
        let _ = index.byte_range(&(line..line + 1), cut, usize::from(cuts[1]));
    }
}

/// The index of the bytes in pieces whose lengths repeat `cuts`; some pieces may be empty.
fn in_pieces(bytes: &[u8], shift: u32, cuts: [u8; 3]) -> LineIndex {
    let mut builder = IndexBuilder::new(shift);
    let scale = 1 + bytes.len() / 1024;
    let cuts = [usize::from(cuts[0]), usize::from(cuts[1]), 1 + usize::from(cuts[2])];
    let mut rest = bytes;
    for cut in cuts.iter().cycle() {
        let (piece, after) = rest.split_at((cut * scale).min(rest.len()));
        builder.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    builder.finish()
}

fn kinds(bytes: &[u8]) -> BreakKinds {
    let text = String::from_utf8_lossy(bytes);
    let alone = text.replace("\r\n", "|");
    BreakKinds { lf: alone.contains('\n'), crlf: text.contains("\r\n"), cr: alone.contains('\r') }
}
