//! Files that are swapped for links and FIFOs while they are read and edited (contract 8): no answer shows what lies outside.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, Mode};
use serde_json::json;

use super::interfaces::{folder, outside};
use crate::support::{Direct, Http, Stdio, read_call, while_others};

/// Makes `f` a file, a link that leads outside, a link inside, or a FIFO, in turn.
fn swap(path: &Path, turn: usize) {
    let next = path.join(".next");
    let target = path.join("f");
    match turn % 5 {
        0 => std::fs::write(&next, "inside\n").expect("a file"),
        1 => std::os::unix::fs::symlink("../secret", &next).expect("a link"),
        2 => std::os::unix::fs::symlink("sub/../../secret", &next).expect("a link"),
        3 => std::os::unix::fs::symlink("real", &next).expect("a link"),
        _ => rustix::fs::mkfifoat(CWD, &next, Mode::from_raw_mode(0o666)).expect("a FIFO"),
    }
    std::fs::rename(&next, &target).expect("renamed");
    // The directory in the path of a link is a link itself for a moment.
    if turn.is_multiple_of(7) {
        let (sub, aside) = (path.join("sub"), path.join(".aside"));
        std::fs::rename(&sub, &aside).expect("renamed");
        std::os::unix::fs::symlink("..", &sub).expect("a link");
        std::fs::remove_file(&sub).expect("removed");
        std::fs::rename(&aside, &sub).expect("renamed");
    }
}

#[test]
fn a_file_swapped_for_links_and_fifos_during_100000_operations_never_leads_out() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    const READS: usize = 100_000;
    const EDITS: usize = 2_000;
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    std::fs::write(folder.path().join("sub/secret"), "inside\n").expect("a file");
    folder.write("real", "inside\n");
    folder.write("f", "inside\n");
    folder.link("through", "sub/secret");
    let before = outside(&folder);
    let server = Stdio::start(&folder, &["--sync=none"]);
    let http = Http::start(&folder, &["--sync=none"]);
    let read = |name| read_call(1, name);
    let reads = format!("{}\n{}\n", read("f"), read("through")).repeat(250);
    let turns = AtomicUsize::new(0);
    let (mut shown, mut denied) = (0, 0);
    let same = json!([{ "line": 0, "operation": "replace", "content": "edited inside" }]);
    while_others(
        || swap(folder.path(), turns.fetch_add(1, Ordering::Relaxed)),
        || {
            for round in 0..READS / 500 {
                server.send_raw(reads.as_bytes());
                for _ in 0..500 {
                    let line = server.recv_line();
                    assert!(!line.contains("the secret"), "{line}");
                    shown += usize::from(line.contains("inside"));
                    denied += usize::from(line.contains("Permission denied"));
                }
                for n in 0..EDITS / (READS / 500) {
                    let name = if (round + n) % 2 == 0 { "f" } else { "through" };
                    let answer = http.call("edit_file", json!({ "name": name, "edits": [{ "line": 1, "operation": "replace", "content": same[0]["content"] }] }));
                    assert!(!format!("{answer:?}").contains("the secret"));
                }
            }
        },
    );
    let turns = turns.into_inner();
    println!("{READS} reads and {EDITS} edits during {turns} swaps: {shown} shown, {denied} denied");
    assert!(turns > 1_000 && shown > 1_000 && denied > 1_000, "{turns} {shown} {denied}");
    assert!(before == outside(&folder), "something outside was changed");
    assert!(folder.names().iter().all(|name| !name.starts_with(".file-editor-tmp-")), "{:?}", folder.names());
}
