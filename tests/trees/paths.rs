//! Spellings of paths, several folders, and the command line with positional folders (contract 12).

use serde_json::{Value, json};

use super::{SET, make, outcome, put, serve, tree};
use crate::support::{
    Direct, Folder, Mcp, ON_WINDOWS, Stdio, as_nobody, bare_command, command, file_uri, named, run_to_end,
};

fn read(server: &dyn Mcp, path: &str) -> (bool, String) {
    outcome(server, "read_text_file", &json!({ "path": path }))
}

/// A server process with these arguments and no other.
fn bare(arguments: &[&str]) -> Stdio {
    let mut bare = bare_command();
    bare.args(arguments);
    Stdio::run(bare).ready()
}

#[test]
fn every_spelling_of_a_path_leads_to_its_file() {
    let folder = Folder::new();
    put(&folder, "sub/b.txt", "b\n");
    let link = folder.outside("given");
    std::os::unix::fs::symlink(folder.path(), &link).expect("a link");
    let (given, canonical) = (named(&link), named(folder.path()));
    let dir = format!("--dir={given}");
    let server = bare(&[&dir, "--transport=stdio", "--tools=filesystem", "--names=paths"]);
    for path in ["sub/b.txt", "./sub/b.txt", "sub//b.txt", "sub/./b.txt", "sub/b.txt/"] {
        assert_eq!(read(&server, path), (false, "b\n".into()), "{path}");
    }
    for folder in [&link, folder.path()] {
        let uri = file_uri(&folder.join("sub/b.txt"));
        let read = server.rpc("resources/read", json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], "b\n", "{read}");
    }
    for base in [&given, &canonical] {
        assert_eq!(read(&server, &format!("{base}/sub/b.txt")), (false, "b\n".into()), "{base}");
        let listed = outcome(&server, "list_directory", &json!({ "path": base }));
        assert_eq!(listed, (false, "[DIR] sub".into()));
        let refused = read(&server, &format!("{base}x/sub/b.txt"));
        assert!(refused.0 && refused.1.starts_with("Error: Invalid filename format"), "{refused:?}");
    }
    let allowed = outcome(&server, "list_allowed_directories", &json!({})).1;
    assert!(allowed.contains(&canonical), "{allowed}");
}

#[test]
fn a_path_that_could_lead_out_is_refused_with_the_way_to_write_it() {
    let folder = Folder::new();
    put(&folder, "sub/b.txt", "b\n");
    std::fs::write(folder.outside("secret"), "secret").expect("a file");
    let server = serve(&folder, &[]);
    let temporary = ".file-editor-tmp-0123456789abcdef";
    put(&folder, &format!("sub/{temporary}"), "ours\n");
    let (long, many, name) = ("x/".repeat(2_049), ["a"; 256].join("/"), "x".repeat(256));
    for (path, hint) in [
        ("../secret", "'..'"),
        ("sub/../../secret", "'..'"),
        ("sub/../sub/b.txt", "'..'"),
        (&format!("{}/../secret", named(folder.path())), "'..'"),
        ("/etc/passwd", "served folders"),
        (&named(&folder.outside("secret")), "served folders"),
        (&long, "4096 bytes"),
        (&many, "255 components"),
        (&name, ""),
        ("a\0b", ""),
        ("a\nb", ""),
        (temporary, ""),
        (&format!("sub/{temporary}"), ""),
    ] {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("get_file_info", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("search_files", json!({ "path": path, "pattern": "*" })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("create_directory", json!({ "path": path })),
            ("delete_file", json!({ "path": path, "recursive": true })),
            ("move_file", json!({ "source": path, "destination": "moved" })),
            ("move_file", json!({ "source": "sub/b.txt", "destination": path })),
            ("copy_file", json!({ "source": path, "destination": "copied" })),
            ("copy_file", json!({ "source": "sub/b.txt", "destination": path })),
        ] {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(
                is_error && text.starts_with("Error: Invalid filename format"),
                "{tool} {path:.60}: {text}"
            );
            assert!(text.contains(hint), "{tool} {path:.60}: {text}");
        }
    }
    let paths: Vec<String> = tree(folder.path()).into_keys().collect();
    assert_eq!(paths, ["sub".to_owned(), format!("sub/{temporary}"), "sub/b.txt".to_owned()]);
    assert_eq!(std::fs::read(folder.outside("secret")).expect("a file"), b"secret");
}

#[test]
fn the_longest_path_and_the_most_components_are_taken() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let deep = ["a"; 254].join("/");
    server.ok("create_directory", json!({ "path": deep }));
    let path = format!("{deep}/f");
    server.ok("write_file", json!({ "path": path, "content": "deep\n" }));
    assert_eq!(read(&server, &path), (false, "deep\n".into()));
    let name = "n".repeat(255);
    server.ok("write_file", json!({ "path": name, "content": "long\n" }));
    assert_eq!(read(&server, &name), (false, "long\n".into()));
}

#[test]
fn several_folders_are_searched_in_order_and_a_new_file_goes_to_the_first() {
    let (one, two) = (Folder::new(), Folder::new());
    put(&one, "in/x", "one\n");
    put(&two, "in/x", "two\n");
    put(&two, "only", "second\n");
    let second = format!("--dir={}", two.path().display());
    let server = serve(&one, &[&second]);
    assert_eq!(read(&server, "in/x"), (false, "one\n".into()));
    assert_eq!(read(&server, "only"), (false, "second\n".into()));
    assert_eq!(read(&server, &named(&two.path().join("in/x"))), (false, "two\n".into()));
    server.ok("write_file", json!({ "path": "new", "content": "n\n" }));
    server.ok("write_file", json!({ "path": "only", "content": "changed\n" }));
    assert_eq!(
        (one.names(), two.names()),
        (vec!["in".into(), "new".into()], vec!["in".to_owned(), "only".into()])
    );
    assert_eq!(two.text("only"), "changed\n");
    server.ok("create_directory", json!({ "path": named(&two.path().join("made")) }));
    assert!(two.path().join("made").is_dir());
    let moved =
        json!({ "source": named(&one.path().join("in")), "destination": named(&two.path().join("made/in")) });
    server.ok("move_file", moved);
    assert_eq!((one.names(), two.text("made/in/x")), (vec!["new".to_owned()], "one\n".into()));
}

#[test]
fn where_several_folders_have_a_path_the_answer_says_which_was_looked_in() {
    not_under_wine!("commands do not run there");
    let (one, two) = (Folder::new(), Folder::new());
    for folder in [&one, &two] {
        put(folder, "in/x.txt", "word\n");
        put(folder, "in/p.png", "\u{89}PNG\r\n");
    }
    std::fs::write(one.path().join("in/p.png"), b"\x89PNG\r\n\x1a\n").expect("a picture");
    put(&one, "only.txt", "word\n");
    let second = format!("--dir={}", two.path().display());
    let sets = "--tools=filesystem,search,text.view,analyze_complexity,text.exec";
    let server = Stdio::start(&one, &[sets, &second, "--allow-exec"]).ready();
    let told = |tool: &str, arguments: Value| {
        let result =
            server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].take();
        assert_eq!(result["isError"], json!(false), "{tool}: {result}");
        result["content"].to_string()
    };
    let line = |paths: &str| {
        let (one, two) = (named(one.path()), named(two.path()));
        format!(
            "[Several served folders have {paths}; this is of {one}, not of {two}. An absolute path says which]"
        )
    };
    let edits = json!([{ "oldText": "word", "newText": "word" }]);
    for (tool, arguments, paths) in [
        ("read_text_file", json!({ "path": "in/x.txt" }), "in/x.txt"),
        ("read_multiple_files", json!({ "paths": ["in/x.txt", "only.txt", "in"] }), "in/x.txt, in"),
        ("read_media_file", json!({ "path": "in/p.png" }), "in/p.png"),
        ("get_file_info", json!({ "path": "in" }), "in"),
        ("list_directory", json!({ "path": "." }), "."),
        ("list_directory_with_sizes", json!({ "path": "./in" }), "./in"),
        ("directory_tree", json!({ "path": "in" }), "in"),
        ("search_files", json!({ "path": ".", "pattern": "**/x.txt" }), "."),
        ("view", json!({ "filename": "in" }), "in"),
        ("view", json!({ "filename": "in/x.txt" }), "in/x.txt"),
        ("exec", json!({ "command": "true", "work_dir": "in" }), "in"),
        ("analyze_complexity", json!({ "project_path": "in", "toolchain": "rust" }), "in"),
        ("grep", json!({ "pattern": "word", "path": "in" }), "in"),
        ("grep", json!({ "pattern": "word", "path": "in", "output_mode": "content" }), "in"),
        ("glob", json!({ "pattern": "*", "path": "in" }), "in"),
        ("edit_file", json!({ "path": "in/x.txt", "edits": edits, "dryRun": true }), "in/x.txt"),
        ("copy_file", json!({ "source": "in/x.txt", "destination": "copy" }), "in/x.txt"),
        ("write_file", json!({ "path": "in/x.txt", "content": "word\n" }), "in/x.txt"),
    ] {
        let content = told(tool, arguments);
        assert!(content.contains(&line(paths)), "{tool}: {content}");
    }
    for (tool, arguments) in [
        ("delete_file", json!({ "path": named(&one.path().join("in/x.txt")) })),
        ("read_text_file", json!({ "path": "only.txt" })),
        ("read_text_file", json!({ "path": "in/x.txt" })),
        ("read_text_file", json!({ "path": named(&two.path().join("in/p.png")), "encoding": "latin1" })),
        ("write_file", json!({ "path": "new.txt", "content": "new\n" })),
        ("grep", json!({ "pattern": "word" })),
        ("glob", json!({ "pattern": "**" })),
        ("exec", json!({ "command": "true" })),
        ("list_directory", json!({ "path": named(one.path()) })),
    ] {
        let content = told(tool, arguments);
        assert!(!content.contains("Several served folders"), "{tool}: {content}");
    }
}

#[test]
fn the_hint_of_a_missing_folder_leads_to_the_file_and_one_that_another_folder_has_takes_it() {
    let (one, two) = (Folder::new(), Folder::new());
    put(&two, "only/x", "x\n");
    let second = format!("--dir={}", two.path().display());
    let server = serve(&one, &[&second]);
    let write = json!({ "path": "none/new", "content": "new\n" });
    let refused = server.tool("write_file", write.clone()).text;
    let (_, arguments) = refused.split_once("create_directory ").expect("a call");
    let arguments = arguments.split_once('}').map(|(object, _)| format!("{object}}}")).expect("an object");
    server.ok("create_directory", serde_json::from_str(&arguments).expect("arguments"));
    server.ok("write_file", write);
    assert_eq!(one.text("none/new"), "new\n");
    server.ok("write_file", json!({ "path": "only/new", "content": "new\n" }));
    assert_eq!(two.text("only/new"), "new\n", "where its folder is");
}

#[test]
fn what_stands_in_the_way_in_one_folder_does_not_hide_the_file_in_the_next() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let (one, two) = (Folder::new(), Folder::new());
    put(&one, "a", "a file\n");
    put(&one, "closed/f", "in the first\n");
    put(&two, "a/b", "below a\n");
    put(&two, "closed/x", "in the second\n");
    let second = format!("--dir={}", two.path().display());
    as_nobody(command(&two, "stdio", &[]), &two);
    let server = Stdio::run(as_nobody(command(&one, "stdio", &[SET, &second]), &one)).ready();
    one.set_mode("closed", 0o000);
    assert_eq!(read(&server, "a/b"), (false, "below a\n".into()));
    assert_eq!(read(&server, "a"), (false, "a file\n".into()));
    server.ok("get_file_info", json!({ "path": "a/b" }));
    assert_eq!(read(&server, "closed/x"), (false, "in the second\n".into()));
    // What the first folder holds there is not known.
    let unknown = read(&server, "closed/none");
    assert!(unknown.0 && unknown.1.starts_with("Error: Permission denied accessing"), "{unknown:?}");
    // A new file goes where its folder is.
    server.ok("write_file", json!({ "path": "a/new", "content": "x" }));
    assert_eq!((one.text("a"), two.text("a/new")), ("a file\n".into(), "x".into()));
    one.set_mode("closed", 0o755);
    assert_eq!(
        (one.names(), two.names()),
        (vec!["a".into(), "closed".into()], vec!["a".to_owned(), "closed".into()])
    );
}

#[test]
fn nested_and_equal_folders_count_once() {
    let folder = Folder::new();
    make(&folder, "in/deep");
    let dir = |path: &str| format!("--dir={}", folder.path().join(path).display());
    let link = folder.outside("same");
    std::os::unix::fs::symlink(folder.path(), &link).expect("a link");
    let same = format!("--dir={}", link.display());
    let server = serve(&folder, &[&dir("in"), &dir(""), &dir("in/deep"), &same]);
    let allowed = outcome(&server, "list_allowed_directories", &json!({}));
    assert_eq!(allowed, (false, format!("Allowed directories:\n{}", named(folder.path()))));
}

#[test]
fn the_line_tools_serve_one_folder_and_say_so_at_the_start() {
    let (one, two) = (Folder::new(), Folder::new());
    let dirs = [&one, &two].map(|folder| format!("--dir={}", folder.path().display()));
    for tools in ["--tools=lines", "--tools=exact", "--tools=filesystem,exact"] {
        let ended = run_to_end(&[&dirs[0], &dirs[1], tools, "--transport=stdio"]);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{tools}: {}", ended.stderr);
        assert!(ended.stderr.contains("--dir"), "{}", ended.stderr);
    }
}

#[test]
fn folders_without_a_flag_are_served_over_stdio_with_the_set_agent_or_the_tools_that_are_chosen() {
    let (one, two) = (Folder::new(), Folder::new());
    put(&one, "a", "one\n");
    put(&two, "b", "two\n");
    let paths = [&one, &two].map(|folder| named(folder.path()));
    let server = bare(&[&paths[0], &paths[1]]);
    let texts = ["a", "b"].map(|path| outcome(&server, "read", &json!({ "path": path })));
    assert_eq!(texts, [(false, "one\n".into()), (false, "two\n".into())]);
    let tree = outcome(&server, "files", &json!({})).1;
    let slash = if *ON_WINDOWS { '\\' } else { '/' };
    let lines = [format!("{}{slash}: a\n", paths[0]), format!("{}{slash}: b\n", paths[1])];
    assert!(lines.iter().all(|line| tree.contains(line)), "{tree}");
    assert!(
        outcome(&server, "edit", &json!({ "path": "a", "old": "one", "new": "1" })).1.contains("(change c")
    );
    put(&one, "a", "one\n");
    let server = bare(&["--tools=filesystem,search", &paths[0], &paths[1]]);
    assert_eq!((read(&server, "a"), read(&server, "b")), ((false, "one\n".into()), (false, "two\n".into())));
    let allowed = outcome(&server, "list_allowed_directories", &json!({})).1;
    assert_eq!(allowed, format!("Allowed directories:\n{}\n{}", paths[0], paths[1]));
    let found = outcome(&server, "glob", &json!({ "pattern": "b" })).1;
    assert!(found.starts_with(&(named(&two.path().join("b")) + "\n")), "{found}");
    let missing = one.outside("none").display().to_string();
    let ended = run_to_end(&[&missing]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{}", ended.stderr);
}

#[test]
fn programs_are_told_the_folder_of_each_path_that_several_folders_have() {
    let folders = [Folder::new(), Folder::new(), Folder::new()];
    let [one, two, three] = &folders;
    for (folder, name) in [(one, "a"), (two, "a"), (two, "b"), (three, "b"), (three, "c")] {
        put(folder, name, "text\n");
    }
    let dirs = [two, three].map(|folder| format!("--dir={}", folder.path().display()));
    let server =
        Stdio::start(one, &["--tools=filesystem,text.view", "--structured", &dirs[0], &dirs[1]]).ready();
    let (first, second) = (named(one.path()), named(two.path()));
    let paths = json!({ "paths": ["a", "b", "c"] });
    let served = |tool: &str, arguments: Value| {
        server.tool(tool, arguments).result["structuredContent"]["served_folder"].clone()
    };
    assert_eq!(served("read_multiple_files", paths), json!({ "a": first, "b": second }));
    let write = json!({ "path": "b", "content": "new\n", "idempotency_key": "k" });
    assert_eq!(served("write_file", write.clone()), json!({ "b": second }));
    assert_eq!(served("write_file", write), json!({ "b": second }), "the same answer again");
    assert_eq!(served("get_file_info", json!({ "path": "c" })), Value::Null);
    let viewed = server.direct("view", json!({ "filename": "a" }));
    assert_eq!(viewed["served_folder"], json!({ "a": first }), "{viewed}");
}

#[test]
fn a_link_that_several_folders_have_is_deleted_by_its_absolute_path() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folders = [Folder::new(), Folder::new(), Folder::new()];
    let [one, two, three] = &folders;
    one.link("l", "nothing");
    put(two, "l", "text\n");
    put(three, "l", "text\n");
    let dirs = [two, three].map(|folder| format!("--dir={}", folder.path().display()));
    let server = Stdio::start(one, &["--tools=filesystem", &dirs[0], &dirs[1]]).ready();
    let refused = server.tool("delete_file", json!({ "path": "l" })).text;
    let [first, second, third] = [one, two, three].map(|folder| named(&folder.path().join("l")));
    assert!(refused.ends_with(&format!("{first} or {second} or {third}.")), "{refused}");
    server.ok("delete_file", json!({ "path": first }));
    assert!(!one.path().join("l").is_symlink() && two.path().join("l").exists());
}
