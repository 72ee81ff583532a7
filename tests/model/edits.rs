//! The naive edit of lines (contract 3 and 4): on the list of lines, as plainly as can be.

use super::{BOM, Edit, Edited, Line, ModelError, joined, split_text, text_of};

/// A line of the result. `brk` is the break that it has when something follows it.
struct NewLine {
    text: String,
    brk: &'static str,
    /// As the file's last line it has no break.
    open_at_end: bool,
}

/// edit_file on a file's bytes; a missing file is the same as an empty one.
pub(crate) fn edit(file: &[u8], edits: &[Edit], append: Option<&str>) -> Result<Edited, ModelError> {
    check_arguments(edits, append)?;
    let old = split_text(text_of(file)?);
    let at_end = check_lines(&old, edits)?;
    check_conflicts(edits)?;

    let mut modified = 0;
    let mut new: Vec<NewLine> = Vec::new();
    for (index, line) in old.iter().enumerate() {
        let number = i64::try_from(index).expect("a line number fits");
        let here = |edit: &&Edit| edit.line == number;
        for insert in edits.iter().filter(here).filter(|edit| edit.operation == "insert") {
            modified += insert_text(&mut new, &old, index, content_of(insert));
        }
        match edits.iter().find(|edit| edit.covers(number)) {
            None => new.push(NewLine {
                text: line.text.clone(),
                brk: style(&old, index),
                open_at_end: line.brk.is_empty(),
            }),
            Some(edit) if edit.operation == "delete" => modified += 1,
            Some(edit) if edit.line != number => {}
            Some(edit) => {
                // A range is replaced as a whole: its text has the break of its first line between lines, and keeps
                // that of its last line.
                let last = usize::try_from(edit.last()).expect("checked");
                let open_at_end = old[last].brk.is_empty() && !ends_in_break(content_of(edit));
                modified += push_text(&mut new, content_of(edit), style(&old, index), open_at_end);
                new.last_mut().expect("content has lines").brk = style(&old, last);
            }
        }
    }
    for insert in at_end {
        modified += insert_text(&mut new, &old, old.len(), content_of(insert));
    }
    if let Some(append) = append.filter(|append| !append.is_empty()) {
        modified += insert_text(&mut new, &old, old.len(), append);
    }

    let has_bom = file.starts_with(BOM);
    let only = new.len() == 1;
    if let Some(last) = new.last_mut() {
        // Without a break an empty last line would be no line; nor would one that is a BOM to the next reader.
        let vanishes = last.text.is_empty() || (only && !has_bom && last.text.as_bytes() == BOM);
        if last.open_at_end && !vanishes {
            last.brk = "";
        }
    }
    for at in 1..new.len() {
        let begins_with_newline = new[at].text.is_empty() && new[at].brk == "\n";
        if new[at - 1].brk == "\r" && begins_with_newline {
            new[at - 1].brk = "\r\n";
        }
    }

    let mut bytes = if has_bom { BOM.to_vec() } else { Vec::new() };
    for line in &new {
        bytes.extend_from_slice(line.text.as_bytes());
        bytes.extend_from_slice(line.brk.as_bytes());
    }
    Ok(Edited { bytes, modified, total: new.len() })
}

/// The break in force at an old line: its own, else that of the line before it, else `\n`.
fn style(old: &[Line], index: usize) -> &'static str {
    match old.get(index) {
        Some(line) if !line.brk.is_empty() => line.brk,
        _ if 0 < index => style(old, index - 1),
        _ => "\n",
    }
}

/// New text before old line `index` (at the end if that is their number). Gives the number of its lines.
fn insert_text(new: &mut Vec<NewLine>, old: &[Line], index: usize, content: &str) -> usize {
    let brk = if index == 0 { style(old, 0) } else { style(old, index - 1) };
    let ended_in_break = old.last().is_none_or(|last| !last.brk.is_empty());
    push_text(new, content, brk, !ended_in_break && !ends_in_break(content))
}

fn push_text(new: &mut Vec<NewLine>, content: &str, brk: &'static str, open_at_end: bool) -> usize {
    let lines = content_lines(content);
    for text in &lines {
        new.push(NewLine { text: text.clone(), brk, open_at_end });
    }
    lines.len()
}

/// The lines of new text; the empty string is one empty line (an empty `append` does not come here).
fn content_lines(content: &str) -> Vec<String> {
    match content {
        "" => vec![String::new()],
        _ => split_text(content).into_iter().map(|line| line.text).collect(),
    }
}

/// What the answer says of contents that end in a break, behind its four lines.
pub(crate) fn break_note(edits: &[Edit]) -> &'static str {
    let ended = |edit: &Edit| edit.content.as_deref().is_some_and(ends_in_break);
    if edits.iter().any(ended) { "\ncontent ended in a line break, which adds no empty line" } else { "" }
}

fn ends_in_break(content: &str) -> bool {
    content.ends_with(['\n', '\r'])
}

fn content_of(edit: &Edit) -> &str {
    edit.content.as_deref().expect("checked: replace and insert have content")
}

fn check_arguments(edits: &[Edit], append: Option<&str>) -> Result<(), ModelError> {
    if 1000 < edits.len() {
        return Err(ModelError::Arguments);
    }
    for edit in edits {
        if edit.line < 0 {
            return Err(ModelError::NegativeLine);
        }
        if !["replace", "insert", "delete"].contains(&edit.operation) {
            return Err(ModelError::Operation(edit.operation.to_owned()));
        }
        match (&edit.content, edit.operation) {
            (Some(content), "delete") if !content.is_empty() => return Err(ModelError::DeleteWithContent),
            (None, "replace" | "insert") => return Err(ModelError::Arguments),
            (Some(content), _) if content.contains('\0') => return Err(ModelError::Arguments),
            _ => {}
        }
        match edit.end_line {
            Some(end) if end < 0 => return Err(ModelError::NegativeLine),
            Some(_) if edit.operation == "insert" => return Err(ModelError::Arguments),
            Some(end) if end < edit.line => return Err(ModelError::BackwardRange { start: edit.line, end }),
            _ => {}
        }
    }
    match append {
        Some(append) if append.contains('\0') => Err(ModelError::Arguments),
        _ => Ok(()),
    }
}

/// Range and expectation of each edit in array order. Gives the inserts at or past the end, in their order.
fn check_lines<'a>(old: &[Line], edits: &'a [Edit]) -> Result<Vec<&'a Edit>, ModelError> {
    let len = i64::try_from(old.len()).expect("a count fits");
    let mut past: Vec<&Edit> =
        edits.iter().filter(|edit| edit.operation == "insert" && len <= edit.line).collect();
    past.sort_by_key(|edit| edit.line);
    let mut so_far = old.len();
    for insert in &past {
        if usize::try_from(insert.line).expect("checked") <= so_far {
            so_far += content_lines(content_of(insert)).len();
        }
    }
    let reach = i64::try_from(so_far).expect("a count fits");
    for edit in edits {
        // In ascending order the first insert out of reach ends the chain, so what was reached is one number.
        let in_range = if edit.operation == "insert" { edit.line <= reach } else { edit.line < len };
        if !in_range {
            return Err(ModelError::OutOfRange { line: edit.line, operation: edit.operation });
        }
        let out = |line| Err(ModelError::OutOfRange { line, operation: edit.operation });
        if edit.operation != "insert" && len <= edit.last() {
            return out(edit.last());
        }
        if let Some(expect) = &edit.expect {
            if len <= edit.line {
                return out(edit.line);
            }
            let at = |line: i64| usize::try_from(line).expect("checked");
            let now = joined(&old[at(edit.line)..=at(edit.last())]);
            if now != *expect {
                return Err(ModelError::NotExpected { line: edit.line, now });
            }
        }
    }
    Ok(past)
}

fn check_conflicts(edits: &[Edit]) -> Result<(), ModelError> {
    // An insert within a range would split its text.
    let claims = |line: i64| edits.iter().filter(|edit| edit.covers(line)).count();
    let splits = |edit: &Edit| {
        let insert = edit.line;
        edit.operation == "insert" && edits.iter().any(|other| other.covers(insert) && other.line < insert)
    };
    let mut lines: Vec<i64> = edits.iter().filter(|edit| splits(edit)).map(|edit| edit.line).collect();
    for edit in edits.iter().filter(|edit| edit.operation != "insert") {
        lines.extend((edit.line..=edit.last()).filter(|line| 1 < claims(*line)));
    }
    if lines.is_empty() { Ok(()) } else { Err(ModelError::Conflict { lines }) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn op(operation: &'static str, line: i64, content: &str) -> Edit {
        let content = (operation != "delete").then(|| content.to_owned());
        Edit { line, end_line: None, operation, content, expect: None }
    }

    fn insert(line: i64, content: &str) -> Edit {
        op("insert", line, content)
    }

    fn replace(line: i64, content: &str) -> Edit {
        op("replace", line, content)
    }

    fn delete(line: i64) -> Edit {
        op("delete", line, "")
    }

    fn to(end: i64, edit: Edit) -> Edit {
        Edit { end_line: Some(end), ..edit }
    }

    #[test]
    fn the_examples_of_the_spec_come_out_as_it_says() {
        #[rustfmt::skip]
        let cases: &[(&str, &[Edit], &str, &str, usize)] = &[
            // file, edits, append, file afterwards, lines modified
            ("", &[insert(0, "1"), insert(1, "2"), insert(2, "3"), insert(3, "4"), insert(4, "5")], "", "1\n2\n3\n4\n5\n", 5),
            ("a\n", &[insert(1, "p\nq\nr"), insert(2, "x")], "", "a\np\nq\nr\nx\n", 4),
            ("a\n", &[insert(2, "x"), insert(1, "p\nq\nr")], "", "a\np\nq\nr\nx\n", 4),
            ("a\n", &[insert(0, "x"), insert(0, "y")], "z", "x\ny\na\nz\n", 3),
            // Breaks: of the line replaced, of the line before, at the top of the line after, else `\n`.
            ("a\r\nb\nc\r", &[replace(0, "x\ny"), insert(2, "z")], "", "x\r\ny\r\nb\nz\nc\r", 3),
            ("a\r\nb\n", &[insert(0, "x"), delete(0)], "", "x\r\nb\n", 2),
            ("a\rb", &[replace(1, "x\ny")], "", "a\rx\ry", 2),
            ("a", &[insert(0, "x\r\n")], "", "x\na", 1),
            // The end of the file.
            ("a\r\nb", &[], "c", "a\r\nb\r\nc", 1),
            ("a\r\nb", &[], "c\n", "a\r\nb\r\nc\r\n", 1),
            ("a\n", &[], "c", "a\nc\n", 1),
            ("a", &[insert(1, "")], "", "a\n\n", 1),
            ("a\nb", &[replace(1, "x")], "", "a\nx", 1),
            ("a\nb", &[replace(1, "x\r")], "", "a\nx\n", 1),
            ("a\nb", &[replace(1, "")], "", "a\n\n", 1),
            ("a\nb", &[delete(1)], "", "a\n", 1),
            ("a\nb", &[delete(1), insert(1, "x")], "", "a\nx", 2),
            ("a", &[], "", "a", 0),
            ("a\n", &[], "\n", "a\n\n", 1),
            // No line disappears.
            ("a\rb\n\n", &[delete(1)], "", "a\r\n\n", 1),
            ("a\r\n", &[insert(1, "")], "", "a\r\n\r\n", 1),
            ("a\rb\n", &[replace(1, "")], "", "a\r\n\n", 1),
            // Ranges.
            ("a\nb\nc\n", &[to(1, replace(0, "x"))], "", "x\nc\n", 1),
            ("a\r\nb\nc", &[to(1, replace(0, "x\ny"))], "", "x\r\ny\nc", 2),
            ("a\nb\nc", &[to(2, replace(1, "x"))], "", "a\nx", 1),
            ("a\nb\nc", &[to(2, replace(1, "x\n"))], "d", "a\nx\nd", 2),
            ("a\nb\nc", &[to(2, delete(1)), insert(1, "x")], "", "a\nx", 3),
            ("a\rb\nc", &[to(2, replace(0, "x\n\n"))], "", "x\r\n\n", 2),
            ("\u{FEFF}a\n", &[delete(0)], "", "\u{FEFF}", 1),
            ("\u{FEFF}a\n", &[insert(0, "x")], "", "\u{FEFF}x\na\n", 1),
        ];
        for (file, edits, append, after, modified) in cases {
            let edited = edit(file.as_bytes(), edits, Some(append)).expect("a valid edit");
            assert_eq!(String::from_utf8_lossy(&edited.bytes), *after, "{file:?} {edits:?} {append:?}");
            assert_eq!(edited.modified, *modified, "{file:?} {edits:?} {append:?}");
            assert_eq!(edited.total, texts(&edited.bytes).len(), "{file:?} {edits:?} {append:?}");
        }
    }

    #[test]
    fn errors_are_found_in_the_order_of_the_spec() {
        let refused = |file: &str, edits: &[Edit]| edit(file.as_bytes(), edits, None).expect_err("invalid");
        let out = |line, operation| ModelError::OutOfRange { line, operation };
        let expecting = |expect: &str| Edit { expect: Some(expect.to_owned()), ..delete(0) };
        let now = || ModelError::NotExpected { line: 0, now: "a".to_owned() };
        assert_eq!(refused("a\n", &[insert(0, "p"), insert(2, "x")]), out(2, "insert"));
        assert_eq!(refused("a\n", &[delete(0), insert(1, "x"), insert(3, "x")]), out(3, "insert"));
        assert_eq!(refused("a\n", &[delete(1), replace(-1, "")]), ModelError::NegativeLine);
        assert_eq!(refused("a\n", &[delete(1), expecting("b")]), out(1, "delete"));
        assert_eq!(refused("a\n", &[expecting("b"), delete(1)]), now());
        assert_eq!(refused("a\n", &[delete(0), expecting("b")]), now());
        assert_eq!(refused("a\n", &[delete(0), replace(0, "")]), ModelError::Conflict { lines: vec![0, 0] });
        assert!(edit(b"a\n", &[expecting("a"), insert(0, "b")], None).is_ok());
        // Ranges, and inserts that expect a line.
        let before = |line, expect: &str| Edit { expect: Some(expect.to_owned()), ..insert(line, "x") };
        assert_eq!(refused("a\nb\n", &[to(2, delete(1))]), out(2, "delete"));
        assert_eq!(refused("a\nb\n", &[to(0, delete(1))]), ModelError::BackwardRange { start: 1, end: 0 });
        assert_eq!(refused("a\nb\n", &[to(1, insert(1, ""))]), ModelError::Arguments);
        assert_eq!(refused("a\n", &[before(1, "a")]), out(1, "insert"));
        assert_eq!(refused("a\n", &[before(0, "b")]), now());
        let conflict = |lines: &[i64]| ModelError::Conflict { lines: lines.to_vec() };
        assert_eq!(refused("a\nb\nc\n", &[to(1, delete(0)), to(2, delete(1))]), conflict(&[1, 1]));
        assert_eq!(refused("a\nb\nc\n", &[to(1, delete(0)), insert(1, "x")]), conflict(&[1]));
    }
}
