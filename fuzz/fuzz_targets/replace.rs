//! Replaces what a pattern matches in texts of several encodings.
//!
//! Must hold for any pattern, replacement and bytes:
//! - nothing panics, and what is planned is a plan of these bytes;
//! - the bytes between the places stay;
//! - read again, the text is what it was but for the places, and these are what the replacement says, unless it holds a break.
//!
//! Input: a byte for the encoding and how the pattern is read; the pattern; after a NUL, the replacement; after another, the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use search::{LineMatcher, Pattern, PatternOptions, Replacement};
use text::budget::Budget;
use text::encoded_edit::{NewPart, SearchedText};
use text::encoding::{Encoding, EncodingSource, TextEncoding};
use text::{Error, Unstopped};

const ENCODINGS: [Encoding; 6] = [
    Encoding::Utf8,
    Encoding::Utf16Le,
    Encoding::Windows1252,
    Encoding::Gbk,
    Encoding::ShiftJis,
    Encoding::Big5,
];

fuzz_target!(|data: &[u8]| {
    let [how, rest @ ..] = data else { return };
    let mut parts = rest.splitn(3, |byte| *byte == 0);
    let [pattern, replacement, old] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let (Ok(pattern), Ok(replacement)) = (std::str::from_utf8(pattern), std::str::from_utf8(replacement))
    else {
        return;
    };
    let bit = |bit: u32| how >> bit & 1 == 1;
    let options =
        PatternOptions { fixed: bit(7), ignore_case: bit(6), whole_words: bit(5), multiline: bit(4) };
    let Ok(pattern) = Pattern::new(pattern, options) else { return };
    let Ok(replacement) = Replacement::new(replacement, &pattern) else { return };
    let encoding = ENCODINGS[usize::from(how & 7) % ENCODINGS.len()];
    let mark = encoding.mark();
    let has_mark = !mark.is_empty() && old.starts_with(mark);
    let read_as = TextEncoding { encoding, source: EncodingSource::Given, has_mark };
    let memory = Budget::new(usize::MAX);
    let Ok(text) = SearchedText::new(read_as, ("a", old), true, &memory, &Unstopped) else { return };

    let (mut replacing, mut matcher) = (text.replacing(), LineMatcher::new(&pattern, &Unstopped));
    let (mut expected, mut done, mut has_break) = (Vec::new(), 0, false);
    let planned = matcher.places(text.bytes(), true, &mut |groups| -> Result<(), Error> {
        let at = groups[0].clone().expect("the match");
        let new = replacement.of(text.bytes(), groups, bit(3));
        assert!(done <= at.start, "places are in order");
        expected.extend_from_slice(&text.bytes()[done..at.start]);
        for part in &new {
            match part {
                NewPart::Text(text) => {
                    has_break |= text.contains(['\n', '\r']);
                    expected.extend_from_slice(text.as_bytes());
                }
                NewPart::Kept(range) => expected.extend_from_slice(&text.bytes()[range.clone()]),
            }
        }
        done = at.end;
        replacing.add(at, new)
    });
    if planned.is_err() {
        return;
    }
    expected.extend_from_slice(&text.bytes()[done..]);
    let Ok((plan, _)) = replacing.finish(&memory) else { return };
    let mut new = Vec::new();
    plan.write_to(old, &mut new).expect("a vector takes all");
    assert_eq!(new.len(), plan.len_after(old.len()));
    // Of the others, some characters have several codes, or are encoded as ones like them.
    let is_one_to_one = matches!(encoding, Encoding::Utf8 | Encoding::Utf16Le | Encoding::Windows1252);
    let is_marked = !mark.is_empty() && new.starts_with(mark);
    if has_break || !is_one_to_one || is_marked != has_mark {
        return;
    }
    let again =
        SearchedText::new(read_as, ("a", &new), true, &memory, &Unstopped).expect("it was read before");
    if !String::from_utf8_lossy(text.bytes()).contains('\u{fffd}') {
        assert_eq!(again.bytes(), expected);
    }
});
