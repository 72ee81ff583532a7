//! The memory of exact-text edits with very many replacements (contract 9): three times the file and 1 MB for a call, and for
//! all of them together no more than a few of the largest files.

use serde_json::{Value, json};

use crate::support::{Folder, MB, Mcp, Stdio, call, memory_taken};

fn edit(old_text: &str, new_text: &str, occurrences: usize) -> Value {
    json!({ "old_text": old_text, "new_text": new_text, "occurrences": occurrences })
}

fn start(folder: &Folder, flags: &[&str]) -> Stdio {
    folder.write("warm", "a line\n");
    let server =
        Stdio::start(folder, &[&["--tools=lines,exact", "--sync=none", "--timeout=300"], flags].concat());
    // What a call takes of the program itself is there from now on.
    server.ok("file_edit", json!({ "path": "warm", "edits": [edit("line", "row", 1)] }));
    let many = "ab".repeat(1_000);
    folder.write("many", &many);
    let edits = json!([edit("a", "xyz", 1_000), edit("y", "Q", 1_000)]);
    server.ok("file_edit", json!({ "path": "many", "edits": edits }));
    let miss = server.tool("file_edit", json!({ "path": "warm", "edits": [edit("lime", "row", 1)] }));
    assert!(miss.is_error);
    server
}

/// Makes edits that must succeed, within the memory of a call.
#[track_caller]
fn check(what: &str, content: &str, edits: &Value, expected: &str) {
    let folder = Folder::new();
    folder.write("f", content);
    let server = start(&folder, &[]);
    let taken = memory_taken(server.pid(), content.len(), || {
        let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
        assert!(!result.is_error, "{what}: {}", result.text);
    });
    assert!(folder.text("f") == expected, "{what}: another text");
    let bound = 3 * content.len() + MB;
    println!("{what}: {:.1} MB of {:.1} MB", taken as f64 / MB as f64, bound as f64 / MB as f64);
    assert!(taken <= bound, "{what}: {taken} bytes are over {bound}");
}

#[test]
fn a_million_replacements_take_a_few_bytes_each() {
    not_under_wine!("bounds pages of memory; there a file is read into the heap");
    let content = "a.".repeat(1_000_000);
    check("one letter", &content, &json!([edit("a", "b", 1_000_000)]), &content.replace('a', "b"));
    let expected = content.replace('a', "bcde");
    check("a longer text", &content, &json!([edit("a", "bcde", 1_000_000)]), &expected);
    check("deletions", &content, &json!([edit("a", "", 1_000_000)]), &content.replace('a', ""));
    let content = "a".repeat(1_000_000);
    check("all letters", &content, &json!([edit("a", "b", 1_000_000)]), &content.replace('a', "b"));
    let content = "\n".repeat(1_000_000);
    check("breaks", &content, &json!([edit("\n", "x", 1_000_000)]), &content.replace('\n', "x"));
    let content = "a\r\nb\n".repeat(400_000);
    check("breaks of two kinds", &content, &json!([edit("\n", "x", 800_000)]), &"axbx".repeat(400_000));
}

#[test]
fn several_edits_with_very_many_replacements_each_take_no_more() {
    not_under_wine!("bounds pages of memory; there a file is read into the heap");
    let content = "a.b-".repeat(250_000);
    let edits = [edit("a", "c", 250_000), edit("b", "a", 250_000), edit("c", "b", 250_000)];
    check("the same places again", &content, &json!(edits), &"b.a-".repeat(250_000));
    let edits = json!([edit("a", "cdefghijk", 250_000), edit("cdefghijk", "a", 250_000)]);
    check("there and back", &content, &edits, &content);
    let words: Vec<String> = (0..250).map(|nth| format!("word{nth:03}")).collect();
    let content = (words.join(" ") + "\n").repeat(400);
    let edits: Vec<Value> = words.iter().map(|word| edit(word, &word.replace("word", "name"), 400)).collect();
    check("250 edits of 400 places", &content, &json!(edits), &content.replace("word", "name"));
}

#[test]
fn very_many_edits_of_a_small_file_are_no_matter_for_its_memory() {
    not_under_wine!("bounds pages of memory; there a file is read into the heap");
    let names: Vec<String> =
        (0..1_000).map(|nth| format!("{}{nth:03}", &"abcdefghijklmnopqrst"[..[2, 6, 16][nth % 3]])).collect();
    let content = names.iter().map(|name| format!("<{name}>\n")).collect::<String>();
    let folder = Folder::new();
    folder.write("f", &content);
    let server = start(&folder, &[]);
    let edits: Vec<Value> =
        names.iter().map(|name| edit(&format!("<{name}>"), &format!("[{name}]"), 1)).collect();
    let taken = memory_taken(server.pid(), content.len(), || {
        let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
        assert!(!result.is_error, "{}", result.text);
    });
    assert_eq!(folder.text("f"), content.replace('<', "[").replace('>', "]"));
    // Beside the request itself.
    assert!(taken <= 3 * content.len() + MB + 1_000 * 4 * 1_024, "{taken} bytes");
}

#[test]
fn what_would_take_too_much_memory_is_refused_and_changes_nothing() {
    not_under_wine!("bounds pages of memory; there a file is read into the heap");
    let folder = Folder::new();
    let content = "ab".repeat(500_000);
    folder.write("f", &content);
    let server = start(&folder, &[]);
    // Each letter becomes three stretches, of which none is like its neighbours.
    let edits = json!([edit("a", "xyz", 500_000), edit("y", "Q", 500_000)]);
    let taken = memory_taken(server.pid(), content.len(), || {
        let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
        assert!(
            result.is_error && result.text.contains("edits[1]: it makes more replacements"),
            "{}",
            result.text
        );
    });
    // 256 KB are pages of the program that such a call is the first to touch.
    assert!(taken <= 3 * content.len() + MB + 256 * 1_024, "{taken} bytes");
    assert!(folder.text("f") == content);
}

#[test]
fn calls_at_once_hold_no_more_together_than_the_budget() {
    not_under_wine!("bounds pages of memory; there a file is read into the heap");
    let folder = Folder::new();
    let content = "a.".repeat(900_000);
    let names: Vec<String> = (0..8).map(|nth| format!("f{nth}")).collect();
    names.iter().for_each(|name| folder.write(name, &content));
    // So that not all of them find enough.
    let server = start(&folder, &["--max-size=2"]);
    let arguments = |name: &String| json!({ "path": name, "edits": [edit("a", "b", 900_000)] });
    let mut refused = 0;
    let taken = memory_taken(server.pid(), names.len() * content.len(), || {
        for (id, name) in names.iter().enumerate() {
            server.send(&call(id, "file_edit", arguments(name)));
        }
        for (id, name) in names.iter().enumerate() {
            let result = server.answer_to(&json!(id))["result"].clone();
            let text = result["content"][0]["text"].as_str().expect("a text");
            if result["isError"] == true {
                refused += 1;
                let problem = "Error: The edits in work hold all memory that there is for them";
                assert!(text.starts_with(problem), "{text}");
            }
            let expected =
                if result["isError"] == true { content.clone() } else { content.replace('a', "b") };
            assert!(folder.text(name) == expected, "{name}");
        }
    });
    println!("{refused} of {} refused, {:.1} MB", names.len(), taken as f64 / MB as f64);
    // Eight of the largest files, and of each call what does not count.
    assert!(taken <= 8 * 2 * MB + names.len() * MB, "{taken} bytes");
    // It was given back.
    for name in &names {
        let result = server.tool("file_edit", json!({ "path": name, "edits": [edit(".", ",", 900_000)] }));
        assert!(!result.is_error, "{}", result.text);
    }
}
