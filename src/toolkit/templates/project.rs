//! Several templates with the same parameters: the files of a project.
//!
//! Knows no folder: where the files go is for the caller.

use super::catalogue::{Catalogue, LookupError};
use super::parameter::{self, Problem};
use super::template::{GenerateError, Generated, Template};
use super::uri::{SCHEME, TemplateUri};
use super::value::{SentValue, quoted};
use folder::{Control, Error};

/// The parameter that chooses the variant of templates that are named without one.
const VARIANT: &str = "variant";

/// The variant where nothing says otherwise.
const DEFAULT_VARIANT: &str = "cli";

/// The longest files of a project together, in bytes.
const MAX_PROJECT: usize = 2 << 20;

/// Why there are no files.
#[derive(Debug)]
pub enum ProjectError {
    /// There is no such template. The first text is its URI, or its name if that makes no URI.
    Lookup(String, LookupError),
    /// The templates were not generated.
    Generate(GenerateError),
    /// The call was stopped.
    Stopped(Error),
}

/// The files that these templates make together. A template is named by its category, by `category/variant`, or by its URI.
pub fn generate_project(
    catalogue: &Catalogue,
    toolchain: &str,
    names: &[String],
    sent: &[(String, SentValue)],
    control: &Control,
) -> Result<Vec<Generated>, ProjectError> {
    let (variant, wrong) = match variant_of(catalogue, toolchain, names, sent) {
        Ok(variant) => (variant, None),
        Err(problem) => (DEFAULT_VARIANT, Some(problem)),
    };
    let templates = match look_up_all(catalogue, toolchain, names, variant) {
        Err(_) if wrong.is_some() => Vec::new(),
        found => found?,
    };
    // Without templates, no parameter is known.
    let mut problems = if templates.is_empty() { Vec::new() } else { problems(&templates, sent) };
    problems.extend(wrong);
    if catalogue.list(Some(toolchain), None).next().is_none() {
        problems.push(unknown_toolchain(catalogue, toolchain));
    }
    if !problems.is_empty() {
        return Err(rejected(problems));
    }
    let beside: Vec<&str> = templates.iter().map(|template| &*template.uri.category).collect();
    let mut files: Vec<Generated> = Vec::new();
    for template in &templates {
        control.check().map_err(ProjectError::Stopped)?;
        let made = template.generate(&known(template, sent), &beside).map_err(ProjectError::Generate)?;
        if let Some(at) = files.iter().position(|file| file.path == made.path) {
            return Err(rejected(vec![same_path(&made.path, templates[at], template)]));
        }
        files.push(made);
        if MAX_PROJECT < files.iter().map(|file| file.content.len()).sum() {
            let problem = format!("{}: the files are longer than {MAX_PROJECT} bytes together", template.uri);
            return Err(ProjectError::Generate(GenerateError::Failed(problem)));
        }
    }
    Ok(files)
}

/// Templates that are named by their URIs exist also where the toolchain does not.
fn unknown_toolchain(catalogue: &Catalogue, toolchain: &str) -> Problem {
    let expected = format!("one of {}", catalogue.toolchains().join(", "));
    Problem { parameter: "toolchain".into(), problem: format!("is {}", quoted(toolchain)), expected }
}

fn rejected(problems: Vec<Problem>) -> ProjectError {
    ProjectError::Generate(GenerateError::Parameters(problems))
}

/// The variant of templates that are named by their category alone.
fn variant_of<'s>(
    catalogue: &Catalogue,
    toolchain: &str,
    names: &[String],
    sent: &'s [(String, SentValue)],
) -> Result<&'s str, Problem> {
    let wrong = |problem, expected| Problem { parameter: VARIANT.into(), problem, expected };
    let variant = match sent.iter().rfind(|(name, _)| name == VARIANT).map(|(_, value)| value) {
        None | Some(SentValue::Null) => return Ok(DEFAULT_VARIANT),
        Some(SentValue::Text(variant)) => variant,
        Some(other) => return Err(wrong(format!("is {}", other.shown()), "cli or library".into())),
    };
    for category in names.iter().filter(|name| !name.contains('/')) {
        let known = catalogue.list(Some(toolchain), Some(category));
        let known: Vec<&str> = known.map(|template| &*template.uri.variant).collect();
        if !known.is_empty() && !known.contains(&&**variant) {
            let expected = format!("one of {} for {category}", known.join(", "));
            return Err(wrong(format!("is {}", quoted(variant)), expected));
        }
    }
    Ok(variant)
}

fn same_path(path: &str, one: &Template, other: &Template) -> Problem {
    let problem = format!("have {} and {}, which both make {path}", one.uri, other.uri);
    let expected = "templates that make different files".into();
    Problem { parameter: "templates".into(), problem, expected }
}

/// The templates with these names, each once.
fn look_up_all<'c>(
    catalogue: &'c Catalogue,
    toolchain: &str,
    names: &[String],
    variant: &str,
) -> Result<Vec<&'c Template>, ProjectError> {
    let mut templates: Vec<&Template> = Vec::new();
    for name in names {
        let template = look_up(catalogue, toolchain, name, variant)?;
        if !templates.iter().any(|other| other.uri == template.uri) {
            templates.push(template);
        }
    }
    Ok(templates)
}

fn look_up<'c>(
    catalogue: &'c Catalogue,
    toolchain: &str,
    name: &str,
    variant: &str,
) -> Result<&'c Template, ProjectError> {
    let uri = match name.split_once('/') {
        _ if name.contains("://") => TemplateUri::parse(name),
        Some((category, variant)) => TemplateUri::of_parts(category, toolchain, variant),
        None => TemplateUri::of_parts(name, toolchain, variant),
    };
    let uri = uri.map_err(|problem| {
        let text = match name.contains("://") {
            true => name.to_owned(),
            false => format!("{SCHEME}{name}/{toolchain}"),
        };
        ProjectError::Lookup(text, LookupError::Malformed(problem))
    })?;
    catalogue.get(&uri).map_err(|error| ProjectError::Lookup(uri.to_string(), error))
}

/// The parameters that a template knows.
fn known(template: &Template, sent: &[(String, SentValue)]) -> Vec<(String, SentValue)> {
    let is_known = |name: &str| template.parameters.iter().any(|parameter| parameter.name == name);
    sent.iter().filter(|(name, _)| is_known(name)).cloned().collect()
}

/// All problems of the parameters, each once. A parameter is unknown if no template knows it.
fn problems(templates: &[&Template], sent: &[(String, SentValue)]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let all = templates.iter().flat_map(|template| template.parameters.iter().cloned()).collect::<Vec<_>>();
    let has_variant = all.iter().any(|parameter| parameter.name == VARIANT);
    let sent: Vec<_> = sent.iter().filter(|(name, _)| has_variant || name != VARIANT).cloned().collect();
    let found = templates.iter().flat_map(|template| template.problems(&known(template, &sent)));
    for problem in found.chain(parameter::unknown(&all, &sent)) {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::own::OwnTemplates;
    use super::*;

    fn text(text: &str) -> SentValue {
        SentValue::Text(text.into())
    }

    fn made(names: &[&str], sent: &[(&str, SentValue)]) -> Result<Vec<String>, ProjectError> {
        let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
        let sent: Vec<_> = sent.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        let files = generate_project(
            &Catalogue::new(OwnTemplates::default()),
            "rust",
            &names,
            &sent,
            &Control::new(Duration::from_secs(60)),
        )?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    #[test]
    fn templates_are_named_by_category_variant_or_uri() {
        let name = ("project_name", text("x"));
        let of = |names: &[&str]| made(names, std::slice::from_ref(&name)).unwrap();
        assert_eq!(
            of(&["makefile", "source", "source", "template://source/rust/cli"]),
            ["Makefile", "src/main.rs"]
        );
        assert_eq!(of(&["source/library", "template://manifest/deno/cli"]), ["src/lib.rs", "deno.json"]);
        let library = made(&["source", "test"], &[name.clone(), ("variant", text("library"))]);
        assert_eq!(library.unwrap(), ["src/lib.rs", "tests/api.rs"]);
    }

    #[test]
    fn wrong_names_and_all_wrong_parameters_are_told() {
        let name = ("project_name", text("x"));
        for (names, uri) in [
            (&["makefil"][..], "template://makefil/rust/cli"),
            (&["makefile/x"], "template://makefile/rust/x"),
            (&["template://makefile/go/cli"], "template://makefile/go/cli"),
        ] {
            let error = made(names, std::slice::from_ref(&name)).unwrap_err();
            assert!(
                matches!(&error, ProjectError::Lookup(text, LookupError::NotFound(_)) if text == uri),
                "{error:?}"
            );
        }
        for name in ["../x", "a/b/c", "", "template://x", "make file"] {
            let error = made(&[name], &[]).unwrap_err();
            assert!(matches!(error, ProjectError::Lookup(_, LookupError::Malformed(_))), "{error:?}");
        }
        let wrong = [("project_name", text("../x")), ("has_tests", text("maybe")), ("nothing", text(""))];
        let Err(ProjectError::Generate(GenerateError::Parameters(problems))) =
            made(&["makefile", "readme"], &wrong)
        else {
            panic!("not refused")
        };
        let names: Vec<&str> = problems.iter().map(|problem| &*problem.parameter).collect();
        assert_eq!(names, ["project_name", "has_tests", "nothing"]);
        for (names, sent) in [
            (&["source", "source/library", "manifest", "manifest/library"][..], vec![name.clone()]),
            (&["source"], vec![name.clone(), ("variant", SentValue::Integer(1))]),
        ] {
            assert!(matches!(made(names, &sent), Err(ProjectError::Generate(_))), "{names:?}");
        }
    }

    #[test]
    fn an_unknown_toolchain_is_refused_also_where_all_templates_are_named_by_their_uris() {
        let made = |toolchain: &str| {
            let (names, sent) =
                (["template://gitignore/rust/cli".into()], [("project_name".into(), text("x"))]);
            let catalogue = Catalogue::new(OwnTemplates::default());
            generate_project(&catalogue, toolchain, &names, &sent, &Control::new(Duration::from_secs(60)))
        };
        assert!(made("deno").is_ok(), "a template of another toolchain");
        for toolchain in ["cobol", "Rust", "", "../x"] {
            let Err(ProjectError::Generate(GenerateError::Parameters(problems))) = made(toolchain) else {
                panic!("not refused: {toolchain}")
            };
            assert_eq!(problems[0].parameter, "toolchain");
            assert!(problems[0].expected.contains("python-uv"), "{problems:?}");
        }
    }

    #[test]
    fn a_wrong_variant_is_told_with_the_other_problems() {
        let sent = [("project_name", text("../x")), ("variant", text("clii"))];
        let Err(ProjectError::Generate(GenerateError::Parameters(problems))) = made(&["source"], &sent)
        else {
            panic!("not refused")
        };
        let told: Vec<_> = problems.iter().map(|one| (&*one.parameter, &*one.problem)).collect();
        assert_eq!((told[0].0, told[1]), ("project_name", ("variant", "is \"clii\"")));
        assert_eq!(problems[1].expected, "one of cli, library for source");
        let explicit = made(&["source/cli"], &[("project_name", text("x")), ("variant", text("clii"))]);
        assert_eq!(explicit.unwrap(), ["src/main.rs"], "a variant counts for categories alone");
        let missing = made(&["source", "nothing/x"], &[("variant", text("clii"))]);
        assert!(matches!(missing, Err(ProjectError::Generate(_))), "{missing:?}");
    }
}
