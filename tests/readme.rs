//! The documents name tests, flags, files and headings: all of them exist, and no flag is missing. Names of packages have the version of this one.
//! The README's first command answers what the README says, here with the program that is built already.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{bare_command, run_to_end};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
            all.push_str(&read(&path));
        }
    }
}

/// `README.md`, `CONTRIBUTING.md` and the documents in `docs/`.
fn documents() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project("docs")).expect("the documents");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut documents: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    documents.extend([project("README.md"), project("CONTRIBUTING.md")]);
    documents.sort();
    documents
}

/// The lines of a document that are outside its code blocks.
fn prose(document: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    document.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !is_fence && !in_code
    })
}

/// The targets of a document's links and pictures.
fn links(document: &str) -> Vec<String> {
    let prose = prose(document).collect::<Vec<_>>().join("\n");
    // What is between backticks is code.
    let text: String = prose.split('`').step_by(2).collect();
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors that GitHub gives to a document's headings.
fn anchors(document: &str) -> Vec<String> {
    let (mut titles, mut anchors) = (Vec::new(), Vec::new());
    for line in prose(document) {
        let Some((marks, title)) = line.split_once(' ') else { continue };
        if marks.is_empty() || !marks.bytes().all(|byte| byte == b'#') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let title = kept.collect::<String>().to_lowercase().replace(' ', "-");
        anchors.push(match titles.iter().filter(|earlier| **earlier == title).count() {
            0 => title.clone(),
            number => format!("{title}-{number}"),
        });
        titles.push(title);
    }
    anchors
}

#[test]
fn every_test_that_a_guarantee_names_is_there() {
    let mut code = String::new();
    ["src", "tests"].iter().for_each(|folder| sources(&project(folder), &mut code));
    let guarantees = read(&project("docs/guarantees.md"));
    let names: Vec<_> =
        guarantees.lines().filter_map(|line| line.trim().strip_prefix("<br>")).flat_map(quoted).collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let test = format!("#[test]\nfn {name}");
        let code = code.replace("    #[test]\n    fn", "#[test]\nfn");
        assert!(code.contains(&test), "no test begins with {name}");
    }
}

#[test]
fn every_flag_is_explained_and_no_other() {
    let help = run_to_end(&["--help"]).stdout;
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
    let reference = read(&project("docs/reference.md"));
    let table = reference.split("\n## Flags").nth(1).and_then(|rest| rest.split("\n## ").next());
    let table = table.expect("a table");
    let rows: String = table.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next()).collect();
    let mut shown = names(&help);
    shown.retain(|flag| !["--help", "--version"].contains(&flag.as_str()));
    assert_eq!(names(&rows), shown);
}

#[test]
fn every_link_in_the_documents_points_to_something() {
    let mut count = 0;
    for path in documents() {
        let (document, folder) = (read(&path), path.parent().expect("a folder"));
        let links = links(&document);
        for link in links.iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            assert!(target.exists(), "{}: there is no file {link}", path.display());
            let is_heading = anchor.is_empty() || anchors(&read(&target)).iter().any(|known| known == anchor);
            assert!(is_heading, "{}: there is no heading {link}", path.display());
            count += 1;
        }
    }
    assert!(count >= 30, "{count} links");
}

#[test]
fn every_file_that_contributing_names_is_there() {
    let text = read(&project("CONTRIBUTING.md"));
    let folders = [".ci/", "docs/", "fuzz/", "packaging/", "perf/", "src/", "tests/"];
    let is_path = |name: &&str| folders.iter().any(|folder| name.starts_with(folder));
    // What stands behind a blank are arguments of a command.
    let names = prose(&text).flat_map(quoted).filter_map(|quoted| quoted.split(' ').next());
    let named: Vec<&str> = names.filter(is_path).filter(|name| !name.contains('<')).collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !project(name).exists()).collect();
    assert_eq!(missing, [] as [&&str; 0]);
    assert!(named.len() >= 40, "{named:?}");
}

/// The versions behind the name of the program in a document: `file-editor_1.2.3_amd64.deb`, `file-editor:1.2.3`, also with `-` and `@`.
fn versions(document: &str) -> impl Iterator<Item = &str> {
    let behind_names = document.split(env!("CARGO_PKG_NAME")).skip(1);
    behind_names.filter_map(|rest| {
        let rest = rest.strip_prefix(['_', ':', '-', '@'])?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let version = rest[..end].trim_end_matches('.');
        version.contains('.').then_some(version)
    })
}

#[test]
fn every_package_in_the_documents_has_the_version_of_this_one() {
    let mut count = 0;
    for path in documents() {
        for version in versions(&read(&path)) {
            assert_eq!(version, env!("CARGO_PKG_VERSION"), "{}: the name of a package", path.display());
            count += 1;
        }
    }
    assert!(count >= 6, "{count} versions");
}

/// The lines of the first code block in `language`.
fn block<'d>(document: &'d str, language: &str) -> Vec<&'d str> {
    let start = format!("```{language}");
    document.lines().skip_while(|line| *line != start).skip(1).take_while(|line| *line != "```").collect()
}

/// The text with each number as `N`: those of lines change with the sources.
fn without_numbers(text: &str) -> String {
    let mut told: Vec<char> = text.trim().chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect();
    told.dedup_by(|c, before| *c == 'N' && *before == 'N');
    told.into_iter().collect()
}

#[test]
fn the_first_commands_of_the_readme_show_what_it_says_and_run_the_tests() {
    let readme = read(&project("README.md"));
    let commands = block(&readme, "sh");
    assert_eq!(commands.len(), 2, "{commands:?}");
    let build = "cargo run --release --locked -- ";
    assert!(commands[0].contains(build), "{}", commands[0]);
    let built = format!("{:?} ", bare_command().get_program());
    let mut shell = Command::new("sh");
    shell.args(["-c", &commands[0].replace(build, &built)]).current_dir(project(""));
    shell.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    let ended = shell.output().expect("a shell");
    let answer = String::from_utf8_lossy(&ended.stdout).into_owned();
    let log = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{log}");
    assert_eq!(without_numbers(&answer), without_numbers(&block(&readme, "json").join("\n")), "{log}");
    assert!(read(&project(".ci/run")).lines().any(|line| line == commands[1]), "{}", commands[1]);
}
