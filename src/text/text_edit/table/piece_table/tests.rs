//! Compares pieces with a string that is edited in the same way.

use proptest::prelude::*;

use super::*;

fn text(pieces: &PieceTable) -> String {
    let mut bytes = Vec::new();
    pieces.copy(pieces.start(), &mut bytes, |_, len| len);
    assert_eq!(bytes.len(), pieces.len());
    String::from_utf8(bytes).unwrap()
}

fn put(pieces: &mut PieceTable, from: Cursor, to: Cursor, text: &'static [u8], edit: u32) {
    let to = pieces.behind(to);
    pieces.replace_all(&Matches::from_iter([(from, to)]), text, edit, usize::MAX).unwrap();
    assert_integrity(pieces);
}

/// Checks the invariant of the pieces.
fn assert_integrity(pieces: &PieceTable) {
    let (mut leaf, mut len, mut old_at) = (HEAD, 0, pieces.first);
    while leaf != TAIL {
        let next = pieces.leaf(leaf).next;
        assert_eq!(pieces.leaf(next).previous, leaf);
        assert!(pieces.leaf(leaf).label < pieces.leaf(next).label);
        assert_eq!(pieces.segments(next).map(|segment| segment.len).sum::<usize>(), pieces.leaf(next).len);
        assert!(0 < pieces.leaf(next).len || next == TAIL);
        for segment in pieces.segments(next) {
            assert!(old_at <= segment.old_at);
            old_at = segment.old_at;
            if segment.address != NOWHERE {
                for address in [segment.address, segment.address + segment.len - 1] {
                    let cursor = pieces.cursor_at(address).unwrap();
                    assert_eq!((cursor.leaf, pieces.stretch(cursor).unwrap().address), (next, Some(address)));
                }
            }
        }
        len += pieces.leaf(next).len;
        leaf = next;
    }
    assert_eq!(len, pieces.len());
    assert_eq!(pieces.leaves.iter().map(|leaf| leaf.segments.len()).sum::<usize>(), pieces.folded);
}

#[test]
fn an_address_names_the_same_byte_for_good() {
    let mut pieces = PieceTable::new(b"0123456789", 0).unwrap();
    let (from, to) = (pieces.cursor_at(3).unwrap(), pieces.cursor_at(5).unwrap());
    put(&mut pieces, from, to, b"abc", 0);
    assert_eq!(text(&pieces), "012abc56789");
    assert_eq!((pieces.cursor_at(3), pieces.cursor_at(4)), (None, None));
    for (address, byte) in [(2, b'2'), (5, b'5'), (10, b'a'), (12, b'c')] {
        assert_eq!(pieces.byte_after(pieces.cursor_at(address).unwrap()), Some(byte));
    }
    let inner = pieces.cursor_at(11).unwrap();
    assert_eq!(pieces.origin(inner), (3, Some(0)));
    let after = pieces.after(pieces.cursor_at(1).unwrap(), b"12abc5").unwrap();
    assert_eq!(pieces.byte_after(after), Some(b'6'));
    assert_eq!(pieces.before(after, b"2abc5"), pieces.cursor_at(2));
}

#[test]
fn a_thousand_changes_at_one_spot_stay_in_order() {
    let mut pieces = PieceTable::new(b"END", 0).unwrap();
    for edit in 0..1000 {
        let to = pieces.end();
        let from = pieces.before(to, b"END").unwrap();
        put(&mut pieces, from, to, b"xEND", edit);
    }
    assert_eq!(text(&pieces), format!("{}END", "x".repeat(1000)));
}

#[test]
fn many_replacements_at_once_take_a_few_bytes_each() {
    let old = "ab".repeat(100_000);
    let mut pieces = PieceTable::new(old.as_bytes(), 0).unwrap();
    let mut expected = old.clone();
    for (edit, (old, new)) in [("a", "x"), ("x", "yz"), ("z", ""), ("y", "a")].into_iter().enumerate() {
        let cursors = |(at, _)| {
            let from = pieces.advance(pieces.start(), at);
            (from, pieces.behind(pieces.after(from, old.as_bytes()).unwrap()))
        };
        // Counting from the start for each match would take too long.
        let sample = expected.match_indices(old).take(3).map(cursors).collect::<Vec<_>>();
        let pattern = crate::text_edit::search::pattern::Pattern::new(old.as_bytes());
        let matches = pattern.find(None, &pieces, usize::MAX, &crate::Unstopped).unwrap().matches;
        assert!(matches.iter().take(3).eq(sample));
        assert_eq!(matches.len(), 100_000);
        pieces.replace_all(&matches, new.as_bytes(), edit as u32, usize::MAX).unwrap();
        assert_integrity(&pieces);
        expected = expected.replace(old, new);
        assert_eq!(text(&pieces), expected);
        assert!(pieces.memory() < 600_000, "{}", pieces.memory());
    }
}

proptest! {
    #[test]
    fn any_replacements_give_what_they_give_in_a_string(
        old in "[a-z]{0,40}",
        edits in prop::collection::vec(
            (prop::collection::vec((0..8usize, 1..6usize), 1..90), "[A-Z]{0,5}"),
            0..12,
        ),
    ) {
        let mut expected = old.clone();
        let mut pieces = PieceTable::new(old.as_bytes(), 0).unwrap();
        let texts: Vec<&[u8]> = edits.iter().map(|(_, new)| new.as_bytes()).collect();
        for (number, (steps, new)) in edits.iter().enumerate() {
            let (mut at, mut all, mut matches) = (0, Vec::new(), Matches::default());
            for (gap, len) in steps {
                let (from, to) = (at + gap, at + gap + len);
                if expected.len() < to {
                    break;
                }
                let start = pieces.advance(pieces.start(), from);
                let end = pieces.behind(pieces.advance(pieces.start(), to));
                prop_assert!(pieces.after(start, &expected.as_bytes()[from..to]).is_some());
                prop_assert!(pieces.before(end, &expected.as_bytes()[from..to]).is_some());
                matches.push(start, end);
                all.push(from..to);
                at = to;
            }
            if all.is_empty() && expected.is_empty() {
                matches.push(pieces.start(), pieces.end());
                all.push(0..0);
            }
            pieces.replace_all(&matches, new.as_bytes(), number as u32, usize::MAX).unwrap();
            all.into_iter().rev().for_each(|range| expected.replace_range(range, new));
            assert_integrity(&pieces);
            prop_assert_eq!(&text(&pieces), &expected);
        }
        let plan = crate::splice::EditPlan::of_parts(pieces.into_changes(), texts, old.as_bytes()).unwrap();
        let mut out = Vec::new();
        plan.write_to(old.as_bytes(), &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
