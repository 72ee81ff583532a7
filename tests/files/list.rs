//! list_files over MCP: what is in the text, to the letter (contract 4, 6.1).

use serde_json::json;

use crate::support::{Folder, MB, Mcp, on_both, on_both_as_nobody, on_both_with};

/// A whole listing, with the time that [`dated`] gives.
fn listing(files: &[(&str, i64)]) -> String {
    let mut text = "Files in directory:\n\n".to_owned();
    for (name, lines) in files {
        text.push_str(&format!("name: {name}, modified: 2001-09-09T01:46:40Z, lines: {lines}\n"));
    }
    if !files.is_empty() {
        text.push('\n');
    }
    text + &format!("Total files: {}", files.len())
}

fn dated(folder: &Folder, name: &str, bytes: impl AsRef<[u8]>) {
    folder.write(name, bytes);
    folder.set_modified(name, 1_000_000_000);
}

fn list(server: &dyn Mcp) -> String {
    server.ok("list_files", json!({}))
}

/// The number of lines that the listing gives for a file.
#[track_caller]
fn lines_of(server: &dyn Mcp, name: &str) -> i64 {
    let text = list(server);
    let line = text.lines().find(|line| line.starts_with(&format!("name: {name}, ")));
    let line = line.unwrap_or_else(|| panic!("{name} is not listed: {text}"));
    line.rsplit_once("lines: ").expect("a count").1.parse().expect("a number")
}

#[test]
fn an_empty_folder_lists_as_a_title_and_a_total_of_0() {
    on_both(|server, _| {
        assert_eq!(list(server), "Files in directory:\n\nTotal files: 0");
    });
}

#[test]
fn a_listing_gives_name_time_and_lines_in_byte_order_of_the_names() {
    on_both(|server, folder| {
        for (name, text) in [("b.txt", "1\n2\n"), ("a.txt", "1"), ("B.txt", ""), ("_", "\n"), ("10", "x\n")] {
            dated(folder, name, text);
        }
        let wanted = listing(&[("10", 1), ("B.txt", 0), ("_", 1), ("a.txt", 1), ("b.txt", 2)]);
        assert_eq!(list(server), wanted);
    });
}

#[test]
fn the_modification_time_is_utc_in_whole_seconds() {
    on_both(|server, folder| {
        folder.write("leap", "");
        folder.set_modified("leap", 951_782_399);
        assert!(list(server).contains("name: leap, modified: 2000-02-28T23:59:59Z, lines: 0\n"));
    });
}

#[test]
fn only_regular_files_are_listed() {
    on_both(|server, folder| {
        dated(folder, "file", "x\n");
        std::fs::create_dir(folder.path().join("directory")).expect("a directory");
        std::fs::create_dir(folder.path().join("my directory")).expect("a directory");
        folder.fifo("fifo");
        let _socket =
            std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket bound");
        std::fs::create_dir(folder.path().join(".hidden")).expect("a directory");
        let folders = "\nNot shown: 2 folders (see --names=paths)";
        assert_eq!(list(server), listing(&[("file", 1)]) + folders);
    });
}

#[test]
fn hidden_files_are_neither_listed_nor_counted() {
    on_both(|server, folder| {
        dated(folder, "shown", "x\n");
        folder.write(".hidden", "x\n");
        folder.write(".hidden with a space", "x\n");
        assert_eq!(list(server), listing(&[("shown", 1)]));
    });
}

#[test]
fn a_link_is_listed_if_it_stays_in_the_folder_and_leads_to_a_file() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both(|server, folder| {
        dated(folder, "real", "1\n2\n3\n");
        std::fs::create_dir(folder.path().join("sub")).expect("a directory");
        std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
        folder.link("inside", "real");
        folder.link("out-relative", "../secret");
        folder.link("out-absolute", folder.outside("secret"));
        folder.link("dangling", "nowhere");
        folder.link("to-directory", "sub");
        folder.link("loop", "loop");
        let folders = "\nNot shown: 1 folders (see --names=paths)";
        assert_eq!(list(server), listing(&[("inside", 3), ("real", 3)]) + folders);
    });
}

#[test]
fn names_outside_the_policy_are_counted_after_the_total() {
    on_both(|server, folder| {
        dated(folder, "a.txt", "x\n");
        folder.write("with space.txt", "x\n");
        folder.write("ünïcode", "x\n");
        let wanted =
            listing(&[("a.txt", 1)]) + "\nNot listed: 2 (name outside a-z A-Z 0-9 . _ -; see --names)";
        assert_eq!(list(server), wanted);
    });
}

#[test]
fn a_folder_of_unusable_names_alone_has_a_total_of_0_and_says_how_many_it_left_out() {
    on_both(|server, folder| {
        folder.write("with space.txt", "x\n");
        let wanted = "Files in directory:\n\nTotal files: 0\n\
                      Not listed: 1 (name outside a-z A-Z 0-9 . _ -; see --names)";
        assert_eq!(list(server), wanted);
    });
}

#[test]
fn any_names_lists_all_but_those_with_control_characters() {
    not_under_wine!("has names that Windows does not admit");
    on_both_with(
        &["--names=any"],
        |_| {},
        |server, folder| {
            dated(folder, "with space.txt", "x\n");
            dated(folder, "ünïcode", "x\n");
            assert_eq!(list(server), listing(&[("with space.txt", 1), ("ünïcode", 1)]));
            folder.write("tab\there", "x\n");
            folder.write("line\nbreak", "x\n");
            let wanted =
                listing(&[("with space.txt", 1), ("ünïcode", 1)]) + "\nNot listed: 2 (name not usable)";
            assert_eq!(list(server), wanted);
        },
    );
}

#[test]
fn a_name_that_is_no_utf8_is_counted_as_not_usable_under_any_names() {
    not_under_wine!("has names of bytes that are no text");
    use std::os::unix::ffi::OsStrExt;
    on_both_with(
        &["--names=any"],
        |folder| {
            let name = std::ffi::OsStr::from_bytes(b"latin\xE91");
            std::fs::write(folder.path().join(name), "x\n").expect("a file written");
        },
        |server, _| {
            let wanted = "Files in directory:\n\nTotal files: 0\nNot listed: 1 (name not usable)";
            assert_eq!(list(server), wanted);
        },
    );
}

#[test]
fn each_kind_of_line_break_counts_once() {
    on_both(|server, folder| {
        let cases: [(&str, &str, i64); 12] = [
            ("empty", "", 0),
            ("one-break", "\n", 1),
            ("one-crlf", "\r\n", 1),
            ("one-cr", "\r", 1),
            ("no-final-break", "a\nb", 2),
            ("mixed", "a\r\nb\rc\n", 3),
            ("lf-cr", "\n\r", 2),
            ("cr-crlf", "\r\r\n", 2),
            ("only-bom", "\u{FEFF}", 0),
            ("bom", "\u{FEFF}a\n", 1),
            ("other-separators", "a\u{B}b\u{C}c\u{85}d\u{2028}e\u{2029}f\n", 1),
            ("blank-lines", "\n\n\n", 3),
        ];
        for (name, text, _) in cases {
            folder.write(name, text);
        }
        for (name, text, lines) in cases {
            assert_eq!(lines_of(server, name), lines, "{name}: {text:?}");
        }
    });
}

#[test]
fn what_is_not_text_or_over_the_limit_has_minus_1_lines() {
    on_both_with(
        &["--max-size=1"],
        |folder| {
            folder.write("at-limit", "y\n".repeat(MB / 2));
            folder.write("over-limit", "y\n".repeat(MB / 2) + "z");
            folder.write("zero", "text\n\0\n");
            folder.write("late-nul", "y\n".repeat(MB / 2 - 1) + "\0");
            folder.write("latin1", b"caf\xE9\n");
            folder.write("cut-character", b"a\n\xE2\x82");
            folder.write("surrogate", b"\xED\xA0\x80\n");
            folder.write("good", "ok\n");
        },
        |server, _| {
            for name in ["over-limit", "zero", "late-nul", "latin1", "cut-character", "surrogate"] {
                assert_eq!(lines_of(server, name), -1, "{name}");
            }
            assert_eq!(lines_of(server, "at-limit"), 524_288);
            assert_eq!(lines_of(server, "good"), 1);
        },
    );
}

#[test]
fn a_file_that_may_not_be_read_is_listed_with_minus_1_lines() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    on_both_as_nobody(
        &[],
        |folder| {
            folder.write("closed", "x\n");
            folder.set_mode("closed", 0);
            folder.write("open", "x\n");
        },
        |server, _, _| {
            assert_eq!((lines_of(server, "closed"), lines_of(server, "open")), (-1, 1));
        },
    );
}

#[test]
fn a_listing_shows_every_change_at_once() {
    on_both(|server, folder| {
        folder.write("f", "1\n");
        assert_eq!(lines_of(server, "f"), 1);
        folder.write("f", "1\n2\n");
        assert_eq!(lines_of(server, "f"), 2);
        server.ok("edit_file", json!({ "name": "f", "append": "3\n4" }));
        assert_eq!(lines_of(server, "f"), 4);
        std::fs::remove_file(folder.path().join("f")).expect("a file removed");
        assert_eq!(list(server), "Files in directory:\n\nTotal files: 0");
    });
}

#[test]
fn a_file_rewritten_in_place_with_the_same_length_within_a_clock_tick_is_counted_anew() {
    on_both(|server, folder| {
        for _ in 0..40 {
            folder.write("f", "ab\ncd\n");
            assert_eq!(lines_of(server, "f"), 2);
            folder.write("f", "a\nb\nc\n");
            assert_eq!(lines_of(server, "f"), 3);
        }
    });
}

#[test]
fn a_thousand_files_are_listed() {
    not_under_wine!("looks up a thousand names slower than an answer may take");
    on_both(|server, folder| {
        let names: Vec<String> = (0..1000).map(|n| format!("file-{n:04}.txt")).collect();
        for (n, name) in names.iter().enumerate() {
            dated(folder, name, "x\n".repeat(n % 7));
        }
        let wanted: Vec<(&str, i64)> = names
            .iter()
            .enumerate()
            .map(|(n, name)| (name.as_str(), i64::try_from(n % 7).expect("small")))
            .collect();
        assert_eq!(list(server), listing(&wanted));
        assert_eq!(list(server), listing(&wanted));
    });
}

#[test]
fn a_folder_that_was_removed_and_made_again_is_served_again() {
    // contract is silent; S3 4.3: recovery from transient file system errors is automatic.
    on_both(|server, folder| {
        folder.write("before", "x\n");
        assert_eq!(lines_of(server, "before"), 1);
        std::fs::remove_dir_all(folder.path()).expect("the folder removed");
        assert_eq!(server.refused("list_files", json!({})), "Error: Cannot access working directory");
        std::fs::create_dir(folder.path()).expect("the folder made");
        dated(folder, "after", "x\n");
        assert_eq!(list(server), listing(&[("after", 1)]));
    });
}
