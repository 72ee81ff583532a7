//! Texts that are hard to parse, and files that change while they are read: an error for the file, and the server goes on.

use serde_json::{Value, json};

use super::{json_of, serve};
use crate::support::{Folder, while_others};
use crate::trees::put;

const DEEP: usize = 100_000;

/// One text in the middle of so many pairs.
fn nested(before: &str, open: &str, middle: &str, close: &str, after: &str) -> String {
    format!("{before}{}{middle}{}{after}", open.repeat(DEEP), close.repeat(DEEP))
}

/// The figures of each folder's files, which must be all analysed or named, and the server must answer afterwards.
fn analysed(folder: &Folder, files: usize) -> Vec<Value> {
    let server = serve(folder, &["--timeout=300"]);
    let answers: Vec<Value> = ["rust", "python", "deno"]
        .map(|toolchain| {
            json_of(&server, json!({ "project_path": ".", "toolchain": toolchain, "max_cognitive": 0 }))
        })
        .into();
    let count = |answer: &Value, name: &str| answer["summary"][name].as_u64().expect("a number") as usize;
    let told: usize =
        answers.iter().map(|answer| count(answer, "files") + count(answer, "files_not_analyzed")).sum();
    assert_eq!(told, files, "{answers:?}");
    put(folder, "after.py", "def f(a):\n    return a or 1\n");
    let after = json_of(&server, json!({ "project_path": "after.py", "toolchain": "python" }));
    assert_eq!(after["summary"]["max_cyclomatic"], 2);
    answers
}

#[test]
fn deep_nesting_of_every_kind_is_analysed() {
    not_under_wine!("has a limit of time or takes long");
    let folder = Folder::new();
    for (name, text) in [
        ("paren.rs", nested("fn f() { let x = ", "(", "1", ")", "; }")),
        ("blocks.rs", nested("fn f() ", "{", "", "}", "")),
        ("ifs.rs", nested("fn f(a: bool) {", "if a {", "", "}", "}")),
        ("functions.rs", nested("", "fn f() {", "", "}", "")),
        ("comments.rs", nested("fn f() {}", "/*", "", "*/", "")),
        ("closures.rs", nested("fn f() {", "|a| ", "1", "", "}")),
        ("macros.rs", nested("fn f() { m!", "{", "", "}", "}")),
        ("paren.py", nested("def f():\n  x = ", "(", "1", ")", "\n")),
        ("lambda.py", nested("def f():\n  x = ", "lambda: ", "1", "", "\n")),
        ("lists.py", nested("x = ", "[", "", "]", "\n")),
        ("paren.js", nested("function f() { x = ", "(", "1", ")", "; }")),
        ("functions.js", nested("", "function f() {", "", "}", "")),
        ("templates.js", nested("x = ", "`${", "1", "}`", "")),
        ("arrows.js", nested("x = ", "a => ", "1", "", "")),
        ("elements.tsx", nested("x = ", "<a>", "", "</a>", "")),
        ("types.ts", nested("let x: ", "A<", "B", ">", ";")),
        ("ternaries.ts", nested("function f(a) { return ", "a ? 1 : ", "2", "", "; }")),
    ] {
        put(&folder, name, text);
    }
    let answers = analysed(&folder, 17);
    let deep = u64::try_from(DEEP).expect("a number");
    let value = |answer: &Value, file: &str, metric: &str| {
        let found = answer["violations"].as_array().expect("violations").iter();
        let mut found = found.filter(|one| one["file"] == file && one["metric"] == metric);
        found.next().map(|one| one["value"].clone())
    };
    assert_eq!(value(&answers[0], "ifs.rs", "cyclomatic"), Some(json!(deep + 1)));
    assert_eq!(value(&answers[0], "ifs.rs", "cognitive"), Some(json!(deep * (deep + 1) / 2)));
    assert_eq!(value(&answers[2], "ternaries.ts", "cognitive"), Some(json!(deep * (deep + 1) / 2)));
}

#[test]
fn texts_that_nobody_understands_end_with_an_error_for_the_file() {
    let folder = Folder::new();
    // Each of them needs more time, memory or stack than the parser may have, or is near.
    for (name, text) in [
        ("quotes.rs", "fn f() { let x = ".to_owned() + &"\"".repeat(1 << 20)[..1_000_000]),
        ("labels.rs", "fn f() {".to_owned() + &"'a: ".repeat(DEEP) + "}"),
        ("continued.py", "\\\n".repeat(500_000)),
        ("comments.py", nested("", "/*", "", "*/", "")),
        ("less.js", "x = ".to_owned() + &"a<".repeat(500_000)),
        ("open.ts", "([{".repeat(300_000)),
    ] {
        put(&folder, name, text);
    }
    let answers = analysed(&folder, 6);
    let reasons = |answer: &Value| answer["summary"]["not_analyzed"].to_string();
    assert!(reasons(&answers[0]).contains("too much time or memory"), "{}", reasons(&answers[0]));
}

#[test]
fn long_lines_are_too_large_or_analysed() {
    let folder = Folder::new();
    put(&folder, "long.js", "x=[".to_owned() + &"1,".repeat(5 << 20) + "]");
    put(&folder, "longer.py", "x=[".to_owned() + &"1,".repeat(400_000) + "]");
    put(&folder, "name.rs", format!("fn {}() {{}}", "a".repeat(900_000)));
    let answers = analysed(&folder, 3);
    assert_eq!(answers[2]["summary"]["files_not_analyzed"], 1, "10 MB");
    assert_eq!(answers[0]["summary"]["functions"], 1, "{}", answers[0]);
}

#[test]
fn files_that_are_cut_short_while_they_are_read_harm_nothing() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let text = "fn f(a: bool) { if a {} }\n".repeat(30_000);
    for number in 0..4 {
        put(&folder, &format!("{number}.rs"), &text);
    }
    let server = serve(&folder, &["--timeout=60"]);
    let paths: Vec<_> = (0..4).map(|number| folder.path().join(format!("{number}.rs"))).collect();
    let cut = || {
        for path in &paths {
            let file = std::fs::OpenOptions::new().write(true).open(path).expect("a file");
            file.set_len(10).expect("a shorter file");
            std::fs::write(path, &text).expect("a file");
        }
    };
    while_others(cut, || {
        for _ in 0..5 {
            let answer = json_of(&server, json!({ "project_path": ".", "toolchain": "rust" }));
            let summary = &answer["summary"];
            let told = [&summary["files"], &summary["files_not_analyzed"]]
                .map(|number| number.as_u64().expect("a number"));
            assert_eq!(told[0] + told[1], 4, "{answer}");
        }
    });
    let answer = json_of(&server, json!({ "project_path": ".", "toolchain": "rust" }));
    assert_eq!(answer["summary"]["functions"], 4 * 30_000, "{answer}");
}
