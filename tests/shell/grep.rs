//! `grep` prints what ripgrep prints to a pipe. `tests/ripgrep/run` compares the two.

use super::{json, ok, project, run};

#[test]
fn lines_have_their_path_and_what_was_left_out_is_told_beside() {
    let folder = project();
    let ran = run(&folder, &["grep", "total"]);
    assert_eq!(ran.out, "notes.txt:three total\nsrc/lib.rs:pub fn total() {}\nsrc/main.rs:    total();\n");
    assert_eq!(ran.err, "[3 files searched, 3 lines in 3; nothing left out]\n");
    assert_eq!(ok(&folder, &["grep", "total", "src/lib.rs"]), "pub fn total() {}\n");
    assert_eq!(
        ok(&folder, &["grep", "-n", "total", "./src"]),
        "./src/lib.rs:1:pub fn total() {}\n./src/main.rs:2:    total();\n"
    );
    assert_eq!(ok(&folder, &["grep", "-c", "t"]), "notes.txt:2\nsrc/lib.rs:1\nsrc/main.rs:1\n");
    assert_eq!(ok(&folder, &["grep", "-l", "main"]), "src/main.rs\n");
    assert_eq!(ok(&folder, &["grep", "-on", "t.", "notes.txt"]), "2:tw\n3:th\n3:to\n3:ta\n");
    assert_eq!(ok(&folder, &["grep", "-q", "total"]), "");
}

#[test]
fn lines_keep_their_breaks_and_those_around_a_match_are_marked() {
    let folder = project();
    assert_eq!(ok(&folder, &["grep", "-n", "-C1", "^two$", "notes.txt"]), "1-one\n2:two\r\n3-three total\n");
    assert_eq!(ok(&folder, &["grep", "-U", "-n", "one\ntwo", "notes.txt"]), "1:one\n2:two\r\n");
}

#[test]
fn a_flag_that_is_not_known_is_refused() {
    let folder = project();
    for flag in ["-v", "-P", "-r", "--vimgrep", "--pre=cat", "-z"] {
        let ran = run(&folder, &["grep", flag, "total"]);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(&flag[..2]), "{flag}: {ran:?}");
    }
}

#[test]
fn a_refused_flag_of_ripgrep_is_told_with_what_to_use_instead() {
    let folder = project();
    for (flag, instead) in [
        ("-v", "only lines and files that match"),
        ("--files-without-match", "only lines and files that match"),
        ("--replace=x", "file-editor replace PATTERN REPLACEMENT"),
        ("-rx", "file-editor replace PATTERN REPLACEMENT"),
        ("--column", "--json"),
        ("--vimgrep", "--json"),
        ("-Trust", "-g '!*.md'"),
        ("--no-ignore-vcs", "--no-ignore"),
        ("--files", "file-editor files"),
        ("-j4", "leave it out"),
        ("--mmap", "leave it out"),
        ("--trim", "printed whole"),
        ("-rn", "searched with all in them"),
        ("-R", "searched with all in them"),
        ("--include=*.py", "-g '*.py'"),
        ("--exclude-dir=target", "-g '!target/**'"),
    ] {
        let ran = run(&folder, &["grep", flag, "total"]);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains(instead), "{flag}: {ran:?}");
        assert!(!ran.err.contains("tip:") && !ran.err.contains("a similar argument"), "{flag}: {ran:?}");
    }
    // No tip leads elsewhere than what was meant; one for a slip of the finger stays.
    for words in [
        &["changes", "--diff"][..],
        &["edit", "--path=f"],
        &["replace", "-n", "a", "b"],
        &["read", "-v", "f"],
    ] {
        let err = run(&folder, words).err;
        assert!(err.contains("unexpected argument") && !err.contains("tip:"), "{words:?}: {err}");
    }
    for flag in ["--ignore-cas", "--hiden"] {
        assert!(run(&folder, &["grep", flag, "total"]).err.contains("a similar argument exists"), "{flag}");
    }
    // Of another command, such a flag is an unknown one.
    assert!(!run(&folder, &["files", "--mmap"]).err.contains("ripgrep"));
}

#[test]
fn ignore_files_count_as_they_do_for_ripgrep_and_over_gitignore() {
    let folder = project();
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    for name in ["a.txt", "b.txt", "c.txt", "sub/a.txt", "sub/e.txt"] {
        folder.write(name, "needle\n");
    }
    let found = || ok(&folder, &["grep", "-l", "needle"]);
    folder.write(".gitignore", "b.txt\n");
    assert_eq!(found(), "a.txt\nc.txt\nsub/a.txt\nsub/e.txt\n");
    folder.write(".ignore", "a.txt\n!b.txt\n");
    folder.write(".rgignore", "c.txt\n");
    assert_eq!(found(), "b.txt\nc.txt\nsub/e.txt\n");
    folder.write("sub/.ignore", "!a.txt\ne.txt\n");
    assert_eq!(found(), "b.txt\nc.txt\nsub/a.txt\n");
    assert_eq!(ok(&folder, &["grep", "-l", "--no-ignore", "needle"]).lines().count(), 5);
}

#[test]
fn with_json_each_event_is_an_object_as_ripgrep_writes_it() {
    let folder = project();
    let out = ok(&folder, &["grep", "--json", "total", "src/lib.rs"]);
    let events: Vec<_> = out.lines().map(json).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap_or("")).collect();
    assert_eq!(kinds, ["begin", "match", "end", "summary"]);
    let found = &events[1]["data"];
    assert_eq!(found["path"]["text"], "src/lib.rs");
    assert_eq!(found["lines"]["text"], "pub fn total() {}\n");
    assert_eq!((&found["line_number"], &found["submatches"][0]["start"]), (&json("1"), &json("7")));
}
