use super::message::megabytes;
use super::*;
use crate::tools::sets;
use folder::Occupant;

fn guide(base: LineBase, tools: &[&str]) -> Guide {
    let tools = tools.iter().map(|name| sets::known(name).unwrap());
    Guide { base, offered: ToolNames::of(tools), paths: base == LineBase::One }
}

#[test]
fn a_hint_names_only_tools_that_are_offered() {
    let missing = Error::not_found;
    let hint = |error: &Error, base, tools: &[&str]| ErrorText::of(error, guide(base, tools), 10).hint;
    let (zero, one) = (LineBase::Zero, LineBase::One);
    assert_eq!(hint(&missing("x"), zero, &[]), None);
    let use_list_files = Some("Use list_files to see which files there are.".into());
    assert_eq!(hint(&missing("x"), zero, &["list_files", "list_directory"]), use_list_files);
    for (name, folder) in [("x", "."), ("a/b/x", "a/b"), ("/srv/x/", "/srv"), ("/x", "/")] {
        let expected = format!("Use list_directory {{\"path\":\"{folder}\"}} to see which files there are.");
        assert_eq!(hint(&missing(name), one, &["list_files", "list_directory"]), Some(expected));
    }
    let exists =
        Error::Exists { name: "a\"b".into(), occupant: Box::new(Occupant::File { at: "a\"b".into() }) };
    let other_path = Some("Nothing was changed. Give another path.".into());
    assert_eq!(hint(&exists, one, &["list_directory"]), other_path);
    assert_eq!(hint(&Error::exists("a"), one, &["delete_file"]), other_path);
    let delete = hint(&exists, one, &["delete_file"]).unwrap();
    assert!(delete.ends_with(r#"with delete_file {"path":"a\"b"}."#), "{delete}");
}

#[test]
fn no_control_character_that_was_sent_comes_back_raw() {
    let problem = "unknown \u{1b}[31m\u{9b}\u{7f}\r: expected\nanother\tline".to_owned();
    let error = Error::InvalidArguments { at: "x\u{7}".into(), problem };
    let text = ErrorText::of(&error, guide(LineBase::One, &[]), 10).text();
    assert_eq!(
        text,
        "Error: Invalid arguments: x\\x07: unknown \\x1b[31m\\xc2\\x9b\\x7f\\x0d: expected\nanother\tline"
    );
    let is_now = Error::NotAsExpected { line: 0, actual: "a\u{c}".into(), stands_at: None };
    let text = ErrorText::of(&is_now, guide(LineBase::One, &[]), 10).text();
    assert!(text.contains("\"a\u{c}\""), "text of a file is told as it is: {text:?}");
}

#[test]
fn a_size_just_over_the_limit_never_reads_like_the_limit() {
    for (bytes, text) in [(1 << 20, "1"), ((10 << 20) + 1, "10.01"), (3 << 19, "1.5"), (1, "0.01"), (0, "0")]
    {
        assert_eq!(megabytes(bytes), text);
    }
}

#[test]
fn numbers_count_from_the_first_line_of_the_interface() {
    let error = Error::LineOutOfRange { line: 9, operation: "delete", total: 9, missing: None };
    let zero = ErrorText::of(&error, guide(LineBase::Zero, &[]), 10).text();
    assert_eq!(zero, "Error: Line 9 out of range for delete operation\nThe file has 9 lines, 0-8.");
    let one = ErrorText::of(&error, guide(LineBase::One, &[]), 10);
    assert_eq!(one.message, "Line 10 out of range for delete operation");
    assert_eq!(one.hint.as_deref(), Some("The file has 9 lines, 1-9.\nLines count from 1."));
}

#[test]
fn a_long_line_is_quoted_in_part() {
    let error = Error::NotAsExpected { line: 0, actual: "é".repeat(600), stands_at: None };
    assert!(
        ErrorText::of(&error, guide(LineBase::Zero, &[]), 10).text().ends_with("\" and 100 characters more")
    );
}
