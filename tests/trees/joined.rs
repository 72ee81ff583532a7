//! The pages of any call, put together, are the answer of that call without a limit (contract 11): random trees, texts and
//! arguments.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::bounded::{LIMIT, follow, next_of};
use super::{make, put, serve};
use crate::support::{Folder, Mcp, Random, Stdio, ToolResult};

const ROUNDS: u64 = 60;

fn pick<'t, T>(random: &mut Random, from: &'t [T]) -> &'t T {
    &from[random.below(from.len() as u64) as usize]
}

/// A text of lines and breaks of all kinds, some of them longer than a page.
fn text(random: &mut Random) -> String {
    let mut text = String::from(*pick(random, &["", "", "\u{feff}"]));
    let breaks = *pick(random, &[&["\n"][..], &["\r\n"], &["\n", "\r\n", "\r"]]);
    for _ in 0..random.below(40) {
        let word = *pick(random, &["", "a", "some words", "ä漢😀", "tab\there", "[Shown: x]"]);
        let times = *pick(random, &[1, 1, 1, 3, 3, 30, 400]);
        text.push_str(&word.repeat(times));
        let brk: &&str = pick(random, breaks);
        text.push_str(brk);
    }
    text.truncate(text.len() - if random.below(2) == 0 { text.ends_with('\n').into() } else { 0 });
    text
}

/// Arguments of a read of the file `f`, which has so many lines or a few less.
fn part(random: &mut Random, lines: u64) -> Value {
    let mut part = json!({ "path": "f" });
    let mut line = |end| 1 + random.below(end);
    let (some, first) = (line(lines + 3), line(lines));
    match line(7) {
        1 => part["head"] = json!(some),
        2 => part["tail"] = json!(some),
        3 => part["start_line"] = json!(first),
        4 => part["end_line"] = json!(some),
        5 => (part["start_line"], part["end_line"]) = (json!(first), json!(first + some)),
        6 => (part["offset"], part["limit"]) = (json!(first), json!(some)),
        _ => {}
    }
    if line(3) == 1 {
        part["line_numbers"] = json!(true);
    }
    part
}

/// The text of a page without its last line, and what stands between it and the next page.
fn told(page: &ToolResult, file: &[u8]) -> (String, &'static str) {
    let Some(next) = next_of(page) else { return (page.text.clone(), "") };
    let end = page.text.rfind("[Shown: ").expect("a last line");
    let text = &page.text[..end];
    let last = &page.text[end..];
    let own =
        || text.strip_suffix('\n').unwrap_or_else(|| panic!("no line of its own: {}", page.text)).to_owned();
    if next.get("start_line").is_some() {
        return (own(), "\n");
    }
    // The place in the file tells whether the break before the last line is the text's own.
    let place = last.strip_prefix("[Shown: bytes ").and_then(|rest| rest.split_once(' ')?.0.split_once('-'));
    let ends_in_lf = match place {
        Some((_, end)) => file[end.parse::<usize>().expect("a number") - 1] == b'\n',
        None => page.result["_meta"]["file-editor/truncated"]["shown"] == json!(text.len()),
    };
    (if ends_in_lf { text.to_owned() } else { own() }, "")
}

#[test]
fn the_pages_of_any_part_of_any_text_are_that_part() {
    let folder = Folder::new();
    let (limited, whole) = (serve(&folder, &[LIMIT]), serve(&folder, &["--answer-limit=0"]));
    let mut random = Random::new();
    for _ in 0..ROUNDS {
        let text = text(&mut random);
        folder.write("f", &text);
        let lines = text.matches(['\n', '\r']).count() as u64 + 1;
        for _ in 0..6 {
            let arguments = part(&mut random, lines);
            let all = whole.tool("read_text_file", arguments.clone());
            if all.is_error {
                assert_eq!(limited.tool("read_text_file", arguments).text, all.text);
                continue;
            }
            let (mut joined, mut between) = (String::new(), "");
            for page in follow(&limited, "read_text_file", arguments.clone()) {
                let (part, behind) = told(&page, text.as_bytes());
                joined.push_str(between);
                joined.push_str(&part);
                between = behind;
            }
            assert!(joined == all.text, "{arguments} of {text:?}:\n{joined:?}\nis not\n{:?}", all.text);
        }
    }
}

/// A tree of folders and files, of which many have the same size.
fn fill(random: &mut Random, folder: &Folder) {
    let mut folders = vec![String::new()];
    for _ in 0..30 + random.below(120) {
        let parent = pick(random, &folders).clone();
        let word = *pick(random, &["a", "B", "ä漢", "x.txt", "with blank", "long-name-of-an-entry", "q\"\\"]);
        let path = format!("{parent}{word}{}", random.below(50));
        let exists = folder.path().join(&path).exists();
        match random.below(4) {
            _ if exists => {}
            0 if path.matches('/').count() < 5 => {
                make(folder, &path);
                folders.push(path + "/");
            }
            _ => put(folder, &path, "x".repeat(*pick(random, &[0, 1, 1, 1, 2_000]))),
        }
    }
    for name in [&b"n\xff1"[..], b"n\xff2"] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").expect("a file");
    }
}

/// Arguments of a list of some folder.
fn list(random: &mut Random, folder: &Folder) -> (&'static str, Value) {
    let folders = std::fs::read_dir(folder.path()).expect("the folder").filter_map(|entry| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().ok()?;
        entry.path().is_dir().then_some(name)
    });
    let folders: Vec<String> = folders.chain([".".to_owned(), ".".to_owned(), ".".to_owned()]).collect();
    let mut arguments = json!({ "path": pick(random, &folders) });
    let tool =
        *pick(random, &["list_directory", "list_directory_with_sizes", "directory_tree", "search_files"]);
    let excludes = json!(*pick(random, &[&[][..], &["**/a*"], &["B?", "**/x.txt1*"]]));
    match tool {
        "list_directory" => arguments["depth"] = json!(1 + random.below(5)),
        "list_directory_with_sizes" => arguments["sortBy"] = json!(*pick(random, &["name", "size"])),
        "directory_tree" => {
            arguments["max_depth"] = json!(1 + random.below(5));
            arguments["excludePatterns"] = excludes;
        }
        _ => {
            arguments["pattern"] = json!(*pick(random, &["**", "*", "**/*1*", "**/*.txt*", "{a,B}*/**"]));
            arguments["excludePatterns"] = excludes;
        }
    }
    (tool, arguments)
}

/// The entries of an answer.
fn entries(tool: &str, text: &str) -> Vec<String> {
    let is_of_list = |line: &&str| !line.starts_with("[Shown: ") && !line.starts_with("[Not shown: ");
    let lines = text.lines().filter(is_of_list);
    if tool != "directory_tree" {
        return lines.map(str::to_owned).collect();
    }
    let tree: Value = serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).expect("JSON");
    let mut paths = Vec::new();
    push_paths(&tree, "", &mut paths);
    paths
}

fn push_paths(tree: &Value, above: &str, paths: &mut Vec<String>) {
    for entry in tree.as_array().expect("an array") {
        let path = format!("{above}{}", entry["name"].as_str().expect("a name"));
        match entry.get("children") {
            Some(children) => {
                paths.push(path.clone() + "/");
                push_paths(children, &(path + "/"), paths);
            }
            None => paths.push(path),
        }
    }
}

/// The entries of all pages: what each page repeats (the folders above, the sums) only once.
fn joined(tool: &str, pages: &[ToolResult]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for page in pages {
        let mut entries = entries(tool, &page.text);
        if tool == "list_directory_with_sizes" && !all.is_empty() {
            let sums = all.split_off(all.len() - 3);
            assert!(entries.ends_with(&sums), "{entries:?} {sums:?}");
        }
        if tool == "directory_tree" {
            entries.retain(|entry| !entry.ends_with('/') || !all.contains(entry));
        }
        all.append(&mut entries);
    }
    all
}

#[test]
fn the_pages_of_any_list_are_that_list() {
    not_under_wine!("has names that Windows does not admit");
    let mut random = Random::new();
    for _ in 0..8 {
        let folder = Folder::new();
        fill(&mut random, &folder);
        let (limited, whole) = (serve(&folder, &[LIMIT]), serve(&folder, &["--answer-limit=0"]));
        for _ in 0..20 {
            let (tool, arguments) = list(&mut random, &folder);
            let all = entries(tool, &whole.ok(tool, arguments.clone()));
            let pages = follow(&limited, tool, arguments.clone());
            assert_eq!(joined(tool, &pages), all, "{tool} {arguments}, {} pages", pages.len());
        }
    }
}

/// The arguments in the last line of an answer of the set `lines`.
fn go_on(text: &str) -> Option<Value> {
    let (_, call) = text.rsplit_once(". Go on with ")?;
    let (_, arguments) = call.split_once(' ').expect("arguments");
    Some(serde_json::from_str(arguments.strip_suffix(']').expect("an end")).expect("JSON"))
}

/// The part of an answer of the set `lines` that is no head and no last line.
fn body(text: &str) -> String {
    let (_, rest) = text.split_once("\n\n").expect("a head");
    let end = rest.rfind("\n\nTotal files: ").or(rest.rfind("\n[Shown: ")).unwrap_or(rest.len());
    rest[..end].trim_end_matches('\n').to_owned()
}

#[test]
fn the_pages_of_the_set_lines_are_the_whole_too() {
    let mut random = Random::new();
    for _ in 0..6 {
        let folder = Folder::new();
        fill(&mut random, &folder);
        let mut lines = String::new();
        (0..300).for_each(|n| _ = writeln!(lines, "{n} {}", "word ".repeat(n % 7)));
        folder.write("f", &lines);
        let flags = ["--tools=lines", "--names=paths"];
        let limited = Stdio::start(&folder, &[&flags[..], &[LIMIT]].concat()).ready();
        let whole = Stdio::start(&folder, &flags).ready();
        for _ in 0..12 {
            let (start, count) = (random.below(300), random.below(300));
            let (tool, arguments, own) = match random.below(4) {
                0 => ("list_files", json!({}), json!({ "limit": 1 + random.below(30) })),
                1 => ("list_files", json!({ "match": "**/*1*" }), json!({ "limit": 1 + random.below(9) })),
                2 => ("read_file", json!({ "name": "f", "start_line": -1 - (count as i64) }), json!({})),
                _ => (
                    "read_file",
                    json!({ "name": "f", "start_line": start, "end_line": start + count }),
                    json!({}),
                ),
            };
            let mut arguments = arguments;
            if tool == "read_file" {
                arguments["line_numbers"] = json!(random.below(2) == 0);
            }
            let all = body(&whole.ok(tool, arguments.clone()));
            own.as_object()
                .expect("an object")
                .iter()
                .for_each(|(key, value)| arguments[key] = value.clone());
            let (mut pages, mut next) = (Vec::new(), Some(arguments.clone()));
            while let Some(call) = next {
                let text = limited.ok(tool, call);
                assert!(text.len() <= 1_024, "{tool} {arguments}: {} bytes", text.len());
                pages.push(body(&text));
                next = go_on(&text);
            }
            pages.retain(|page| tool == "read_file" || !page.is_empty());
            assert_eq!(pages.join("\n"), all, "{tool} {arguments}");
        }
    }
}
