use proptest::prelude::*;

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

proptest! {
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
