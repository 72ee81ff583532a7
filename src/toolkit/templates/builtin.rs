//! The built-in templates: nine categories, three toolchains, two variants.
//!
//! The sources are the text files in `builtin/`. Variants share a source where that stays readable.

use std::sync::Arc;

use super::parameter::Parameter;
use super::rule::Rule;
use super::template::Template;
use super::uri::TemplateUri;
use super::value::{ParameterType, ParameterValue};

/// A text in both variants.
struct Both {
    cli: &'static str,
    library: &'static str,
}

const fn same(text: &'static str) -> Both {
    Both { cli: text, library: text }
}

/// One category of a toolchain.
struct Row {
    category: &'static str,
    mime_type: &'static str,
    path: Both,
    source: Both,
    /// What it makes.
    makes: &'static str,
}

struct Toolchain {
    name: &'static str,
    /// For people.
    label: &'static str,
    rows: [Row; 9],
}

macro_rules! source {
    ($toolchain:literal, $file:literal) => {
        include_str!(concat!("builtin/", $toolchain, "/", $file, ".txt"))
    };
}

/// The rows of a toolchain. The parts that differ are the manifest, the source and the test.
macro_rules! rows {
    ($toolchain:literal, $manifest:literal, $manifest_type:literal, $source_type:literal, $source:expr, $test:expr, $tools:literal) => {
        [
            row(
                "makefile",
                "text/x-makefile",
                same("Makefile"),
                same(source!($toolchain, "makefile")),
                concat!("Makefile with help, build, run, test, lint and format, by ", $tools),
            ),
            row(
                "readme",
                "text/markdown",
                same("README.md"),
                same(source!($toolchain, "readme")),
                "README with installation, use and development",
            ),
            row(
                "gitignore",
                "text/plain",
                same(".gitignore"),
                same(source!($toolchain, "gitignore")),
                "Files that git ignores",
            ),
            row(
                "manifest",
                $manifest_type,
                same($manifest),
                same(source!($toolchain, "manifest")),
                concat!("Manifest ", $manifest, " with settings for ", $tools),
            ),
            row(
                "source",
                $source_type,
                $source,
                Both {
                    cli: source!($toolchain, "source_cli"),
                    library: source!($toolchain, "source_library"),
                },
                "First source file, which says hello",
            ),
            row(
                "test",
                $source_type,
                $test,
                Both { cli: source!($toolchain, "test_cli"), library: source!($toolchain, "test_library") },
                "Tests of the first source file",
            ),
            row(
                "ci",
                "application/yaml",
                same(".github/workflows/ci.yml"),
                same(source!($toolchain, "ci")),
                "Continuous integration: a GitHub Actions workflow that formats, lints and tests",
            ),
            row(
                "dockerfile",
                "text/x-dockerfile",
                same("Dockerfile"),
                same(source!($toolchain, "dockerfile")),
                "Dockerfile that builds a container image in stages",
            ),
            row(
                "license",
                "text/plain",
                same("LICENSE"),
                same(include_str!("builtin/license.txt")),
                "MIT license",
            ),
        ]
    };
}

const fn row(
    category: &'static str,
    mime_type: &'static str,
    path: Both,
    source: Both,
    makes: &'static str,
) -> Row {
    Row { category, mime_type, path, source, makes }
}

static TOOLCHAINS: [Toolchain; 3] = [
    Toolchain {
        name: "rust",
        label: "Rust",
        rows: rows!(
            "rust",
            "Cargo.toml",
            "application/toml",
            "text/x-rust",
            Both { cli: "src/main.rs", library: "src/lib.rs" },
            Both { cli: "tests/cli.rs", library: "tests/api.rs" },
            "cargo, clippy and rustfmt"
        ),
    },
    Toolchain {
        name: "deno",
        label: "Deno",
        rows: rows!(
            "deno",
            "deno.json",
            "application/json",
            "application/typescript",
            Both { cli: "main.ts", library: "mod.ts" },
            Both { cli: "main_test.ts", library: "mod_test.ts" },
            "deno test, lint, check and fmt"
        ),
    },
    Toolchain {
        name: "python-uv",
        label: "Python",
        rows: rows!(
            "python-uv",
            "pyproject.toml",
            "application/toml",
            "text/x-python",
            same("src/{{ module_name }}/__init__.py"),
            same("tests/test_{{ module_name }}.py"),
            "uv, pytest and ruff"
        ),
    },
];

/// All built-in templates.
pub(super) fn templates() -> Vec<Template> {
    let of = |toolchain: &'static Toolchain| {
        let parameters = parameters(toolchain.name);
        let variants = |row: &'static Row| ["cli", "library"].map(|variant| (row, variant));
        let rows = toolchain.rows.iter().flat_map(variants);
        rows.map(move |(row, variant)| template(toolchain, row, variant, &parameters))
    };
    TOOLCHAINS.iter().flat_map(of).collect()
}

fn template(
    toolchain: &'static Toolchain,
    row: &'static Row,
    variant: &'static str,
    parameters: &Arc<[Parameter]>,
) -> Template {
    let (kind, project) = match variant {
        "cli" => ("CLI", "command line project"),
        _ => ("library", "library project"),
    };
    let of = |both: &Both| if variant == "cli" { both.cli } else { both.library };
    let label = toolchain.label;
    Template {
        uri: TemplateUri {
            category: row.category.into(),
            toolchain: toolchain.name.into(),
            variant: variant.into(),
        },
        name: format!("{label} {kind} {}", title(row.category)).into(),
        description: format!("{}, for a {label} {project}", row.makes).into(),
        mime_type: row.mime_type.into(),
        path: of(&row.path).into(),
        parameters: parameters.clone(),
        source: of(&row.source).into(),
    }
}

/// The name of a category for people.
fn title(category: &str) -> &'static str {
    match category {
        "makefile" => "Makefile",
        "readme" => "README",
        "gitignore" => ".gitignore",
        "manifest" => "Manifest",
        "source" => "Source",
        "test" => "Test",
        "ci" => "CI",
        "dockerfile" => "Dockerfile",
        _ => "License",
    }
}

/// The parameters of every template of a toolchain.
fn parameters(toolchain: &'static str) -> Arc<[Parameter]> {
    let parameter = |name: &'static str, description: &'static str, rule, default| Parameter {
        name: name.into(),
        description: description.into(),
        kind: ParameterType::Text,
        default,
        rule,
        values: Vec::new(),
    };
    let text = || Some(ParameterValue::Text(String::new()));
    let author = "Who has the copyright; without it, the authors of the project";
    let (year, this_year) = ("Year of the copyright; 0: this year", ParameterValue::Integer(0));
    let (tests, on) = ("Whether the project has tests", ParameterValue::Boolean(true));
    [
        parameter("project_name", "Name of the project", Rule::ProjectName(toolchain), None),
        // A line break would end the line that the text stands in.
        parameter("description", "What the project is, in one line", Rule::OneLine, text()),
        parameter("author", author, Rule::OneLine, text()),
        Parameter { kind: ParameterType::Integer, ..parameter("year", year, Rule::Any, Some(this_year)) },
        Parameter { kind: ParameterType::Boolean, ..parameter("has_tests", tests, Rule::Any, Some(on)) },
    ]
    .into()
}
