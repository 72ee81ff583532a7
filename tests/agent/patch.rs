//! `edit` with a patch in place of edits.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp, Stdio, ToolResult};
use crate::trees::put;

fn patch(server: &Stdio, patch: &str) -> ToolResult {
    server.tool("edit", json!({ "patch": patch }))
}

#[track_caller]
fn done(server: &Stdio, text: &str) -> String {
    let answer = patch(server, text);
    assert!(!answer.is_error, "{}", answer.text);
    answer.text
}

#[test]
fn a_patch_of_git_changes_makes_moves_and_deletes_files() {
    let folder = Folder::new();
    put(&folder, "src/a.rs", "one\ntwo\nthree\nfour\n");
    put(&folder, "old.txt", "x\ny\nz\n");
    put(&folder, "gone", "bye\n");
    let server = serve(&folder, &[]);
    let text = done(
        &server,
        "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n\
         diff --git a/old.txt b/dir/new.txt\nsimilarity index 50%\nrename from old.txt\nrename to dir/new.txt\n--- a/old.txt\n+++ b/dir/new.txt\n\
         @@ -2 +2 @@\n-y\n+Y\n\
         diff --git a/added b/added\nnew file mode 100644\n--- /dev/null\n+++ b/added\n@@ -0,0 +1,2 @@\n+1\n+2\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n",
    );
    assert!(text.starts_with("Changed 3 places in 3 files, 1 moved, 1 deleted (change c1)\n"), "{text}");
    assert_eq!(folder.text("src/a.rs"), "one\n2\n2.5\nthree\nfour\n");
    assert_eq!((folder.text("dir/new.txt"), folder.text("added")), ("x\nY\nz\n".into(), "1\n2\n".into()));
    assert_eq!(folder.names(), ["added", "dir", "src"]);
}

#[test]
fn the_form_with_begin_patch_is_taken_and_wrong_numbers_are_only_hints() {
    let folder = Folder::new();
    put(
        &folder,
        "a.py",
        "class A:\n    def f(self):\n        pass\n\nclass B:\n    def f(self):\n        pass\n",
    );
    put(&folder, "crlf", "1\r\n2\r\n3\r\n");
    let server = serve(&folder, &[]);
    done(
        &server,
        "*** Begin Patch\n*** Update File: a.py\n@@ class B:\n     def f(self):\n-        pass\n+        return 1\n*** Add File: new/b.py\n+x = 1\n*** End Patch",
    );
    assert_eq!(folder.text("a.py").matches("return 1").count(), 1);
    assert!(folder.text("a.py").ends_with("class B:\n    def f(self):\n        return 1\n"));
    assert_eq!(folder.text("new/b.py"), "x = 1\n");
    done(&server, "```diff\n--- crlf\n+++ crlf\n@@ -40,2 +40,2 @@\n 2\n-3\n+three\n```\n");
    assert_eq!(folder.text("crlf"), "1\r\n2\r\nthree\r\n");
}

#[test]
fn a_patch_of_which_a_hunk_has_no_place_changes_nothing_and_says_why() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\nthree\n");
    put(&folder, "b", "x\ny\nx\ny\n");
    let server = serve(&folder, &[]);
    let before = folder.snapshot();
    for (text, parts) in [
        (
            "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-twoo\n+2\n--- a/b\n+++ b/b\n@@ -9 +9 @@\n-x\n+z\n",
            &[
                "2 edits",
                "hunk 1 of this file: its lines are not in the file",
                "line 2 should be \"twoo\", but the file has \"two\"",
            ][..],
        ),
        ("--- a/b\n+++ b/b\n@@ @@\n-y\n+z\n", &["its lines are in 2 places, at the lines 2, 4"]),
        ("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-y\n+z\n", &["File 'none' not found"]),
        ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", &["'a' exists already"]),
        (
            "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n",
            &["it deletes the file, but the file has more lines"],
        ),
        ("no patch at all", &["patch"]),
        ("*** Begin Patch\n*** Update File: a\n", &["End Patch"]),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-y\n+z\n", &["without '..'"]),
    ] {
        let answer = patch(&server, text);
        assert!(answer.is_error, "{text}: {}", answer.text);
        for part in parts {
            assert!(answer.text.contains(part), "{text}: {part}: {}", answer.text);
        }
        assert_eq!(folder.snapshot(), before, "{text}");
    }
    let both =
        server.tool("edit", json!({ "patch": "x", "edits": [{ "path": "a", "old": "one", "new": "1" }] }));
    assert!(both.text.contains("patch: it is beside edits"), "{}", both.text);
}

#[test]
fn a_name_that_begins_like_a_prefix_of_git_is_that_of_the_file_that_is_there() {
    let folder = Folder::new();
    put(&folder, "a/x", "one\n");
    let server = serve(&folder, &[]);
    done(&server, "--- a/x\n+++ a/x\n@@ -1 +1 @@\n-one\n+1\n");
    assert_eq!(folder.text("a/x"), "1\n");
}

#[test]
fn a_patch_of_a_file_in_another_encoding_takes_the_encoding_that_its_refusal_names() {
    let folder = Folder::new();
    let text = "Привет, мир! Это обычный русский текст.\nОн записан в старой кодировке.\nКонец.\n";
    // Of windows-1251: its Cyrillic letters are in the order of Unicode.
    let encoded = |text: &str| -> Vec<u8> {
        let byte = |letter: char| u8::try_from(u32::from(letter)).ok().filter(u8::is_ascii);
        let cyrillic = |letter: char| u8::try_from(u32::from(letter) - 0x0410 + 0xc0).expect("a letter");
        text.chars().map(|letter| byte(letter).unwrap_or_else(|| cyrillic(letter))).collect()
    };
    let old = encoded(text);
    folder.write("russian", &old);
    let server = serve(&folder, &[]);
    let patch = "--- a/russian\n+++ b/russian\n@@ -3 +3 @@\n-Конец.\n+Начало.\n";
    let refused = server.tool("edit", json!({ "patch": patch }));
    assert!(refused.is_error && refused.text.contains("\"encoding\": \"windows-1251\""), "{}", refused.text);
    server.ok("edit", json!({ "patch": patch, "encoding": "windows-1251", "dry_run": true }));
    server.ok("edit", json!({ "patch": patch, "encoding": "windows-1251" }));
    assert!(folder.read("russian").ends_with(&encoded("Начало.\n")));
    let edits = json!([{ "path": "russian", "old": "Начало", "new": "Конец" }]);
    server.ok("edit", json!({ "edits": edits, "encoding": "windows-1251" }));
    assert_eq!(folder.read("russian"), old, "it is of each edit that has none");
}

#[test]
fn a_patch_that_deletes_a_folder_is_told_the_edit_that_does() {
    let folder = Folder::new();
    put(&folder, "d/x", "1\n");
    let server = serve(&folder, &[]);
    let patch = "*** Begin Patch\n*** Delete File: d\n*** End Patch\n";
    let refused = server.tool("edit", json!({ "patch": patch }));
    let call = r#"edit {"delete":true,"path":"d","recursive":true}"#;
    assert!(
        refused.is_error && refused.text.contains(call) && !refused.text.contains("Pass recursive"),
        "{}",
        refused.text
    );
    server.ok("edit", json!({ "delete": true, "path": "d", "recursive": true }));
}
