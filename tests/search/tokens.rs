//! Answers that are few bytes and many tokens.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::next_of;

/// Lines of 64 hexadecimal digits: some 37 tokens each.
fn hex(lines: usize) -> String {
    let mut random = 1_u64;
    let mut digits = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", random >> 32)
    };
    (0..lines).map(|_| (0..8).map(|_| digits()).collect::<String>() + "\n").collect()
}

/// The most bytes of such lines that are 24,000 tokens.
const MOST: usize = 44_000;

#[test]
fn an_answer_of_dense_text_ends_where_its_tokens_do_and_goes_on() {
    let folder = Folder::new();
    let text = hex(850);
    folder.write("f", &text);
    for (set, tool, arguments) in [
        ("filesystem", "read_text_file", json!({ "path": "f" })),
        ("filesystem", "read_text_file", json!({ "path": "f", "start_line": 1, "line_numbers": true })),
        ("text", "view", json!({ "path": "f" })),
    ] {
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let (mut next, mut lines, mut pages) = (Some(arguments.clone()), 0, 0);
        while let Some(arguments) = next {
            let page = server.tool(tool, arguments);
            assert!(!page.is_error && page.text.len() < MOST, "{tool}: {} bytes", page.text.len());
            lines += text.lines().filter(|line| page.text.contains(line)).count();
            next = next_of(&page);
            pages += 1;
        }
        assert_eq!((lines, pages), (850, 2), "{tool} {arguments}");
        let server = Stdio::start(&folder, &[&format!("--tools={set}"), "--answer-limit=0"]).ready();
        assert!(server.ok(tool, arguments).len() >= text.len(), "{tool} without a limit");
    }
}

#[test]
fn a_search_in_dense_text_ends_where_its_tokens_do_and_goes_on() {
    let folder = Folder::new();
    folder.write("f", hex(850));
    let server = serve(&folder, &[]);
    let (mut next, mut lines) = (Some(json!({ "pattern": "[0-9a-f]", "output_mode": "content" })), 0);
    while let Some(arguments) = next {
        let page = server.tool("grep", arguments);
        assert!(!page.is_error && page.text.len() < MOST, "{} bytes", page.text.len());
        lines += page.text.lines().filter(|line| line.len() > 64 && !line.starts_with('[')).count();
        next = next_of(&page);
    }
    assert_eq!(lines, 850);
}
