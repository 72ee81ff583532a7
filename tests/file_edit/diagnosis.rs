//! What file_edit says of a text that it does not find: the mistakes that models are known to make, each with its
//! diagnosis. Nothing is ever applied by itself.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio, ToolResult};

/// Some code, so that there is something to be near to.
const FILE: &str = "use std::fmt;\n\n/// A point.\npub struct Point {\n    pub x: i32,\n    pub y: i32,\n}\n\nimpl fmt::Display for Point {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        write!(f, \"({}, {})\", self.x, self.y)\n    }\n}\n\nfn main() {\n    let user_name = \"O'Neill\";\n    let caf\u{e9} = Point { x: 1, y: 2 };\n    println!(\"{}\\n{}\", user_name, caf\u{e9});\n    if user_name.len() < 10 && true {\n        return;\n    }\n}\n";

/// The answer to a search for `old_text` in `content`, which must not find it, nor change anything.
fn miss(content: &str, old_text: &str, new_text: &str) -> ToolResult {
    let folder = Folder::new();
    folder.write("f", content);
    let server = Stdio::start(&folder, &["--tools=lines,exact"]);
    let before = folder.snapshot();
    let edits = json!([{ "old_text": old_text, "new_text": new_text }]);
    let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
    assert!(result.is_error, "{}", result.text);
    assert_eq!(result.result["metadata"]["validation_error"]["type"], "NO_MATCH", "{}", result.text);
    assert_eq!(folder.snapshot(), before);
    result
}

fn similar(result: &ToolResult) -> &Value {
    &result.result["metadata"]["validation_error"]["similar_content"][0]
}

/// `old_text` is not in `content`; the nearest passage stands at `line` and `column`, and the text says each of `says`.
#[track_caller]
fn diagnosed(content: &str, old_text: &str, (line, column): (u64, u64), says: &[&str]) {
    let result = miss(content, old_text, "something else entirely");
    let nearest = similar(&result);
    assert_eq!(
        (&nearest["line_number"], &nearest["column_start"]),
        (&json!(line), &json!(column)),
        "{}",
        result.text
    );
    for part in says {
        assert!(result.text.contains(part), "{part:?} is not in\n{}", result.text);
    }
    let passage = nearest["content"].as_str().expect("a passage");
    let score = nearest["similarity_score"].as_f64().expect("a score");
    assert!((0.3..1.0).contains(&score), "{score}: {}", result.text);
    // The edit succeeds with the text that the error gives.
    let folder = Folder::new();
    folder.write("f", content);
    let server = Stdio::start(&folder, &["--tools=lines,exact", "--sync=none"]);
    let edits =
        json!([{ "old_text": passage, "new_text": "x", "occurrences": content.matches(passage).count() }]);
    let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
    assert!(!result.is_error, "{passage:?}: {}", result.text);
}

macro_rules! fixtures {
    ($($name:ident: $content:expr, $old:expr => $place:expr, $says:expr;)*) => {
        $(#[test]
        fn $name() {
            diagnosed($content, $old, $place, &$says);
        })*
    };
}

fixtures! {
    spaces_for_a_tab: "fn a() {\n\treturn 1;\n}\n", "fn a() {\n    return 1;\n}" => (1, 1), ["old_text has 4 spaces, the file has 1 tab (U+0009)"];
    a_tab_for_spaces: FILE, "{\n\tpub x: i32," => (4, 18), ["old_text has 1 tab (U+0009), the file has 4 spaces"];
    one_space_for_two: "const  foo = 1;\n", "const foo = 1;" => (1, 1), ["Difference (whitespace): old_text has 1 space, the file has 2 spaces"];
    a_space_too_many: FILE, "pub struct  Point {" => (4, 1), ["old_text has 2 spaces, the file has 1 space"];
    a_no_break_space_in_the_file: "a total\u{A0}price here\n", "a total price here" => (1, 1), ["the file has 1 no-break space (U+00A0)"];
    a_no_break_space_in_the_text: "a total price here\n", "a total\u{A0}price here" => (1, 1), ["old_text has 1 no-break space (U+00A0), the file has 1 space"];
    a_narrow_no_break_space: "10\u{202F}000 euros in all\n", "10 000 euros in all" => (1, 1), ["1 narrow no-break space (U+202F)"];
    curly_quotes_in_the_text: FILE, "let user_name = “O'Neill”;" => (16, 5), ["Difference (punctuation)", "`“` (U+201C)"];
    curly_quotes_in_the_file: "say ‘hello’ to him\n", "say 'hello' to him" => (1, 1), ["the file has `‘` (U+2018)", "(punctuation)"];
    double_quotes_for_single: "print('some text')\n", "print(\"some text\")" => (1, 1), ["old_text has `\"`, the file has `'`"];
    a_dash_for_a_hyphen: "from 10-20 pages on\n", "from 10–20 pages on" => (1, 1), ["old_text has `–` (U+2013), the file has `-`"];
    an_ellipsis_for_three_dots: "wait for it... and go\n", "wait for it… and go" => (1, 1), ["old_text has `…` (U+2026), the file has `...`"];
    a_carriage_return_in_the_line: "first\rsecond half of it\n", "first second half of it" => (1, 1), ["the file has 1 carriage return (U+000D)"];
    a_zero_width_space: "the zero\u{200B}width trap\n", "the zerowidth trap" => (1, 1), ["1 zero-width space (U+200B)"];
    a_byte_order_mark_in_the_text: "first line\nsecond\n", "\u{FEFF}first line" => (1, 1), ["old_text has 1 byte order mark (U+FEFF), the file has nothing there"];
    a_soft_hyphen: "a config\u{AD}uration here\n", "a configuration here" => (1, 1), ["1 soft hyphen (U+00AD)"];
    decomposed_in_the_text: FILE, "let cafe\u{301} = Point" => (17, 5), ["composed differently (NFC or NFD)", "U+0065 U+0301", "U+00E9"];
    decomposed_in_the_file: "un cafe\u{301} noir\n", "un caf\u{e9} noir" => (1, 1), ["composed differently (NFC or NFD)"];
    decomposed_at_the_end: "title = cafe\u{301}\nmore\n", "title = caf\u{e9}" => (1, 1), ["composed differently (NFC or NFD)", "Line 1: title = cafe\u{301}\n"];
    case_of_a_name: FILE, "let userName = \"O'Neill\";" => (16, 5), ["`userName`", "`user_name`"];
    case_of_a_letter: FILE, "Impl fmt::Display for Point {" => (9, 1), ["Difference (case): old_text has `Impl`, the file has `impl`"];
    case_of_all_letters: "select name from users\n", "SELECT name FROM users" => (1, 1), ["(case): old_text has `SELECT`, the file has `select`"];
    a_literal_backslash_n_for_a_break: FILE, "pub x: i32,\\n    pub y: i32," => (5, 5), ["a literal \\n"];
    a_break_for_a_literal_backslash_n: FILE, "println!(\"{}\n{}\"" => (18, 5), ["the file has a backslash and a letter"];
    escaped_quotes: FILE, "write!(f, \\\"({}, {})\\\", self.x" => (11, 9), ["a backslash and a letter"];
    html_entities: FILE, "user_name.len() &lt; 10 &amp;&amp; true" => (19, 8), ["HTML entities"];
    line_numbers: FILE, "     5\t    pub x: i32,\n     6\t    pub y: i32," => (5, 1), ["line numbers"];
    marks_of_a_diff: FILE, "-    pub x: i32,\n-    pub y: i32," => (5, 1), ["+ and - of a diff"];
    a_code_fence: FILE, "```rust\npub struct Point {\n    pub x: i32,\n```" => (4, 1), ["``` fences"];
    indentation_shifted_as_a_whole: FILE, "fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n    write!(f, \"({}, {})\", self.x, self.y)\n}" => (10, 5), ["the file has 8 spaces"];
    indentation_of_every_line: FILE, "  pub x: i32,\n  pub y: i32," => (5, 1), ["the indentation is shifted as a whole: every line is 2 columns further in, in the file"];
    a_blank_at_the_end: "one line\nanother line \nlast\n", "another line\nlast" => (2, 1), ["the file has 1 space"];
    a_break_too_many_at_the_end: "one line\nlast", "one line\nlast\n" => (1, 1), ["ends with blanks or line breaks"];
    a_break_before_that_the_file_does_not_have: "first line\nx = one(2)\n", "\none(2)" => (2, 5), ["old_text begins with line breaks that the file does not have there"];
    breaks_on_both_sides_that_the_file_does_not_have: "a one(2) b\n", "\none(2)\n" => (1, 3), ["begins with line breaks and ends with blanks or line breaks"];
    an_indentation_between_a_break_and_the_text: "first {\n    one(2);\n}\n", "\none(2);\n" => (1, 8), ["old_text has nothing there, the file has 4 spaces"];
    an_indentation_behind_a_break_that_is_deeper: "first {\n    one(2);\n}\n", "{\n  one(2);\n" => (1, 7), ["old_text has 2 spaces, the file has 4 spaces"];
    a_deeper_indentation_behind_a_leading_break: "first {\n    one(2);\n}\n", "\n  one(2);" => (1, 8), ["Difference (whitespace): old_text has 2 spaces, the file has 4 spaces"];
    a_blank_between_the_text_and_a_break: "first\none(2); \nthird\n", "one(2);\n" => (2, 1), ["old_text has nothing there, the file has 1 space"];
    a_blank_in_the_text_after_a_break_that_is_there: "first\none( 2);\nthird\n", "\none(2);\n" => (1, 6), ["old_text has nothing there, the file has 1 space"];
    a_word_between_breaks_that_are_there: "first\n\nlet usr = one(2);\n\nthird\n", "\n\nlet user = one(2);\n\n" => (1, 6), ["old_text has `user`, the file has `usr`"];
    one_break_less_than_given_at_the_start: "first\nlet user = one(2);\nthird\n", "\n\nlet user = one(2);" => (1, 6), ["begins with line breaks that the file does not have"];
    a_blank_on_the_empty_line_before: "first\n  \nlet user = one(2);\n", "\n\nlet user = one(2);" => (1, 6), ["old_text has nothing there, the file has 2 spaces"];
    a_break_of_another_kind_before_a_blank: "first\r\n  let user = one(2);\r\n", "\nlet user = one(2);\n" => (1, 6), ["(whitespace): old_text has nothing there, the file has 2 spaces"];
    a_line_left_out: FILE, "pub struct Point {\n    pub y: i32,\n}" => (4, 1), ["nothing there"];
    another_number_at_the_end: "def f():\n    x = 7\n    return x\n", "    x = 5" => (2, 1), ["old_text has `5`, the file has `7`"];
    a_longer_number_at_the_end: "let x = 7\nlet y\n", "let x = 50" => (1, 1), ["old_text has `50`, the file has `7`"];
    another_word_at_the_start: "one\nmy apples are here\n", "no apples are here" => (2, 1), ["old_text has `no`, the file has `my`"];
    a_misspelt_word: FILE, "println!(\"{}\\n{}\", usr_name, caf\u{e9});" => (18, 5), ["old_text has `usr_name`, the file has `user_name`"];
    another_argument: FILE, "fn fmt(&self, f: &mut Formatter) -> fmt::Result {" => (10, 5), ["Difference (content)"];
}

#[test]
fn a_break_that_the_file_has_is_not_blamed() {
    for (content, old_text) in [
        ("first {\n    one(2);\n}\n", "\none(2);\n"),
        ("first {\n    one(2);\n}\n", "\n  one(2);"),
        ("first\none(2); \nthird\n", "one(2);\n"),
        ("first\none( 2);\nthird\n", "\none(2);\n"),
        ("first\r\none( 2);\r\nthird\r\n", "\none(2);\n"),
        ("first\n\nlet usr = one(2);\n\nthird\n", "\n\nlet user = one(2);\n\n"),
    ] {
        let result = miss(content, old_text, "something else entirely");
        assert!(!result.text.contains("that the file does not have there"), "{old_text:?}: {}", result.text);
    }
}

#[test]
fn an_edit_that_is_already_there_is_told_apart() {
    let result = miss(&FILE.replace("pub x: i32", "pub x: i64"), "pub x: i32,", "pub x: i64,");
    assert!(result.text.contains("already applied"), "{}", result.text);
    let error = &result.result["metadata"]["validation_error"];
    assert_eq!(error["already_applied"][0]["line_number"], 5, "{error}");
    let fixes = &result.result["metadata"]["suggested_fixes"];
    assert!(
        fixes[0]["suggestion"].as_str().is_some_and(|fix| fix.contains("leave this edit out")),
        "{fixes}"
    );
    let result = miss("Hello Universe\n", "World", "Universe");
    assert!(result.text.contains("already applied"), "{}", result.text);
    let result = miss("fn a() {}\nfn b() {}\n", "nothing like it at all", "}");
    assert!(!result.text.contains("already applied"), "{}", result.text);
}

#[test]
fn nothing_similar_is_said_to_be_nothing() {
    let result = miss(FILE, "SELECT * FROM table_of_contents WHERE", "x");
    assert!(result.text.contains("Nothing in the file is similar"), "{}", result.text);
    assert!(similar(&result).is_null());
}

#[test]
fn the_best_of_several_passages_comes_first_and_the_others_follow() {
    let result = miss("total = price * 2\ntotal = price * 3\ntotal = cost * 4\n", "total = price * 4", "x");
    let all = result.result["metadata"]["validation_error"]["similar_content"]
        .as_array()
        .expect("passages")
        .clone();
    assert!(1 < all.len(), "{}", result.text);
    let scores: Vec<f64> = all.iter().map(|one| one["similarity_score"].as_f64().expect("a score")).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
}

#[test]
fn a_passage_far_into_a_large_file_is_found() {
    let mut content = String::new();
    for n in 0..60_000 {
        content += &format!("    let value_{n} = compute({n}, \"some text\");\n");
    }
    let result = miss(&content, "  let value_54321 = compute(54321, 'some text');", "x");
    assert_eq!(similar(&result)["line_number"], 54_322, "{}", result.text);
    let again = miss(&content, "  let value_54321 = compute(54321, 'some text');", "x");
    assert_eq!(result.result, again.result, "the same call gives the same answer");
}

#[test]
fn a_search_that_stops_early_says_so() {
    let folder = Folder::new();
    folder.write("f", "a line without it\n".repeat(2_000_000));
    let server = Stdio::start(&folder, &["--tools=lines,exact", "--max-size=100"]);
    let edits = json!([{ "old_text": "zqxj", "new_text": "y" }]);
    let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
    assert_eq!(result.result["metadata"]["validation_error"]["stopped_early"], true, "{}", result.text);
    assert!(result.text.contains("stopped early"), "{}", result.text);
}

#[test]
fn a_line_that_stands_for_text_left_out_is_told_with_the_lines_that_it_stands_for() {
    let old = "pub struct Point {\n    // ... rest of the fields ...\n}\n\nimpl fmt::Display";
    let result = miss(FILE, old, "x");
    for says in [
        "The line `// ... rest of the fields ...` of old_text is not in the file",
        "is in line 4 (read_file start_line=3 end_line=3)",
        "is in lines 7-9 (read_file start_line=6 end_line=8)",
        "It stands for lines 5-6.",
    ] {
        assert!(result.text.contains(says), "{says:?} is not in\n{}", result.text);
    }
}

#[test]
fn an_empty_old_text_says_how_to_insert() {
    let result = miss(FILE, "", "x");
    let says = "give a line beside the place as old_text and repeat it in new_text";
    assert!(result.text.contains(says), "{}", result.text);
}
