//! An edit gives no user more permissions on the file (contract 8): ACLs of files and folders, owner, group, the bits of the
//! mode, extended attributes.
//!
//! A test that needs ACLs or root, and has none, says so and ends.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use serde_json::json;

use crate::support::{Folder, Mcp, Stdio, as_nobody, command, with_umask};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;
const NO_ID: u32 = u32::MAX;

/// A user that is neither the owner of a file nor in its group.
const FRIEND: u32 = 4242;
const NOBODY: u32 = 65534;

type Entries<'e> = &'e [(u16, u16, u32)];

/// The value of an ACL's extended attribute: version 2, then tag, permissions and id of each entry.
fn acl(entries: Entries) -> Vec<u8> {
    let entry = |&(tag, permissions, id): &(u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [2_u32.to_le_bytes().to_vec(), entries.iter().flat_map(entry).collect()].concat()
}

/// False, and a message, where the file system has no ACLs.
fn set_acl(path: &Path, kind: &str, entries: Entries) -> bool {
    match rustix::fs::setxattr(path, kind, &acl(entries), XattrFlags::empty()) {
        Ok(()) => true,
        Err(Errno::NOTSUP) => {
            println!("SKIPPED: no ACLs at {}", path.display());
            false
        }
        Err(errno) => panic!("{}: {errno}", path.display()),
    }
}

fn xattr(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(64 * 1024);
    match rustix::fs::getxattr(path, name, rustix::buffer::spare_capacity(&mut value)) {
        Ok(_) => Some(value),
        Err(Errno::NODATA | Errno::NOTSUP) => None,
        Err(errno) => panic!("{}: {errno}", path.display()),
    }
}

/// The permissions of a file: mode, owner, group, ACL.
fn rights(path: &Path) -> (u32, u32, u32, Option<Vec<u8>>) {
    let meta = path.metadata().expect("a file");
    (meta.mode() & 0o7777, meta.uid(), meta.gid(), xattr(path, ACCESS))
}

/// Runs `test` in a folder of the user that runs the tests, and in one of `nobody` if that user is root.
fn as_each_user(test: impl Fn(&Folder, User)) {
    test(&Folder::new(), User::Same);
    if rustix::process::geteuid().is_root() {
        test(&Folder::new(), User::Nobody);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum User {
    Same,
    Nobody,
}

impl User {
    /// The server on a folder. The folder and its content are given to the user.
    fn server(self, folder: &Folder) -> Command {
        let command = command(folder, "stdio", &[]);
        if self == User::Nobody { as_nobody(command, folder) } else { command }
    }
}

fn append(server: &Stdio, name: &str) {
    server.ok("edit_file", json!({ "name": name, "append": "x" }));
}

/// The friend may do everything with new files of the folder.
const OPEN_TO_A_FRIEND: Entries<'static> = &[
    (USER_OBJ, 7, NO_ID),
    (USER, 7, FRIEND),
    (GROUP_OBJ, 7, NO_ID),
    (GROUP, 7, FRIEND),
    (MASK, 7, NO_ID),
    (OTHER, 7, NO_ID),
];

#[test]
fn a_default_acl_of_the_folder_gives_no_user_more_permissions_on_an_edited_file() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    as_each_user(|folder, user| {
        for (name, mode) in [("private", 0o640), ("shared", 0o664), ("own", 0o600)] {
            folder.write(name, "a\n");
            folder.set_mode(name, mode);
        }
        if !set_acl(folder.path(), DEFAULT, OPEN_TO_A_FRIEND) {
            return;
        }
        let server = Stdio::run(user.server(folder));
        for name in ["private", "shared", "own"] {
            let path = folder.path().join(name);
            let before = rights(&path);
            assert_eq!(before.3, None, "the file was there before the folder's ACL");
            append(&server, name);
            assert_eq!(rights(&path), before, "{name}");
        }
    });
}

#[test]
fn a_file_keeps_its_own_acl_to_the_letter_whatever_the_folder_has() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    as_each_user(|folder, user| {
        let acls: [Entries; 2] = [
            &[
                (USER_OBJ, 6, NO_ID),
                (USER, 4, FRIEND),
                (USER, 0, FRIEND + 1),
                (GROUP_OBJ, 0, NO_ID),
                (MASK, 6, NO_ID),
                (OTHER, 0, NO_ID),
            ],
            &[(USER_OBJ, 6, NO_ID), (GROUP_OBJ, 6, NO_ID), (MASK, 4, NO_ID), (OTHER, 4, NO_ID)],
        ];
        let names = ["named", "masked"];
        for (name, entries) in names.into_iter().zip(acls) {
            folder.write(name, "a\n");
            if !set_acl(&folder.path().join(name), ACCESS, entries) {
                return;
            }
        }
        let server = Stdio::run(user.server(folder));
        for default in [None, Some(OPEN_TO_A_FRIEND)] {
            if let Some(entries) = default {
                set_acl(folder.path(), DEFAULT, entries);
            }
            for (name, entries) in names.into_iter().zip(acls) {
                let path = folder.path().join(name);
                let before = rights(&path);
                assert_eq!(before.3, Some(acl(entries)));
                append(&server, name);
                assert_eq!(rights(&path), before, "{name}");
            }
        }
    });
}

#[test]
fn a_new_file_has_the_rights_that_open_gives_it_there() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    let defaults: [Entries; 5] = [
        &[],
        OPEN_TO_A_FRIEND,
        &[
            (USER_OBJ, 7, NO_ID),
            (USER, 4, FRIEND),
            (GROUP_OBJ, 5, NO_ID),
            (MASK, 5, NO_ID),
            (OTHER, 0, NO_ID),
        ],
        &[(USER_OBJ, 7, NO_ID), (GROUP_OBJ, 7, NO_ID), (OTHER, 2, NO_ID)],
        &[(USER_OBJ, 4, NO_ID), (GROUP_OBJ, 7, NO_ID), (MASK, 3, NO_ID), (OTHER, 7, NO_ID)],
    ];
    for (nth, default) in defaults.into_iter().enumerate() {
        for umask in ["000", "022", "077"] {
            as_each_user(|folder, user| {
                let server = user.server(folder);
                if nth > 0 && !set_acl(folder.path(), DEFAULT, default) {
                    return;
                }
                // The shell opens with 0666, as the same user.
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(format!("umask {umask}; : > by-open")).current_dir(folder.path());
                if user == User::Nobody {
                    shell.uid(NOBODY).gid(NOBODY);
                }
                assert!(shell.status().expect("a shell").success());
                let mut server = with_umask(&server, umask);
                if user == User::Nobody {
                    server.uid(NOBODY).gid(NOBODY);
                }
                append(&Stdio::run(server), "by-server");
                let by = |name: &str| rights(&folder.path().join(name));
                assert_eq!(by("by-server"), by("by-open"), "default ACL {nth}, umask {umask}");
            });
        }
    }
}

/// The owner, the group and the mode of a file after an edit by a server of `nobody`.
fn edited_by_nobody(owner: u32, group: u32, mode: u32) -> (u32, u32, u32) {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let command = as_nobody(command(&folder, "stdio", &[]), &folder);
    chown(folder.path().join("f"), Some(owner), Some(group)).expect("a file given away");
    folder.set_mode("f", mode);
    append(&Stdio::run(command), "f");
    let (mode, owner, group, acl) = rights(&folder.path().join("f"));
    assert_eq!(acl, None);
    (owner, group, mode)
}

#[test]
fn where_owner_or_group_cannot_be_kept_the_mode_gives_no_user_more_permissions() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let (own, foreign) = (NOBODY, FRIEND);
    for (owner, group, before, after) in [
        // Owner and group are kept, and with them all bits.
        (own, own, 0o640, 0o640),
        (own, own, 0o6750, 0o6750),
        // The server's group gets only what the old group and all others had.
        (own, foreign, 0o640, 0o600),
        (own, foreign, 0o664, 0o644),
        (own, foreign, 0o666, 0o666),
        (own, foreign, 0o2755, 0o755),
        (own, foreign, 0o6777, 0o777),
        // A member of the old group, now one of the others, gets no more than before.
        (own, foreign, 0o604, 0o600),
        (own, foreign, 0o646, 0o644),
        // Nor does the old owner.
        (foreign, own, 0o466, 0o444),
        (foreign, own, 0o6777, 0o777),
        (foreign, foreign, 0o666, 0o666),
        (foreign, foreign, 0o4666, 0o666),
        (foreign, foreign, 0o2646, 0o644),
    ] {
        let what = format!("{owner}:{group} {before:o}");
        let group_after = own;
        assert_eq!(edited_by_nobody(owner, group, before), (own, group_after, after), "{what}");
    }
}

#[test]
fn where_the_group_cannot_be_kept_an_acl_gives_no_user_more_permissions() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let folder = Folder::new();
    folder.write("f", "a\n");
    let command = as_nobody(command(&folder, "stdio", &[]), &folder);
    let path = folder.path().join("f");
    chown(&path, None, Some(FRIEND)).expect("a file given away");
    // The server's group has no permission by name; the file's group may read, all others may write.
    let before: Entries = &[
        (USER_OBJ, 6, NO_ID),
        (USER, 6, FRIEND),
        (GROUP_OBJ, 4, NO_ID),
        (GROUP, 0, NOBODY),
        (MASK, 6, NO_ID),
        (OTHER, 6, NO_ID),
    ];
    if !set_acl(&path, ACCESS, before) {
        return;
    }
    append(&Stdio::run(command), "f");
    // The server's group is the file's group now and must not get more: it has no permission. The old group is one of the
    // others.
    let after: Entries = &[
        (USER_OBJ, 6, NO_ID),
        (USER, 6, FRIEND),
        (GROUP_OBJ, 0, NO_ID),
        (GROUP, 0, NOBODY),
        (MASK, 6, NO_ID),
        (OTHER, 4, NO_ID),
    ];
    assert_eq!(rights(&path), (0o664, NOBODY, NOBODY, Some(acl(after))));
}

#[test]
fn root_keeps_owner_group_bits_and_acl_of_a_file_of_another_user() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let folder = Folder::new();
    let path = folder.path().join("f");
    folder.write("f", "a\n");
    chown(&path, Some(FRIEND), Some(FRIEND + 1)).expect("a file given away");
    folder.set_mode("f", 0o6754);
    let entries: Entries = &[
        (USER_OBJ, 7, NO_ID),
        (USER, 6, NOBODY),
        (GROUP_OBJ, 5, NO_ID),
        (MASK, 7, NO_ID),
        (OTHER, 4, NO_ID),
    ];
    let with_acl = set_acl(&path, ACCESS, entries) && set_acl(folder.path(), DEFAULT, OPEN_TO_A_FRIEND);
    let before = rights(&path);
    assert_eq!(before.0, if with_acl { 0o6774 } else { 0o6754 });
    append(&Stdio::start(&folder, &[]), "f");
    assert_eq!(rights(&path), before);
}
