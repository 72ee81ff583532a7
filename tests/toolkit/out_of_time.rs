//! Analyses whose time is up: figures of a part, said to be such.

use serde_json::json;

use super::churn::Repository;
use crate::search::bounds::{slow_calls, slow_tree};
use crate::support::{Mcp, ToolResult};

const SET: &str = "--tools=toolkit";
const LATE: &str = "The time was up: the figures are of the analyzed files. ";
const UNSEEN: &str = "left out: all that was not met before the time was up]";

#[test]
fn an_analysis_of_complexity_whose_time_was_up_says_so_in_every_format() {
    let Some((_folder, server)) = slow_tree(SET, 16, 100_000, &["--timeout=1"]) else { return };
    for format in ["summary", "full", "json", "sarif"] {
        let call = json!({ "project_path": ".", "toolchain": "python", "format": format });
        let ToolResult { text, is_error, .. } = server.tool("analyze_complexity", call);
        let counts_rest = text.contains(UNSEEN) || text.contains(" not analyzed for lack of time");
        assert!(!is_error && text.contains(LATE) && counts_rest, "{format}: {text}");
        assert!(
            text.contains(" analyzed so far, ") && !text.contains("nothing left out"),
            "{format}: {text}"
        );
        if matches!(format, "json" | "sarif") {
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
        }
    }
}

/// `_meta` of a result whose list is a part.
fn truncated(result: &ToolResult) -> serde_json::Value {
    let truncated = result.result["_meta"]["file-editor/truncated"].clone();
    assert_eq!(truncated["partial"], json!(true), "{}", result.text);
    truncated
}

#[test]
fn a_list_of_functions_that_time_has_cut_has_no_next_page_but_begins_again() {
    let Some((_folder, server)) = slow_tree(SET, 16, 100_000, &["--timeout=1"]) else { return };
    for format in ["summary", "full", "json", "sarif"] {
        let mut call =
            json!({ "project_path": ".", "toolchain": "python", "format": format, "max_cyclomatic": 0 });
        let first = server.tool("analyze_complexity", call.clone());
        assert!(!first.is_error && first.text.contains("of at least") || format == "json", "{}", first.text);
        assert_eq!(truncated(&first)["next"].get("offset"), None, "{}", first.text);
        call["offset"] = json!(1);
        let behind = server.tool("analyze_complexity", call);
        let told = truncated(&behind);
        assert_eq!((&told["shown"], &told["next"]["offset"]), (&json!(0), &json!(1)), "{}", behind.text);
        assert!(behind.text.contains("What stands behind the offset is known when all are analyzed"));
    }
}

#[test]
fn a_history_that_was_not_counted_in_time_is_said_to_be_a_part() {
    let Some(repository) = Repository::new() else { return };
    for n in 0..100 {
        repository.folder.write(&format!("f{}.py", n % 7), format!("x = {n}\n"));
        repository.commit(0);
    }
    let injected = "openat2:delay_enter=60000";
    let Some(server) = slow_calls(&repository.folder, injected, &[SET, "--timeout=6"]) else { return };
    for (format, offset) in [("summary", 0), ("json", 0), ("markdown", 0), ("json", 1), ("csv", 1)] {
        let call = json!({ "project_path": ".", "format": format, "period_days": 8, "offset": offset });
        let page = server.tool("analyze_code_churn", call);
        let (text, told) = (page.result["content"].to_string(), truncated(&page));
        let of_newest = "The time was up: the figures are of the newest commits of the period; at least ";
        let is_told = text.contains(of_newest) && text.contains("Pass a smaller period_days");
        assert!(!page.is_error && is_told, "{format}: {text}");
        let next = &told["next"];
        assert_eq!((&next["period_days"], next.get("offset")), (&json!(4), None), "{format}: {text}");
        assert!(offset == 0 || told["shown"] == json!(0), "files of another list: {text}");
    }
    for format in ["summary", "json"] {
        let page = server
            .tool("analyze_code_churn", json!({ "project_path": ".", "format": format, "period_days": 1 }));
        let (text, told) = (page.result["content"].to_string(), truncated(&page));
        let is_told = text.contains("Have the server started with a longer --timeout");
        assert!(is_told && !text.contains("smaller") && !text.contains("Go on with"), "{text}");
        assert_eq!(told.get("next"), None, "the same call is no way out: {text}");
    }
}
