//! How much a file with matches matters: files that define the word come first, those of tests behind the others, and copies of foreign
//! code and generated files last (contract 22).
//!
//! Knows names of files and outlines; reads no file itself.

use super::scope::Scope;
use super::wanted_files::WantedFiles;
use engine::{FoundFile, Workspace};
use folder::{Control, EntryKind, Result};
use search::Pattern;

/// The ranks of files. [`DEFINES`] is added where the word is defined.
const DEFINES: i128 = 3;
const USUAL: i128 = 2;
const TESTS: i128 = 1;
const FOREIGN: i128 = 0;

/// Names of folders of tests, and of folders of what others have written or a program has made.
const TEST_FOLDERS: &[&str] =
    &["test", "tests", "__tests__", "testing", "testdata", "spec", "specs", "e2e", "fixtures", "benches"];
const FOREIGN_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "node_modules",
    "site-packages",
    "dist",
    "generated",
];

/// A search: what for, and where. Without the toolkit nothing is looked for.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "toolkit"), expect(dead_code))]
pub(super) struct Asked<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) scope: &'a Scope,
    pub(super) wants: &'a WantedFiles,
    pub(super) workspace: &'a Workspace,
    pub(super) control: &'a Control,
}

/// The ranks of the files of one search.
pub(super) struct Relevance {
    /// Folders and paths of the files that define the word, in order.
    defining: Vec<(usize, Vec<u8>)>,
    /// Why it is not known which those are.
    pub(super) note: Option<String>,
}

impl Relevance {
    /// Looks for the files that define what is searched for, among those that match. A pattern that is no name has none.
    pub(super) fn of(asked: Asked) -> Result<Relevance> {
        let mut relevance = Relevance { defining: Vec::new(), note: None };
        // Of one file there is no order.
        let is_one_file = match &asked.scope.path {
            Some(path) => asked.workspace.info_or_near(path, asked.control)?.kind == EntryKind::File,
            None => false,
        };
        if let Some(name) = name_in(&asked.scope.pattern).filter(|_| !is_one_file) {
            relevance.find(asked, name)?;
        }
        Ok(relevance)
    }

    /// The rank of a file: a larger one comes first.
    pub(super) fn rank(&self, file: &FoundFile) -> i128 {
        let is_this = |(folder, path): &(usize, Vec<u8>)| (*folder, path).cmp(&(file.folder, &file.path));
        let defines = if self.defining.binary_search_by(is_this).is_ok() { DEFINES } else { 0 };
        defines + rank_of_path(&file.path[file.base..])
    }
}

#[cfg(feature = "toolkit")]
mod defined {
    use std::path::Path;

    use super::{Asked, Relevance, Result};
    use ::toolkit::outlines::{Definition, Kind, Language, Outline, OutlineOptions, outlines};
    use engine::SearchStop;
    use folder::Error;

    /// Shares of the time that each of the two looks leaves for the search itself.
    const SHARES: u32 = 4;

    /// Files with matches that are outlined at most.
    const MOST: usize = 2_000;

    impl Relevance {
        pub(super) fn find(&mut self, asked: Asked, name: &str) -> Result<()> {
            let Asked { pattern, scope, wants, workspace, control } = asked;
            let wanted =
                |path: &Path, from_start: &Path, is_folder: bool| wants.wants(path, from_start, is_folder);
            let mut matching: Vec<Vec<u8>> = Vec::new();
            let take = &mut |file: engine::FoundFile| {
                let path = std::str::from_utf8(&file.path);
                if path.is_ok_and(|path| Language::of_path(Path::new(path)).is_some()) {
                    matching.push(file.path);
                }
                matching.len() < MOST
            };
            let searched = control
                .leaving_time(SHARES, || workspace.search(pattern, scope.options(&wanted), take, control))?;
            text::order::sort_by(&mut matching, Ord::cmp);
            let wanted = |path: &Path, from_start: &Path, is_folder: bool| match is_folder {
                true => wanted(path, from_start, true),
                false => {
                    matching.binary_search_by(|one| one[..].cmp(path.as_os_str().as_encoded_bytes())).is_ok()
                }
            };
            let options = OutlineOptions {
                path: scope.path.as_ref(),
                wants: &wanted,
                with: Some(name).filter(|_| !scope.how.ignore_case),
            };
            let outlined = control.leaving_time(SHARES, || outlines(workspace, options, control));
            let outlined = match outlined {
                Err(Error::OfTool(failure)) => {
                    self.note =
                        Some(format!("[Which files define {name} is not known: {}]", failure.message));
                    return Ok(());
                }
                outlined => outlined?,
            };
            let is_partial = searched.stop == Some(SearchStop::Time) || matching.len() == MOST;
            if is_partial || outlined.late.is_some() {
                self.note = Some(format!("[Which files define {name} is not known: not all could be asked]"));
                return Ok(());
            }
            let is_same = |one: &str| match scope.how.ignore_case {
                true => one.to_lowercase() == name.to_lowercase(),
                false => one == name,
            };
            let is_it = |one: &Definition| {
                is_same(own_name(&one.name)) && !matches!(one.kind, Kind::Heading | Kind::Key)
            };
            let defines = |packed: &[u8]| {
                Outline::unpacked(packed).is_some_and(|outline| outline.definitions.iter().any(is_it))
            };
            let defining = outlined.files.into_iter().filter(|file| defines(&file.packed));
            self.defining = defining.map(|file| (file.place.folder, file.place.path)).collect();
            text::order::sort_by(&mut self.defining, Ord::cmp);
            Ok(())
        }
    }

    /// The last part of a name: some languages define `Store.get` in one.
    fn own_name(name: &str) -> &str {
        name.rsplit(['.', ':']).next().unwrap_or(name)
    }
}

#[cfg(not(feature = "toolkit"))]
impl Relevance {
    fn find(&mut self, _: Asked, name: &str) -> Result<()> {
        self.note = Some(format!(
            "[Which files define {name} is not known: this server was built without parsers of code]"
        ));
        Ok(())
    }
}

/// The name that a pattern searches for: an identifier, perhaps between `\b`, behind the path to it or before a parenthesis.
fn name_in(pattern: &str) -> Option<&str> {
    let pattern = pattern.trim().trim_start_matches("\\b").trim_end_matches("\\b");
    let pattern = pattern.strip_suffix("\\(").or(pattern.strip_suffix('(')).unwrap_or(pattern);
    let name = pattern.rsplit([':', '.', '\\']).next()?;
    let is_of_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    let is_of_path = |char: char| is_of_name(char) || matches!(char, ':' | '.');
    (!name.is_empty() && name.chars().all(is_of_name) && pattern.replace("\\.", ".").chars().all(is_of_path))
        .then_some(name)
}

/// The rank of a file by its path alone.
fn rank_of_path(path: &[u8]) -> i128 {
    let path = String::from_utf8_lossy(path).to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let is_in = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let is_made = name.contains(".min.")
        || name.contains(".generated.")
        || name.contains(".pb.")
        || stem.ends_with("_pb2")
        || extension == "lock"
        || name.ends_with(".map")
        || name == "package-lock.json";
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem, "test" | "tests" | "conftest")
        || extension.starts_with("test.")
        || extension.starts_with("spec.");
    match (is_made || is_in(FOREIGN_FOLDERS), is_test || is_in(TEST_FOLDERS)) {
        (true, _) => FOREIGN,
        (false, true) => TESTS,
        (false, false) => USUAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_what_others_wrote_or_a_program_made_are_known_by_their_paths() {
        for (rank, paths) in [
            (USUAL, &["src/lib.rs", "contest.py", "latest/a.go", "README.md", "src/testify.ts"][..]),
            (TESTS, &["tests/a.rs", "src/x/tests.rs", "a_test.go", "test_a.py", "a.test.ts", "Spec/a.rb"]),
            (FOREIGN, &["vendor/tests/a.go", "a.min.js", "x/node_modules/y/i.js", "api.pb.go", "Cargo.lock"]),
        ] {
            for path in paths {
                assert_eq!(rank_of_path(path.as_bytes()), rank, "{path}");
            }
        }
    }

    #[test]
    fn a_pattern_that_is_a_name_is_known_as_one() {
        for pattern in ["get", r"\bget\b", "Store::get", r"store\.get\(", " get ", "get("] {
            assert_eq!(name_in(pattern), Some("get"), "{pattern}");
        }
        for pattern in ["", "get.*", "get|put", "fn get", "[a-z]+", r"\w+", r"\d", "a b"] {
            assert_eq!(name_in(pattern), None, "{pattern}");
        }
    }
}
