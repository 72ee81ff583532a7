//! Links into file systems that are mounted below the folder (contract 8): edits through them, and the removal of what a crash
//! leaves there.
//!
//! A test that may not mount says so and ends.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Folder, Mcp, Moment, Mount, PATIENCE, Random, Stdio, append_call, on_both};

/// A mount on `sub` in the folder, with the file `deep` in it and the link `link` to that.
struct Below<'f> {
    folder: &'f Folder,
    _mount: Mount,
}

impl Below<'_> {
    /// Another file system, or a directory from outside the folder on the same one.
    fn each(folder: &Folder, mut test: impl FnMut(&Below)) {
        let sub = folder.path().join("sub");
        let other = folder.outside("other");
        for dir in [&sub, &other] {
            std::fs::create_dir(dir).expect("a directory");
        }
        folder.link("link", "sub/deep");
        for bind in [false, true] {
            let mount = if bind { Mount::bind(&other, &sub) } else { Mount::at(&sub, "size=64m,mode=755") };
            let Some(mount) = mount else { return };
            let below = Below { folder, _mount: mount };
            below.write("deep", "a\n");
            test(&below);
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("sub").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file")
    }

    fn names(&self) -> Vec<String> {
        names(&self.folder.path().join("sub"))
    }
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<String> = std::fs::read_dir(dir).expect("a directory").map(name).collect();
    names.sort();
    names
}

#[test]
fn a_file_below_a_mount_is_edited_whole_through_a_link() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both(|server, folder| {
        Below::each(folder, |below| {
            for round in 1..=3 {
                server.ok("edit_file", json!({ "name": "link", "append": "b" }));
                assert_eq!(below.text("deep"), format!("a\n{}", "b\n".repeat(round)));
            }
            let read = server.ok("read_file", json!({ "name": "link" }));
            assert_eq!(read, "File: link (4 lines)\n\na\nb\nb\nb");
            assert_eq!(
                (below.names(), folder.names()),
                (vec!["deep".into()], vec!["link".into(), "sub".into()])
            );
        });
    });
}

#[test]
fn what_a_crash_left_below_a_mount_is_gone_after_the_next_edit_there_and_work_of_the_living_is_not() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    Below::each(&folder, |below| {
        let left = ".file-editor-tmp-0123456789abcdef";
        let alive = ".file-editor-tmp-fedcba9876543210";
        below.write(left, "left by a killed server");
        below.write(alive, "of a running server");
        let living = std::fs::File::open(below.path(alive)).expect("the file");
        fs4::FileExt::lock(&living).expect("the lock");
        let server = Stdio::start(&folder, &[]);
        server.ok("read_file", json!({ "name": "link" }));
        assert_eq!(below.names(), [left, alive, "deep"], "a read changes nothing");
        server.ok("edit_file", json!({ "name": "link", "append": "b" }));
        assert_eq!(below.names(), [alive, "deep"]);
    });
}

#[test]
fn a_server_killed_in_an_edit_below_a_mount_leaves_nothing_there_that_the_next_edit_does_not_clear() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    let mut random = Random::new();
    Below::each(&folder, |below| {
        let body = "a line of text that is one of many\n".repeat(200_000);
        let (mut left, mut moment) = (0, Moment::within(20_000));
        for round in 0..200 {
            below.write("deep", &body);
            let killed = Stdio::start(&folder, &[]).ready();
            killed.send(&append_call(1, "link", "end"));
            moment.wait(&mut random);
            killed.signal(Signal::KILL);
            killed.wait(PATIENCE);
            let text = below.text("deep");
            assert!(text == body || text == format!("{body}end\n"), "round {round}: half a file");
            if text == body {
                moment.was_early()
            } else {
                moment.was_late()
            }
            assert_eq!(folder.names(), ["link", "sub"], "no leftover outside the mount");
            if below.names().len() == 1 {
                continue;
            }
            left += 1;
            Stdio::start(&folder, &[]).ok("edit_file", json!({ "name": "link", "append": "again" }));
            assert_eq!(below.names(), ["deep"]);
            if left == 3 {
                return;
            }
        }
        panic!("no edit was killed in the middle");
    });
}

#[test]
fn a_mount_point_that_cannot_be_moved_or_deleted_is_called_one() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("above")).expect("a directory");
    Below::each(&folder, |below| {
        let server = Stdio::start(below.folder, &["--tools=filesystem"]).ready();
        for (tool, arguments) in [
            ("move_file", json!({ "source": "sub", "destination": "moved" })),
            ("delete_file", json!({ "path": "sub" })),
            ("delete_file", json!({ "path": "sub", "recursive": true })),
        ] {
            let refused = server.refused(tool, arguments.clone());
            assert!(refused.contains("it is a mount point"), "{tool} {arguments}: {refused}");
        }
        assert_eq!(below.text("deep"), "a\n");
    });
}
