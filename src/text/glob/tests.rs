use std::time::{Duration, Instant};

use unicode_normalization::UnicodeNormalization;

use super::{Glob, GlobBudget, GlobError, TreeExclude};

fn matches(pattern: &str, path: &str) -> bool {
    Glob::parse(pattern).unwrap().matches(path)
}

#[test]
fn answers_what_the_reference_answered() {
    let table: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/reference/globs.json")).unwrap();
    let texts = |value: &serde_json::Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let paths = texts(&table["paths"]);
    let rows = table["matches"].as_object().unwrap();
    assert!(rows.len() > 170 && paths.len() > 60);
    for (pattern, expected) in rows {
        let glob = Glob::parse(pattern).unwrap();
        let found: Vec<&String> = paths.iter().filter(|path| glob.matches(path)).collect();
        let expected = texts(expected);
        // The reference tells the forms of Unicode apart.
        let spelled = |path: &String| path.nfc().collect::<String>();
        let is_other_form = |path: &String| expected.iter().any(|other| spelled(other) == spelled(path));
        let is_expected =
            |path: &&String| expected.contains(path) || found.contains(path) && is_other_form(path);
        assert_eq!(found, paths.iter().filter(is_expected).collect::<Vec<_>>(), "{pattern}");
    }
}

#[test]
fn a_negation_that_ends_in_a_group_or_a_bar_is_that_of_bash() {
    for (pattern, found, others) in [
        (
            "foo!(*.@(spec|test)).ts",
            &["foo.ts", "foobar.ts", "foo.specs.ts"][..],
            &["foo.spec.ts", "foo.a.test.ts"][..],
        ),
        ("x!(@(a|b))", &["x", "xc", "xab"], &["xa", "xb", "c"]),
        ("@(!(@(a|b)))", &["ab", "c"], &["a", "b"]),
        ("x!(a@(b|c))d", &["xd", "xad", "xabcd"], &["xabd", "xacd"]),
        ("x!(a+(b))", &["x", "xa", "xaba"], &["xab", "xabb"]),
        ("x!(a|)", &["xb", "xaa"], &["x", "xa"]),
        ("x!()", &["xa", "xab"], &["x"]),
    ] {
        found.iter().for_each(|path| assert!(matches(pattern, path), "{pattern} {path}"));
        others.iter().for_each(|path| assert!(!matches(pattern, path), "{pattern} {path}"));
    }
}

#[test]
fn a_path_matches_in_each_form_of_unicode_and_as_lists_show_it() {
    for (pattern, path) in [
        ("caf\u{e9}/*", "cafe\u{301}/x"),
        ("cafe\u{301}*", "caf\u{e9}.txt"),
        ("[\u{e9}]", "e\u{301}"),
        ("{\u{e9},b}?", "e\u{301}x"),
        (r"caf\xe9.txt", r"caf\xe9.txt"),
        (r"*\xe9*", r"a\xe9b"),
        (r"ta\x09b.txt", "ta\tb.txt"),
        (r"\x0a*", "\nname"),
        ("a\tb", "a\tb"),
        (r"\x41", "x41"),
        (r"caf\xE9.*", r"caf\xe9.txt"),
        (r"\x0A", "\n"),
        (r"\\x09", r"\x09"),
        (r"\\x09", "\t"),
    ] {
        assert!(matches(pattern, path), "{pattern} {path:?}");
    }
    for (pattern, path) in [("\u{e9}", "e"), (r"\x0", "\0"), (r"\X0a", "\n"), ("!caf\u{e9}", "cafe\u{301}")] {
        assert!(!matches(pattern, path), "{pattern} {path:?}");
    }
    for pattern in ["@(!(\u{e9})x)", "[^\u{e9}]*", "[!\u{e9}]x"] {
        assert!(!matches(pattern, "e\u{301}x") && matches(pattern, "fx"), "{pattern}");
    }
}

#[test]
fn a_folder_below_which_nothing_can_match_is_known() {
    for (pattern, folders, others) in [
        ("*.ts", &[][..], &["a", "a.ts"][..]),
        ("**/*.ts", &["a", "a/b"], &[]),
        ("a/*.ts", &["a"], &["b", "a/b", "a/c.ts"]),
        ("a/**", &["a", "a/b"], &["b", "b/a"]),
        ("{a,b/c}/**/x", &["a", "b", "b/c", "a/z"], &["c", "b/d"]),
        ("caf\u{e9}/*", &["cafe\u{301}", "caf\u{e9}"], &["cafe"]),
        ("!a/*", &["a", "b"], &[]),
        ("#a/*", &[], &["a", "#a"]),
    ] {
        let glob = Glob::parse(pattern).unwrap();
        folders.iter().for_each(|folder| assert!(glob.may_match_below(folder), "{pattern} {folder}"));
        others.iter().for_each(|folder| assert!(!glob.may_match_below(folder), "{pattern} {folder}"));
    }
}

#[test]
fn a_hostile_pattern_takes_no_time() {
    let path = "a/".repeat(2000) + &"a".repeat(200);
    let times = |text: &str, count| text.repeat(count);
    for pattern in [
        "*(*(*a))b".into(),
        times("a*", 30_000) + "b",
        times("**/*a*/", 150) + "b/**",
        times("!(a)", 30),
        times("*(", 30_000),
        times("{a,b}", 30),
        times("{", 20_000) + "a,b" + &times("}", 20_000),
        times("[", 60_000),
        times("[[:alpha:]]", 5_900),
    ] {
        let start = Instant::now();
        if let Ok(glob) = Glob::parse(&pattern) {
            assert!(!glob.matches(&path), "{pattern:.40}");
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{pattern:.40}");
    }
    assert_eq!(Glob::parse(&times("{a,b}", 14)).unwrap_err(), GlobError::TooManyAlternatives);
    let longest = Glob::parse(&times("a", 65_537)).unwrap();
    assert!(!longest.matches(&times("a", 65_537)) && matches(&times("a", 4_000), &times("a", 4_000)));
}

#[test]
fn the_patterns_of_a_call_are_bounded_together() {
    let usual: Vec<String> =
        (0..50).map(|n| format!("**/{{node_modules,target,build{n}}}/**/*.{{a,b}}")).collect();
    let mut budget = GlobBudget::default();
    usual.iter().for_each(|pattern| drop(TreeExclude::within(pattern, &mut budget).unwrap()));
    let many = (0..1_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let states = "+(a|b)".repeat(600);
    for pattern in [format!("a/{{{many}}}/b"), "x/".repeat(3_000), states] {
        let mut budget = GlobBudget::default();
        assert!(Glob::within(&pattern, &mut budget).is_ok(), "{pattern:.40}");
        let refused = (0..50).find_map(|_| Glob::within(&pattern, &mut budget).err());
        assert_eq!(refused, Some(GlobError::TooLarge), "{pattern:.40}");
    }
}

#[test]
fn a_pattern_for_trees_matches_at_any_depth_unless_it_has_a_star() {
    let excluded = |pattern: &str, path: &str| {
        TreeExclude::within(pattern, &mut GlobBudget::default()).unwrap().matches(path)
    };
    assert!(excluded("a", "a") && excluded("a", "x/a") && excluded("a", "x/a/b") && excluded("/a", "x/a"));
    assert!(excluded("*.txt", "a.txt") && !excluded("*.txt", "x/a.txt") && excluded("", "a"));
    assert!(!excluded("./a", "a") && !excluded("!a", "a") && excluded("!a", "b") && excluded("#c", "x/#c"));
}
