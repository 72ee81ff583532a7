//! What [`parse()`] reads.

use super::*;

/// What a patch says of its files: the change, both paths, and the number of hunks.
fn files(patch: &str) -> Vec<(FileChange, String, String, usize)> {
    let files = parse(patch).unwrap_or_else(|problem| panic!("{problem:?}: {patch}"));
    let text = |path: Option<String>| path.unwrap_or_default();
    files
        .into_iter()
        .map(|file| (file.change, text(file.old_path), text(file.new_path), file.hunks.len()))
        .collect()
}

#[track_caller]
fn refused(patch: &str, line: Option<usize>, part: &str) {
    let problem = parse(patch).expect_err(patch);
    assert!(problem.problem.contains(part), "{problem:?}");
    assert_eq!(problem.line, line, "{problem:?}");
}

/// The lines of a hunk as they stand in a diff.
fn lines(hunk: &Hunk) -> Vec<String> {
    let mark = |kind| match kind {
        LineKind::Context => ' ',
        LineKind::Remove => '-',
        LineKind::Add => '+',
    };
    hunk.lines.iter().map(|line| format!("{}{}", mark(line.kind), line.text)).collect()
}

#[test]
fn a_diff_of_git_has_all_kinds_of_changes() {
    let patch = "From 1234 Mon Sep 17 00:00:00 2001\nSubject: changes\n\n- a list\n--- \n---\n f | 2 +-\n\n\
        diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\
        diff --git a/n.sh b/n.sh\nnew file mode 100755\nindex 0000000..1\n--- /dev/null\n+++ b/n.sh\n@@ -0,0 +1,2 @@\n+x\n+y\n\
        diff --git a/d b/d\ndeleted file mode 100644\nindex 1..0\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n\
        diff --git a/o b/q\nsimilarity index 90%\ncopy from o\ncopy to q\n--- a/o\n+++ b/q\n@@ -1 +1 @@\n-a\n+b\n\
        diff --git a/m b/m\nold mode 100644\nnew mode 100755\n\
        diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n-- \n2.39.0\n\n";
    let is = |change, old: &str, new: &str, hunks| (change, old.to_owned(), new.to_owned(), hunks);
    let expected = [
        is(FileChange::Update, "f", "f", 1),
        is(FileChange::Add, "", "n.sh", 1),
        is(FileChange::Delete, "d", "", 1),
        is(FileChange::Rename, "o", "p", 0),
        is(FileChange::Copy, "o", "q", 1),
        is(FileChange::Update, "m", "m", 0),
        is(FileChange::Add, "", "e", 0),
    ];
    assert_eq!(files(patch), expected);
    let modes: Vec<_> = parse(patch).unwrap().into_iter().map(|file| (file.mode, file.content())).collect();
    assert_eq!(modes[1], (Some(0o100_755), "x\ny\n".into()));
    assert_eq!(modes[5].0, Some(0o100_755));
    assert_eq!(modes[6], (Some(0o100_644), String::new()));
    assert_eq!(files(&patch.replace('\n', "\r\n")), expected);
}

#[test]
fn plain_diffs_have_any_names() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (names, path) in [
        ("--- a/src/x\n+++ b/src/x\n", "src/x"),
        ("--- src/x\n+++ src/x\n", "src/x"),
        ("--- src/x.orig\t2024-01-01 00:00:00\n+++ src/x\t2024-01-02 00:00:00\n", "src/x"),
        ("--- i/x\n+++ w/x\n", "x"),
        ("--- v1/x\n+++ v2/x\n", "x"),
        ("--- \"a/\\303\\251 x\"\n+++ \"b/\\303\\251 x\"\n", "é x"),
    ] {
        let file = only_file(&format!("{names}{hunk}"));
        assert_eq!((file.old_path.as_deref(), file.new_path.as_deref()), (Some(path), Some(path)));
    }
    let several = format!("--- x\n+++ x\n{hunk}{hunk}--- y\n+++ y\n{hunk}\nOnly in z: w\n");
    assert_eq!(files(&several).iter().map(|file| file.3).collect::<Vec<_>>(), [2, 1]);
    let git_only = format!("diff --git a/x b/x\n{hunk}");
    assert_eq!(files(&git_only), [(FileChange::Update, "x".into(), "x".into(), 1)]);
    assert!(may_create(&only_file("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n").hunks));
}

#[test]
fn fences_and_other_text_are_passed_over() {
    for patch in [
        "Here it is:\n\n```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n```\n\n- it changes b\n+ more\n",
        "```\n--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n```\n- it changes b\n",
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\nThat is all. It changes:\n- b\n",
        "--- a/f\n+++ b/f\n@@\n a\n-b\n+c\n\n\n",
        "commit 12\nAuthor: a\n\n    text\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\ncommit 13\n\n    - more\n",
        "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch\n```\nDone.\n",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n a\n-b\n+c\n\n*** End Patch\nEOF\n",
        "*** Update File: f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n```\n",
    ] {
        let file = only_file(patch);
        assert_eq!(file.hunks.len(), 1, "{patch}");
        assert_eq!(lines(&file.hunks[0]), [" a", "-b", "+c"], "{patch}");
    }
}

#[test]
fn an_empty_line_within_a_hunk_is_a_line_that_stays() {
    let hunk = |head: &str| format!("{head}\n a\n\n-b\n+c\n\n\n");
    let read = |head: &str| lines(&only_file(&diff(&hunk(head))).hunks[0]).len();
    assert_eq!(read("@@"), 4);
    assert_eq!(read("@@ -1,3 +1,3 @@"), 4);
    assert_eq!(read("@@ -1,4 +1,4 @@"), 5);
    assert_eq!(read("@@ -1,9 +1,9 @@"), 6);
    assert_eq!(read("@@ -1,2 +1,2 @@"), 4);
    // What says that a line has no break is not said of the blank lines behind it.
    let open = only_file(&diff("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n\n"));
    assert!(open.hunks[0].new_is_open && !open.hunks[0].old_is_open);
}

#[test]
fn lines_that_look_like_headers_belong_to_a_hunk_that_counts_them() {
    let file = only_file("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n a\n");
    assert_eq!(lines(&file.hunks[0]), ["--- old", "+++ new", " a"]);
    // Counts that are too large take no line of the next file.
    let files =
        files("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n");
    assert_eq!(files.len(), 2);
    let mails = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n\nFrom 12\n- text\n\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n";
    assert_eq!(super::parse(mails).unwrap().len(), 2);
}

#[test]
fn the_form_with_a_beginning_and_an_end_has_all_kinds_of_changes() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+a\n+\n+b\n*** Update File: f\n*** Move to: g\n@@ class A\n@@ def f\n a\n-b\n+c\n\
        @@\n+end\n*** Delete File: d\n\n*** Update File: h\n@@\n-x\n+y\n*** End of File\n*** End Patch\n";
    let is = |change, old: &str, new: &str, hunks| (change, old.to_owned(), new.to_owned(), hunks);
    let expected = [
        is(FileChange::Add, "", "new.txt", 1),
        is(FileChange::Rename, "f", "g", 2),
        is(FileChange::Delete, "d", "", 0),
        is(FileChange::Update, "h", "h", 1),
    ];
    assert_eq!(files(patch), expected);
    let read = parse(patch).unwrap();
    assert_eq!(read[0].content(), "a\n\nb\n");
    assert_eq!(read[1].hunks[0].headers, ["class A", "def f"]);
    assert!(!read[1].hunks[0].is_at_end && read[1].hunks[1].is_at_end && read[3].hunks[0].is_at_end);
    assert_eq!(files(&patch.replace('\n', "\r\n")), expected);
    let moved = "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch";
    assert_eq!(files(moved), [is(FileChange::Rename, "f", "g", 0)]);
}

#[test]
fn a_new_file_has_the_breaks_of_its_lines() {
    let head = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n";
    assert_eq!(only_file(&format!("{head}+a\r\n+b\r\n")).content(), "a\r\nb\r\n");
    assert_eq!(only_file(&format!("{head}+a\r\n+b\n")).content(), "a\r\nb\n");
    assert_eq!(only_file(&format!("{head}+a\r\n+b")).content(), "a\r\nb\r\n");
    let open = "\\ No newline at end of file\n";
    assert_eq!(only_file(&format!("{head}+a\r\n+b\n{open}")).content(), "a\r\nb");
    assert_eq!(only_file(&format!("{head}+a\r\n+b\r\n{open}")).content(), "a\r\nb");
    let begun = |body: &str| format!("*** Begin Patch\n*** Add File: f\n{body}*** End Patch\n");
    assert_eq!(only_file(&begun("+a\r\n+b\n+c\r\n")).content(), "a\r\nb\nc\r\n");
    assert_eq!(only_file(&begun("+a\n+b\n").replace('\n', "\r\n")).content(), "a\nb\n");
    assert_eq!(only_file(&format!("{head}+a\n+b\n").replace('\n', "\r\n")).content(), "a\nb\n");
    assert_eq!(only_file(&format!("{head}+a\n+b\n\\ No newline at end of file\n")).content(), "a\nb");
}

#[test]
fn what_cannot_be_read_is_refused_at_its_line() {
    let pair = "--- a/f\n+++ b/f\n";
    refused("", None, "names no file");
    refused("some text\n", None, "names no file");
    refused("@@ -1 +1 @@\n-a\n+b\n", Some(0), "belongs to no file");
    refused("*** a/f\t2024\n--- b/f\t2024\n***************\n*** 1 ****\n", None, "context diff");
    refused("Binary files a/x and b/x differ\n", Some(0), "binary");
    refused("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\n", Some(2), "binary");
    refused("diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n", Some(2), "binary");
    refused("diff --git a/x b/x\nnew file mode 120000\n", Some(1), "link");
    refused("diff --git a/x b/x\nindex 1..2 160000\n", Some(1), "repository");
    refused(pair, Some(0), "changes nothing");
    refused("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", Some(0), "two files");
    refused("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", Some(0), "/dev/null");
    refused("--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Some(0), "quoted");
    refused(&format!("{pair}@@@ -1 -1 +1 @@@\n"), Some(2), "combined");
    refused(&format!("{pair}@@ -1 +1 @@\n"), Some(2), "no lines");
    refused(&format!("{pair}@@ -1,3 +1,3 @@\n a\nlost its blank\n-b\n+c\n"), Some(4), "no part of a hunk");
    refused(&format!("{pair}@@ -1 +1 @@\n-a\n+b\nlost its blank\n+c\n"), Some(5), "no part of a hunk");
    refused(&format!("{pair}@@ -1 +1 @@\n-a\n\\lost\n+b\n"), Some(4), "no part of a hunk");
    refused("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n b\n", Some(2), "new file");
    refused("--- a/f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", Some(2), "deleted file");
    refused(&format!("{pair}@@ -1 +1 @@\n-a\n+b\0\n"), Some(4), "NUL");
    refused("diff --git a/o b/p\nrename from o\n", Some(0), "rename to");
    refused("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", None, "End Patch");
    refused("*** Begin Patch\n*** End Patch\n", Some(0), "names no file");
    refused("*** Begin Patch\n*** Update File: f\n*** End Patch\n", Some(1), "changes nothing");
    refused("*** Begin Patch\n*** Update File: f\n@@\n*** End Patch\n", Some(2), "no lines");
    refused("*** Begin Patch\n*** Update File: f\n@@\nx\n*** End Patch\n", Some(3), "begins with");
    refused("*** Begin Patch\n*** Add File: f\nx\n*** End Patch\n", Some(2), "begins with");
    refused("*** Begin Patch\n*** Delete File: f\n-x\n*** End Patch\n", Some(2), "no lines are expected");
    refused("*** Begin Patch\n*** Update File:\n*** End Patch\n", Some(1), "path");
    refused("*** Begin Patch\nx\n*** End Patch\n", Some(1), "belongs to no file");
    refused(
        "*** Begin Patch\n*** Update File: f\n@@\n-a\n*** Rename to: b\n*** End Patch\n",
        Some(4),
        "not known",
    );
}
