//! Links in trees: those that stay inside are followed, at most 40, others lead nowhere (contract 8, 12).

use serde_json::json;

use super::{SET, make, on_all, outcome, put, serve, tree};
use crate::support::{Folder, Mcp, Stdio, command, with_injected};

fn linked(folder: &Folder) {
    put(folder, "real/f.txt", "inside\n");
    make(folder, "away");
    folder.link("to-file", "real/f.txt");
    folder.link("to-folder", "real");
    folder.link("away/up", "../real/f.txt");
    folder.link("absolute", folder.path().join("real/f.txt"));
    folder.link("outside", "../secret");
    folder.link("outside-folder", "..");
    folder.link("out-and-in", "../folder/real/f.txt");
    folder.link("dangling", "nothing");
    folder.link("itself", "itself");
    folder.link("ring-a", "ring-b/x");
    folder.link("ring-b", "ring-a/x");
    folder.link("0", "real/f.txt");
    (1..=41).for_each(|n| folder.link(&n.to_string(), (n - 1).to_string()));
    std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
}

/// Checks which links a server follows.
fn follows_what_stays_inside(server: &dyn Mcp, folder: &Folder) {
    let before = tree(folder.path());
    for path in ["to-file", "to-folder/f.txt", "away/up", "0", "38", "39"] {
        let read = outcome(server, "read_text_file", &json!({ "path": path }));
        assert_eq!(read, (false, "inside\n".into()), "{path}");
    }
    let listed = outcome(server, "list_directory", &json!({ "path": "to-folder" }));
    assert_eq!(listed, (false, "[FILE] f.txt".into()));
    // `39` is followed through 40 links, `40` through 41.
    let refused = [
        "absolute",
        "outside",
        "outside-folder/secret",
        "out-and-in",
        "dangling",
        "itself",
        "ring-a",
        "40",
        "41",
    ];
    for path in refused {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("get_file_info", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit_file", json!({ "path": path, "edits": [{ "oldText": "s", "newText": "x" }] })),
            ("create_directory", json!({ "path": format!("{path}/new") })),
            ("move_file", json!({ "source": "real/f.txt", "destination": format!("{path}/new") })),
            ("copy_file", json!({ "source": path, "destination": "copied" })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error && !text.contains("secret\n"), "{tool} {arguments}: {text}");
        }
    }
    // An absolute link leads to the same from everywhere.
    for path in refused.into_iter().filter(|path| *path != "absolute") {
        let arguments = json!({ "source": path, "destination": "real/moved" });
        let (is_error, text) = outcome(server, "move_file", &arguments);
        assert!(is_error && !text.contains("secret\n"), "{path}: {text}");
    }
    assert!(tree(folder.path()) == before, "something was changed");
    assert_eq!(std::fs::read(folder.outside("secret")).expect("a file"), b"secret\n");
}

#[test]
fn links_that_stay_inside_are_followed_and_all_others_refused() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&[], linked, follows_what_stays_inside);
}

#[test]
fn the_same_links_are_followed_where_the_kernel_has_no_openat2() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    linked(&folder);
    let command = command(&folder, "stdio", &[SET]);
    let Some(server) = with_injected(&command, "openat2:error=ENOSYS").map(Stdio::run) else { return };
    follows_what_stays_inside(&server.ready(), &folder);
}

#[test]
fn a_change_through_a_link_changes_what_it_leads_to_and_keeps_the_link() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&[], linked, |server, folder| {
        server.ok("write_file", json!({ "path": "to-file", "content": "new\n" }));
        server.ok(
            "edit_file",
            json!({ "path": "away/up", "edits": [{ "oldText": "new", "newText": "newer" }] }),
        );
        server.ok("write_file", json!({ "path": "to-folder/g.txt", "content": "g\n" }));
        assert_eq!((folder.text("real/f.txt"), folder.text("real/g.txt")), ("newer\n".into(), "g\n".into()));
        assert!(folder.path().join("to-file").is_symlink() && folder.path().join("away/up").is_symlink());
    });
}

#[test]
fn a_move_and_a_delete_take_the_link_itself() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&[], linked, |server, folder| {
        let leads_to = |link: &str| std::fs::read_link(folder.path().join(link)).expect("a link");
        for (source, destination) in [
            ("to-file", "renamed"),
            ("to-folder", "renamed-folder"),
            ("away/up", "real/up"),
            ("dangling", "renamed-dangling"),
            ("outside", "renamed-outside"),
            ("absolute", "away/absolute"),
        ] {
            let target = leads_to(source);
            server.ok("move_file", json!({ "source": source, "destination": destination }));
            assert_eq!(leads_to(destination), target, "{source}");
            assert!(!folder.path().join(source).is_symlink(), "{source}");
        }
        assert_eq!(server.ok("read_text_file", json!({ "path": "real/up" })), "inside\n");
        for link in
            ["renamed", "renamed-outside", "outside-folder", "renamed-dangling", "itself", "renamed-folder"]
        {
            server.ok("delete_file", json!({ "path": link, "recursive": true }));
            assert!(!folder.path().join(link).is_symlink(), "{link}");
        }
        assert_eq!(folder.text("real/f.txt"), "inside\n");
        assert_eq!(std::fs::read(folder.outside("secret")).expect("a file"), b"secret\n");
    });
}

#[test]
fn a_link_is_not_moved_to_where_it_would_lead_elsewhere() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&[], linked, |server, folder| {
        put(folder, "away/real/f.txt", "another\n");
        let before = tree(folder.path());
        for (source, destination) in [
            ("to-file", "away/to-file"),
            ("to-folder", "away/to-folder"),
            ("away/up", "up"),
            ("dangling", "away/dangling"),
            ("outside", "away/outside"),
        ] {
            let (is_error, text) =
                outcome(server, "move_file", &json!({ "source": source, "destination": destination }));
            assert!(is_error && text.contains(&format!("'{source}' is a link")), "{source}: {text}");
        }
        assert!(tree(folder.path()) == before, "something was changed");
    });
}

#[test]
fn a_walk_enters_no_link_and_a_recursive_delete_leaves_what_links_lead_to() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    linked(&folder);
    folder.link("away/loop", "..");
    folder.link("away/out", "../..");
    let server = serve(&folder, &[]);
    let (_, listed) = outcome(&server, "list_directory", &json!({ "path": ".", "depth": 50 }));
    assert!(
        !listed.contains("loop/") && !listed.contains("secret") && !listed.contains("to-folder/"),
        "{listed}"
    );
    let (_, found) = outcome(&server, "search_files", &json!({ "path": ".", "pattern": "**/f.txt" }));
    let file = folder.path().join("real/f.txt");
    assert_eq!(found, format!("{}\n[Not entered: 2 links to folders]", file.display()));
    server.ok("delete_file", json!({ "path": "away", "recursive": true }));
    assert_eq!(folder.text("real/f.txt"), "inside\n");
    assert_eq!(std::fs::read(folder.outside("secret")).expect("a file"), b"secret\n");
}

#[test]
fn a_link_in_a_subfolder_is_deleted_itself_also_if_it_dangles() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    put(&folder, "sub/f.txt", "text\n");
    for (link, target) in [("sub/l", "f.txt"), ("sub/dangling", "nothing")] {
        std::os::unix::fs::symlink(target, folder.path().join(link)).expect("a link");
    }
    let server = serve(&folder, &[]);
    for link in ["sub/l", "sub/dangling"] {
        server.ok("delete_file", json!({ "path": link }));
    }
    assert_eq!(tree(folder.path()).keys().map(String::as_str).collect::<Vec<_>>(), ["sub", "sub/f.txt"]);
}

#[test]
fn a_search_for_names_tells_the_links_to_folders_that_it_did_not_enter() {
    let folder = Folder::new();
    put(&folder, "a/x.txt", "x\n");
    folder.link("to-a", "a");
    folder.link("to-x", "a/x.txt");
    folder.link("to-none", "none");
    let server = serve(&folder, &[]);
    let search = |pattern: &str| server.ok("search_files", json!({ "path": ".", "pattern": pattern }));
    let told = "\n[Not entered: 1 link to a folder]";
    assert!(search("**/x.txt").ends_with(&format!("/a/x.txt{told}")), "{}", search("**/x.txt"));
    assert!(search("to-a/x.txt").starts_with(&format!("No matches found{told}")), "{}", search("to-a/x.txt"));
    for pattern in ["a/*", "to-*", "*.txt"] {
        assert!(
            !search(pattern).contains("Not entered"),
            "nothing below it could match: {}",
            search(pattern)
        );
    }
    let excluded = json!({ "path": ".", "pattern": "**/x.txt", "excludePatterns": ["to-a"] });
    assert!(!server.ok("search_files", excluded).contains("Not entered"));
    std::fs::remove_file(folder.path().join("to-a")).expect("removed");
    assert!(!search("**/x.txt").contains("Not entered"), "{}", search("**/x.txt"));
}
