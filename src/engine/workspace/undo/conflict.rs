//! What the refusal of an undo says of lines that were changed since: both sides, in the encoding of the file.

use crate::change_log::ChangeNumber;
use journal::{Conflict, ConflictPlace};
use text::encoding::{Encoding, EncodingChoice, newlines_in};

/// The most bytes of a side that an error shows.
const MOST_SHOWN: usize = 300;

/// The most places that an error shows.
const MOST_PLACES: usize = 5;

/// What an error says of a conflict in the text `now`. `by`: the change that has changed the lines, else `others` have.
pub(super) fn changed_since(
    conflict: &Conflict,
    by: Option<ChangeNumber>,
    others: &str,
    now: &[u8],
) -> String {
    let first = by.map_or(String::new(), |by| format!("`undo` of c{by} first, or "));
    let by = by.map_or(others.to_owned(), |by| format!("c{by}"));
    let encoding = encoding_of(now);
    let (line, there) = lines_at(conflict, now, encoding);
    let there = quoted(there, encoding);
    let (whose, there_now) = match conflict.is_beside {
        true => (
            "lines beside its own",
            format!("with the lines around, from line {line} on, that is {there} now"),
        ),
        false => ("its lines", format!("about there, at line {line}, is {there} now")),
    };
    let side = |place: &ConflictPlace| {
        let half = place.start % encoding.unit();
        let whole = |bytes: &[u8]| quoted(bytes.get(half..).unwrap_or_default(), encoding);
        format!("{} in the place of {}", whole(&place.new), whole(&place.old))
    };
    match &conflict.places[..] {
        [place] => format!(
            "{whose} were changed since by {by}. The change had put {}; {there_now}: {first}edit that",
            side(place)
        ),
        places => {
            let shown: String =
                places.iter().take(MOST_PLACES).map(|place| format!("\n{}", side(place))).collect();
            let more = match places.len().saturating_sub(MOST_PLACES) {
                0 => String::new(),
                more => format!("\nand so in {more} places more"),
            };
            format!(
                "{whose} were changed since by {by}; {there_now}: {first}edit that. The change had put{shown}{more}"
            )
        }
    }
}

/// The lines of `now` that are where those of a conflict were, and the number of the first one.
fn lines_at<'n>(conflict: &Conflict, now: &'n [u8], encoding: Encoding) -> (usize, &'n [u8]) {
    let unit = encoding.unit();
    // Lines begin behind the byte of a break, which is inside of its unit.
    let start = conflict.at.start.next_multiple_of(unit).min(now.len());
    let end = conflict.at.end.clamp(start, now.len());
    let end = (end - end % unit).max(start);
    let from = newlines_in(encoding, &now[..start]).next_back().map_or(0, |feed| feed + unit);
    let to = newlines_in(encoding, &now[end..]).next().map_or(now.len(), |feed| end + feed);
    let mark = if from == 0 && now.starts_with(encoding.mark()) { encoding.mark().len() } else { 0 };
    (newlines_in(encoding, &now[..from]).count() + 1, &now[from + mark.min(to - from)..to])
}

fn encoding_of(text: &[u8]) -> Encoding {
    let Ok(found) = EncodingChoice::Auto.of_text(text, || Ok::<_, std::convert::Infallible>(()));
    found.map_or(Encoding::Utf8, |found| found.encoding)
}

fn quoted(bytes: &[u8], encoding: Encoding) -> String {
    let shown = &bytes[..bytes.len().min(MOST_SHOWN)];
    let shown = match encoding {
        Encoding::Utf8 => &shown[..text::lines::char_boundary(bytes, shown.len())],
        encoding => &shown[..shown.len() - shown.len() % encoding.unit()],
    };
    let more = if bytes.len() > MOST_SHOWN { " …" } else { "" };
    match shown {
        [] => "nothing".into(),
        shown => format!("{:?}{more}", encoding.decode_lossy(shown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
    }

    #[test]
    fn both_sides_are_shown_in_the_encoding_of_the_file() {
        let change = journal::FileChange::of(
            &text::splice::EditPlan::new(
                vec![text::splice::Splice { at: 10..14, text: wide("\u{44d}")[2..].to_vec().into() }],
                &wide("\u{430}\u{431}\u{432}\n\u{433}\u{434}\n"),
            )
            .unwrap(),
            &wide("\u{430}\u{431}\u{432}\n\u{433}\u{434}\n"),
        );
        let now = wide("\u{430}\u{431}\u{432}\n\u{436}\u{437}\u{a0a}\n");
        let conflict = journal::undo_plan(&change, &now, &[]).unwrap_err();
        let told = changed_since(&conflict, None, "another program", &now);
        assert!(told.contains("put \"\u{44d}\" in the place of \"\u{433}\u{434}\""), "{told}");
        assert!(told.contains("at line 2, is \"\u{436}\u{437}\u{a0a}\" now"), "{told}");
    }

    #[test]
    fn each_place_of_lines_that_touch_is_told_in_its_own_line() {
        let place = |old: &str, new: &str| ConflictPlace { start: 0, old: old.into(), new: new.into() };
        let conflict =
            Conflict { places: vec![place("1", "a"), place("2", "b")], at: 0..3, is_beside: false, by: None };
        let told = changed_since(&conflict, Some(7), "", b"x\ny\n");
        let end = "The change had put\n\"a\" in the place of \"1\"\n\"b\" in the place of \"2\"";
        assert!(told.ends_with(end) && told.contains("is \"x\\ny\" now: `undo` of c7 first"), "{told}");
    }

    #[test]
    fn lines_that_are_as_the_change_left_them_are_shown_with_what_changed_beside_them() {
        let plan = |at, text: &str| text::splice::Splice { at, text: text.as_bytes().to_vec().into() };
        let change = |old: &[u8], splice| {
            journal::FileChange::of(&text::splice::EditPlan::new(vec![splice], old).unwrap(), old)
        };
        let (first, next) =
            (change(b"1\n2\n3\n4\n", plan(4..5, "c")), change(b"1\n2\nc\n4\n", plan(2..3, "b\nb")));
        for later in [&[&next][..], &[]] {
            let now = b"1\nb\nb\nc\n4\n";
            let told =
                changed_since(&journal::undo_plan(&first, now, later).unwrap_err(), None, "others", now);
            let expected = "lines beside its own were changed since by others. The change had put \"c\" in the place of \"3\"; with the lines around, from line 3 on, that is \"b\\nc\\n4\" now: edit that";
            assert_eq!(told, expected);
        }
    }
}
