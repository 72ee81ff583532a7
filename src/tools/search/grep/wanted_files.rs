//! Which files `grep` searches: by globs of gitignore's syntax, and by the types of files that ripgrep knows.

use crate::engine::stable_sort_by_key;
use std::fmt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::types::{Types, TypesBuilder};

use crate::engine::{Error, Result};
use crate::tools::arguments::{Argument, Value, is_empty_list};
use crate::tools::wrong_pattern;

/// Maximum number of globs in one argument.
const MAX_GLOBS: usize = 50;

/// The longest glob, in bytes.
const MAX_GLOB: usize = 4_096;

/// Maximum number of near types in an error.
const NEAR: usize = 5;

/// One or several globs: an array, or a string in which a comma outside of braces separates them.
#[derive(Debug, Clone, Default)]
pub(super) struct Globs(pub(super) Vec<String>);

impl Argument for Globs {
    fn expected() -> String {
        "a glob such as *.rs, or several separated by commas".into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_list(value)
    }

    fn read(value: &Value) -> Result<Globs> {
        let mut globs = Vec::new();
        let is_array = value.json().starts_with('[') || value.items(&Self::expected(), |_, _| Ok(())).is_ok();
        if is_array {
            value.items(&Self::expected(), |_, item| {
                globs.push(item.string()?);
                Ok(())
            })?;
        } else {
            globs.extend(split(&value.string()?).into_iter().map(str::to_owned));
        }
        globs.retain(|glob| !glob.is_empty());
        if globs.len() > MAX_GLOBS || globs.iter().any(|glob| glob.len() > MAX_GLOB) {
            return Err(
                value.refuse(format!("expected at most {MAX_GLOBS} globs of at most {MAX_GLOB} bytes"))
            );
        }
        Ok(Globs(globs))
    }
}

/// The parts between commas that are in no braces or brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, char) in text.char_indices() {
        match char {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// See the module.
pub(super) struct WantedFiles {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    types: Option<Types>,
}

impl fmt::Debug for WantedFiles {
    /// Not with the matchers, whose inner state differs between equal ones.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("WantedFiles").finish_non_exhaustive()
    }
}

impl WantedFiles {
    /// From the arguments `glob` (in which `!` leaves out), `exclude` and `type`.
    pub(super) fn new(globs: &Globs, exclude: &Globs, types: &Globs) -> Result<WantedFiles> {
        let is_excluding = |glob: &&String| glob.starts_with('!');
        let (excluding, including): (Vec<&String>, Vec<&String>) = globs.0.iter().partition(is_excluding);
        let excluding = excluding.into_iter().map(|glob| &glob[1..]);
        let exclude = excluding.chain(exclude.0.iter().map(String::as_str));
        Ok(WantedFiles {
            include: matcher("glob", including.into_iter().map(String::as_str))?,
            exclude: matcher("exclude", exclude)?,
            types: file_types(types)?,
        })
    }

    /// Whether a file is searched or a folder entered. `path` is below the served folder, `from_start` below the folder
    /// that is searched: a glob may be of either.
    pub(super) fn wants(&self, path: &Path, from_start: &Path, is_folder: bool) -> bool {
        let matches = |globs: &Gitignore| {
            globs.matched(path, is_folder).is_ignore() || globs.matched(from_start, is_folder).is_ignore()
        };
        if self.exclude.as_ref().is_some_and(matches) {
            return false;
        }
        is_folder
            || self.include.as_ref().is_none_or(matches)
                && self.types.as_ref().is_none_or(|types| types.matched(path, false).is_whitelist())
    }
}

/// A matcher for globs; `None` without one. What is in a folder matches a glob that ends in a slash.
fn matcher<'g>(at: &str, globs: impl Iterator<Item = &'g str>) -> Result<Option<Gitignore>> {
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        // These begin a comment or a negation in a file of gitignore.
        let escaped = if glob.starts_with(['!', '#']) { format!("\\{glob}") } else { glob.to_owned() };
        let whole = escaped.strip_suffix('/').map(|folder| format!("{folder}/**"));
        let line = whole.as_deref().unwrap_or(&escaped);
        let line = line.strip_prefix("./").unwrap_or(line);
        builder.add_line(None, line).map_err(|error| wrong_pattern(at, &error))?;
    }
    let built = builder.build().map_err(|error| wrong_pattern(at, &error))?;
    Ok((!built.is_empty()).then_some(built))
}

fn file_types(names: &Globs) -> Result<Option<Types>> {
    if names.0.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    names.0.iter().for_each(|name| _ = builder.select(name));
    builder.build().map(Some).map_err(|_| unknown_type(&names.0))
}

fn unknown_type(names: &[String]) -> Error {
    let definitions = TypesBuilder::new().add_defaults().definitions();
    let known: Vec<&str> = definitions.iter().map(ignore::types::FileTypeDef::name).collect();
    let unknown = names.iter().find(|name| !known.contains(&name.as_str())).map_or("", String::as_str);
    let mut near: Vec<&str> = known.clone();
    stable_sort_by_key(&mut near, |name| {
        (strsim::damerau_levenshtein(&unknown.to_lowercase(), name), name.len())
    });
    near.truncate(NEAR);
    let problem = format!(
        "there is no type {:?}; expected a type of ripgrep such as {}, or use glob",
        unknown.chars().take(60).collect::<String>(),
        near.join(", ")
    );
    Error::InvalidArguments { at: "type".into(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(list: &[&str]) -> Globs {
        Globs(list.iter().map(|glob| (*glob).to_owned()).collect())
    }

    fn wants(glob: &[&str], exclude: &[&str], types: &[&str], path: &str) -> bool {
        let wanted = WantedFiles::new(&globs(glob), &globs(exclude), &globs(types)).unwrap();
        let path = Path::new(path);
        wanted.wants(path, path.strip_prefix("start").unwrap_or(path), false)
    }

    #[test]
    fn a_file_is_wanted_if_a_glob_names_it_and_none_leaves_it_out() {
        assert!(wants(&[], &[], &[], "a/b.rs"));
        assert!(wants(&["*.rs"], &[], &[], "a/b.rs") && !wants(&["*.rs"], &[], &[], "a/b.txt"));
        assert!(wants(&["src/**"], &[], &[], "src/a/b") && !wants(&["src/**"], &[], &[], "x/src/b"));
        assert!(wants(&["src/", "*.md"], &[], &[], "src/a") && wants(&["src/", "*.md"], &[], &[], "x.md"));
        assert!(
            !wants(&["*.rs", "!tests/**"], &[], &[], "tests/a.rs") && wants(&["!*.md"], &[], &[], "a.rs")
        );
        assert!(!wants(&[], &["*.rs"], &[], "a.rs") && wants(&["*.{ts,tsx}"], &[], &[], "a.tsx"));
        assert!(wants(&["./a.rs"], &[], &[], "a.rs") && wants(&["/a.rs"], &[], &[], "start/a.rs"));
        assert!(wants(&["start/*.rs"], &[], &[], "start/a.rs"), "below the served folder, too");
    }

    #[test]
    fn types_are_those_of_ripgrep_and_an_unknown_one_names_near_ones() {
        assert!(wants(&[], &[], &["rust", "py"], "a.py") && !wants(&[], &[], &["rust"], "a.py"));
        let error = WantedFiles::new(&globs(&[]), &globs(&[]), &globs(&["pyton"])).unwrap_err();
        assert!(
            matches!(error, Error::InvalidArguments { at, problem } if at == "type" && problem.contains("python"))
        );
    }

    #[test]
    fn a_comma_separates_globs_outside_of_braces() {
        assert_eq!(split("*.{a,b}, c,[,]d"), ["*.{a,b}", "c", "[,]d"]);
    }
}
