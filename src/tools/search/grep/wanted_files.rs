//! Which files `grep` searches: by globs, and by the types of files that ripgrep knows.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use ignore::types::{Types, TypesBuilder};
use text::order;

use crate::tools::arguments::{Argument, Value, is_empty_list};
use crate::tools::glob_list::split;
use crate::tools::walking::shown;
use crate::tools::wrong_pattern;
use folder::{Error, FolderPaths, Result};
use sys::ffi::OsStrExt;
use sys::path::{told, with_slashes};
use text::glob::{Glob, GlobBudget, RootedGlob};

/// Maximum number of globs in one argument.
const MAX_GLOBS: usize = 50;

/// The longest glob, in bytes.
const MAX_GLOB: usize = 4_096;

/// Other names of languages, and those of their types.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("javascript", "js"),
    ("golang", "go"),
    ("c++", "cpp"),
    ("shell", "sh"),
    ("bash", "sh"),
    ("python3", "python"),
    ("c#", "csharp"),
];

/// Maximum number of near types in an error.
const NEAR: usize = 5;

/// One or several globs: an array, or a string in which a comma outside of braces separates them.
#[derive(Debug, Clone, Default)]
pub(in crate::tools) struct Globs(pub(in crate::tools) Vec<String>);

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
        let is_array =
            value.json().starts_with('[') || value.items(&Self::expected(), &mut |_, _| Ok(())).is_ok();
        if is_array {
            value.items(&Self::expected(), &mut |_, item| {
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

impl Globs {
    /// The same globs, of which absolute ones are relative to the served folder. With several folders, such a glob is refused.
    pub(in crate::tools) fn relative(&self, at: &str, folders: &FolderPaths) -> Result<Globs> {
        let mut globs = self.clone();
        for glob in &mut globs.0 {
            let marks = glob.len() - glob.trim_start_matches('!').len();
            let (negation, path) = glob.split_at(marks);
            let path = with_slashes(path);
            let Some((folder, rest)) = folders.split(&path) else { continue };
            if folders.folders().len() > 1 {
                let folder = told(&folders.folders()[folder].to_string_lossy()).into_owned();
                let instead = serde_json::json!({ "path": folder, at: rest });
                let problem = format!("it is absolute, but several folders are served; expected {instead}");
                return Err(Error::InvalidArguments { at: at.into(), problem });
            }
            *glob = format!("{negation}/{}", rest.trim_start_matches('/'));
        }
        Ok(globs)
    }
}

/// The arguments `glob`, `exclude` and `type`.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Chosen {
    pub(super) globs: Globs,
    pub(super) exclude: Globs,
    pub(super) types: Globs,
    /// Whether upper and lower case are the same in globs.
    pub(super) ignores_case: bool,
}

impl Chosen {
    /// By `glob`, `exclude` and `type` of a call.
    pub(in crate::tools) fn relative(
        [globs, exclude, types]: [&Option<Globs>; 3],
        folders: &FolderPaths,
    ) -> Result<Chosen> {
        let relative = |at, globs: &Option<Globs>| {
            globs.as_ref().map_or(Ok(Globs::default()), |globs| globs.relative(at, folders))
        };
        Ok(Chosen {
            globs: relative("glob", globs)?,
            exclude: relative("exclude", exclude)?,
            types: types.clone().unwrap_or_default(),
            ignores_case: false,
        })
    }

    /// By globs and types that are relative.
    pub(in crate::tools) fn of(globs: Globs, types: Globs) -> Chosen {
        Chosen { globs, exclude: Globs::default(), types, ignores_case: false }
    }

    /// The files that they choose.
    pub(in crate::tools) fn files(&self) -> Result<WantedFiles> {
        match self.ignores_case {
            false => WantedFiles::new(&self.globs, &self.exclude, &self.types),
            true => {
                let lower = |globs: &Globs| Globs(globs.0.iter().map(|glob| glob.to_lowercase()).collect());
                let wanted = WantedFiles::new(&lower(&self.globs), &lower(&self.exclude), &self.types)?;
                Ok(WantedFiles { ignores_case: true, ..wanted })
            }
        }
    }

    /// The same without regard to case in globs; `None` if the globs of files have none.
    pub(super) fn ignoring_case(&self) -> Option<Chosen> {
        let has_case = self.globs.0.iter().any(|glob| glob.contains(char::is_alphabetic));
        has_case.then(|| Chosen { ignores_case: true, ..self.clone() })
    }

    /// The same with each glob of files as `change` reads it; `None` if it changes none.
    pub(in crate::tools) fn with_globs(&self, change: impl Fn(&str) -> Option<String>) -> Option<Chosen> {
        let changed: Vec<Option<String>> = self.globs.0.iter().map(|glob| change(glob)).collect();
        changed.iter().any(Option::is_some).then(|| {
            let globs = self.globs.0.iter().zip(changed);
            let globs = globs.map(|(glob, other)| other.unwrap_or_else(|| glob.clone())).collect();
            Chosen { globs: Globs(globs), ..self.clone() }
        })
    }
}

/// See the module.
pub(in crate::tools) struct WantedFiles {
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    /// Folders that are left out with all that is in them.
    exclude_folders: Vec<Glob>,
    types: Option<Types>,
    /// Whether paths are matched in lower case.
    ignores_case: bool,
}

impl fmt::Debug for WantedFiles {
    /// Not with the matchers, whose inner state differs between equal ones.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("WantedFiles").finish_non_exhaustive()
    }
}

impl WantedFiles {
    /// From the arguments `glob` (in which `!` leaves out), `exclude` and `type`. Call it when the call runs, because it may take
    /// a while.
    pub(super) fn new(globs: &Globs, exclude: &Globs, types: &Globs) -> Result<WantedFiles> {
        let types = file_types(types)?;
        let (include, exclude_folders) = (Vec::new(), Vec::new());
        let mut wanted =
            WantedFiles { include, exclude: Vec::new(), exclude_folders, types, ignores_case: false };
        let mut budget = GlobBudget::default();
        for (at, text, is_exclude) in globs
            .0
            .iter()
            .map(|glob| ("glob", glob, false))
            .chain(exclude.0.iter().map(|glob| ("exclude", glob, true)))
        {
            let RootedGlob { is_negated, text } = RootedGlob::new(text);
            let positive = RootedGlob { is_negated: false, text };
            let mut read =
                |glob: &RootedGlob| glob.glob(&mut budget).map_err(|error| wrong_pattern(at, &error));
            if is_negated || is_exclude {
                if let Some(folders) = positive.folders() {
                    wanted.exclude_folders.push(read(&folders)?);
                }
                wanted.exclude.push(read(&positive)?);
            } else {
                wanted.include.push(read(&positive)?);
            }
        }
        Ok(wanted)
    }

    /// Whether a file is searched or a folder entered. `path` is below the served folder, `from_start` below the folder
    /// that is searched: a glob may be of either.
    pub(in crate::tools) fn wants(&self, path: &Path, from_start: &Path, is_folder: bool) -> bool {
        let [whole, below] = [path, from_start].map(|path| {
            let path = shown(path.as_os_str().as_bytes());
            if self.ignores_case { Cow::Owned(path.to_lowercase()) } else { path }
        });
        let matches = |globs: &[Glob]| {
            globs.iter().any(|glob| glob.matches(&whole))
                || whole.len() != below.len() && globs.iter().any(|glob| glob.matches(&below))
        };
        if matches(&self.exclude) || is_folder && matches(&self.exclude_folders) {
            return false;
        }
        is_folder
            || (self.include.is_empty() || matches(&self.include))
                && self.types.as_ref().is_none_or(|types| types.matched(path, false).is_whitelist())
    }
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
    let lower = unknown.to_lowercase();
    let extension = lower.trim_start_matches(['*', '.']);
    let file = format!("x.{extension}");
    let names_extension = |definition: &ignore::types::FileTypeDef| {
        definition.globs().iter().any(|glob| Glob::parse(glob).is_ok_and(|glob| glob.matches(&file)))
    };
    let of_extension: Vec<&str> =
        definitions.iter().filter(|one| names_extension(one)).map(ignore::types::FileTypeDef::name).collect();
    let meant = OTHER_NAMES.iter().find(|(other, _)| *other == extension).map_or(extension, |(_, name)| name);
    let mut near: Vec<&str> = known.clone();
    order::sort_by_key(&mut near, |name| {
        let has_extension = of_extension.contains(name);
        (*name != meant, !has_extension, strsim::damerau_levenshtein(&lower, name), name.len())
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
        assert!(wants(&["@(a|b).rs"], &[], &[], "x/b.rs") && !wants(&["!(a).rs"], &[], &[], "x/a.rs"));
        assert!(wants(&["f{1..3}"], &[], &[], "x/f2") && !wants(&[], &["!(a).rs"], &[], "b.rs"));
        assert!(!wants(&[], &["tests/"], &[], "x/tests/a/b.rs") && wants(&[], &["tests/"], &[], "tests"));
    }

    #[test]
    fn a_folder_of_which_all_is_left_out_is_not_entered() {
        let wanted = |exclude: &str| WantedFiles::new(&globs(&[]), &globs(&[exclude]), &globs(&[])).unwrap();
        let enters =
            |exclude: &str, path: &str| wanted(exclude).wants(Path::new(path), Path::new(path), true);
        for exclude in ["tests/", "tests/**", "tests", "**/tests/"] {
            assert!(!enters(exclude, "tests") && enters(exclude, "test"), "{exclude}");
        }
        assert!(!enters("tests/", "a/tests") && enters("tests/**", "a/tests") && enters("tests/*", "tests"));
    }

    #[test]
    fn types_are_those_of_ripgrep_and_an_unknown_one_names_near_ones() {
        assert!(wants(&[], &[], &["rust", "py"], "a.py") && !wants(&[], &[], &["rust"], "a.py"));
        let error = WantedFiles::new(&globs(&[]), &globs(&[]), &globs(&["pyton"])).unwrap_err();
        assert!(
            matches!(error, Error::InvalidArguments { at, problem } if at == "type" && problem.contains("python"))
        );
        for (name, near) in [
            ("rs", "rust"),
            (".rs", "rust"),
            ("*.rs", "rust"),
            ("Rust", "rust"),
            ("PY", "py"),
            ("rb", "ruby"),
            ("kt", "kotlin"),
            ("jsx", "js"),
            ("golang", "go"),
            ("javascript", "js"),
            ("c++", "cpp"),
            ("shell", "sh"),
        ] {
            let error = WantedFiles::new(&globs(&[]), &globs(&[]), &globs(&[name])).unwrap_err();
            let Error::InvalidArguments { problem, .. } = error else { panic!("{name}") };
            assert!(problem.contains(&format!("such as {near},")), "{name}: {problem}");
        }
    }
}
