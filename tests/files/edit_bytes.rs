//! What edit_file leaves on disk, byte for byte: line breaks, BOM, the end of the file, modes (contract 3, 8).

use serde_json::{Value, json};

use crate::support::{Folder, Http, Mcp, Stdio, command, on_both, with_umask};

/// One call and what the file must be afterwards.
struct Case {
    before: &'static str,
    edits: Value,
    append: Option<&'static str>,
    after: &'static str,
    total: usize,
}

fn case(
    before: &'static str,
    edits: Value,
    append: Option<&'static str>,
    after: &'static str,
    total: usize,
) -> Case {
    Case { before, edits, append, after, total }
}

fn insert(line: i64, content: &str) -> Value {
    json!({ "line": line, "operation": "insert", "content": content })
}

fn replace(line: i64, content: &str) -> Value {
    json!({ "line": line, "operation": "replace", "content": content })
}

fn delete(line: i64) -> Value {
    json!({ "line": line, "operation": "delete" })
}

/// Runs every case over both transports; also holds that read agrees with the total that edit gave.
fn check(cases: &[Case]) {
    on_both(|server, folder| {
        for Case { before, edits, append, after, total } in cases {
            folder.write("f", before);
            let text = server.ok("edit_file", json!({ "name": "f", "edits": edits, "append": append }));
            assert_eq!(folder.text("f"), *after, "{before:?} {edits} {append:?}");
            assert!(
                text.contains(&format!("\nTotal lines: {total}\n")),
                "{before:?} {edits} {append:?}: {text}"
            );
            let read = server.ok("read_file", json!({ "name": "f" }));
            assert!(read.starts_with(&format!("File: f ({total} lines)\n\n")), "{before:?} {edits}: {read}");
        }
    });
}

#[test]
fn lines_that_were_not_named_keep_every_byte() {
    check(&[
        case("a\r\nb\nc\rd", json!([replace(1, "B")]), None, "a\r\nB\nc\rd", 4),
        case("a\r\nb\nc\rd", json!([delete(1)]), None, "a\r\nc\rd", 3),
        case(" a \t\r\n\u{FEFF}b\n", json!([insert(1, "x")]), None, " a \t\r\nx\r\n\u{FEFF}b\n", 3),
    ]);
}

#[test]
fn a_replaced_line_keeps_its_break() {
    check(&[
        case(
            "a\r\nb\nc\r",
            json!([replace(0, "x"), replace(1, "y"), replace(2, "z")]),
            None,
            "x\r\ny\nz\r",
            3,
        ),
        case("a\r\nb\n", json!([replace(0, "x\ny")]), None, "x\r\ny\r\nb\n", 3),
        case("a\nb\r\n", json!([replace(1, "x\ny\n")]), None, "a\nx\r\ny\r\n", 3),
        case("a\rb", json!([replace(0, "x\ny")]), None, "x\ry\rb", 3),
    ]);
}

#[test]
fn inserted_lines_take_the_break_of_the_line_before_and_at_the_top_of_the_line_after() {
    check(&[
        case("a\r\nb\n", json!([insert(1, "x\ny")]), None, "a\r\nx\r\ny\r\nb\n", 4),
        case("a\nb\r\n", json!([insert(1, "x")]), None, "a\nx\nb\r\n", 3),
        case("a\r\nb\n", json!([insert(0, "x")]), None, "x\r\na\r\nb\n", 3),
        case("a\rb\n", json!([insert(2, "x")]), None, "a\rb\nx\n", 3),
        case("a\r\n", json!([]), Some("x\ny"), "a\r\nx\r\ny\r\n", 3),
        case("", json!([insert(0, "x\r\ny")]), None, "x\ny\n", 2),
        case("a", json!([insert(0, "x")]), None, "x\na", 2),
    ]);
}

#[test]
fn the_break_taken_is_the_one_before_the_call_also_of_a_line_that_goes() {
    check(&[
        case("a\r\nb\nc\n", json!([delete(0), insert(1, "x")]), None, "x\r\nb\nc\n", 3),
        case("a\r\nb\n", json!([insert(0, "x"), delete(0)]), None, "x\r\nb\n", 2),
        case("a\nb\r\n", json!([delete(1)]), Some("x"), "a\nx\r\n", 2),
        case("a\nb\r\n", json!([replace(1, "B"), insert(2, "x")]), None, "a\nB\r\nx\r\n", 3),
    ]);
}

#[test]
fn a_line_without_a_break_has_the_style_of_the_line_before_it() {
    check(&[
        case("a\r\nb", json!([insert(2, "c")]), None, "a\r\nb\r\nc", 3),
        case("a\r\nb", json!([replace(1, "x\ny")]), None, "a\r\nx\r\ny", 3),
        case("a\rb", json!([]), Some("c\n"), "a\rb\rc\r", 3),
        case("a", json!([]), Some("b"), "a\nb", 2),
    ]);
}

#[test]
fn text_that_becomes_the_end_ends_in_a_break_exactly_if_the_file_or_the_text_did() {
    check(&[
        case("a\n", json!([]), Some("b"), "a\nb\n", 2),
        case("a", json!([]), Some("b"), "a\nb", 2),
        case("a", json!([]), Some("b\n"), "a\nb\n", 2),
        case("a\n", json!([]), Some("b\n"), "a\nb\n", 2),
        case("", json!([]), Some("b"), "b\n", 1),
        case("a", json!([insert(1, "b")]), None, "a\nb", 2),
        case("a", json!([insert(1, "b\n")]), None, "a\nb\n", 2),
        case("a\n", json!([insert(1, "b")]), None, "a\nb\n", 2),
    ]);
}

#[test]
fn a_last_line_that_is_empty_gets_a_break_for_without_it_it_would_be_no_line() {
    check(&[
        case("a", json!([insert(1, "")]), None, "a\n\n", 2),
        case("a", json!([]), Some("\n"), "a\n\n", 2),
        case("a", json!([]), Some("b\n\n"), "a\nb\n\n", 3),
        case("a\r\n", json!([insert(1, "")]), None, "a\r\n\r\n", 2),
        case("", json!([insert(0, "")]), None, "\n", 1),
    ]);
}

#[test]
fn a_replaced_last_line_without_a_break_gets_one_only_if_its_content_ends_in_one() {
    check(&[
        case("a\nb", json!([replace(1, "x")]), None, "a\nx", 2),
        case("a\nb", json!([replace(1, "x\n")]), None, "a\nx\n", 2),
        case("a\r\nb", json!([replace(1, "x\n")]), None, "a\r\nx\r\n", 2),
        case("a\nb", json!([replace(1, "x\ny")]), None, "a\nx\ny", 3),
    ]);
}

#[test]
fn a_deleted_last_line_takes_its_break_and_no_other() {
    check(&[
        case("a\nb", json!([delete(1)]), None, "a\n", 1),
        case("a\nb\n", json!([delete(1)]), None, "a\n", 1),
        case("a\nb\nc", json!([delete(0)]), None, "b\nc", 2),
        case("a", json!([delete(0)]), None, "", 0),
    ]);
}

#[test]
fn a_lone_carriage_return_that_would_meet_a_line_feed_becomes_crlf() {
    check(&[
        case("a\rb\n\n", json!([delete(1)]), None, "a\r\n\n", 2),
        case("a\rb\n", json!([replace(1, "")]), None, "a\r\n\n", 2),
        // Nothing to mend before a CRLF or another carriage return.
        case("a\rb\n\r\n", json!([delete(1)]), None, "a\r\r\n", 2),
        case("a\rb\r\r", json!([delete(1)]), None, "a\r\r", 2),
    ]);
}

#[test]
fn a_byte_order_mark_stays_in_front_through_every_edit() {
    check(&[
        case("\u{FEFF}a\nb\n", json!([insert(0, "x")]), None, "\u{FEFF}x\na\nb\n", 3),
        case("\u{FEFF}a\nb\n", json!([replace(0, "x")]), None, "\u{FEFF}x\nb\n", 2),
        case("\u{FEFF}a\nb\n", json!([delete(0)]), None, "\u{FEFF}b\n", 1),
        case("\u{FEFF}a\n", json!([delete(0)]), None, "\u{FEFF}", 0),
        // What is left would be a byte order mark and no line: it takes the break in force.
        case("a\n\r\u{FEFF}", json!([delete(1), delete(0)]), None, "\u{FEFF}\r", 1),
        case("\u{FEFF}", json!([]), Some("x"), "\u{FEFF}x\n", 1),
    ]);
}

#[test]
fn text_of_any_script_is_written_as_it_was_sent() {
    on_both(|server, folder| {
        let text = "ünï 漢字 \u{1F600} \"q\" \\ \t \u{1} \u{2028} \u{85} \u{10FFFF}";
        server.ok("edit_file", json!({ "name": "f", "append": text }));
        assert_eq!(folder.text("f"), format!("{text}\n"));
    });
}

#[test]
fn the_mode_of_a_file_is_kept() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    on_both(|server, folder| {
        for (name, mode) in [("a", 0o600), ("b", 0o644), ("c", 0o755), ("d", 0o664), ("e", 0o666)] {
            folder.write(name, "x\n");
            folder.set_mode(name, mode);
            server.ok("edit_file", json!({ "name": name, "append": "y" }));
            assert_eq!((folder.mode(name), folder.text(name)), (mode, "x\ny\n".to_owned()), "{mode:o}");
        }
    });
}

#[test]
fn a_new_file_has_mode_0666_less_the_umask() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    for (umask, mode) in [("000", 0o666), ("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let folder = Folder::new();
        let server = Stdio::run(with_umask(&command(&folder, "stdio", &[]), umask));
        server.ok("edit_file", json!({ "name": "by-stdio", "append": "x" }));
        let server = Http::run(with_umask(&command(&folder, "http", &["--port=0"]), umask));
        server.ok("edit_file", json!({ "name": "by-http" }));
        assert_eq!((folder.mode("by-stdio"), folder.mode("by-http")), (mode, mode), "umask {umask}");
    }
}

#[test]
fn extended_attributes_of_a_file_are_kept() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    // "where the system lets us": where the temporary folder has no user attributes there is nothing to keep.
    on_both(|server, folder| {
        folder.write("f", "x\n");
        let path = folder.path().join("f");
        let flags = rustix::fs::XattrFlags::empty();
        let set = rustix::fs::setxattr(&path, "user.file-editor-test", b"kept", flags);
        if set == Err(rustix::io::Errno::OPNOTSUPP) {
            return;
        }
        set.expect("an attribute set");
        server.ok("edit_file", json!({ "name": "f", "append": "y" }));
        let mut value = [0; 16];
        let read = rustix::fs::getxattr(&path, "user.file-editor-test", &mut value[..]);
        assert_eq!(read.map(|length| value[..length].to_vec()), Ok(b"kept".to_vec()));
    });
}

#[test]
fn nothing_but_the_file_is_left_in_the_folder() {
    on_both(|server, folder| {
        for n in 0..10 {
            server.ok("edit_file", json!({ "name": "f", "append": n.to_string() }));
            server.refused("edit_file", json!({ "name": "f", "edits": [delete(1000)] }));
        }
        assert_eq!(folder.names(), ["f"]);
    });
}

#[test]
fn an_edit_gives_the_file_by_a_rename_so_that_an_open_reader_keeps_the_old_one() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        let open = std::fs::File::open(folder.path().join("f")).expect("the file");
        server.ok("edit_file", json!({ "name": "f", "edits": [replace(0, "new")] }));
        assert_eq!(std::io::read_to_string(open).expect("the old text"), "old\n");
        assert_eq!(folder.text("f"), "new\n");
    });
}
