//! The README names tests and flags: all of them exist, and no flag is missing.

use std::path::Path;
use std::process::Command;

fn project(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn readme() -> String {
    std::fs::read_to_string(project("README.md")).expect("the README")
}

/// All that is between backticks in `text`.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(path).expect("a source"));
        }
    }
}

#[test]
fn every_test_that_a_guarantee_names_is_there() {
    let mut code = String::new();
    ["src", "tests"].iter().for_each(|folder| sources(&project(folder), &mut code));
    let readme = readme();
    let names: Vec<_> =
        readme.lines().filter_map(|line| line.trim().strip_prefix("<br>")).flat_map(quoted).collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let test = format!("#[test]\nfn {name}");
        let code = code.replace("    #[test]\n    fn", "#[test]\nfn");
        assert!(code.contains(&test), "no test begins with {name}");
    }
}

#[test]
fn every_flag_is_explained_and_no_other() {
    let help = Command::new(env!("CARGO_BIN_EXE_file-editor")).arg("--help").output().expect("help");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let names = |text: &str| {
        let mut names: Vec<String> = text
            .split(|c: char| !c.is_ascii_lowercase() && c != '-')
            .filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic)))
            .map(Into::into)
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let readme = readme();
    let table = readme.split("## Flags").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table");
    let rows: String = table.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next()).collect();
    let mut shown = names(&help);
    shown.retain(|flag| !["--help", "--version"].contains(&flag.as_str()));
    assert_eq!(names(&rows), shown);
}
