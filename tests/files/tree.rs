//! list_files where names are paths: the whole tree (contract 12).

use serde_json::json;

use crate::support::{Folder, Mcp, direct_on_both_with, on_both_with};

fn write(folder: &Folder, path: &str, text: &str) {
    let whole = folder.path().join(path);
    std::fs::create_dir_all(whole.parent().expect("a folder")).expect("the folder made");
    std::fs::write(whole, text).expect("a file written");
}

fn tree(folder: &Folder) {
    for (path, text) in [
        ("a/b/c.txt", "1\n2\n"),
        ("a.txt", "1\n"),
        ("a/x", "1\n2\n3\n"),
        ("a-b/y", ""),
        ("a b/ü", "1"),
        (".hidden/z", "1\n"),
        ("a/.hidden", "1\n"),
        (".git/config", "1\n"),
        ("secret/key", "1\n"),
    ] {
        write(folder, path, text);
    }
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    std::fs::write(folder.outside("outside"), "1\n").expect("a file written");
    folder.link("a/link", "b/c.txt");
    folder.link("a/out", "../../outside");
    folder.link("a/to-key", "../secret/key");
    folder.link("to-folder", "a");
    write(folder, "a/tab\there", "1\n");
}

/// The names and line counts, and the lines behind them.
fn listed(server: &dyn Mcp, arguments: serde_json::Value) -> (Vec<(String, i64)>, String) {
    let text = server.ok("list_files", arguments);
    let (files, rest) = text.split_once("\n\nTotal files: ").expect("a total");
    let lines = files.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("name: ")?.split_once(", modified: ")?;
        Some((name.to_owned(), rest.rsplit_once("lines: ")?.1.parse().expect("a number")))
    });
    (lines.collect(), rest.to_owned())
}

const ALL: [(&str, i64); 6] =
    [("a b/ü", 1), ("a-b/y", 0), ("a.txt", 1), ("a/b/c.txt", 2), ("a/link", 2), ("a/x", 3)];

fn owned(files: &[(&str, i64)]) -> Vec<(String, i64)> {
    files.iter().map(|(name, lines)| ((*name).to_owned(), *lines)).collect()
}

const FLAGS: [&str; 2] = ["--names=paths", "--exclude=secret/"];

#[test]
fn the_whole_tree_is_listed_in_byte_order_of_the_paths() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both_with(&FLAGS, tree, |server, _| {
        let (files, rest) = listed(server, json!({}));
        assert_eq!(files, owned(&ALL));
        assert_eq!(rest, "6\nNot listed: 1 (name not usable)");
        for (name, _) in ALL {
            server.ok("read_file", json!({ "name": name }));
        }
    });
}

#[test]
fn pages_of_the_tree_make_up_the_whole() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both_with(&FLAGS, tree, |server, _| {
        for limit in 1..=7 {
            let (mut all, mut next) = (Vec::new(), json!({ "limit": limit }));
            loop {
                let (files, rest) = listed(server, next);
                assert!(files.len() <= limit);
                all.extend(files);
                let Some((_, call)) = rest.split_once("Go on with list_files ") else { break };
                next = serde_json::from_str(call.trim_end_matches(']')).expect("arguments");
            }
            assert_eq!(all, owned(&ALL), "{limit}");
        }
        for after in ["", "a", "a ", "a b/ü", "a-b", "a.txt", "a/", "a/b", "a/b/c.txt", "a/b/d", "a0", "b"] {
            let wanted: Vec<_> = ALL.into_iter().filter(|(name, _)| *name > after).collect();
            assert_eq!(listed(server, json!({ "after": after })).0, owned(&wanted), "{after}");
        }
    });
}

#[test]
fn a_new_file_in_a_new_folder_is_listed_and_excluded_ones_never() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both_with(&FLAGS, tree, |server, folder| {
        server.ok("edit_file", json!({ "name": "new/deep/file", "append": "x\ny" }));
        assert!(listed(server, json!({})).0.contains(&("new/deep/file".to_owned(), 2)));
        std::fs::rename(folder.path().join("new"), folder.path().join("secret/new")).expect("moved");
        assert_eq!(listed(server, json!({})).0, owned(&ALL));
    });
    on_both_with(
        &["--exclude=*.key"],
        |folder| folder.write("a.key", "x"),
        |server, folder| {
            folder.write("b", "x");
            folder.link("link", "a.key");
            assert_eq!(listed(server, json!({})), (owned(&[("b", 1)]), "1".to_owned()));
        },
    );
}

#[test]
fn programs_get_the_tree_too() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    direct_on_both_with(&FLAGS, tree, |server, _| {
        let list = server.direct("list_files", json!({ "after": "a/b" }));
        let names: Vec<_> =
            list["files"].as_array().expect("files").iter().map(|file| &file["name"]).collect();
        assert_eq!(names, [&json!("a/b/c.txt"), &json!("a/link"), &json!("a/x")]);
        assert_eq!(list["files"][0]["size"], json!(4));
    });
}

#[test]
fn resources_are_the_files_of_the_tree() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both_with(&FLAGS, tree, |server, _| {
        let list = server.rpc("resources/list", json!({}));
        let resources = list["result"]["resources"].as_array().expect("resources").clone();
        let names: Vec<_> =
            resources.iter().map(|resource| resource["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ALL.map(|(name, _)| name));
        let read = server.rpc("resources/read", json!({ "uri": resources[3]["uri"] }));
        assert_eq!(read["result"]["contents"][0]["text"], "1\n2\n", "{read}");
    });
}

#[test]
fn a_walk_of_the_tree_removes_what_a_dead_server_left_in_a_folder() {
    for (flag, stays) in [("--read-only", true), ("--sync=full", false)] {
        on_both_with(&["--names=paths", flag], tree, |server, folder| {
            // The start looks only into the served folder itself.
            let left = "a/b/.file-editor-tmp-0123456789abcdef";
            write(folder, left, "half");
            assert!(!server.ok("list_files", json!({})).contains("tmp"));
            assert_eq!(folder.path().join(left).exists(), stays, "{flag}");
        });
    }
}
