//! What a command does not get from the server: descriptors, signals, its token, a terminal.

use super::{FLAGS, TOKEN, command, http, on_both, stdout_of};
use crate::support::{Folder, Stdio, with_umask};

#[test]
fn only_the_three_usual_descriptors_are_open() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        // The fourth is the directory that ls itself reads.
        assert_eq!(stdout_of(server, command("ls /proc/self/fd | tr '\\n' ' '")), "0 1 2 3 ");
        assert_eq!(stdout_of(server, command("exec ls -l /proc/self/fd | grep -c socket: || true")), "0");
    });
}

#[test]
fn a_descriptor_that_the_server_has_inherited_itself_is_closed() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    folder.write("held", "");
    let server = crate::support::command(&folder, "stdio", FLAGS);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "exec 7< /dev/null 9> /dev/null; trap '' HUP INT QUIT USR1; exec \"$0\" \"$@\""]);
    shell.arg(server.get_program()).args(server.get_args());
    let server = Stdio::run(shell).ready();
    assert_eq!(
        std::fs::read_link(format!("/proc/{}/fd/9", server.pid())).expect("inherited").as_os_str(),
        "/dev/null"
    );
    assert_eq!(stdout_of(&server, command("ls /proc/self/fd | tr '\\n' ' '")), "0 1 2 3 ");
    // Nor does it get signals that are ignored.
    let ignored = stdout_of(
        &server,
        command("cat /proc/self/status | grep -E 'SigBlk|SigIgn|SigCgt' | tr -d '\\t\\n'"),
    );
    assert_eq!(ignored, "SigBlk:0000000000000000SigIgn:0000000000000000SigCgt:0000000000000000");
}

#[test]
fn no_signal_is_blocked_ignored_or_caught() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        let signals = stdout_of(
            server,
            command("cat /proc/self/status | grep -E 'SigBlk|SigIgn|SigCgt' | tr -d '\\t\\n'"),
        );
        assert_eq!(signals, "SigBlk:0000000000000000SigIgn:0000000000000000SigCgt:0000000000000000");
    });
}

#[test]
fn there_is_no_terminal_and_the_group_is_its_own() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        // Field 7 is the terminal.
        assert_eq!(stdout_of(server, command("cut -d' ' -f7 /proc/$$/stat")), "0");
        assert_eq!(
            stdout_of(server, command("[ -t 0 ] || [ -t 1 ] || { : </dev/tty; } 2>/dev/null || echo none")),
            "none"
        );
        assert_eq!(stdout_of(server, command("[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo own")), "own");
    });
}

#[test]
fn variables_that_hold_the_token_are_kept_from_commands_and_others_are_not() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let file = folder.outside("token");
    std::fs::write(&file, TOKEN).expect("a token");
    let token = format!("--auth-token-file={}", file.display());
    let mut server = crate::support::command(&folder, "stdio", &[FLAGS, &[token.as_str()]].concat());
    server
        .env("EDITOR_TOKEN", TOKEN)
        .env("EDITOR_HEADER", format!("Bearer {TOKEN}"))
        .env("EDITOR_OTHER", "kept");
    let server = Stdio::run(server).ready();
    assert_eq!(stdout_of(&server, command("env | grep EDITOR_")), "EDITOR_OTHER=kept");
}

#[test]
fn the_umask_is_that_of_the_server() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = Stdio::run(with_umask(&crate::support::command(&folder, "stdio", FLAGS), "027")).ready();
    assert_eq!(stdout_of(&server, command("umask")), "0027");
}

#[test]
fn the_command_line_of_its_processes_holds_no_token() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = http(&folder, &[]);
    assert_eq!(
        stdout_of(&server, command("tr '\\0' ' ' < /proc/$PPID/cmdline")),
        "file-editor --supervise-one-command "
    );
    let held = format!("tr '\\0' '\\n' < /proc/$PPID/environ | grep -c {TOKEN} || true");
    assert_eq!(stdout_of(&server, command(&held)), "0");
}
