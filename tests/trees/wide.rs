//! UTF-16 without a mark, of texts in no alphabet: its lines are those of the text, or it is refused with the encoding named.

use serde_json::json;

use super::put;
use crate::support::{Folder, Mcp, Stdio};

/// Two lines, and one without any byte that is NUL, but with those of breaks.
const LINES: &str = "上海不是小城市，它在中国的东部。\n我们今天去学校读书写字。\n";
const ONE_LINE: &str = "上海不大，上不上去不知道，下面的字也不少，中国很大，我们不下去";

fn utf_16(text: &str, is_little: bool) -> Vec<u8> {
    let order = if is_little { u16::to_le_bytes } else { u16::to_be_bytes };
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn lines_are_those_of_the_text_or_it_is_refused() {
    for (is_little, name) in [(true, "utf-16le"), (false, "utf-16be")] {
        let folder = Folder::new();
        put(&folder, "lines", utf_16(LINES, is_little));
        put(&folder, "one", utf_16(ONE_LINE, is_little));
        let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
        for path in ["lines", "one"] {
            let refused = server.tool("read_text_file", json!({ "path": path }));
            let advice = format!("It is likely {name}: pass \"encoding\": \"{name}\"");
            assert!(refused.is_error && refused.text.contains(&advice), "{path}: {}", refused.text);
        }
        let read = |path: &str| {
            server.ok("read_text_file", json!({ "path": path, "encoding": "auto", "line_numbers": true }))
        };
        let (first, second) = LINES.trim_end().split_once('\n').expect("two lines");
        assert!(read("lines").starts_with(&format!("1\t{first}\n2\t{second}")), "{}", read("lines"));
        assert!(read("one").starts_with(&format!("1\t{ONE_LINE}")), "{}", read("one"));
        let grep = |path: &str, pattern: &str| {
            let call =
                json!({ "path": path, "pattern": pattern, "encoding": "auto", "output_mode": "content" });
            server.ok("grep", call)
        };
        assert!(grep("lines", "学校").contains(&format!("\n2:{second}")), "{}", grep("lines", "学校"));
        assert!(grep("one", "很大").contains(&format!("\n1:{ONE_LINE}")), "{}", grep("one", "很大"));
    }
}

#[test]
fn bytes_that_are_no_text_stay_none() {
    let folder = Folder::new();
    let numbers = (0..2_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 9) as u8);
    put(&folder, "bin", numbers.collect::<Vec<u8>>());
    put(&folder, "few", utf_16("上海\n", true));
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for path in ["bin", "few"] {
        let refused = server.tool("read_text_file", json!({ "path": path, "encoding": "auto" }));
        assert!(refused.is_error, "{path}: {}", refused.text);
    }
}
