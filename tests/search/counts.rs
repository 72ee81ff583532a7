//! What `grep` counts: lines, and with `multiline` matches.

use serde_json::json;

use super::{on_all, serve};
use crate::support::{Folder, Mcp};
use crate::trees::{next_of, put};

/// Three matches over five lines: each begins in the line in which the one before ends.
const TOUCHING: &str = "x a\nb a\nb a\nb\nrest\n";

#[test]
fn matches_whose_lines_touch_count_each_in_every_mode() {
    let fill = |folder: &Folder| {
        put(folder, "touching", TOUCHING);
        put(folder, "two", "a b a\nb\nx\na\nb\n");
    };
    on_all(&[], fill, |server, _| {
        let call = |mode: &str| {
            server.ok(
                "grep",
                json!({ "pattern": r"a\nb", "multiline": true, "output_mode": mode, "sort": "path" }),
            )
        };
        for mode in ["count", "files_with_matches"] {
            let text = call(mode);
            assert!(
                text.starts_with("touching: 3\ntwo: 2\n[2 files searched, 5 matches in 2 files;"),
                "{text}"
            );
        }
        let text = call("content");
        assert!(
            text.contains("touching\n1:x a\n2:b a\n3:b a\n4:b\n\ntwo\n1:a b a\n2:b\n4:a\n5:b\n"),
            "{text}"
        );
        assert!(text.contains("5 matches in 2 files"), "{text}");
        let lines = server.ok("grep", json!({ "pattern": "a", "output_mode": "count", "sort": "path" }));
        assert!(lines.starts_with("touching: 3\ntwo: 2\n"), "without it, lines count: {lines}");
        let matches = json!({ "pattern": "a", "multiline": true, "output_mode": "count", "sort": "path" });
        assert!(server.ok("grep", matches.clone()).starts_with("touching: 3\ntwo: 3\n"), "{matches}");
    });
}

#[test]
fn the_balances_of_pages_have_each_match_once() {
    let folder = Folder::new();
    put(&folder, "f", format!("{TOUCHING}{TOUCHING}a\nb\n"));
    let server = serve(&folder, &[]);
    for offset in [0, 1] {
        let mut next = Some(json!({
            "pattern": r"a\nb", "multiline": true, "output_mode": "content", "head_limit": 1, "offset": offset,
        }));
        let mut counted = Vec::new();
        while let Some(arguments) = next {
            let page = server.tool("grep", arguments);
            let number = page.text.split(" match").next().and_then(|text| text.rsplit(' ').next());
            counted.push(number.and_then(|number| number.parse::<u64>().ok()).expect("a number"));
            next = next_of(&page);
            if let Some(next) = &mut next {
                next["head_limit"] = json!(1);
            }
        }
        // What is left out first is counted by the first page.
        let expected: &[u64] = if offset == 0 { &[3, 3, 1] } else { &[6, 1] };
        assert_eq!(counted, expected, "{offset}");
    }
}
