//! Walks through random trees with random files of rules, beside the walk of the crate `ignore`: equal sets of files.
//!
//! The rules have no braces (git takes them as they are, the crate as alternatives), and the top of each tree is a repository
//! (this walk reads `.gitignore` without one, too).

use std::collections::BTreeSet;

use ignore::WalkBuilder;
use proptest::prelude::*;

use super::*;

const FOLDERS: [&str; 7] = ["", "a", "a/b", "a/b/c", "build", ".dot", "a/.dot/d"];
const NAMES: [&str; 7] = ["x.log", "keep.log", "main.rs", "b", ".hidden", "build.rs", "c d"];
const RULES: [&str; 28] = [
    "*.log",
    "!keep.log",
    "/x.log",
    "build/",
    "build",
    "!build/",
    "a/b",
    "/a/b/",
    "**/c",
    "a/**",
    "!a/b/",
    "b",
    "!.hidden",
    ".hidden",
    ".dot/",
    "!.dot",
    "!.dot/",
    "*",
    "!*/",
    "!*.rs",
    "c\\ d",
    "c d",
    "[bm]*",
    "?.log",
    "#x",
    "\\#x",
    "a/*/c",
    "**/b/**",
];

/// A file in a folder: an ordinary one, one of rules, or a repository.
#[derive(Debug, Clone)]
enum Item {
    File(usize, usize),
    Rules(usize, &'static str, Vec<usize>),
    Repository(usize, Vec<usize>),
}

fn item() -> impl Strategy<Value = Item> {
    let folder = 0..FOLDERS.len();
    let rules = || prop::collection::vec(0..RULES.len(), 0..4);
    prop_oneof![
        6 => (folder.clone(), 0..NAMES.len()).prop_map(|(folder, name)| Item::File(folder, name)),
        3 => (folder.clone(), prop_oneof![Just(".gitignore"), Just(".ignore")], rules())
            .prop_map(|(folder, name, rules)| Item::Rules(folder, name, rules)),
        1 => (folder, rules()).prop_map(|(folder, rules)| Item::Repository(folder, rules)),
    ]
}

fn make(top: &Path, items: &[Item]) {
    let put = |folder: &str, name: &str, text: &str| {
        let path = top.join(folder).join(name);
        // A file may be where another item has a folder.
        if std::fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_dir() {
            let _ = std::fs::write(path, text);
        }
    };
    let text = |rules: &[usize]| rules.iter().map(|rule| format!("{}\n", RULES[*rule])).collect::<String>();
    put("", ".git/HEAD", "");
    for item in items {
        match item {
            Item::File(folder, name) => put(FOLDERS[*folder], NAMES[*name], ""),
            Item::Rules(folder, name, rules) => put(FOLDERS[*folder], name, &text(rules)),
            Item::Repository(folder, rules) => put(FOLDERS[*folder], ".git/info/exclude", &text(rules)),
        }
    }
}

fn ours(top: &Path, skip_hidden: bool) -> BTreeSet<Vec<u8>> {
    let control = Control::new(std::time::Duration::from_secs(60));
    let folder = sys::testing::open_folder(top);
    let root = Arc::new(folder.try_clone().unwrap());
    let none = Excludes::default();
    let options = WalkOptions { skip_ignored: true, skip_hidden, ..WalkOptions::default() };
    let mut walk = Walk::new(&root, folder, Path::new(""), options, &none, None, &control).unwrap();
    let mut files = BTreeSet::new();
    while let Some(step) = walk.next_step().unwrap() {
        if matches!(step, WalkStep::Entry(WalkEntry { kind: EntryKind::File, .. })) {
            files.insert(walk.path().to_vec());
        }
    }
    files
}

fn theirs(top: &Path, skip_hidden: bool) -> BTreeSet<Vec<u8>> {
    let mut builder = WalkBuilder::new(top);
    builder.hidden(skip_hidden).parents(false).git_global(false).require_git(true);
    // A walk of ours never shows git's own folder.
    builder.filter_entry(|entry| entry.file_name() != ".git");
    let files = builder.build().map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| entry.path().strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_meets_the_files_that_another_implementation_meets(
        items in prop::collection::vec(item(), 1..14),
        skip_hidden: bool,
    ) {
        let top = tempfile::tempdir().unwrap();
        make(top.path(), &items);
        prop_assert_eq!(ours(top.path(), skip_hidden), theirs(top.path(), skip_hidden));
    }
}
