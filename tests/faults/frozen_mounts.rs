//! A file system that does not answer, as one that another machine serves: calls for it end in their time, and harm no others.

use serde_json::{Value, json};

use crate::support::{Bindfs, Folder, Http, Mcp, get, run_to_end, until};

/// A server of two folders: the first behind a file system in user space, the second on the disk. Both hold `f`.
fn start(flags: &[&str]) -> Option<(Folder, Folder, Bindfs, Http)> {
    let (shared, own) = (Folder::new(), Folder::new());
    let source = Bindfs::source(&shared, "shared\n");
    own.write("f", "own\n");
    let mount = Bindfs::with_options(&shared, &source, "attr_timeout=0,entry_timeout=0")?;
    let dir = format!("--dir={}", own.path().display());
    let server = Http::start(&shared, &[&[&dir, "--tools=filesystem", "--admin-port=0"], flags].concat());
    Some((shared, own, mount, server))
}

fn read(folder: &Folder) -> Value {
    json!({ "path": folder.path().join("f") })
}

/// The status of the server's health.
fn health(server: &Http) -> u16 {
    get(server.admin_port(), "/healthz").status
}

#[test]
fn many_calls_for_a_folder_that_does_not_answer_leave_the_others_alone() {
    let flags = ["--timeout=2", "--max-in-flight=60"];
    let Some((shared, own, mount, server)) = start(&flags) else { return };
    server.ok("read_text_file", read(&shared));
    mount.freeze();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| server.refused("read_text_file", read(&shared)));
            }
        });
    }
    assert_eq!(server.ok("read_text_file", read(&own)), "own\n");
    let edits = json!([{ "oldText": "own", "newText": "changed" }]);
    server.ok("edit_file", json!({ "path": own.path().join("f"), "edits": edits }));
    mount.thaw();
    until("the folder is served again", || {
        let answer =
            server.request("tools/call", json!({ "name": "read_text_file", "arguments": read(&shared) }));
        answer["result"]["isError"] != json!(true)
    });
}

#[test]
fn a_server_whose_folder_does_not_answer_says_that_it_is_not_healthy_until_it_does() {
    let Some((shared, _own, mut mount, server)) = start(&["--timeout=2"]) else { return };
    assert_eq!(health(&server), 200);
    mount.freeze();
    until("a probe has waited too long", || health(&server) == 503);
    mount.thaw();
    until("the folder answers again", || health(&server) == 200);
    mount.kill();
    until("the mount is dead", || health(&server) == 503);
    drop(shared);
}

#[test]
fn a_start_and_the_doctor_say_that_a_folder_does_not_answer() {
    let Some((shared, _own, mount, server)) = start(&[]) else { return };
    drop(server);
    mount.freeze();
    let dir = format!("--dir={}", shared.path().display());
    std::thread::scope(|scope| {
        let doctor = scope.spawn(|| run_to_end(&[&dir, "--doctor"]));
        let started = run_to_end(&[&dir]);
        let line = "cannot be used: its file system does not answer";
        assert!(started.stderr.contains(line) && started.code == Some(1), "{}", started.stderr);
        let doctor = doctor.join().expect("the doctor ends");
        assert!(
            doctor.stdout.contains("its file system does not answer") && doctor.code == Some(1),
            "{}",
            doctor.stdout
        );
        // What does not need the folder is checked nonetheless, and the folder not once more.
        let failed = doctor.stdout.lines().filter(|line| line.starts_with("failed ")).count();
        assert!(failed == 1 && doctor.stdout.contains("server: transport: "), "{}", doctor.stdout);
    });
    mount.thaw();
}
