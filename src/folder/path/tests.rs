use super::*;

fn is_admitted(name: &str, policy: NamePolicy) -> bool {
    FilePath::parse(name, policy, &FolderPaths::default()).is_ok()
}

fn folders() -> FolderPaths {
    let paths = [("/srv/a", "/link"), ("/srv/b", "b"), ("/srv/b/inner", "/srv/b/inner")];
    FolderPaths::new(paths.map(|(canonical, given)| (canonical.into(), given.into())).to_vec())
}

fn path(text: &str) -> Result<(String, Option<usize>), NameProblem> {
    match FilePath::parse(text, NamePolicy::Paths, &folders()) {
        Ok(path) => {
            assert_eq!(path.sent(), text);
            Ok((path.as_str().to_owned(), path.folder()))
        }
        Err(Error::InvalidName { problem }) => Err(problem),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn portable_names_are_letters_digits_dot_underscore_and_hyphen() {
    for name in ["a", "A-1_b.txt", ".env", "...", "-", &"x".repeat(255)] {
        assert!(is_admitted(name, NamePolicy::Portable), "{name}");
    }
    for name in ["", ".", "..", "a/b", "/a", "a b", "ä", "a\0", "a\n", "..\\x", &"x".repeat(256)] {
        assert!(!is_admitted(name, NamePolicy::Portable), "{name:?}");
    }
}

#[test]
fn any_admits_one_component_without_control_characters() {
    for name in ["a b", "ä漢.txt", "a\\b", "%2e%2e", "~"] {
        assert!(is_admitted(name, NamePolicy::Any), "{name}");
    }
    for name in ["", ".", "..", "../x", "a/", "a\u{7f}", "a\u{85}", "a\tb", &"ä".repeat(128)] {
        assert!(!is_admitted(name, NamePolicy::Any), "{name:?}");
    }
}

#[test]
fn our_temporary_files_have_no_name() {
    let name = temporary::new_name().into_string().unwrap();
    for policy in [NamePolicy::Portable, NamePolicy::Any, NamePolicy::Paths] {
        assert!(!is_admitted(&name, policy));
        assert!(is_admitted(".file-editor-tmp-notes", policy), "a user's");
    }
    assert_eq!(path(&format!("a/{name}/b")), Err(NameProblem::Policy(NameRule::NotTemporary)));
}

#[test]
fn a_path_is_kept_as_its_components() {
    let relative = |text: &str| path(text).map(|(path, folder)| (folder.is_none(), path).1);
    for (text, expected) in [
        ("a", "a"),
        ("./a/b/", "a/b"),
        ("a//b/./c", "a/b/c"),
        (".", ""),
        ("", ""),
        ("./", ""),
        (".git/config", ".git/config"),
        ("a b/ä", "a b/ä"),
    ] {
        assert_eq!(relative(text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(path(&vec!["a"; 255].join("/")).map(|_| ()), Ok(()));
}

#[test]
fn an_absolute_path_belongs_to_the_innermost_folder_that_holds_it() {
    for (text, expected, folder) in [
        ("/srv/a", "", 0),
        ("/srv/a/", "", 0),
        ("/srv/a/x/y", "x/y", 0),
        ("/link/x", "x", 0),
        ("/srv/b/x", "x", 1),
        ("/srv/b/inner/x", "x", 2),
        ("/srv/b/innerx", "innerx", 1),
    ] {
        assert_eq!(path(text), Ok((expected.to_owned(), Some(folder))), "{text}");
    }
    let everything = FolderPaths::new(vec![("/".into(), ".".into())]);
    let etc = FilePath::parse("/etc/x", NamePolicy::Paths, &everything).unwrap();
    assert_eq!((etc.as_str(), etc.folder()), ("etc/x", Some(0)));
}

#[test]
fn a_path_of_a_client_that_lies_outside_keeps_its_text() {
    let outside = FilePath::parse_sent("/etc/x", NamePolicy::Paths, &folders()).unwrap();
    assert!(outside.is_outside() && outside.sent() == "/etc/x" && outside.join("y").is_outside());
    assert!(!FilePath::parse_sent("/srv/a/x", NamePolicy::Paths, &folders()).unwrap().is_outside());
    assert!(FilePath::parse_sent("../x", NamePolicy::Paths, &folders()).is_err());
}

#[test]
fn a_tilde_is_the_home_of_the_user_if_that_is_in_a_served_folder() {
    let path = |text: &str, home: &str| {
        let folders = folders().with_home(Some(Path::new(home)));
        let path = FilePath::parse(text, NamePolicy::Paths, &folders).unwrap();
        (path.as_str().to_owned(), path.folder())
    };
    assert_eq!(path("~/x", "/srv/a"), ("x".into(), Some(0)));
    assert_eq!(path("~", "/srv/a/me/"), ("me".into(), Some(0)));
    assert_eq!(path("~/a/x", "/srv"), ("x".into(), Some(0)));
    assert_eq!(path("~/x", "/home/me"), ("~/x".into(), None), "a name like others");
    assert_eq!(path("~x", "/srv/a"), ("~x".into(), None));
    assert_eq!(path("./~/x", "/srv/a"), ("~/x".into(), None));
}

#[test]
fn the_parent_of_a_path_is_in_the_same_served_folder() {
    let parent = |text: &str| path_of(text).parent().map(|path| (path.as_str().to_owned(), path.folder()));
    assert_eq!(parent("a/b/c"), Some(("a/b".into(), None)));
    assert_eq!(parent("/srv/b/x"), Some((String::new(), Some(1))));
    assert_eq!(parent("."), None);
}

fn path_of(text: &str) -> FilePath {
    FilePath::parse(text, NamePolicy::Paths, &folders()).unwrap()
}

#[test]
fn other_paths_are_refused_with_the_reason() {
    for text in ["..", "../x", "a/../b", "a/..", "/srv/a/../x"] {
        assert_eq!(path(text), Err(NameProblem::Parent), "{text}");
    }
    for text in ["a\0b", "a\nb/c", "a/\u{7f}"] {
        assert_eq!(path(text), Err(NameProblem::Policy(NameRule::NoControl)), "{text:?}");
    }
    let of_len = |len: usize| format!("a/{}", "x".repeat(len));
    assert_eq!(path(&of_len(256)), Err(NameProblem::Policy(NameRule::Short)));
    // What stands for one byte of a name counts as one.
    assert!(path(&format!("a/{}", "\\xe4".repeat(255))).is_ok());
    assert_eq!(path(&format!("a/{}", "\\xe4".repeat(256))), Err(NameProblem::Policy(NameRule::Short)));
    for text in ["/", "/etc/passwd", "/srv", "/srv/ab", "/srv/aa/x"] {
        let served = ["/srv/a", "/srv/b", "/srv/b/inner"].map(PathBuf::from).to_vec();
        assert_eq!(path(text), Err(NameProblem::Outside { folders: served, meant: None }), "{text}");
    }
    assert_eq!(path(&"x/".repeat(2_049)), Err(NameProblem::TooLong));
    assert_eq!(path(&vec!["a"; 256].join("/")), Err(NameProblem::TooLong));
}

#[test]
fn of_a_folder_of_git_only_head_is_not_kept_to_itself() {
    for path in
        [".git", "a/.git/config", ".GIT/HEAD/x", ".git/logs/HEAD", ".git/head", ".git/worktrees/a/HEAD"]
    {
        assert!(is_kept_by_git(Path::new(path)), "{path}");
    }
    for path in [".git/HEAD", "a/.Git/HEAD", "HEAD", ".gitignore", "a"] {
        assert!(!is_kept_by_git(Path::new(path)), "{path}");
    }
}

#[test]
fn the_folder_of_git_is_known_in_any_spelling() {
    for path in [".git", "a/.git/hooks", ".GIT/x"] {
        assert!(is_in_git(Path::new(path)), "{path}");
    }
    // As core.protectHFS and core.protectNTFS of git.
    for path in [
        ".g\u{200c}it",
        "\u{feff}.Git",
        ".git\u{200d}/x",
        ".git.",
        ".git . ",
        "GIT~1/x",
        ".git::$INDEX_ALLOCATION",
    ] {
        assert!(is_in_git(Path::new(path)), "{path:?}");
    }
    for path in ["git", ".gitignore", "a.git", ".git2/x", "git~2", ".git-x", ".gi\u{301}t", "\u{200b}"] {
        assert!(!is_in_git(Path::new(path)), "{path}");
    }
}
