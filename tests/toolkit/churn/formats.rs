//! The formats of answers.

use serde_json::{Value, json};

use super::{Repository, lines};
use crate::support::Mcp;
use crate::trees::follow;

fn small() -> Option<Repository> {
    let repository = Repository::new()?;
    repository.put("src/a.rs", lines(10));
    repository.put("b|,\"c\nd", "x\n");
    repository.commit(2);
    repository.git(&["rm", "-q", "b|,\"c\nd"]);
    repository.commit(1);
    Some(repository)
}

#[test]
fn a_summary_tells_the_figures_of_all_and_then_each_file() {
    let Some(repository) = small() else { return };
    let text = repository.serve(&[]).ok("analyze_code_churn", json!({ "project_path": "." }));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Churn of 30 days, since 20"), "{text}");
    assert_eq!(lines[1..3], ["Commits: 2 (merges: 0), authors: 1", "Files: 2, lines: +11 -1, hot spots: 0"]);
    assert!(text.contains("\n2 Ann <Ann@example.org>\n"), "{text}");
    let tail =
        "\n+10 -0 src/a.rs (commits: 1, authors: 1)\n+1 -1 b|,\"c\\x0ad (commits: 2, authors: 1; removed)";
    assert!(text.ends_with(tail), "{text}");
}

#[test]
fn csv_has_a_row_for_each_file_and_quotes_what_needs_it() {
    let Some(repository) = small() else { return };
    let arguments = json!({ "project_path": ".", "format": "csv" });
    let text = repository.serve(&[]).ok("analyze_code_churn", arguments);
    let head = "path,commits,authors,added,deleted,binary,too_large,last_commit,exists,complexity,hot_spot\n";
    let rest = text.strip_prefix(head).unwrap_or_else(|| panic!("{text}"));
    assert!(rest.starts_with("src/a.rs,1,Ann <Ann@example.org> 1,10,0,0,0,20"), "{text}");
    assert!(rest.contains("\n\"b|,\"\"c\nd\",2,Ann <Ann@example.org> 2,1,1,0,0,20"), "{text}");
    assert!(rest.ends_with(",false,,"), "{text}");
}

#[test]
fn markdown_has_a_table_whose_cells_hold_any_name() {
    let Some(repository) = small() else { return };
    let arguments = json!({ "project_path": ".", "format": "markdown" });
    let text = repository.serve(&[]).ok("analyze_code_churn", arguments);
    assert!(text.starts_with("# Code churn\n\n30 days, since 20"), "{text}");
    let rows = "\n| src/a.rs | 1 | 1 | 10 | 0 |\n| b\\|,\"c\\\\x0ad (removed) | 2 | 1 | 1 | 1 |";
    assert!(text.ends_with(rows), "{text}");
}

#[test]
fn json_is_the_text_and_the_data() {
    let Some(repository) = small() else { return };
    let server = repository.serve(&["--structured"]);
    let result = server.tool("analyze_code_churn", json!({ "project_path": ".", "format": "json" }));
    let text: Value = serde_json::from_str(&result.text).expect("JSON");
    assert_eq!(result.result["structuredContent"], text);
    assert_eq!(
        (&text["files"][0]["path"], &text["files"][1]["path"]),
        (&json!("src/a.rs"), &json!("b|,\"c\nd"))
    );
}

#[test]
fn names_that_are_no_utf_8_are_told_with_their_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let Some(repository) = Repository::new() else { return };
    let name = std::ffi::OsStr::from_bytes(b"a\xffb");
    std::fs::write(repository.folder.path().join(name), "x\n").expect("a file");
    repository.commit(1);
    assert_eq!(repository.churn()["files"][0]["path"], "a\\xffb");
}

#[test]
fn a_long_answer_goes_on_with_the_call_that_it_names() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let Some(repository) = Repository::new() else { return };
    for number in 0..70 {
        repository.put(&format!("folder/file-{number:02}"), lines(100 - number));
    }
    repository.commit(1);
    let (limited, whole) = (repository.serve(&["--answer-limit=1"]), repository.serve(&["--answer-limit=0"]));
    for (format, begin) in [("summary", "+"), ("csv", "folder/"), ("markdown", "| folder/")] {
        let arguments = json!({ "project_path": ".", "format": format });
        let rows = |text: &str| {
            text.lines().filter(|line| line.starts_with(begin)).map(str::to_owned).collect::<Vec<_>>()
        };
        let all = rows(&whole.ok("analyze_code_churn", arguments.clone()));
        let pages = follow(&limited, "analyze_code_churn", arguments);
        let joined: Vec<String> = pages.iter().flat_map(|page| rows(&page.text)).collect();
        assert!(pages.len() > 1, "{format}");
        assert_eq!((joined.len(), &joined), (70, &all), "{format}");
    }
    let arguments = json!({ "project_path": ".", "format": "json" });
    let pages = follow(&limited, "analyze_code_churn", arguments);
    let mut paths = Vec::new();
    for page in &pages {
        let page: Value = serde_json::from_str(&page.text).expect("JSON, also where it is cut");
        paths.extend(page["files"].as_array().expect("files").iter().map(|file| file["path"].clone()));
    }
    let expected: Vec<Value> = (0..70).map(|number| json!(format!("folder/file-{number:02}"))).collect();
    assert!(pages.len() > 1 && paths == expected, "{paths:?}");
}

#[test]
fn a_short_answer_says_how_many_hot_spots_there_are_and_where_all_of_them_stand() {
    let Some(repository) = Repository::new() else { return };
    for number in 0..20 {
        repository.put(&format!("{number}.rs"), format!("fn f(a: u8) {{ if a > {number} {{ f(a) }} }}\n"));
    }
    repository.commit(1);
    let short = repository.serve(&["--answer-limit=4"]);
    let ok = |format: &str| short.ok("analyze_code_churn", json!({ "project_path": ".", "format": format }));
    let text = ok("summary");
    assert!(text.contains("hot spots: 20\n"), "{text}");
    assert!(text.contains("the highest is 100 (format csv has the scores of all):\n100 "), "{text}");
    assert!(ok("markdown").contains("## Hot spots (format csv has the scores of all)\n"));
    let scored = |line: &&str| line.ends_with(",100");
    assert_eq!(ok("csv").lines().filter(scored).count(), 20);
}
