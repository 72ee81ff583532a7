//! `--doctor` (contract 17), and file systems whose locks hold on this machine only.

use std::process::Command;

use serde_json::json;

use crate::support::{
    Ended, Folder, Http, Mount, ON_WINDOWS, Stdio, bare_command, command, run_command_to_end, run_to_end,
    with_descriptors, with_injected,
};

/// The lines about one thing, without their folder.
fn lines<'o>(stdout: &'o str, what: &str) -> Vec<&'o str> {
    stdout.lines().filter(|line| line.contains(&format!(": {what}: "))).collect()
}

#[test]
fn a_folder_on_a_disk_is_well_and_nothing_remains_in_it() {
    not_under_wine!("looks for what the kernel of Linux offers");
    let folder = Folder::new();
    folder.write("a.txt", "text\n");
    let before = folder.snapshot();
    let Ended { code, stdout, stderr } = run_command_to_end(command(&folder, "stdio", &["--doctor"]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    for what in [
        "folder",
        "file system",
        "leftovers",
        "exclusive creation",
        "read after write",
        "rename",
        "no-replace rename",
        "locks",
        "times",
        "flush",
        "descriptors",
        "memory",
        "folders",
        "transport",
        "tools",
    ] {
        assert_eq!(lines(&stdout, what).len(), 1, "{what}: {stdout}");
    }
    assert!(lines(&stdout, "kernel").iter().any(|line| line.contains("openat2")), "{stdout}");
    assert!(
        lines(&stdout, "locks")[0].starts_with("ok ") && lines(&stdout, "tools")[0].contains("read_file")
    );
    assert!(stdout.ends_with(" 0 failed\n"), "{stdout}");
    assert_eq!(folder.snapshot(), before);
}

#[test]
fn a_read_only_folder_is_not_written_and_each_folder_is_checked() {
    let (one, other) = (Folder::new(), Folder::new());
    one.write(".file-editor-tmp-0123456789abcdef", "left");
    let before = one.snapshot();
    let paths = [one.path(), other.path()].map(|path| path.display().to_string());
    let Ended { code, stdout, .. } = run_to_end(&[&paths[0], &paths[1], "--read-only", "--doctor"]);
    assert_eq!(code, Some(0), "{stdout}");
    assert!(lines(&stdout, "locks").is_empty() && lines(&stdout, "flush").is_empty(), "{stdout}");
    let leftovers = lines(&stdout, "leftovers");
    assert!(leftovers[0].starts_with("warning ") && leftovers[0].contains("1 temporary"), "{leftovers:?}");
    assert!(leftovers[1].starts_with("ok ") && lines(&stdout, "folder").len() == 2, "{stdout}");
    assert_eq!(one.snapshot(), before);
}

#[test]
fn what_cannot_be_served_fails() {
    let folder = Folder::new();
    folder.write("file", "");
    for (arguments, part) in [
        (vec![format!("{}/missing", folder.path().display())], "folder: cannot be opened"),
        (vec![format!("{}/file", folder.path().display())], "folder: cannot be opened"),
        (vec![folder.path().display().to_string(), "--tools=exec".into()], "tools: --tools"),
        (
            [
                vec![folder.path().display().to_string()],
                vec![format!("--exclude={}", "?".repeat(120_000)); 4],
            ]
            .concat(),
            "command line: --exclude",
        ),
        (
            vec![folder.path().display().to_string(), "--auth-token-file=missing".into()],
            "token: --auth-token-file=missing",
        ),
    ] {
        // A command line of Windows has at most 32,767 characters.
        if *ON_WINDOWS && arguments.concat().len() > 32_000 {
            continue;
        }
        let mut doctor = bare_command();
        doctor.arg("--doctor").args(&arguments);
        let Ended { code, stdout, .. } = run_command_to_end(doctor);
        let failed: Vec<&str> = stdout.lines().filter(|line| line.starts_with("failed ")).collect();
        assert_eq!((code, failed.len()), (Some(1), 1), "{stdout}");
        assert!(failed[0].contains(part), "{part}: {stdout}");
    }
}

#[test]
fn the_ports_of_a_server_that_runs_are_a_warning() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--admin-port=0"]);
    let ports = [format!("--port={}", server.port()), format!("--admin-port={}", server.admin_port())];
    let doctor = command(&folder, "http", &[&ports[0], &ports[1], "--doctor"]);
    let Ended { code, stdout, .. } = run_command_to_end(doctor);
    let lines = [lines(&stdout, "transport"), lines(&stdout, "admin port")].concat();
    assert!(code == Some(0) && lines.iter().all(|line| line.starts_with("warning ")), "{stdout}");
    assert_eq!(lines.len(), 2, "{stdout}");
}

/// A start with this flag fails, and so does one check, whose line holds `part`.
fn check_fails(transport: &str, flag: &str, part: &str) {
    let folder = Folder::new();
    let run = |doctor: &[&str]| {
        run_command_to_end(command(
            &folder,
            transport,
            &[&[flag, "--port=0", "--allow-remote"], doctor].concat(),
        ))
    };
    let started = run(&[]);
    assert_eq!(started.code, Some(1), "{}", started.stderr);
    let Ended { code, stdout, stderr, .. } = run(&["--doctor"]);
    let failed: Vec<&str> = stdout.lines().filter(|line| line.starts_with("failed ")).collect();
    assert_eq!((code, failed.len()), (Some(1), 1), "{flag}: {stdout}{stderr}");
    assert!(failed[0].contains(part), "{part}: {stdout}");
}

#[test]
fn ports_that_a_start_cannot_have_fail() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let admin = format!("--admin-port={}", taken.local_addr().expect("an address").port());
    check_fails("stdio", &admin, "admin port: --admin-port");
    check_fails("http", &admin, "admin port: --admin-port");
    // No machine has this address.
    check_fails("http", "--host=192.0.2.1", "transport: cannot listen");
}

#[cfg(feature = "toolkit")]
#[test]
fn templates_that_are_not_there_fail_and_one_that_is_left_out_is_a_warning() {
    let folder = Folder::new();
    folder.write("file", "");
    std::fs::create_dir_all(folder.path().join("templates/broken")).expect("a folder");
    let flag = |name: &str| format!("--templates={}", folder.path().join(name).display());
    check_fails("stdio", &flag("missing"), "templates: --templates");
    check_fails("stdio", &flag("file"), "templates: --templates");
    let ended = run_command_to_end(command(&folder, "stdio", &[&flag("templates"), "--doctor"]));
    let found = lines(&ended.stdout, "templates");
    assert!(ended.code == Some(0) && found[0].starts_with("warning "), "{}", ended.stdout);
    assert!(found[0].contains("broken is left out"), "{found:?}");
}

#[test]
fn too_few_descriptors_for_a_start_fail() {
    not_under_wine!("wine takes no descriptors below a limit");
    let folder = Folder::new();
    let limited = |flags: &[&str]| run_command_to_end(with_descriptors(&command(&folder, "stdio", flags), 8));
    assert_eq!(limited(&["--read-only"]).code, Some(1));
    let Ended { code, stdout, .. } = limited(&["--read-only", "--doctor"]);
    assert!(code == Some(1) && lines(&stdout, "start")[0].contains("ulimit -n"), "{stdout}");
}

#[test]
fn locks_that_keep_nobody_out_are_found() {
    not_under_wine!("has system calls fail or wait with strace");
    let folder = Folder::new();
    // Every lock is granted.
    let doctor = command(&folder, "stdio", &["--doctor"]);
    let Some(doctor) = with_injected(&doctor, "flock:retval=0") else { return };
    let Ended { code, stdout, .. } = run_command_to_end(doctor);
    let locks = lines(&stdout, "locks");
    assert!(code == Some(1) && locks[0].starts_with("failed "), "{stdout}");
    assert!(locks[0].contains("between descriptors and between processes"), "{stdout}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_start_on_an_unknown_file_system_tries_out_its_locks() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    let Some(_mount) = mounted(&folder, folder.path(), "subtype=unknown") else { return };
    // Every lock is granted.
    let start = |flags: &[&str]| with_injected(&command(&folder, "stdio", flags), "flock:retval=0");
    let Some(refused) = start(&[]) else { return };
    let Ended { code, stderr, .. } = run_command_to_end(refused);
    assert_eq!((code, stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("do not hold between") && stderr.contains("--unsafe-locks"), "{stderr}");
    let Some(allowed) = start(&["--unsafe-locks"]) else { return };
    assert!(Stdio::run(allowed).wait_for_stderr("locks: ").contains("do not hold between"));
    assert_eq!(folder.names(), [""; 0]);
    let server = Stdio::start(&folder, &[]).ready();
    assert!(!server.stderr().contains("locks: "), "{}", server.stderr());
}

#[test]
fn a_file_that_can_be_locked_only_when_it_is_open_for_writing_is_edited() {
    let folder = Folder::new();
    folder.write("a.txt", "old\n");
    // As NFS answers the first lock, which is of a file that is open for reading.
    let server = command(&folder, "stdio", &["--tools=exact"]);
    let Some(server) = with_injected(&server, "flock:error=EBADF:when=1") else { return };
    let server = Stdio::run(server);
    let edit = json!({ "path": "a.txt", "edits": [{ "old_text": "old", "new_text": "new" }] });
    let answer = server.request("tools/call", json!({ "name": "file_edit", "arguments": edit }));
    assert_ne!(answer["result"]["isError"], json!(true), "{answer}");
    assert_eq!(folder.text("a.txt"), "new\n");
}

/// A mount in the place of `path` whose type is that of sshfs.
fn like_sshfs(folder: &Folder, path: &std::path::Path) -> Option<Mount> {
    mounted(folder, path, "subtype=sshfs")
}

/// A mount of bindfs with these options in the place of `path`. None, and a message, where that is impossible.
fn mounted(folder: &Folder, path: &std::path::Path, options: &str) -> Option<Mount> {
    let behind = folder.outside("behind");
    std::fs::create_dir_all(&behind).expect("a folder");
    let done = Command::new("bindfs").args(["-o", options]).arg(&behind).arg(path).output();
    match done {
        Ok(done) if done.status.success() => Some(Mount::adopt(path)),
        _ => {
            println!("SKIPPED: there is no bindfs here, or it cannot mount");
            None
        }
    }
}

#[test]
fn a_folder_whose_locks_keep_out_no_other_machine_is_served_only_as_asked() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    let Some(_mount) = like_sshfs(&folder, folder.path()) else { return };
    let Ended { code, stderr, .. } = run_command_to_end(command(&folder, "stdio", &[]));
    assert_eq!((code, stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("--unsafe-locks") && stderr.contains("is lost"), "{stderr}");
    let server = Stdio::start(&folder, &["--read-only"]).ready();
    assert!(!server.stderr().contains(" WARN "), "{}", server.stderr());
    let server = Stdio::start(&folder, &["--unsafe-locks"]);
    let append = json!({ "name": "edit_file", "arguments": { "name": "a.txt", "append": "text" } });
    assert_ne!(server.request("tools/call", append)["result"]["isError"], json!(true));
    assert!(server.wait_for_stderr(" WARN ").contains("fuse.sshfs"));
    for (flags, code, level) in
        [(["--doctor"].as_slice(), 1, "failed"), (&["--doctor", "--unsafe-locks"], 0, "warning")]
    {
        let ended = run_command_to_end(command(&folder, "stdio", flags));
        let system = lines(&ended.stdout, "file system");
        assert!(ended.code == Some(code) && system[0].starts_with(level), "{}", ended.stdout);
    }
}

#[test]
fn a_mount_in_the_tree_whose_locks_keep_out_no_other_machine_is_read_and_not_written() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let Some(_mount) = like_sshfs(&folder, &inner) else { return };
    std::fs::write(folder.outside("behind").join("a.txt"), "old\n").expect("a file");
    // Of an edit on another machine.
    let temporary = folder.outside("behind").join(".file-editor-tmp-0123456789abcdef");
    std::fs::write(&temporary, "new").expect("a file");
    let flags = ["--tools=filesystem"];
    let called = |server: &Stdio, tool: &str, arguments| {
        server.request("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].clone()
    };
    let write = |path| json!({ "path": path, "content": "new\n" });
    let server = Stdio::start(&folder, &flags);
    let warning = server.wait_for_stderr(" WARN ");
    assert!(warning.contains("inner: locks on fuse.sshfs") && warning.contains("no file there is changed"));
    let Ended { code, stdout, .. } = run_command_to_end(command(&folder, "stdio", &["--doctor"]));
    let systems = lines(&stdout, "file system");
    assert!(code == Some(1) && systems.len() == 2 && systems[1].contains("inner is fuse.sshfs"), "{stdout}");
    ["list_directory", "directory_tree"]
        .iter()
        .for_each(|tool| _ = called(&server, tool, json!({ "path": "inner" })));
    assert!(temporary.exists());
    let read = called(&server, "read_text_file", json!({ "path": "inner/a.txt" }));
    assert_eq!(read["content"][0]["text"], "old\n");
    for (tool, arguments) in [
        ("write_file", write("inner/a.txt")),
        ("write_file", write("inner/new.txt")),
        ("create_directory", json!({ "path": "inner/new" })),
        ("delete_file", json!({ "path": "inner/a.txt" })),
        ("move_file", json!({ "source": "inner/a.txt", "destination": "a.txt" })),
    ] {
        let refused = called(&server, tool, arguments);
        let text = refused["content"][0]["text"].as_str().expect("a text");
        assert!(refused["isError"] == json!(true) && text.contains("--unsafe-locks"), "{tool}: {refused}");
    }
    assert_ne!(called(&server, "write_file", write("a.txt"))["isError"], json!(true));
    assert_eq!(std::fs::read_to_string(inner.join("a.txt")).expect("a file"), "old\n");
    let server = Stdio::start(&folder, &["--tools=filesystem", "--unsafe-locks"]);
    assert_ne!(called(&server, "write_file", write("inner/a.txt"))["isError"], json!(true));
}
