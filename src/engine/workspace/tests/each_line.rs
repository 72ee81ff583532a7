//! The lines of a text are given once each, wherever the steps of the read end.

use super::*;
use crate::{LineEnd, LineSink, LineSpan};
use folder::fs::view::MAP_CUTOFF;
use text::encoding::{Encoding, EncodingChoice};

/// Keeps what it takes, until it has so many lines.
#[derive(Default)]
struct Kept {
    /// The number of the first line, and the lines with their breaks.
    lines: Option<(u64, String)>,
    most: Option<usize>,
}

impl LineSink for Kept {
    fn begin(&mut self) {
        self.lines = None;
    }

    fn take(&mut self, first: u64, lines: &str) -> Result<bool> {
        let (start, kept) = self.lines.get_or_insert((first, String::new()));
        assert_eq!(
            *start + kept.matches(['\n', '\r']).count() as u64 - kept.matches("\r\n").count() as u64,
            first
        );
        kept.push_str(lines);
        Ok(self.most.is_none_or(|most| kept.matches('\n').count() < most))
    }
}

fn lines(bytes: &[u8], encoding: Encoding, span: LineSpan, most: Option<usize>) -> Result<(u64, String)> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), bytes).unwrap();
    let workspace = open_with(dir.path(), Durability::None);
    let path = workspace.parse_path("a").unwrap();
    let mut kept = Kept { most, ..Kept::default() };
    workspace.each_line(&path, EncodingChoice::Is(encoding), span, &mut kept, &control())?;
    Ok(kept.lines.unwrap_or_default())
}

#[test]
fn lines_at_the_borders_of_steps_are_given_once() {
    let step = MAP_CUTOFF;
    for before in step - 4..step + 3 {
        for line_break in ["\n", "\r\n", "\r", "\r\r\n"] {
            let text = "x".repeat(before)
                + line_break
                + "й"
                + line_break
                + line_break
                + &"y".repeat(step)
                + line_break;
            for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Windows1251, Encoding::ShiftJis] {
                let mut bytes = encoding.mark().to_vec();
                encoding.encode(&text, &mut bytes).unwrap();
                let all = lines(&bytes, encoding, LineSpan::default(), None).unwrap();
                assert_eq!(all.0, 0);
                assert!(all.1 == text, "{before} {line_break:?} {encoding:?}");
                let breaks = if line_break == "\r\r\n" { 2 } else { 1 };
                let span = LineSpan { start: Some(LineEnd::At(breaks)), end: Some(LineEnd::At(breaks)) };
                let second = lines(&bytes, encoding, span, None).unwrap();
                let its_break = if line_break == "\r\r\n" { "\r" } else { line_break };
                assert_eq!(
                    second,
                    (breaks, "й".to_owned() + its_break),
                    "{before} {line_break:?} {encoding:?}"
                );
                let span = LineSpan { start: Some(LineEnd::FromEnd(breaks)), end: None };
                assert!(lines(&bytes, encoding, span, None).unwrap().1.starts_with('y'));
            }
        }
    }
}

#[test]
fn what_is_not_wanted_may_be_too_long_or_wrong() {
    let mut bytes = b"a\n".to_vec();
    bytes.resize(3 << 20, b'x');
    let is = |result: Result<(u64, String)>| result.map_err(|error| format!("{error:?}"));
    let first = LineSpan { start: None, end: Some(LineEnd::At(0)) };
    assert_eq!(is(lines(&bytes, Encoding::Utf8, first, None)), Ok((0, "a\n".into())));
    let error = lines(&bytes, Encoding::Utf8, LineSpan::default(), None).unwrap_err();
    assert!(matches!(error, Error::LongLine { line: 1, .. }), "{error:?}");
    bytes.extend_from_slice(b"\nb\n");
    let last = LineSpan { start: Some(LineEnd::At(2)), end: None };
    assert_eq!(is(lines(&bytes, Encoding::Utf8, last, None)), Ok((2, "b\n".into())));
    let past = LineSpan { start: Some(LineEnd::At(3)), end: None };
    let error = lines(&bytes, Encoding::Utf8, past, None).unwrap_err();
    assert!(matches!(error, Error::StartPastEnd { start: 3, total: 3 }), "{error:?}");
    bytes.extend_from_slice("йй\u{ff}".as_bytes());
    bytes.push(0xFF);
    let error = lines(&bytes, Encoding::Utf8, last, None).unwrap_err();
    assert!(matches!(error, Error::Undecodable { line: 3, column: 4, .. }), "{error:?}");
    assert_eq!(is(lines(&bytes, Encoding::Utf8, last, Some(1))), Ok((2, "b\n".into())));
}
