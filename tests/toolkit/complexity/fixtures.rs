//! What each construct counts, by files of functions whose figures were worked out by hand. The same files are compared with
//! other tools (`compare`).

use serde_json::json;

use super::{SET, TOOL, json_of, rows};
use crate::support::{Folder, Mcp, Stdio};

const FIXTURES: [(&str, &str, &str); 4] = [
    ("rust.rs", "rust", include_str!("fixtures/rust.rs")),
    ("python.py", "python-uv", include_str!("fixtures/python.py")),
    ("javascript.js", "deno", include_str!("fixtures/javascript.js")),
    ("typescript.ts", "deno", include_str!("fixtures/typescript.ts")),
];

/// The functions that a fixture tells: first line, name, cyclomatic and cognitive complexity. A function stands behind a
/// line such as `//= name 2 1`.
fn expected(text: &str) -> Vec<(u64, String, u64, u64)> {
    let told = |(number, line): (usize, &str)| {
        let line = line.trim_start();
        let told = line.strip_prefix("//= ").or_else(|| line.strip_prefix("#= "))?;
        let (rest, cognitive) = told.rsplit_once(' ')?;
        let (name, cyclomatic) = rest.rsplit_once(' ')?;
        Some((number as u64 + 2, name.to_owned(), cyclomatic.parse().ok()?, cognitive.parse().ok()?))
    };
    text.lines().enumerate().filter_map(told).collect()
}

#[test]
fn the_figures_of_every_function_are_those_worked_out_by_hand() {
    let folder = Folder::new();
    FIXTURES.iter().for_each(|(name, _, text)| folder.write(name, text));
    let server = Stdio::start(&folder, &[SET]).ready();
    for (name, toolchain, text) in FIXTURES {
        let full = server.ok(TOOL, json!({ "project_path": name, "toolchain": toolchain, "format": "full" }));
        let found: Vec<_> = rows(&full)
            .into_iter()
            .map(|(_, first, _, name, one, other)| (first, name, one, other))
            .collect();
        let expected = expected(text);
        assert!(expected.len() >= 25, "{name}: {}", expected.len());
        assert!(!full.contains("syntax error"), "{name}: {full}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{name}");
        }
        assert_eq!(found.len(), expected.len(), "{name}");
    }
}

#[test]
fn the_last_line_of_a_function_is_that_of_its_body() {
    let folder = Folder::new();
    folder.write("a.rs", "\nfn one() {\n}\n\n#[test]\nfn two() { }\n");
    folder.write("a.py", "@x\ndef one():\n    if a:\n        pass\n\n\ndef two(): pass\n");
    folder.write("a.js", "const one = () => {\n  a;\n};\nfunction two() { }");
    let server = Stdio::start(&folder, &[SET]).ready();
    for (toolchain, lines) in
        [("rust", [(2, 3), (6, 6)]), ("python", [(2, 4), (7, 7)]), ("deno", [(1, 3), (4, 4)])]
    {
        let full = server.ok(TOOL, json!({ "project_path": ".", "toolchain": toolchain, "format": "full" }));
        let found: Vec<_> = rows(&full).into_iter().map(|(_, first, last, ..)| (first, last)).collect();
        assert_eq!(found, lines, "{toolchain}");
    }
}

#[test]
fn the_effort_is_that_of_halstead() {
    let folder = Folder::new();
    // Operators: fn ( { let = + ; which are 7 of 7 kinds. Operands: f a b b, 4 of 3 kinds. Length 11, vocabulary 10.
    folder.write("a.rs", "fn f() { let a = b + b; }");
    let server = Stdio::start(&folder, &[SET]).ready();
    let answer = json_of(&server, json!({ "project_path": "a.rs", "toolchain": "rust", "top_files": 1 }));
    let effort = 3.5 * 4.0 / 3.0 * 11.0 * 10_f64.log2();
    let found = answer["top_files"]["rankings"][0]["halstead_effort"].as_f64().expect("a number");
    assert!((found - effort).abs() < 0.1, "{found} {effort}");
}
