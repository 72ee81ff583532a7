//! Templates as resources, beside the files of the folder.

use serde_json::{Value, json};

use super::{MAKEFILE, SET};
use crate::support::{Folder, Mcp, Stdio, on_both_with};

/// All resources, page by page, and the number of pages.
fn listed(server: &dyn Mcp) -> (Vec<Value>, usize) {
    let (mut all, mut pages, mut params) = (Vec::new(), 0, json!({}));
    loop {
        let result = server.rpc("resources/list", params)["result"].clone();
        all.extend(result["resources"].as_array().expect("resources").clone());
        pages += 1;
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return (all, pages),
        }
    }
}

fn uris(resources: &[Value], scheme: &str) -> Vec<String> {
    let uris = resources.iter().filter_map(|resource| resource["uri"].as_str());
    uris.filter(|uri| uri.starts_with(scheme)).map(str::to_owned).collect()
}

#[test]
fn templates_are_listed_before_the_files_and_read_as_sources() {
    on_both_with(
        &[SET],
        |folder| folder.write("a.txt", "x\n"),
        |server, _| {
            let (all, pages) = listed(server);
            assert_eq!((pages, all.len()), (1, 55));
            assert_eq!(uris(&all, "template://").len(), 54);
            assert!(all[54]["uri"].as_str().is_some_and(|uri| uri.starts_with("file://")), "{}", all[54]);
            let makefile = all.iter().find(|resource| resource["uri"] == MAKEFILE).expect("the makefile");
            assert_eq!(makefile["name"], "Rust CLI Makefile");
            assert_eq!(makefile["mimeType"], "text/x-makefile");
            assert!(makefile["description"].is_string());
            let read = server.rpc("resources/read", json!({ "uri": MAKEFILE }));
            let contents = &read["result"]["contents"];
            assert_eq!(
                (&contents[0]["uri"], &contents[0]["mimeType"]),
                (&json!(MAKEFILE), &json!("text/x-makefile"))
            );
            let source = contents[0]["text"].as_str().expect("a text");
            assert!(source.contains("{% if has_tests %}"), "{source}");
            let file = server.rpc("resources/read", json!({ "uri": all[54]["uri"] }));
            assert_eq!(file["result"]["contents"][0]["text"], "x\n");
            let schemes = server.rpc("resources/templates/list", json!({}));
            assert_eq!(
                schemes["result"]["resourceTemplates"][0]["uriTemplate"],
                "template://{category}/{toolchain}/{variant}"
            );
        },
    );
}

#[test]
fn pages_hold_every_template_and_every_file_once() {
    let folder = Folder::new();
    for number in 0..2_500 {
        folder.write(&format!("{number:04}.txt"), "x");
    }
    let server = Stdio::start(&folder, &[SET]).ready();
    let (all, pages) = listed(&server);
    let (mut templates, mut files) = (uris(&all, "template://"), uris(&all, "file://"));
    assert_eq!((pages, templates.len(), files.len()), (3, 54, 2_500));
    templates.sort();
    templates.dedup();
    files.sort();
    files.dedup();
    assert_eq!((templates.len(), files.len()), (54, 2_500));
}

#[test]
fn more_templates_than_fit_a_page_are_listed_once_each() {
    let folder = Folder::new();
    folder.write("a.txt", "x\n");
    let own = folder.outside("templates");
    for number in 0..990 {
        let one = own.join(format!("t{number}"));
        std::fs::create_dir_all(&one).expect("a folder");
        let toml = format!("uri = \"template://own/t{number}/x\"\nname = \"T\"\npath = \"x\"\n");
        std::fs::write(one.join("template.toml"), toml).expect("a file");
        std::fs::write(one.join("template.txt"), "x").expect("a file");
    }
    let flag = format!("--templates={}", own.display());
    let server = Stdio::start(&folder, &[SET, &flag]).ready();
    let (all, pages) = listed(&server);
    let mut templates = uris(&all, "template://");
    assert_eq!((pages, templates.len(), uris(&all, "file://").len()), (2, 990 + 54, 1));
    templates.sort();
    templates.dedup();
    assert_eq!(templates.len(), 990 + 54);
}

#[test]
fn what_is_no_template_is_not_found() {
    on_both_with(
        &[SET],
        |_| {},
        |server, _| {
            for uri in [
                "template://makefile/rust/CLI",
                "template://makefile/rust",
                "template://../rust/cli",
                "template:",
                "TEMPLATE://makefile/rust/cli",
            ] {
                let error = server.rpc("resources/read", json!({ "uri": uri }))["error"].clone();
                assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)), "{error}");
            }
            for cursor in ["x", "dGVtcGxhdGU6", "YWZ0ZXI"] {
                let error = server.rpc("resources/list", json!({ "cursor": cursor }))["error"].clone();
                assert_eq!(error["code"], -32602, "{cursor}: {error}");
            }
        },
    );
}

#[test]
fn without_the_set_there_are_files_alone() {
    let folder = Folder::new();
    folder.write("a.txt", "x\n");
    let server = Stdio::start(&folder, &["--tools=lines"]).ready();
    assert_eq!(listed(&server).0.len(), 1);
    assert_eq!(server.rpc("resources/templates/list", json!({}))["result"]["resourceTemplates"], json!([]));
    assert_eq!(server.rpc("resources/read", json!({ "uri": MAKEFILE }))["error"]["code"], -32002);
}
