//! Several files are created, or none.

use super::*;
use crate::NewFile;

const PATHS: [&str; 4] = ["p/Cargo.toml", "p/src/main.rs", "p/src/more/x.rs", "p/tests/cli.rs"];

fn create(workspace: &Workspace) -> Result<()> {
    let path = |path: &str| FilePath::parse(path, NamePolicy::Paths, workspace.folder_paths()).unwrap();
    let files: Vec<NewFile> =
        PATHS.iter().map(|name| NewFile { path: path(name), content: name.as_bytes() }).collect();
    workspace.create_files(&files, &control())
}

/// The files of the test below `dir` that there are.
fn there(dir: &Path) -> Vec<&'static str> {
    PATHS.into_iter().filter(|path| dir.join(path).exists()).collect()
}

#[test]
fn all_files_are_created_with_their_folders() {
    let dir = tempfile::tempdir().unwrap();
    create(&open(dir.path())).unwrap();
    for path in PATHS {
        assert_eq!(std::fs::read_to_string(dir.path().join(path)).unwrap(), path);
    }
    assert_eq!(names(&dir.path().join("p/src")), ["main.rs", "more"]);
}

#[test]
fn a_file_that_is_there_is_kept_and_nothing_is_created() {
    for path in PATHS {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(path), "old").unwrap();
        let refused = create(&open(dir.path()));
        assert!(matches!(&refused, Err(Error::Exists { name, .. }) if name == path), "{refused:?}");
        assert_eq!(there(dir.path()), [path]);
        assert_eq!(std::fs::read_to_string(dir.path().join(path)).unwrap(), "old");
    }
}

#[test]
fn of_files_that_cannot_all_be_there_none_is_created_and_no_folder_stays() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = open(dir.path());
    let path = |path: &str| FilePath::parse(path, NamePolicy::Paths, workspace.folder_paths()).unwrap();
    // The second one needs a folder where the first one is to be.
    let files = ["a", "a/b", "c/d"].map(|name| NewFile { path: path(name), content: b"x" });
    let refused = workspace.create_files(&files, &control());
    assert!(matches!(&refused, Err(Error::NotAFolder { name, .. }) if name == "a"), "{refused:?}");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_file_that_comes_at_any_step_is_kept_and_the_others_are_all_there_or_none() {
    for path in PATHS {
        for step in 1.. {
            let dir = tempfile::tempdir().unwrap();
            let workspace = open(dir.path());
            let theirs = dir.path().join(path);
            let mut done = None;
            let meddle = move || {
                std::fs::create_dir_all(theirs.parent().unwrap()).unwrap();
                // Fails where ours is in place already.
                let _ =
                    File::create_new(&theirs).map(|mut file| std::io::Write::write_all(&mut file, b"theirs"));
            };
            let happened = failpoint::meddle_at(step, meddle, || done = Some(create(&workspace)));
            if !happened {
                assert!(10 < step, "{step}");
                break;
            }
            let text = std::fs::read_to_string(dir.path().join(path)).unwrap();
            match done.unwrap() {
                Ok(()) => assert_eq!((there(dir.path()).len(), &*text), (4, path), "step {step}"),
                Err(_) => assert_eq!((there(dir.path()), &*text), (vec![path], "theirs"), "step {step}"),
            }
            let tops = names(dir.path());
            assert_eq!(tops, ["p"], "step {step}: no temporary files");
        }
    }
}

#[test]
fn nothing_is_created_in_a_read_only_workspace_in_git_or_beyond_the_size_limit() {
    let dir = tempfile::tempdir().unwrap();
    let options = WorkspaceOptions { read_only: true, ..WorkspaceOptions::default() };
    let read_only = Workspace::open(&[dir.path().into()], options).unwrap();
    assert!(matches!(create(&read_only), Err(Error::PermissionDenied { .. })));
    let small = Workspace::open(
        &[dir.path().into()],
        WorkspaceOptions { max_bytes: 13, ..WorkspaceOptions::default() },
    );
    assert!(matches!(create(&small.unwrap()), Err(Error::TooLarge { max: 13, .. })));
    let workspace = open(dir.path());
    let path = |path: &str| FilePath::parse(path, NamePolicy::Paths, workspace.folder_paths()).unwrap();
    let files = ["a", ".git/hooks/x"].map(|name| NewFile { path: path(name), content: b"x" });
    assert!(matches!(workspace.create_files(&files, &control()), Err(Error::GitFolder { .. })));
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_link_that_leads_out_is_not_followed_and_nothing_is_created() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(dir.path().join("p")).unwrap();
    symlink(outside.path(), dir.path().join("p/tests")).unwrap();
    assert!(create(&open(dir.path())).is_err());
    assert!(there(dir.path()).is_empty() && names(outside.path()).is_empty());
    assert_eq!(names(&dir.path().join("p")), ["tests"]);
}
