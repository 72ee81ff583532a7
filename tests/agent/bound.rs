//! What holds for all answers of the set: they are within `--answer-tokens`, and pages are together the whole; and what its tools cost.

use serde_json::{Value, json};
use text::tokens::TokenCount;

use super::serve;
use crate::support::{Folder, Mcp, Stdio, ToolResult};
use crate::trees::{next_of, put};

/// The most tokens of the descriptions of all tools, at four characters each (contract 19).
const MAX_LISTED: usize = 1_800;

/// Of these, those for tools that are still to come.
const TO_COME: usize = 330;

fn tokens(text: &str) -> usize {
    let mut count = TokenCount::default();
    count.push(text.as_bytes());
    count.tokens()
}

/// Numbers without an order.
struct Random(u64);

impl Random {
    /// So many of these characters.
    fn of(&mut self, chars: &str, count: usize) -> String {
        let chars: Vec<char> = chars.chars().collect();
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            chars[(self.0 >> 33) as usize % chars.len()]
        };
        (0..count).map(|_| next()).collect()
    }
}

/// Some 40 KB of such lines.
fn lines(line: impl Fn(&mut Random) -> String) -> String {
    let (mut random, mut text) = (Random(7), String::new());
    while text.len() < 40_000 {
        text.push_str(&line(&mut random));
        text.push('\n');
    }
    text
}

/// Texts of many kinds.
fn texts() -> Vec<(&'static str, String)> {
    vec![
        (
            "code.rs",
            lines(|some| {
                format!(
                    "    let {} = self.{}({}, {});",
                    some.of("abc", 3),
                    some.of("xyz", 4),
                    some.of("ab", 1),
                    some.of("019", 3)
                )
            }),
        ),
        (
            "prose.txt",
            lines(|_| "The server keeps an index of the lines of each file that was read before.".into()),
        ),
        ("hex", lines(|some| some.of("0123456789abcdef", 64))),
        (
            "base64",
            lines(|some| some.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 76)),
        ),
        ("emoji", lines(|some| some.of("😀😂🥳🚀🔥🎉✨💡🐛📝✅👍🤔😎🙂😍", 20))),
        (
            "chinese",
            lines(|some| some.of("服务器为每个已经读取的文件保存行索引如果时间用完或者回答太长", 30)),
        ),
        (
            "cyrillic",
            lines(|_| "Сервер хранит указатель строк для каждого файла, который был прочитан.".into()),
        ),
        ("blanks", lines(|some| format!("{}x", some.of(" ", 60)))),
        ("min.js", lines(|some| some.of("abcdef(){};,=!?:.[]", 64)).replace('\n', ";")),
        (
            "crlf.csv",
            lines(|some| {
                format!(
                    "{},{}.{},2026-11-{}\r",
                    some.of("0123456789", 4),
                    some.of("0123456789", 3),
                    some.of("0123456789", 2),
                    some.of("12", 2)
                )
            }),
        ),
    ]
}

/// The answers of a call and of those that go on, each within so many tokens.
fn pages(server: &Stdio, tool: &str, arguments: Value, most: usize) -> Vec<ToolResult> {
    let (mut pages, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        let page = server.tool(tool, arguments.clone());
        let told = tokens(&page.texts.join("\n"));
        assert!(!page.is_error && told <= most, "{tool} {arguments}: {told} tokens: {}", page.text);
        next = next_of(&page);
        pages.push(page);
        assert!(pages.len() < 500, "{tool} does not end: {arguments}");
    }
    pages
}

/// The text of a page without its last line, if that says how to go on.
fn body(page: &ToolResult) -> &str {
    match page.text.rfind("[Shown: ") {
        Some(at) if next_of(page).is_some() => &page.text[..at],
        _ => &page.text,
    }
}

#[test]
fn no_read_is_over_the_tokens_and_the_pages_are_the_text() {
    let folder = Folder::new();
    let texts = texts();
    texts.iter().for_each(|(name, text)| put(&folder, name, text));
    for most in [2_000, 6_000] {
        let server = serve(&folder, &[&format!("--answer-tokens={most}")]);
        for (name, text) in &texts {
            let pages = pages(&server, "read", json!({ "path": name }), most);
            let mut whole = String::new();
            for page in &pages {
                // A page that ends inside a line has a break before its last line.
                let part = body(page);
                let is_cut = next_of(page).is_some() && !text[whole.len()..].starts_with(part);
                whole.push_str(if is_cut { part.strip_suffix('\n').unwrap_or(part) } else { part });
                assert!(text.starts_with(&whole), "{name} at {most}");
            }
            assert!(
                whole == *text && (pages.len() > 1 || *name == "blanks"),
                "{name} at {most}: {} pages",
                pages.len()
            );
            let least = if *name == "blanks" { 0 } else { most / 2 };
            assert!(pages.len() < 2 || tokens(&pages[0].text) > least, "{name} at {most}: pages are small");
        }
        let numbered =
            pages(&server, "read", json!({ "path": "hex", "line_numbers": true, "lines": "1-" }), most);
        let lines: Vec<&str> = numbered.iter().flat_map(|page| body(page).lines()).collect();
        let hex = &texts.iter().find(|(name, _)| *name == "hex").expect("a text").1;
        let expected: Vec<String> =
            hex.lines().zip(1..).map(|(line, number)| format!("{number}\t{line}")).collect();
        assert_eq!(lines, expected, "{most}");
    }
}

#[test]
fn no_read_of_several_files_is_over_the_tokens_and_each_has_a_share() {
    let folder = Folder::new();
    let texts = texts();
    texts.iter().for_each(|(name, text)| put(&folder, name, text));
    put(&folder, "small", "small\n");
    for most in [2_000, 6_000] {
        let server = serve(&folder, &[&format!("--answer-tokens={most}")]);
        let page = server.tool("read", json!({ "paths": ["code.rs", "small", "prose.txt"] }));
        assert!(tokens(&page.text) <= most, "{} tokens", tokens(&page.text));
        for part in ["==> code.rs <==", "==> small <==\nsmall\n", "==> prose.txt <=="] {
            assert!(page.text.contains(part), "{part} at {most}: {}", page.text);
        }
        let mut paths: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
        while !paths.is_empty() {
            let page = server.tool("read", json!({ "paths": paths }));
            assert!(tokens(&page.text) <= most, "{paths:?}: {} tokens", tokens(&page.text));
            let truncated = &page.result["_meta"]["file-editor/truncated"];
            let shown = truncated["shown"].as_u64().expect("a number") as usize;
            paths.drain(..shown);
            let next = truncated["next"]["paths"].as_array().map_or(0, Vec::len);
            assert!(shown > 0 && next == paths.len(), "{truncated}");
        }
    }
}

#[test]
fn no_search_and_no_list_is_over_the_tokens_and_the_pages_are_the_whole() {
    let folder = Folder::new();
    let texts = texts();
    texts.iter().for_each(|(name, text)| put(&folder, name, text));
    for number in 0..600 {
        put(&folder, &format!("many/d{}/{:032x}.txt", number % 7, number * 7_919_u128.pow(7)), "x\n");
    }
    let whole = serve(&folder, &["--answer-tokens=0"]);
    let lines = |page: &ToolResult| -> Vec<String> {
        let is_told = |line: &&str| !line.starts_with('[');
        page.text.lines().filter(is_told).map(str::to_owned).collect()
    };
    for most in [2_000, 6_000] {
        let server = serve(&folder, &[&format!("--answer-tokens={most}")]);
        for (name, _) in &texts {
            let arguments = json!({ "pattern": ".", "path": name });
            let told = |pages: &[ToolResult]| -> Vec<String> {
                pages.iter().flat_map(lines).filter(|line| !line.ends_with(&format!("{name}:"))).collect()
            };
            let found = pages(&server, "grep", arguments.clone(), most);
            assert_eq!(told(&found), told(&[whole.tool("grep", arguments)]), "{name} at {most}");
        }
        for (tool, arguments) in [
            ("files", json!({ "pattern": "many" })),
            ("files", json!({ "sort": "size" })),
            ("grep", json!({ "pattern": "x", "output_mode": "count" })),
            ("grep", json!({ "pattern": "x", "output_mode": "files_with_matches", "sort": "path" })),
        ] {
            let found = pages(&server, tool, arguments.clone(), most);
            let told: Vec<String> = found.iter().flat_map(lines).collect();
            assert_eq!(told, lines(&whole.tool(tool, arguments.clone())), "{tool} {arguments} at {most}");
            assert!(found.len() > 1, "{tool} {arguments}");
        }
        pages(&server, "files", json!({}), most);
        pages(&server, "grep", json!({ "pattern": "[0-9a-f]", "-C": 3 }), most);
    }
}

#[test]
fn the_bound_is_a_flag_and_other_sets_have_none_of_it() {
    let folder = Folder::new();
    let text = "the server keeps an index of lines ".repeat(1_300);
    put(&folder, "f", &text);
    let shown = |flags: &[&str]| serve(&folder, flags).ok("read", json!({ "path": "f" })).len();
    assert!((20_000..31_000).contains(&shown(&[])), "{}", shown(&[]));
    assert!((6_000..11_000).contains(&shown(&["--answer-tokens=2000"])));
    assert_eq!(shown(&["--answer-tokens=0"]), text.len());
    assert_eq!(shown(&["--answer-tokens=20000"]), text.len());
    assert!(shown(&["--answer-limit=4"]) <= 4_096);
    let other = Stdio::start(&folder, &["--tools=filesystem", "--answer-tokens=2000"]).ready();
    assert_eq!(other.ok("read_text_file", json!({ "path": "f" })), text);
}

#[test]
fn the_descriptions_of_the_tools_are_short_and_in_plain_schema() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let listed = server.rpc("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    let mut characters = 0;
    for tool in &tools {
        let (name, description) =
            (tool["name"].as_str().expect("a name"), tool["description"].as_str().expect("text"));
        let schema = tool["inputSchema"].to_string();
        characters += name.chars().count() + description.chars().count() + schema.chars().count();
        for word in ["anyOf", "oneOf", "allOf", "$ref", "\"format\"", "\"const\"", "\"not\""] {
            assert!(!schema.contains(word), "{name}: {schema}");
        }
        let required = &tool["inputSchema"]["required"];
        assert!(
            required.is_null() || name == "grep" && *required == json!(["pattern"]),
            "{name}: {required}"
        );
        check_types(&tool["inputSchema"]);
    }
    let has_all = tools.iter().any(|tool| tool["name"] == "replace");
    let to_come = if has_all { 0 } else { TO_COME };
    assert!(characters / 4 + to_come <= MAX_LISTED, "{} tokens", characters / 4);
}

/// Each type is one word, and each array has items.
fn check_types(schema: &Value) {
    let kind = schema["type"].as_str().unwrap_or_else(|| panic!("no single type: {schema}"));
    match kind {
        "array" => check_types(&schema["items"]),
        "object" => schema["properties"].as_object().expect("properties").values().for_each(check_types),
        _ => {}
    }
}

#[test]
fn many_edits_that_do_not_fit_are_explained_as_far_as_there_are_tokens() {
    let folder = Folder::new();
    let text: String = (0..400).map(|number| format!("let value_{number} = compute({number});\n")).collect();
    put(&folder, "f", &text);
    let server = serve(&folder, &[]);
    let edits: Vec<Value> = (0..400)
        .map(|number| json!({ "path": "f", "old": format!("let vlaue_{number} = compute"), "new": "x" }))
        .collect();
    let answer = server.tool("edit", json!({ "edits": edits }));
    let told = tokens(&answer.text);
    assert!(answer.is_error && told <= 6_000 && told > 3_000, "{told} tokens");
    for part in [
        "none of the 400 edits fits",
        "Edit 1 of 400",
        "(1-400), or",
        "more do not fit; they are explained when these fit]",
    ] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
    assert_eq!(folder.text("f"), text);
}
