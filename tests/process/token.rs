//! `--auth-token-file`: which files a start takes, and of which it warns (contract 2).

use super::cli::check_refused;
use crate::support::{Folder, Http, command, run_command_to_end};

#[test]
fn a_token_file_that_is_missing_or_empty_is_refused() {
    let folder = Folder::new();
    let path = folder.outside("token");
    let flag = format!("--auth-token-file={}", path.display());
    check_refused(&run_command_to_end(command(&folder, "http", &["--port=0", &flag])), "--auth-token-file");
    // An empty token would let everybody in.
    for empty in ["", "\n", "  \n"] {
        std::fs::write(&path, empty).expect("a file");
        let ended = run_command_to_end(command(&folder, "http", &["--port=0", &flag]));
        check_refused(&ended, "--auth-token-file");
    }
}

#[test]
fn a_token_file_that_clients_could_read_or_that_is_no_small_file_is_refused() {
    not_under_wine!("has files of kinds that wine does not show");
    let folder = Folder::new();
    let outside = folder.outside("token");
    let start = |path: &std::path::Path| {
        let flag = format!("--auth-token-file={}", path.display());
        run_command_to_end(command(&folder, "http", &["--port=0", &flag]))
    };
    std::fs::write(&outside, "token").expect("a file");
    // In the folder, also through links, and where --exclude hides it.
    folder.write("token", "token");
    folder.link("out", "../token");
    std::os::unix::fs::symlink("folder/token", folder.outside("in")).expect("a link");
    for inside in [folder.path().join("token"), folder.path().join("out"), folder.outside("in")] {
        let ended = start(&inside);
        check_refused(&ended, "--auth-token-file");
        assert!(ended.stderr.contains("served folder"), "{}", ended.stderr);
    }
    std::fs::write(&outside, "x".repeat((64 << 10) + 1)).expect("a file");
    check_refused(&start(&outside), "64 KB");
    folder.fifo("fifo");
    std::fs::rename(folder.path().join("fifo"), folder.outside("fifo")).expect("a FIFO outside");
    for special in [folder.outside("fifo"), folder.outside(""), "/dev/zero".into()] {
        check_refused(&start(&special), "no regular file");
    }
}

#[test]
fn a_token_file_that_others_may_read_is_warned_of() {
    not_under_wine!("has modes of files, which Windows has not");
    let folder = Folder::new();
    let path = folder.outside("token");
    let flag = format!("--auth-token-file={}", path.display());
    std::fs::write(&path, "token").expect("a file");
    for (mode, is_warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("a mode");
        let (_, log) = Http::start(&folder, &[&flag]).terminate_with_output();
        assert_eq!(log.contains("set it to 0600"), is_warned, "{mode:o}: {log}");
        assert!(!log.contains("hard links"), "{log}");
    }
    // With mode 0604.
    std::fs::hard_link(&path, folder.path().join("second")).expect("a link");
    let (_, log) = Http::start(&folder, &[&flag]).terminate_with_output();
    assert!(log.contains("it has 2 names (hard links)") && log.contains("set it to 0600"), "{log}");
}
