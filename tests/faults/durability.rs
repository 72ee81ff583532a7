//! The system calls of the server and their order, from a trace. With `--sync=full` an edit is on the disk before its
//! answer (contract 2, 8). A small read does not wait on the thread that reads requests. A loss of power: the unit tests of
//! `engine/workspace`.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Call, Folder, Mcp, Stdio, append_call, calls, command, traced};

const FLUSHES: [&str; 7] =
    ["fdatasync", "fsync", "sync", "syncfs", "sync_file_range", "sync_file_range2", "msync"];
const RENAMES: [&str; 4] = ["rename", "renameat", "renameat2", "linkat"];
const WRITES: [&str; 12] = [
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "copy_file_range",
    "sendfile",
    "splice",
    "fallocate",
    "ftruncate",
    "fchmod",
    "utimensat",
];

/// A folder with a small file, a mapped file, and a link into a folder below it.
fn filled() -> Folder {
    let folder = Folder::new();
    folder.write("small", "a\n");
    folder.write("large", "some words in a line\n".repeat(50_000));
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    std::fs::write(folder.path().join("sub/deep"), "a\n").expect("a file");
    folder.link("link", "sub/deep");
    folder
}

/// The calls of a server that carries out an edit, with the text `the answer to …` in each answer.
fn trace_of_edits(folder: &Folder, sync: &str) -> Option<Vec<Call>> {
    let names = [&FLUSHES[..], &RENAMES[..], &WRITES[..], &["openat", "open", "openat2"]].concat();
    // Some architectures lack some of these calls.
    let names: Vec<String> = names.iter().map(|name| format!("?{name}")).collect();
    let trace = folder.outside("trace");
    let server = Stdio::run(traced(&command(folder, "stdio", &[sync]), &names.join(","), &trace)?);
    for name in ["small", "large", "link", "new"] {
        let id = format!("the answer to {name}");
        server.send(&append_call(&id, name, "b"));
        assert_eq!(server.answer_to(&json!(id))["result"]["isError"], false);
    }
    assert!(server.close().success());
    Some(calls(&trace))
}

/// The paths that the arguments of a rename name: from, to.
fn paths_of(rename: &Call) -> (PathBuf, PathBuf) {
    let mut parts = rename.arguments.splitn(5, '"');
    let mut next = || {
        let folder = parts.next().expect("a folder").rsplit_once('<').expect("a path").1;
        let folder = folder.split_once('>').expect("its end").0;
        Path::new(folder).join(parts.next().expect("a name"))
    };
    (next(), next())
}

fn is_of(call: &Call, path: &Path) -> bool {
    call.arguments.contains(&format!("<{}>", path.display()))
}

#[track_caller]
fn only<'c>(calls: &'c [Call], what: &str, wanted: impl Fn(&&Call) -> bool) -> &'c Call {
    let found: Vec<&Call> = calls.iter().filter(wanted).collect();
    assert_eq!(found.len(), 1, "{what}: {found:?} of {calls:#?}");
    found[0]
}

#[test]
fn an_edit_is_flushed_put_in_place_and_its_folder_flushed_before_it_is_answered() {
    not_under_wine!("reads the system calls of Linux with strace");
    let folder = filled();
    let Some(calls) = trace_of_edits(&folder, "--sync=full") else { return };
    for (name, path) in [("small", "small"), ("large", "large"), ("link", "sub/deep"), ("new", "new")] {
        let path = folder.path().join(path);
        let succeeded = |call: &Call| call.result.starts_with('0');
        let renamed = only(&calls, name, |call| {
            call.is_one_of(&RENAMES) && succeeded(call) && paths_of(call).1 == path
        });
        let (temporary, _) = paths_of(renamed);
        let flushed = only(&calls, name, |call| call.is_one_of(&FLUSHES[..2]) && is_of(call, &temporary));
        let writes: Vec<&Call> =
            calls.iter().filter(|call| call.is_one_of(&WRITES) && is_of(call, &temporary)).collect();
        assert!(
            !writes.is_empty() && writes.iter().all(|write| write.was_before(flushed)),
            "{name}: {writes:?}"
        );
        assert!(succeeded(flushed) && flushed.was_before(renamed), "{name}: {flushed:?} {renamed:?}");
        let answer = only(&calls, name, |call| {
            call.is_one_of(&WRITES[..2]) && call.arguments.contains(&format!("the answer to {name}"))
        });
        let parent = path.parent().expect("a folder");
        let settled = only(&calls, name, |call| {
            call.name == "fsync" && is_of(call, parent) && renamed.was_before(call) && call.was_before(answer)
        });
        assert!(succeeded(settled), "{name}: {settled:?}");
    }
}

#[test]
fn without_durability_nothing_is_flushed() {
    not_under_wine!("reads the system calls of Linux with strace");
    let folder = filled();
    let Some(calls) = trace_of_edits(&folder, "--sync=none") else { return };
    let flushes: Vec<&Call> = calls.iter().filter(|call| call.is_one_of(&FLUSHES)).collect();
    assert!(flushes.is_empty(), "{flushes:?}");
    assert!(!calls.iter().any(|call| call.arguments.contains("SYNC")), "{calls:?}");
    assert_eq!(calls.iter().filter(|call| call.is_one_of(&RENAMES)).count(), 4, "{calls:?}");
}

#[test]
fn a_small_read_takes_only_what_is_in_memory_where_it_would_hold_up_other_requests() {
    not_under_wine!("reads the system calls of Linux with strace");
    let folder = Folder::new();
    folder.write("f", "a\n");
    let trace = folder.outside("trace");
    let names = "?preadv2,?pread64,?preadv,?read,?readv,?mmap";
    let Some(command) = traced(&command(&folder, "stdio", &[]), names, &trace) else { return };
    let server = Stdio::run(command);
    for _ in 0..20 {
        assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
    }
    assert!(server.close().success());
    let calls = calls(&trace);
    let reader = &only(&calls, "a read of requests", |call| {
        call.name == "read" && call.arguments.starts_with("0<") && call.result == "0"
    })
    .thread;
    let of_file: Vec<&Call> = calls.iter().filter(|call| is_of(call, &folder.path().join("f"))).collect();
    let waits: Vec<&&Call> = of_file
        .iter()
        .filter(|call| call.thread == *reader && !call.arguments.contains("RWF_NOWAIT"))
        .collect();
    assert!(!of_file.is_empty() && waits.is_empty(), "{waits:?}");
}
