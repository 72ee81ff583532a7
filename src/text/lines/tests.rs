use proptest::prelude::*;

use super::build::CHUNK;
use super::*;

fn text(lines: &[&str]) -> Vec<u8> {
    lines.concat().into_bytes()
}

#[test]
fn an_empty_file_has_no_line_and_one_break_is_one_empty_line() {
    for (bytes, lines) in [
        (&b""[..], 0),
        (b"\n", 1),
        (b"\r\n", 1),
        (b"\r", 1),
        (b"a", 1),
        (b"a\n", 1),
        (b"a\nb", 2),
        (b"\n\r", 2),
        (b"\r\r\n", 2),
        (b"\xEF\xBB\xBF", 0),
        (b"\xEF\xBB\xBFa", 1),
        (b"\xEF\xBB\xBF\n", 1),
    ] {
        let index = LineIndex::build(bytes).unwrap();
        assert_eq!(index.len_lines(), lines, "{bytes:?}");
        index.assert_describes(bytes);
    }
}

#[test]
fn break_kinds_are_told_apart_across_any_block_border() {
    let bytes = text(&["ab\r\n", "c\n", "d\r", "\r\n", "e"]);
    for shift in 0..6 {
        let index = LineIndex::build_with(&bytes, shift).unwrap();
        assert_eq!(index.break_kinds(), BreakKinds { lf: true, crlf: true, cr: true }, "{shift}");
        index.assert_describes(&bytes);
    }
    let only_crlf = LineIndex::build_with(b"a\r\nb\r\n", 1).unwrap();
    assert_eq!(only_crlf.break_kinds(), BreakKinds { lf: false, crlf: true, cr: false });
}

#[test]
fn a_nul_makes_a_file_binary_and_bad_utf8_is_found_in_any_chunk() {
    assert_eq!(LineIndex::build(b"a\0b"), Err(NotText::Nul));
    assert_eq!(LineIndex::build(b"\xFF\0"), Err(NotText::Nul));
    assert_eq!(LineIndex::build(b"a\xC3"), Err(NotText::InvalidUtf8));
    let mut long = "é".repeat(CHUNK).into_bytes();
    assert!(LineIndex::build(&long).is_ok());
    long[CHUNK + 1] = b'x';
    assert_eq!(LineIndex::build(&long), Err(NotText::InvalidUtf8));
    long.push(0);
    assert_eq!(LineIndex::build(&long), Err(NotText::Nul));
}

#[test]
fn a_look_up_in_bytes_that_were_cut_short_finds_nothing_and_does_not_panic() {
    let bytes = b"a\nb\r\nc\rd\n".repeat(10);
    let index = LineIndex::build_with(&bytes, 3).unwrap();
    for cut in 0..bytes.len() {
        for line in 0..index.len_lines() {
            let _ = index.line(line, &bytes[..cut]);
            let _ = index.byte_range(&(line..line + 1), &bytes[..cut], cut / 2);
        }
    }
}

#[test]
fn a_char_boundary_never_cuts_a_character_and_always_makes_progress() {
    let bytes = "aé漢😀".as_bytes();
    let boundaries: Vec<usize> = (0..=bytes.len() + 1).map(|at| char_boundary(bytes, at)).collect();
    assert_eq!(boundaries, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    assert_eq!(char_boundary(&[0x80; 8], 5), 5);
}

/// The index of `bytes` by several threads in parts of `part` bytes.
fn in_parts(bytes: &[u8], shift: u32, part: usize, threads: usize) -> Result<LineIndex, NotText> {
    LineIndex::build_in_parts(bytes, shift, part, threads, &|_| true).unwrap()
}

#[test]
fn bytes_that_are_not_text_are_told_alike_by_any_number_of_threads() {
    let text = "é漢😀a".repeat(10).into_bytes();
    for part in [1, 2, 4, 8_usize] {
        for at in 0..text.len() {
            for (place, byte) in [(at, 0xFF), (at, 0), (at, b'x'), (text.len() - 1, 0)] {
                let mut bytes = text.clone();
                bytes[at] = 0x80;
                bytes[place] = byte;
                let shift = part.ilog2().min(1);
                let expected = LineIndex::build_with(&bytes, shift);
                assert_eq!(in_parts(&bytes, shift, part, 3), expected, "{part} {place} {byte}");
            }
        }
    }
}

#[test]
fn a_build_stops_when_it_is_called_off_and_tells_how_far_it_is() {
    let bytes = "a\n".repeat(CHUNK).into_bytes();
    for (threads, last) in [(1, CHUNK), (2, 2 * CHUNK)] {
        let told = std::sync::Mutex::new(Vec::new());
        let watch = |done: usize| {
            told.lock().unwrap().push(done);
            done < CHUNK
        };
        assert_eq!(LineIndex::build_in_parts(&bytes, 10, CHUNK, threads, &watch), None);
        let told = told.into_inner().unwrap();
        assert!(!told.is_empty() && told.iter().all(|done| CHUNK <= *done && *done <= last), "{told:?}");
        assert_eq!(LineIndex::build_watched(&bytes, threads, &|_| false), None);
    }
    let mut binary = bytes;
    binary[0] = 0xFF;
    assert_eq!(LineIndex::build_watched(&binary, 1, &|_| false), None);
}

#[test]
fn more_than_32_bits_of_breaks_are_counted_and_found() {
    let block = vec![b'\n'; 1 << 20];
    let mut whole = IndexBuilder::new(20);
    whole.push(&block);
    for _ in 0..13 {
        let mut twice = IndexBuilder::new(20);
        twice.append(&whole, b'\n');
        twice.append(&whole, b'\n');
        whole = twice;
    }
    let index = whole.finish();
    assert_eq!((index.len_bytes(), index.len_lines()), (1 << 33, 1 << 33));
    for line in [0, 5, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 5_000_000_000, (1 << 33) - 1] {
        let window = index.window(&(line..line + 1));
        let bytes = vec![b'\n'; window.len()];
        assert!(bytes.len() <= (2 << 20) + 1, "{line}");
        assert_eq!(index.byte_range(&(line..line + 1), &bytes, window.start), Some(line..line), "{line}");
    }
}

#[test]
fn an_index_takes_at_most_a_thousandth_of_a_long_text_and_at_most_eight_mib() {
    for len in [1 << 13, 1 << 20, 4 << 30, 8 << 30, (8 << 30) + 1, 100 << 30, 1 << 40_usize] {
        let blocks = len >> builder::shift_for(len);
        assert!(blocks * 4 <= (len / 1000).min(8 << 20), "{len}");
        assert!(len > 8 << 30 || builder::shift_for(len) == BLOCK_SHIFT, "{len}");
    }
}

proptest! {
    #[test]
    fn threads_give_the_index_of_one_pass(
        text in "\u{FEFF}?([ab漢é\n]|\r\n|\r){0,80}",
        junk in prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>())),
        shift in 0u32..4,
        blocks in 1usize..4,
        threads in 1usize..4,
    ) {
        let mut bytes = text.into_bytes();
        if let Some((at, byte)) = junk.filter(|_| !bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let whole = LineIndex::build_with(&bytes, shift);
        prop_assert_eq!(in_parts(&bytes, shift, blocks << shift, threads), whole);
    }

    #[test]
    fn the_index_is_what_a_reading_byte_by_byte_gives(
        text in "\u{FEFF}?([ab漢\n]|\r\n|\r){0,60}",
        shift in 0u32..6,
        cuts in prop::collection::vec(1usize..9, 1..20),
    ) {
        let bytes = text.as_bytes();
        let whole = LineIndex::build_with(bytes, shift).unwrap();
        whole.assert_describes(bytes);
        let mut builder = IndexBuilder::new(shift);
        let mut rest = bytes;
        for cut in cuts.iter().cycle() {
            let (part, after) = rest.split_at((*cut).min(rest.len()));
            builder.push(part);
            rest = after;
            if rest.is_empty() { break }
        }
        prop_assert_eq!(builder.finish(), whole);
    }
}
