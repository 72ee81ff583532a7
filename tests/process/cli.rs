//! The command line (contract 2): every flag with its range, what it says on error, and what a start says.

use serde_json::json;

use crate::support::{
    Direct, Ended, Folder, Http, Mcp, Stdio, as_nobody, bare_command, command, named, output,
    run_command_to_end, run_to_end,
};

/// Exit code 1, nothing on stdout, and one line on stderr that names `part`.
#[track_caller]
pub(super) fn check_refused(ended: &Ended, part: &str) {
    let Ended { code, stdout, stderr } = ended;
    assert_eq!((*code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "not one line: {stderr}");
    assert!(stderr.contains(part) && stderr.ends_with('\n'), "{part} is not named: {stderr}");
    assert!(20 < stderr.len(), "says too little: {stderr}");
}

/// Both transports refuse this flag, and the line on stderr names `part`.
#[track_caller]
fn check_flag_refused(flag: &str, part: &str) {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for transport in ["stdio", "http"] {
        let transport = format!("--transport={transport}");
        // Port 0, so that a server that starts by mistake takes no fixed port. The flag under test is given once.
        let name = flag.split_inclusive('=').next().expect("a name");
        let usual = [dir.as_str(), &transport, "--port=0"];
        let mut arguments: Vec<&str> = usual.into_iter().filter(|usual| !usual.starts_with(name)).collect();
        arguments.push(flag);
        check_refused(&run_to_end(&arguments), part);
    }
    assert_eq!(folder.names(), [""; 0]);
}

/// A server starts with these flags and answers.
#[track_caller]
fn check_starts(flags: &[&str]) {
    let folder = Folder::new();
    let server = Stdio::start(&folder, flags);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}), "{flags:?}");
    assert_eq!(server.close().code(), Some(0), "{flags:?}");
}

#[test]
fn the_folder_is_required() {
    let line = run_to_end(&[]).stderr;
    assert!(line.contains("file-editor <folder>") && line.contains("--dir=<folder>"), "{line}");
    check_refused(&run_to_end(&[]), "--dir");
    check_refused(&run_to_end(&["--transport=stdio"]), "--dir");
    check_refused(&run_to_end(&["--dir="]), "--dir");
}

#[test]
fn the_folder_must_exist_and_be_a_directory() {
    let folder = Folder::new();
    folder.write("file", "");
    for transport in ["--transport=stdio", "--transport=http"] {
        for path in [folder.path().join("missing"), folder.path().join("file"), folder.path().join("file/x")]
        {
            let dir = format!("--dir={}", path.display());
            check_refused(&run_to_end(&[&dir, transport, "--port=0"]), "--dir");
        }
    }
}

#[test]
fn the_folder_must_be_writable_unless_the_server_only_reads() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    folder.write("f", "a\n");
    let as_nobody = |transport, flags: &[&str]| as_nobody(command(&folder, transport, flags), &folder);
    folder.set_own_mode(0o555);
    check_refused(&run_command_to_end(as_nobody("stdio", &[])), "--dir");
    check_refused(&run_command_to_end(as_nobody("http", &["--port=0"])), "--dir");
    let server = Stdio::run(as_nobody("stdio", &["--read-only"]));
    assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
    let server = Http::run(as_nobody("http", &["--read-only", "--port=0"]));
    assert_eq!(server.direct("read_file", json!({ "name": "f" }))["content"], "a");
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn values_out_of_range_are_refused_by_the_name_of_their_flag() {
    for flag in [
        "--transport=tcp",
        "--transport=",
        "--transport=STDIN",
        "--host=localhost.example",
        "--host=999.0.0.1",
        "--port=80",
        "--port=1023",
        "--port=65536",
        "--port=-1",
        "--port=x",
        "--port=",
        "--port=1",
        "--port=8080.5",
        "--max-size=0",
        "--max-size=101",
        "--max-size=-1",
        "--max-size=1.5",
        "--max-size=ten",
        "--max-size=",
        "--timeout=0",
        "--timeout=301",
        "--timeout=-1",
        "--timeout=1s",
        "--timeout=",
        "--tools=nothing",
        "--tools=list_files,x",
        "--tools=",
        "--tools=all",
        "--tools=lines,",
        "--tools=exact.read_file",
        "--line-base=2",
        "--line-base=",
        "--names=all",
        "--names=",
        "--sync=some",
        "--sync=",
        "--rate-limit=x",
        "--rate-limit=0",
        "--rate-limit=-1",
        "--rate-limit=10,x",
        "--rate-limit=1,2,3",
        "--max-in-flight=0",
        "--max-in-flight=4097",
        "--max-in-flight=x",
        "--log-level=loud",
        "--log-format=xml",
    ] {
        check_flag_refused(flag, flag.split_once('=').expect("a flag with a value").0);
    }
}

#[test]
fn unknown_flags_and_stray_arguments_are_refused_by_their_name() {
    for flag in ["--no-such-flag", "--max-sized=5", "stray", "-x"] {
        check_flag_refused(flag, flag.split('=').next().expect("a name"));
    }
    check_flag_refused("--read-only=maybe", "--read-only");
}

#[test]
fn a_flag_given_without_a_value_is_refused_by_its_name() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for flag in ["--port", "--max-size", "--timeout", "--tools", "--log-level", "--host", "--auth-token-file"]
    {
        check_refused(&run_to_end(&[&dir, flag]), flag);
    }
}

#[test]
fn both_ends_of_every_range_are_taken() {
    for flags in [
        ["--max-size=1", "--timeout=1"],
        ["--max-size=100", "--timeout=300"],
        ["--port=1024", "--max-in-flight=1"],
        ["--port=65535", "--max-in-flight=4096"],
        ["--sync=none", "--names=any"],
        ["--sync=full", "--names=portable"],
        ["--rate-limit=100,1000", "--tools=lines,exact"],
        ["--rate-limit=5", "--tools=lines.read_file,list_files,exact.file_edit"],
        ["--line-base=0", "--tools=exact"],
        ["--line-base=1", "--tools=exact,lines"],
        ["--structured", "--read-only"],
        ["--log-level=error", "--log-format=text"],
        ["--log-level=warn", "--log-format=json"],
        ["--log-level=info", "--log-format=json"],
        ["--log-level=debug", "--log-format=text"],
        ["--log-level=trace", "--log-format=json"],
        ["--host=127.0.0.1", "--allow-remote"],
    ] {
        check_starts(&flags);
    }
}

#[test]
fn a_flag_and_its_value_may_be_two_arguments() {
    let folder = Folder::new();
    let path = folder.path().display().to_string();
    let mut command = bare_command();
    command.args(["--transport", "stdio", "--dir", &path, "--max-size", "5"]);
    assert_eq!(Stdio::run(command).request("ping", json!({}))["result"], json!({}));
}

#[test]
fn help_and_version_exit_0() {
    let help = run_to_end(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    for flag in [
        "--dir",
        "--transport",
        "--host",
        "--allow-remote",
        "--auth-token-file",
        "--port",
        "--max-size",
        "--timeout",
        "--tools",
        "--line-base",
        "--names",
        "--read-only",
        "--sync",
        "--structured",
        "--rate-limit",
        "--max-in-flight",
        "--log-level",
        "--log-format",
    ] {
        assert!(help.stdout.contains(flag), "{flag} is not in the help: {}", help.stdout);
    }
    for default in ["8080", "127.0.0.1", "lines", "portable", "128"] {
        assert!(help.stdout.contains(default), "the default {default} is not in the help: {}", help.stdout);
    }
    let version = run_to_end(&["--version"]);
    assert_eq!((version.code, version.stderr.as_str()), (Some(0), ""));
    assert!(version.stdout.contains(env!("CARGO_PKG_VERSION")), "{}", version.stdout);
}

#[test]
fn what_cannot_be_printed_is_one_line_and_exit_code_1() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for flag in ["--help", "--version", "--print-config=zed", "--doctor"] {
        let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
            return println!("SKIPPED: there is no device that is full");
        };
        let mut print = bare_command();
        print.args([&dir, "--read-only", flag]).stdout(full).stdin(std::process::Stdio::null());
        let ended = output(print.stderr(std::process::Stdio::piped()));
        let stderr = String::from_utf8(ended.stderr).expect("UTF-8");
        assert_eq!((ended.status.code(), stderr.lines().count()), (Some(1), 1), "{flag}: {stderr}");
        assert!(stderr.contains("cannot write to stdout: "), "{flag}: {stderr}");
    }
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let folder = Folder::new();
    let ended = run_command_to_end(command(&folder, "http", &[&format!("--port={port}")]));
    check_refused(&ended, "--port");
    assert!(ended.stderr.contains(&port.to_string()), "{}", ended.stderr);
}

#[test]
fn the_port_is_8080_unless_another_is_given_and_the_transport_http() {
    // Taken here or by another program.
    let _taken = std::net::TcpListener::bind("127.0.0.1:8080");
    let folder = Folder::new();
    let ended = run_to_end(&[&format!("--dir={}", folder.path().display())]);
    check_refused(&ended, "8080");
}

#[test]
fn an_address_that_is_not_loopback_needs_a_flag_and_gives_a_warning() {
    for host in ["--host=0.0.0.0", "--host=::", "--host=192.0.2.1"] {
        let folder = Folder::new();
        let ended = run_command_to_end(command(&folder, "http", &[host, "--port=0"]));
        check_refused(&ended, "--allow-remote");
    }
    let folder = Folder::new();
    let server = Http::start(&folder, &["--host=0.0.0.0", "--allow-remote"]);
    assert!(server.direct("list_files", json!({}))["total_count"] == 0);
    let (_, log) = server.terminate_with_output();
    assert!(log.contains("authentication"), "{log}");

    std::fs::write(folder.outside("token"), "secret-token").expect("a token file");
    let token = format!("--auth-token-file={}", folder.outside("token").display());
    let server = Http::start(&folder, &["--host=0.0.0.0", "--allow-remote", &token]);
    let (_, log) = server.terminate_with_output();
    assert!(!log.contains("no authentication"), "{log}");
}

#[test]
fn of_several_folders_those_that_are_missing_are_left_out_with_a_warning() {
    let (one, two) = (Folder::new(), Folder::new());
    one.write("a", "one\n");
    two.write("b", "two\n");
    let missing = one.outside("missing").display().to_string();
    let paths = [&one, &two].map(|folder| folder.path().display().to_string());
    let start = |arguments: &[&str]| {
        let mut command = bare_command();
        command.args(arguments);
        Stdio::run(command)
    };
    let dirs = [&paths[0], &missing, &paths[1]].map(|path| format!("--dir={path}"));
    for (arguments, reader, lister) in [
        (vec![paths[0].as_str(), &missing, &paths[1]], "read", "files"),
        (
            vec![&dirs[0], &dirs[1], &dirs[2], "--transport=stdio", "--tools=filesystem"],
            "read_text_file",
            "list_allowed_directories",
        ),
    ] {
        let server = start(&arguments);
        let line = server.wait_for_stderr("is left out");
        assert!(line.contains(&missing), "{line}");
        assert_eq!(server.ok(reader, json!({ "path": "a" })), "one\n");
        assert_eq!(server.ok(reader, json!({ "path": "b" })), "two\n");
        let listed = server.ok(lister, json!({}));
        assert!(listed.contains(&named(two.path())) && !listed.contains("missing"), "{listed}");
    }
    check_refused(&run_to_end(&[&missing, &(missing.clone() + "2")]), "missing");
    let doctor = run_to_end(&[&paths[0], &missing, "--doctor"]);
    assert!(doctor.code == Some(0) && doctor.stdout.contains("warning "), "{}", doctor.stdout);
    assert!(doctor.stdout.contains(&format!("{missing}: folder: is missing")), "{}", doctor.stdout);
}

#[test]
fn a_file_given_as_a_folder_is_said_to_be_one_and_its_folder_is_named() {
    let folder = Folder::new();
    folder.write("f", "");
    let (top, file) = (folder.path().display().to_string(), folder.path().join("f").display().to_string());
    let told = format!("a file; give its folder, --dir={top}");
    let refused = run_to_end(&[&file]);
    assert!(refused.code != Some(0) && refused.stderr.contains(&told), "{}", refused.stderr);
    let mut command = bare_command();
    command.args([&top, &file]);
    let line = Stdio::run(command).wait_for_stderr("is left out");
    assert!(line.contains(&told), "{line}");
    let doctor = run_to_end(&[&top, &file, "--doctor"]);
    assert!(doctor.stdout.contains(&format!("give its folder, --dir={top}")), "{}", doctor.stdout);
}

#[test]
fn a_tilde_before_a_folder_is_the_home_of_the_user() {
    not_under_wine!("gives the home folder by its path on this machine");
    let folder = Folder::new();
    folder.write("f", "in the home\n");
    let home = folder.path().parent().expect("a folder above").to_owned();
    let name = folder.path().file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let run = |argument: &str| {
        let mut command = bare_command();
        command.env("HOME", &home).current_dir(&home).arg(argument);
        command
    };
    let tools = ["--transport=stdio", "--tools=filesystem"];
    for argument in [format!("~/{name}"), format!("--dir=~/{name}")] {
        let mut command = run(&argument);
        command.args(tools);
        let server = Stdio::run(command).ready();
        assert_eq!(server.ok("read_text_file", json!({ "path": "f" })), "in the home\n");
    }
    let mut doctor = run("~");
    doctor.arg("--doctor");
    let ended = run_command_to_end(doctor);
    assert!(ended.stdout.contains(&format!("{}: folder: exists", home.display())), "{}", ended.stdout);
    let mut print = run(&format!("--dir=~/{name}"));
    print.arg("--print-config=zed");
    let ended = run_command_to_end(print);
    assert!(ended.stdout.contains(&format!("--dir={}", folder.path().display())), "{}", ended.stdout);
    // A folder that is called so goes first.
    std::fs::create_dir_all(home.join("~").join(&name)).expect("folders");
    std::fs::write(home.join("~").join(&name).join("f"), "literal\n").expect("a file");
    let mut command = run(&format!("--dir=~/{name}"));
    command.args(tools);
    let server = Stdio::run(command).ready();
    assert_eq!(server.ok("read_text_file", json!({ "path": "f" })), "literal\n");
}
