//! The failures of the tools for templates, as errors with their texts (contract 16).

use crate::tools::shortened;
use ::toolkit::templates::{FORM, GenerateError, LookupError, Problem, ProjectError};
use folder::{Error, ToolFailure, ToolFailureKind, ValueProblem};

/// The most problems that a text names. Programs get all of them.
const SHOWN: usize = 50;

/// The error for a URI that leads to no template.
pub(super) fn lookup(uri: &str, error: LookupError) -> Error {
    let uri = shortened(uri);
    let (kind, message, hint) = match error {
        LookupError::Malformed(problem) => (
            ToolFailureKind::Malformed,
            format!("Invalid template URI {uri:?}: {problem}"),
            format!("Expected {FORM}, such as template://makefile/rust/cli. list_templates {{}} lists all."),
        ),
        LookupError::NotFound(near) if near.is_empty() => (
            ToolFailureKind::Missing,
            format!("Template not found: {uri}"),
            "list_templates {} lists all.".into(),
        ),
        LookupError::NotFound(near) => (
            ToolFailureKind::Missing,
            format!("Template not found: {uri}"),
            format!("Templates with a similar URI: {}", near.join(", ")),
        ),
        LookupError::LeftOut(problem) => (
            ToolFailureKind::Missing,
            format!("Template not found: {uri}"),
            format!(
                "It was left out when the server started: {problem}. The operator can mend it in the folder of --templates."
            ),
        ),
    };
    of_tool(kind, message, Some(hint), Vec::new())
}

/// The error of a template that made no file.
pub(super) fn generate(error: GenerateError) -> Error {
    match error {
        GenerateError::Parameters(problems) => rejected(problems),
        GenerateError::Failed(problem) => {
            let hint =
                "Nothing was made. The template itself is at fault, or the parameters are too large for it.";
            of_tool(
                ToolFailureKind::Unusable,
                format!("Template failed: {problem}"),
                Some(hint.into()),
                Vec::new(),
            )
        }
    }
}

/// The error of a project that was not made.
pub(super) fn project(error: ProjectError) -> Error {
    match error {
        ProjectError::Lookup(uri, error) => lookup(&uri, error),
        ProjectError::Generate(error) => generate(error),
        ProjectError::Stopped(error) => error,
    }
}

/// The error for these problems of parameters. The message has no values, because it is logged.
fn rejected(problems: Vec<Problem>) -> Error {
    let names: Vec<&str> = problems.iter().take(SHOWN).map(|problem| &*problem.parameter).collect();
    let message = shortened(&format!("Parameter validation failed: {}", names.join(", ")));
    let hint = problem_lines(&problems);
    let problem =
        |Problem { parameter, problem, expected }| ValueProblem { name: parameter, problem, expected };
    of_tool(ToolFailureKind::Rejected, message, Some(hint), problems.into_iter().map(problem).collect())
}

fn of_tool(
    kind: ToolFailureKind,
    message: String,
    hint: Option<String>,
    problems: Vec<ValueProblem>,
) -> Error {
    Error::OfTool(Box::new(ToolFailure { kind, message, hint, problems }))
}

/// One line for each problem.
pub(super) fn problem_lines(problems: &[Problem]) -> String {
    let line = |Problem { parameter, problem, expected }: &Problem| {
        format!("{parameter} {problem}; expected {expected}")
    };
    let mut lines: Vec<String> = problems.iter().take(SHOWN).map(line).collect();
    if problems.len() > SHOWN {
        lines.push(format!("and {} more", problems.len() - SHOWN));
    }
    lines.join("\n")
}
