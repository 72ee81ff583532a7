//! The naive reading of contract 3 and 4: what a file's lines are, what read says, what edit leaves behind.
//!
//! Written from the contract alone, never from the server's source, and as plainly as can be: a file is a list of
//! lines, each a text and its break, and everything is done on that list. Speed does not matter here.

use serde_json::{Value, json};

// By its path, because the fuzz targets take this file by its path, too.
#[path = "model/edits.rs"]
pub(crate) mod edits;

pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line and the break that ends it; only a last line may have none (`""`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) brk: &'static str,
}

/// One element of edit_file's `edits`, lines from 0, nothing about it checked.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) line: i64,
    /// The last line of a range.
    pub(crate) end_line: Option<i64>,
    pub(crate) operation: &'static str,
    pub(crate) content: Option<String>,
    pub(crate) expect: Option<String>,
}

/// What an edit leaves behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: usize,
    pub(crate) total: usize,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelError {
    NegativeLine,
    Operation(String),
    DeleteWithContent,
    Arguments,
    BackwardRange {
        start: i64,
        end: i64,
    },
    NotText {
        bad_utf8: bool,
        nul: bool,
    },
    StartPastEnd {
        start: i64,
        total: usize,
    },
    OutOfRange {
        line: i64,
        operation: &'static str,
    },
    /// The line, and what it holds now.
    NotExpected {
        line: i64,
        now: String,
    },
    /// Every line that two edits claim: contract does not say which of several is named.
    Conflict {
        lines: Vec<i64>,
    },
}

impl ModelError {
    /// Whether `answer` is a text with which the server may refuse: contract 7 gives its first line to the letter.
    pub(crate) fn is_told_by(&self, name: &str, answer: &str) -> bool {
        let first = answer.split('\n').next().unwrap_or_default();
        match self {
            ModelError::NegativeLine => first == "Error: Line numbers must be non-negative integers",
            ModelError::Operation(operation) => {
                first == format!("Error: Invalid edit operation: {operation}")
            }
            ModelError::DeleteWithContent => first == "Error: Delete operation cannot specify content",
            ModelError::Arguments => first.starts_with("Error: Invalid arguments: "),
            ModelError::BackwardRange { start, end } => {
                first == format!("Error: Invalid line range: start {start} > end {end}")
            }
            ModelError::NotText { bad_utf8, nul } => {
                (*bad_utf8 && first == "Error: File contains invalid UTF-8 encoding")
                    || (*nul && first == format!("Error: File '{name}' is not a text file"))
            }
            ModelError::StartPastEnd { start, total } => {
                first == format!("Error: Start line {start} exceeds file length {total}")
            }
            ModelError::OutOfRange { line, operation } => {
                first == format!("Error: Line {line} out of range for {operation} operation")
            }
            ModelError::NotExpected { line, now } => {
                let second = answer.split('\n').nth(1);
                // A long line may be cut; how quotes and the like are escaped is left to the server.
                let shown: String = now.chars().take_while(|c| c.is_alphanumeric()).take(20).collect();
                first == format!("Error: Line {line} is not as expected")
                    && second.is_some_and(|second| second.contains(&shown))
            }
            ModelError::Conflict { lines } => {
                lines.iter().any(|line| first == format!("Error: Conflicting edits on line {line}"))
            }
        }
    }
}

impl Edit {
    /// The last line that it replaces or deletes.
    fn last(&self) -> i64 {
        self.end_line.unwrap_or(self.line)
    }

    fn covers(&self, line: i64) -> bool {
        self.operation != "insert" && self.line <= line && line <= self.last()
    }

    /// The edit as a client sends it.
    pub(crate) fn json(&self) -> Value {
        let mut edit = json!({ "line": self.line, "operation": self.operation });
        if let Some(end_line) = self.end_line {
            edit["end_line"] = json!(end_line);
        }
        if let Some(content) = &self.content {
            edit["content"] = json!(content);
        }
        if let Some(expect) = &self.expect {
            edit["expect"] = json!(expect);
        }
        edit
    }
}

/// The text of the file without its BOM, or why it is no text.
fn text_of(file: &[u8]) -> Result<&str, ModelError> {
    let nul = file.contains(&0);
    match std::str::from_utf8(file.strip_prefix(BOM).unwrap_or(file)) {
        Ok(text) if !nul => Ok(text),
        other => Err(ModelError::NotText { bad_utf8: other.is_err(), nul }),
    }
}

/// Splits at `\n`, `\r\n` and lone `\r`; a break at the end starts no further line.
fn split_text(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let brk = match bytes[at] {
            b'\n' => "\n",
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => "\r\n",
            b'\r' => "\r",
            _ => "",
        };
        if brk.is_empty() {
            at += 1;
        } else {
            lines.push(Line { text: text[start..at].to_owned(), brk });
            at += brk.len();
            start = at;
        }
    }
    if start < bytes.len() {
        lines.push(Line { text: text[start..].to_owned(), brk: "" });
    }
    lines
}

/// The lines of a file, `None` where it is not text. A BOM is no part of line 0.
pub(crate) fn split_lines(file: &[u8]) -> Option<Vec<Line>> {
    text_of(file).ok().map(split_text)
}

/// What list_files shows: the count of lines, or -1.
pub(crate) fn count(file: &[u8]) -> i64 {
    split_lines(file).map_or(-1, |lines| i64::try_from(lines.len()).expect("a count fits"))
}

/// Lines as read gives them: joined with `\n`, none after the last.
pub(crate) fn joined(lines: &[Line]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        if 0 < at {
            text.push('\n');
        }
        text.push_str(&line.text);
    }
    text
}

/// The whole result text of read_file (contract 6.1), lines from 0.
pub(crate) fn read(
    name: &str,
    file: &[u8],
    start: Option<i64>,
    end: Option<i64>,
) -> Result<String, ModelError> {
    check_range(start, end)?;
    if let Some(start) = start.filter(|start| *start < 0) {
        let lines = split_text(text_of(file)?);
        let total = i64::try_from(lines.len()).expect("a count fits");
        // The last lines of a file without lines are all of it.
        return read_lines(name, &lines, (0 < total).then_some((total + start).max(0)), None);
    }
    read_lines(name, &split_text(text_of(file)?), start, end)
}

fn check_range(start: Option<i64>, end: Option<i64>) -> Result<(), ModelError> {
    if end.is_some_and(|end| end < 0) {
        return Err(ModelError::NegativeLine);
    }
    // A negative start means the last lines, which have no other end.
    if start.is_some_and(|start| start < 0) {
        return if end.is_some() { Err(ModelError::Arguments) } else { Ok(()) };
    }
    match (start, end) {
        (Some(start), Some(end)) if end < start => Err(ModelError::BackwardRange { start, end }),
        _ => Ok(()),
    }
}

/// As [`read`], for a file that is already split and a range that is one.
pub(crate) fn read_lines(
    name: &str,
    lines: &[Line],
    start: Option<i64>,
    end: Option<i64>,
) -> Result<String, ModelError> {
    let total = lines.len();
    let from = usize::try_from(start.unwrap_or(0)).expect("checked");
    if let Some(start) = start.filter(|_| total <= from) {
        return Err(ModelError::StartPastEnd { start, total });
    }
    if total == 0 || (start.is_none() && end.is_none()) {
        return Ok(format!("File: {name} ({total} lines)\n\n{}", joined(lines)));
    }
    let to = end.map_or(total - 1, |end| usize::try_from(end).expect("checked").min(total - 1));
    Ok(format!("File: {name} (lines {from}-{to} of {total} total)\n\n{}", joined(&lines[from..=to])))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn texts(file: &[u8]) -> Vec<String> {
        split_lines(file).expect("text").into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_break_is_any_of_three_and_one_at_the_end_starts_no_line() {
        let cases: [(&[u8], &[&str]); 9] = [
            (b"", &[]),
            (b"\n", &[""]),
            (b"\r\n", &[""]),
            (b"\xEF\xBB\xBF", &[]),
            (b"\xEF\xBB\xBFa\r", &["a"]),
            (b"a\nb", &["a", "b"]),
            (b"a\rb\r\nc\n", &["a", "b", "c"]),
            (b"\r\r\n\n\r", &["", "", "", ""]),
            ("é\n漢".as_bytes(), &["é", "漢"]),
        ];
        for (file, lines) in cases {
            assert_eq!(texts(file), lines, "{file:?}");
        }
        assert_eq!((count(b"a\0"), count(b"\xFF"), count(b"a")), (-1, -1, 1));
    }

    #[test]
    fn read_names_the_range_that_it_gives() {
        let read = |file: &str, start, end| read("f", file.as_bytes(), start, end);
        assert_eq!(read("a\r\nb\n", None, None), Ok("File: f (2 lines)\n\na\nb".to_owned()));
        assert_eq!(read("a\rb", Some(1), None), Ok("File: f (lines 1-1 of 2 total)\n\nb".to_owned()));
        assert_eq!(read("a\nb", None, Some(9)), Ok("File: f (lines 0-1 of 2 total)\n\na\nb".to_owned()));
        assert_eq!(read("", None, Some(9)), Ok("File: f (0 lines)\n\n".to_owned()));
        assert_eq!(read("", Some(0), None), Err(ModelError::StartPastEnd { start: 0, total: 0 }));
        assert_eq!(read("a", Some(3), Some(2)), Err(ModelError::BackwardRange { start: 3, end: 2 }));
        assert_eq!(read("a", None, Some(-1)), Err(ModelError::NegativeLine));
        assert_eq!(read("a\nb", Some(-1), None), Ok("File: f (lines 1-1 of 2 total)\n\nb".to_owned()));
        assert_eq!(read("a\nb", Some(-9), None), Ok("File: f (lines 0-1 of 2 total)\n\na\nb".to_owned()));
        assert_eq!(read("", Some(-9), None), Ok("File: f (0 lines)\n\n".to_owned()));
        assert_eq!(read("a\nb", Some(-1), Some(1)), Err(ModelError::Arguments));
    }
}
