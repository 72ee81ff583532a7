//! The rules one by one; `walk/ignored_trees.rs` holds whole trees against another implementation.

use std::fs;

use super::*;

/// The folders of a tree, and rules that have entered some of them.
struct Tree(tempfile::TempDir, IgnoreRules);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut tree = Tree(dir, IgnoreRules::default());
        tree.enter("");
        tree
    }

    fn open(&self, path: &str) -> OwnedFd {
        sys::testing::open_folder(self.0.path().join(path))
    }

    fn enter(&mut self, path: &str) {
        let folder = self.open(path);
        self.1.enter(|| Some(&folder), Path::new(path), RuleFiles::of(&folder, &Lookups::default()));
    }

    fn bytes(&self) -> usize {
        MAX_RULES - self.1.room()
    }

    fn file(&self, path: &str) -> Option<bool> {
        self.1.ignores(Path::new(path), false)
    }
}

#[test]
fn the_nearest_rule_decides_and_rules_hold_below_their_folder() {
    let mut tree = Tree::new(&[
        (".git/info/exclude", "local\n*.log\n"),
        (".gitignore", "*.log\n/top\nbuild/\n"),
        ("a/.gitignore", "!keep.log\n"),
        ("a/b/.ignore", "keep.log\n"),
    ]);
    tree.1 = IgnoreRules::default();
    tree.1.enter_all_above(&Arc::new(tree.open(".")), Path::new("a"), &Lookups::default());
    tree.enter("a");
    assert_eq!((tree.file("a/x.log"), tree.file("a/local")), (Some(true), Some(true)));
    assert_eq!((tree.file("a/top"), tree.file("a/build")), (None, None));
    assert_eq!(tree.1.ignores(Path::new("a/build"), true), Some(true));
    assert_eq!(tree.file("a/keep.log"), Some(false));
    tree.enter("a/b");
    assert_eq!(tree.file("a/b/keep.log"), Some(true));
    tree.1.leave();
    assert_eq!(tree.file("a/keep.log"), Some(false));
}

#[test]
fn the_kinds_of_files_have_an_order_whatever_their_folders() {
    let mut tree = Tree::new(&[
        (".git/info/exclude", "a.*\n!c.3\n"),
        (".ignore", "a.1\n!b.1\n"),
        (".gitignore", "!a.2\n"),
        ("sub/.gitignore", "!a.1\nb.1\nc.3\n"),
    ]);
    tree.enter("sub");
    assert_eq!(tree.file("sub/a.1"), Some(true), ".ignore above goes before .gitignore below");
    assert_eq!(tree.file("sub/b.1"), Some(false));
    assert_eq!(tree.file("sub/a.2"), Some(false), ".gitignore goes before exclude");
    assert_eq!(tree.file("sub/a.3"), Some(true));
    assert_eq!(tree.file("sub/c.3"), Some(true));
}

#[test]
fn a_repository_within_has_its_own_rules_but_those_of_ignore_hold() {
    let mut tree = Tree::new(&[
        (".git/info/exclude", "*.1\n"),
        (".gitignore", "*.2\ninner/\n"),
        (".ignore", "*.3\n"),
        ("inner/.git/info/exclude", "*.4\n"),
        ("inner/sub/x", ""),
        // Of a worktree or a submodule.
        ("tree/.git", "gitdir: ../.git/worktrees/tree\n"),
    ]);
    assert_eq!(tree.1.ignores(Path::new("inner"), true), Some(true), "the folder itself is in the outer one");
    tree.enter("inner");
    tree.enter("inner/sub");
    let of = |tree: &Tree, folder: &str| [1, 2, 3, 4].map(|n| tree.file(&format!("{folder}/x.{n}")));
    assert_eq!(of(&tree, "inner/sub"), [None, None, Some(true), Some(true)]);
    tree.1.leave();
    tree.1.leave();
    tree.enter("tree");
    assert_eq!(of(&tree, "tree"), [None, None, Some(true), None]);
}

#[test]
fn marks_breaks_of_any_kind_and_lines_that_are_not_valid_do_no_harm() {
    let tree =
        Tree::new(&[(".gitignore", "\u{feff}first\r\n{a,b}\r\n[z-a]\r\n# comment\r\n\\#name\r\n\r\nlast")]);
    for (name, expected) in [
        ("first", Some(true)),
        ("last", Some(true)),
        ("#name", Some(true)),
        ("# comment", None),
        ("", None),
        ("{a,b}", Some(true)),
        ("a", None),
        ("z", Some(true)),
    ] {
        assert_eq!(tree.file(name), expected, "{name}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("outside"), "x\n").unwrap();
    sys::testing::symlink("outside", dir.path().join(".gitignore")).unwrap();
    let folder = sys::testing::open_folder(dir.path());
    let mut rules = IgnoreRules::default();
    rules.enter(|| Some(&folder), Path::new(""), RuleFiles::of(&folder, &Lookups::default()));
    assert_eq!(rules.ignores(Path::new("x"), false), None, "a link is not followed, as git does");
}

#[test]
fn the_rules_that_are_in_force_are_bounded_and_those_beyond_are_left_out_line_by_line() {
    let many = "# a comment of some length\n".repeat(MAX_RULES / 27);
    let mut tree = Tree::new(&[
        (".gitignore", &format!("first\n{many}last-one-that-is-cut\n")),
        ("sub/.gitignore", "second-that-has-no-room-any-more\n"),
        ("sub/.ignore", "x\n"),
    ]);
    assert!(tree.bytes() <= MAX_RULES && tree.bytes() > MAX_RULES - 64);
    tree.enter("sub");
    assert!(tree.bytes() <= MAX_RULES);
    assert_eq!(tree.file("sub/first"), Some(true));
    for name in ["last-one-that-is-cut", "last-one", "second-that-has-no-room-any-more", "second"] {
        assert_eq!(tree.file(&format!("sub/{name}")), None, "{name}");
    }
    tree.1.leave();
    tree.1.leave();
    assert_eq!(tree.bytes(), 0);
}

#[test]
fn names_of_classes_in_brackets_and_a_tab_at_the_end_are_read_as_git_reads_them() {
    for (rule, named, others) in [
        ("[[:alpha:]]x", &["ax", "Zx"][..], &["1x", "[x", ":]x"][..]),
        ("[^[:alpha:]_]x", &["1x", "-x"], &["ax", "_x"]),
        ("[[:punct:]]", &["!", "-", "{", "]", "~"], &["a", "1"]),
        ("[[:graph:]]", &["!", "a", "~"], &[" ", "\t"]),
        ("[[:digit:][:space:]]*{", &["1{", " {"], &["a{"]),
        ("x\t", &["x\t"], &["x"]),
        ("x\\\t  ", &["x\t"], &["x", "x\\"]),
        ("x  ", &["x"], &["x  "]),
        ("[:x]", &[":", "x"], &["a"]),
        ("x\n!\n! ", &["x"], &["!"]),
        ("sub[/]a\n[/x]y", &["xy"], &["sub/a", "a/xy"]),
        ("?[!a]x", &["abx", "a/abx"], &["a/x"]),
        ("[{]x\n[b-a]\n[}", &["{x", "b"], &["a", "}", "[}"]),
    ] {
        let tree = Tree::new(&[(".gitignore", rule)]);
        for name in named {
            assert_eq!(tree.file(name), Some(true), "{rule:?} {name:?}");
        }
        for name in others {
            assert_eq!(tree.file(name), None, "{rule:?} {name:?}");
        }
    }
}

/// Each row was asked of `git check-ignore`.
#[test]
fn ends_of_rules_and_rows_of_stars_are_read_as_git_reads_them() {
    for (rule, named, others) in [
        ("x\r\n", &["x"][..], &["x\r"][..]),
        ("x\r", &["x"], &["x\r"]),
        ("x\r\r\n", &["x\r"], &["x", "x\r\r"]),
        ("x\r  \r\n", &["x\r"], &["x"]),
        ("\r\r\n", &["\r"], &["x"]),
        ("x\\\r\n", &[], &["x", "x\r", "x\\"]),
        ("x\u{b}\ny\u{a0}", &["x\u{b}", "y\u{a0}"], &["x", "y"]),
        ("x\\  \n", &["x "], &["x", "x  "]),
        ("x\\\\ \n", &["x\\"], &["x\\ "]),
        ("x\\\\/../y\n!\r\n", &[], &["x\\", "!", "\r"]),
        ("*.o\n!a.o\r\n", &["b.o"], &[]),
        ("d\\/x", &["d/x"], &["x"]),
        ("***/x", &["x", "a/x", "a/b/x"], &["ax"]),
        ("/****/x", &["x", "a/b/x"], &["xa"]),
        ("a/***/x", &["a/x", "a/b/c/x"], &["ax", "b/a/x"]),
        ("a/***", &["a/x"], &["a", "b"]),
        ("***", &["x"], &[]),
        ("***x/y", &["x/y", "ax/y"], &["a/x/y"]),
        ("x***/y", &["xy", "x/y", "xa/y", "xa/b/y"], &["y", "xa", "a/xy"]),
        ("!x**/y\nx,**/y", &["x,y", "x,/a/y"], &["x/y"]),
    ] {
        let tree = Tree::new(&[(".gitignore", rule)]);
        for name in named {
            assert_eq!(tree.file(name), Some(true), "{rule:?} {name:?}");
        }
        for name in others {
            assert_ne!(tree.file(name), Some(true), "{rule:?} {name:?}");
        }
    }
    for (rule, name, expected) in [
        ("d\\/\r\n", "d", None),
        ("d//", "d", None),
        ("d\\\\/", "d\\", Some(true)),
        ("d/\r\n", "d", Some(true)),
        ("***/", "d", Some(true)),
    ] {
        let tree = Tree::new(&[(".gitignore", rule)]);
        assert_eq!(tree.1.ignores(Path::new(name), true), expected, "{rule:?}");
    }
}
