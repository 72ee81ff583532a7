//! Compares changes by old and new text with a naive reading, in every encoding.
//!
//! Must hold for any bytes, any texts and any encoding:
//! - where the file is text, the result is what the same change of the decoded text gives, encoded;
//! - where it is not, or a text cannot be encoded, there is an error or only whole places of the old_text change;
//! - an edit of a part replaces no part of an escape sequence of ISO-2022;
//! - nothing panics, whatever the bytes are.
//!
//! Input: the encoding, the mode, the lengths of the old_text and the new_text, both, and the bytes of the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::budget::Budget;
use text::encoded_edit::{ChangeScope, IfMissing, InParts, TextChange, TextDone, plan as plan_text_change};
use text::encoding::{ESC, Encoding, EncodingChoice, selects_wide};
use text::lines::LineIndex;
use text::text_edit::TextLimits;
use text::{Error, Unstopped};

const CHOICES: [Option<EncodingChoice>; 17] = [
    Some(EncodingChoice::Is(Encoding::Utf16Le)),
    Some(EncodingChoice::Is(Encoding::Utf16Be)),
    Some(EncodingChoice::Is(Encoding::Windows1251)),
    Some(EncodingChoice::Is(Encoding::Windows1252)),
    Some(EncodingChoice::Is(Encoding::Iso8859_1)),
    Some(EncodingChoice::Is(Encoding::Iso8859_15)),
    Some(EncodingChoice::Utf16),
    Some(EncodingChoice::Auto),
    // That of the file.
    None,
    Some(EncodingChoice::Is(Encoding::ShiftJis)),
    Some(EncodingChoice::Is(Encoding::Gb18030)),
    Some(EncodingChoice::Is(Encoding::Gbk)),
    Some(EncodingChoice::Is(Encoding::Big5)),
    Some(EncodingChoice::Is(Encoding::EucJp)),
    Some(EncodingChoice::Is(Encoding::EucKr)),
    Some(EncodingChoice::Is(Encoding::Iso2022Jp)),
    Some(EncodingChoice::Is(Encoding::Utf8)),
];

/// The escape sequences by which bytes mean other characters.
fn sequences(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let behind = bytes.split(|byte| *byte == ESC).skip(1);
    behind.filter(|behind| selects_wide(behind)).map(|behind| &behind[..behind.len().min(3)])
}

fuzz_target!(|data: &[u8]| {
    let Some(([number, mode, lengths @ ..], rest)) = data.split_first_chunk::<4>() else { return };
    let choice = CHOICES[usize::from(*number) % CHOICES.len()];
    let (old_text, rest) = rest.split_at(usize::from(lengths[0]).min(rest.len()));
    let (new_text, old) = rest.split_at(usize::from(lengths[1]).min(rest.len()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(['\0', '\u{fffd}'], "?");
    let (old_text, new_text) = (text(old_text), text(new_text));
    let change = match mode % 6 {
        0 => TextChange::Whole(new_text.clone()),
        1 => TextChange::Append(new_text.clone()),
        2 => TextChange::every(old_text.clone(), new_text.clone(), IfMissing::Keep),
        3 => TextChange::every(old_text.clone(), new_text.clone(), IfMissing::Fail),
        4 => TextChange::every(old_text.clone(), new_text.clone(), IfMissing::AppendIfUnlike),
        _ => TextChange::Everything(new_text.clone()),
    };
    let index = LineIndex::build(old).or_else(|_| LineIndex::build(b"")).expect("it is text");
    let budget = Budget::new(usize::MAX);
    let limits = TextLimits { passages: 0, max_bytes: 1 << 30, memory: &budget };
    let scope = ChangeScope { name: "f", max_diff: 4_096, limits };
    let plan = || {
        let planned = plan_text_change(choice, (&index, old), &change, scope, &Unstopped)?;
        let planned = planned.expect("the file does not change");
        assert!(planned.diff.text.len() <= 4_096);
        Ok::<_, Error>(Some((planned.plan, (planned.done, planned.text.encoding, planned.held))))
    };
    let planned = if change.is_whole() { plan() } else { InParts::OF_TEXTS.checked(old, plan) };
    let Ok(Some((plan, (done, encoding, _held)))) = planned else { return };
    let mut new = Vec::new();
    plan.write_to(old, &mut new).expect("a vector takes all");
    if !change.is_whole() && !old_text.contains('\x1b') {
        let mut kept = sequences(&new);
        assert!(sequences(old).all(|one| kept.any(|other| one == other)), "a part of a sequence is replaced");
    }
    let Ok(decoded) = encoding.decode(old) else { return };
    let result = encoding.decode(&new).expect("text stays text");
    match (&change, done) {
        // Breaks of the new text may become the file's own.
        (TextChange::Whole(_) | TextChange::Everything(_), _) => {
            let breaks = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
            assert!(breaks(&result).ends_with(&breaks(&new_text)));
            assert!(matches!(change, TextChange::Whole(_)) || !decoded.contains('*'));
        }
        (TextChange::Append(_), _) | (_, TextDone::Appended { .. }) => {
            let start = result.strip_suffix(&*new_text).expect("it is at the end");
            assert!(start == decoded || decoded.is_empty() && start == "\u{feff}");
        }
        (_, TextDone::Missed) => assert_eq!(result, decoded),
        (_, TextDone::Replaced { count, .. }) if !old_text.contains(['\n', '\r']) => {
            let (mark, body) = match decoded.strip_prefix('\u{feff}') {
                Some(body) if !encoding.mark().is_empty() => ("\u{feff}", body),
                _ => ("", &*decoded),
            };
            assert_eq!(count as usize, body.matches(&*old_text).count());
            // Breaks of the new text may become the file's own, and a lone `\r` stays a break where what is behind it is removed.
            if !new_text.contains(['\n', '\r']) && (!new_text.is_empty() || !body.contains('\r')) {
                assert_eq!(result, mark.to_owned() + &body.replace(&*old_text, &new_text));
            }
        }
        _ => {}
    }
});
