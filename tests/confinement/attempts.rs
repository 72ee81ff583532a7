//! Every known way out of the folder, on every tool and every interface (contract 8). The plain cases are in links.rs.

use std::os::unix::fs::MetadataExt;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::json;

use super::interfaces::{Doors, SECRET, check_all_refused, folder, refusal};
use crate::support::{Direct, Mcp, Stdio, bare_command, named};

#[test]
fn links_out_of_the_folder_are_refused_by_every_tool_on_every_interface() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    folder.write("real", "inside\n");
    let descriptor = std::fs::File::open(folder.outside("secret")).expect("a file");
    let by_descriptor =
        format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&descriptor));
    let absolute = folder.outside("secret");
    let canonical = folder.path().join("real");
    let long = format!("{}real", "sub/../".repeat(500));
    let links: Vec<(&str, &str)> = vec![
        ("relative", "../secret"),
        ("deep", "sub/../../secret"),
        ("many-dots", "../../../../../../../../../../../../etc/passwd"),
        ("sibling", "../folder-other/secret"),
        ("sibling2", "../folder2/secret"),
        ("back", "../folder/real"),
        ("absolute", absolute.to_str().expect("UTF-8")),
        ("absolute-inside", canonical.to_str().expect("UTF-8")),
        ("descriptor", &by_descriptor),
        ("self-descriptor", "/proc/self/fd/0"),
        ("self-cwd", "/proc/self/cwd/real"),
        ("self-root", "/proc/self/root/etc/passwd"),
        ("standard-input", "/dev/stdin"),
        ("chained", "chained-2"),
        ("chained-2", "chained-3"),
        ("chained-3", "relative"),
        ("door", ".."),
        ("through-door", "door/secret"),
        ("through-door-back", "door/folder/real"),
        ("double-slash", "//etc/passwd"),
        ("dangling", "nowhere"),
        ("dangling-deep", "sub/nowhere"),
        ("dangling-out", "../nowhere"),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("loop-through", "loop/real"),
        ("file-as-directory", "real/"),
        ("file-and-dot", "real/."),
        ("file-and-up", "real/../real"),
        ("to-directory", "sub"),
        ("itself", "."),
        ("too-many-steps-that-lead-nowhere", "sub/../none/../real"),
    ];
    for (name, target) in &links {
        folder.link(name, target);
    }
    folder.link("long-but-inside", &long);
    let doors = Doors::open(&folder, &["--tools=lines,exact"]);
    check_all_refused(&folder, &doors, &links.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for list in doors.all_lists() {
        for (name, _) in &links {
            assert!(
                !list.contains(&format!("name: {name},")) && !list.contains(&format!("\"{name}\"")),
                "{list}"
            );
        }
    }
    assert_eq!(
        doors.stdio.ok("read_file", json!({ "name": "long-but-inside" })),
        "File: long-but-inside (1 lines)\n\ninside"
    );
}

#[test]
fn names_that_are_paths_in_any_disguise_are_refused_by_every_tool_on_every_interface() {
    let folder = folder();
    folder.write("real", "inside\n");
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    std::fs::write(folder.path().join("sub/secret"), SECRET).expect("a file");
    let absolute = named(&folder.outside("secret"));
    let by_folder = format!("{}/../secret", named(folder.path()));
    let sibling = format!("{}-other/secret", named(folder.path()));
    let names = [
        "../secret",
        "..",
        ".",
        "",
        "/",
        "//",
        "./",
        "./..",
        "./../secret",
        "././../secret",
        "sub/secret",
        "./sub/secret",
        "sub/../../secret",
        "real/../../secret",
        "..\\secret",
        "..\0/secret",
        "../secret\0",
        "real\0",
        "real\0/../../secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..%2fsecret",
        "..%5csecret",
        "%252e%252e%252fsecret",
        "..%c0%afsecret",
        "\u{2025}/secret",
        "\u{ff0e}\u{ff0e}\u{ff0f}secret",
        "..\u{2215}secret",
        "..\u{2044}secret",
        "....//secret",
        "..;/secret",
        "~/secret",
        "~root",
        "$HOME",
        "real\n",
        "real\r",
        "real/",
        " real",
        "C:\\secret",
        "C:secret",
        "\\\\host\\secret",
        "file:///etc/passwd",
        "real:stream",
        ".file-editor-tmp-0123456789abcdef",
        &absolute,
        &by_folder,
        &sibling,
        &"../".repeat(80),
        &"n".repeat(256),
        &"n".repeat(100_000),
    ];
    let doors = Doors::open(&folder, &["--tools=lines,exact"]);
    check_all_refused(&folder, &doors, &names);
    // With --names=any a name is still one component of a path.
    let doors = Doors::open(&folder, &["--tools=lines,exact", "--names=any", "--read-only"]);
    for name in names.iter().filter(|name| !name.contains('%')) {
        for server in [&doors.stdio as &dyn Mcp, &doors.http] {
            let answer =
                server.rpc("tools/call", json!({ "name": "read_file", "arguments": { "name": name } }));
            let text = refusal(&answer, "read_file", name);
            assert!(!text.contains("the secret"), "{text}");
        }
    }
}

#[test]
fn resources_in_any_disguise_stay_in_the_folder() {
    let folder = folder();
    folder.write("real", "inside\n");
    let absolute = named(&folder.outside("secret"));
    let inside = named(folder.path());
    let uris = [
        format!("file://{absolute}"),
        format!("file://{inside}/../secret"),
        format!("file://{inside}/%2e%2e/secret"),
        format!("file://{inside}/%2E%2E%2Fsecret"),
        format!("file://{inside}/..%2fsecret"),
        format!("file://{inside}/%252e%252e%252fsecret"),
        format!("file://{inside}-other/secret"),
        format!("file://{inside}2/secret"),
        format!("file://{inside}/real%00"),
        format!("file://{inside}/real/"),
        format!("file://{inside}/./../folder2/secret"),
        format!("file://elsewhere{inside}/real"),
        format!("http://localhost{inside}/real"),
        format!("{inside}/../secret"),
        "file:///etc/passwd".into(),
        "file:///../secret".into(),
        "file:../secret".into(),
        "file://".into(),
        "../secret".into(),
        String::new(),
    ];
    let doors = Doors::open(&folder, &[]);
    for server in [&doors.stdio as &dyn Mcp, &doors.http] {
        for uri in &uris {
            let answer = server.rpc("resources/read", json!({ "uri": uri }));
            assert!(answer.get("error").is_some(), "{uri}: {answer}");
            assert!(!answer.to_string().contains("the secret"), "{uri}: {answer}");
        }
    }
}

#[test]
fn special_files_are_refused_at_once_by_every_tool_on_every_interface() {
    let folder = folder();
    let mut names = vec!["directory", "fifo", "socket", "to-fifo", "to-directory"];
    std::fs::create_dir(folder.path().join("directory")).expect("a directory");
    folder.fifo("fifo");
    folder.link("to-fifo", "fifo");
    folder.link("to-directory", "directory");
    let _socket =
        std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket bound");
    // Devices whose open would block or have an effect.
    for (name, kind, device) in [
        ("null", FileType::CharacterDevice, (1, 3)),
        ("zero", FileType::CharacterDevice, (1, 5)),
        ("console", FileType::CharacterDevice, (5, 1)),
        ("disk", FileType::BlockDevice, (240, 0)),
    ] {
        let device = rustix::fs::makedev(device.0, device.1);
        let path = folder.path().join(name);
        match rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device) {
            Ok(()) => names.push(name),
            Err(errno) => println!("skipped: no device {name} can be made here ({errno})"),
        }
    }
    let doors = Doors::open(&folder, &["--tools=lines,exact", "--timeout=5"]);
    check_all_refused(&folder, &doors, &names);
    for list in doors.all_lists() {
        assert!(names.iter().all(|name| !list.contains(&format!("{name},"))), "{list}");
    }
}

#[test]
fn an_edit_severs_a_hard_link_so_that_the_file_outside_stays_as_it_is() {
    let folder = folder();
    folder.write("inside", "one\n");
    std::fs::hard_link(folder.path().join("inside"), folder.path().join("twin")).expect("a hard link");
    std::fs::hard_link(folder.outside("secret"), folder.path().join("hard")).expect("a hard link");
    let doors = Doors::open(&folder, &["--tools=lines,exact"]);
    // A hard link is a file of the folder: no name of a file is its first one.
    assert_eq!(
        doors.stdio.ok("read_file", json!({ "name": "hard" })),
        "File: hard (1 lines)\n\nthe secret outside"
    );
    doors.stdio.ok("edit_file", json!({ "name": "hard", "append": "changed" }));
    assert_eq!(folder.text("hard"), format!("{SECRET}changed\n"));
    assert_eq!(std::fs::read_to_string(folder.outside("secret")).expect("the file"), SECRET);
    doors.http.direct("edit_file", json!({ "name": "twin", "append": "two" }));
    assert_eq!((folder.text("inside"), folder.text("twin")), ("one\n".into(), "one\ntwo\n".into()));
    assert_eq!(std::fs::metadata(folder.path().join("inside")).expect("the file").nlink(), 1);
    // An edit that changes nothing writes nothing, and severs nothing.
    std::fs::hard_link(folder.path().join("inside"), folder.path().join("again")).expect("a hard link");
    let same = json!([{ "line": 0, "operation": "replace", "content": "one" }]);
    doors.stdio.ok("edit_file", json!({ "name": "again", "edits": same }));
    assert_eq!(std::fs::metadata(folder.path().join("inside")).expect("the file").nlink(), 2);
}

#[test]
fn a_folder_given_as_a_link_is_served_as_what_the_link_meant_at_the_start() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    folder.write("f", "inside\n");
    folder.link("up", "../secret");
    folder.link("round", "../folder/f");
    let link = folder.outside("link-to-folder");
    std::os::unix::fs::symlink("folder", &link).expect("a link");
    let mut command = bare_command();
    command.arg(format!("--dir={}", link.display())).arg("--transport=stdio");
    let server = Stdio::run(command);
    assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\ninside");
    for name in ["up", "round"] {
        let error = server.refused("read_file", json!({ "name": name }));
        assert_eq!(error, format!("Error: Permission denied accessing '{name}'"));
    }
    let listed = server.direct("list_files", json!({}));
    assert_eq!(listed["directory"], json!(folder.path()));
    // The link gets another target: nothing is served until it is switched back.
    let switch = |target: &str| {
        std::fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink(target, &link).expect("a link");
    };
    switch("outside");
    for (tool, arguments) in
        [("edit_file", json!({ "name": "f", "append": "more" })), ("read_file", json!({ "name": "secret" }))]
    {
        assert_eq!(server.refused(tool, arguments), "Error: Cannot access working directory", "{tool}");
    }
    assert_eq!(folder.text("f"), "inside\n");
    switch("folder");
    server.ok("edit_file", json!({ "name": "f", "append": "more" }));
    assert_eq!(folder.text("f"), "inside\nmore\n");
}
