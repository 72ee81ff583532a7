use std::time::{Duration, Instant};

use super::{Glob, GlobError, TreeExclude};

fn matches(pattern: &str, path: &str) -> bool {
    Glob::parse(pattern).unwrap().matches(path)
}

#[test]
fn answers_what_the_reference_answered() {
    let table: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/reference/globs.json")).unwrap();
    let texts = |value: &serde_json::Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let paths = texts(&table["paths"]);
    let rows = table["matches"].as_object().unwrap();
    assert!(rows.len() > 170 && paths.len() > 60);
    for (pattern, expected) in rows {
        let glob = Glob::parse(pattern).unwrap();
        let found: Vec<String> = paths.iter().filter(|path| glob.matches(path)).cloned().collect();
        assert_eq!(found, texts(expected), "{pattern}");
    }
}
