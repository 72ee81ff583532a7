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

#[test]
fn a_history_that_was_not_counted_in_time_is_said_to_be_a_part() {
    let Some(repository) = Repository::new() else { return };
    for n in 0..100 {
        repository.folder.write(&format!("f{}.py", n % 7), format!("x = {n}\n"));
        repository.commit(1);
    }
    let injected = "openat2:delay_enter=60000";
    let Some(server) = slow_calls(&repository.folder, injected, &[SET, "--timeout=6"]) else { return };
    for format in ["summary", "json", "markdown"] {
        let call = json!({ "project_path": ".", "format": format });
        let ToolResult { text, is_error, .. } = server.tool("analyze_code_churn", call);
        assert!(!is_error, "{format}: {text}");
        let told = "The time was up: the figures are of the newest commits of the period; at least ";
        assert!(text.contains(told) && text.contains("Pass a smaller period_days"), "{format}: {text}");
    }
}
