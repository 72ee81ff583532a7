//! One template: what it makes, from which parameters, and its source.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::parameter::{self, Parameter, Problem};
use super::project_name::module_name;
use super::render;
use super::uri::TemplateUri;
use super::value::{ParameterValue, SentValue};

/// Names of values that every template has, beside its parameters. `beside` lists the categories of the templates that the
/// same call generates. `module_name` is there if there is a `project_name`.
const GIVEN: [&str; 6] = ["category", "toolchain", "variant", "this_year", "beside", "module_name"];

/// The parameter that gives a template its `module_name`.
const PROJECT_NAME: &str = "project_name";

/// The longest path of a result, in bytes.
const MAX_PATH: usize = 1_024;

/// See the module.
#[derive(Debug, Clone)]
pub struct Template {
    /// Its URI.
    pub uri: TemplateUri,
    /// Its name for people.
    pub name: Cow<'static, str>,
    /// What it makes, in one line.
    pub description: Cow<'static, str>,
    /// The media type of its result.
    pub mime_type: Cow<'static, str>,
    /// The path of its result in a project, as a source.
    pub path: Cow<'static, str>,
    /// Its parameters.
    pub parameters: Arc<[Parameter]>,
    /// Its source.
    pub source: Cow<'static, str>,
}

/// The result of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The template.
    pub uri: TemplateUri,
    /// Its path below the folder of the project, with `/`.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// Why a template gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GenerateError {
    /// These are all problems of the parameters.
    Parameters(Vec<Problem>),
    /// The template itself failed. The text says why.
    Failed(String),
}

impl Template {
    /// Checks that the template can be rendered. The error says what is wrong and where.
    pub fn check_sources(&self) -> Result<(), String> {
        let mut names: Vec<&str> = self.parameters.iter().map(|parameter| &*parameter.name).collect();
        let has_module = names.contains(&PROJECT_NAME);
        names.extend(GIVEN.into_iter().filter(|name| has_module || *name != "module_name"));
        render::check(&self.path, &names).map_err(|problem| format!("path: {problem}"))?;
        if !self.path.contains('{') {
            check_path(&self.path).map_err(|problem| format!("path: {problem}"))?;
        }
        render::check(&self.source, &names)
    }

    /// All problems of these parameters; none if the template can be generated with them.
    pub fn problems(&self, sent: &[(String, SentValue)]) -> Vec<Problem> {
        parameter::check(&self.parameters, sent).err().unwrap_or_default()
    }

    /// The result for these parameters. `beside` are the categories of all templates that the call generates.
    pub fn generate(
        &self,
        sent: &[(String, SentValue)],
        beside: &[&str],
    ) -> Result<Generated, GenerateError> {
        let mut values = parameter::check(&self.parameters, sent).map_err(GenerateError::Parameters)?;
        self.give(&mut values, beside);
        let failed = |problem: String| GenerateError::Failed(format!("{}: {problem}", self.uri));
        let path = render::render(&self.path, &values).map_err(failed)?;
        check_path(&path).map_err(failed)?;
        let content = render::render(&self.source, &values).map_err(failed)?;
        Ok(Generated { uri: self.uri.clone(), path, content })
    }

    /// Adds the values of [`GIVEN`]. A parameter of the same name goes before.
    fn give(&self, values: &mut Vec<(String, ParameterValue)>, beside: &[&str]) {
        let text = |text: &str| ParameterValue::Text(text.into());
        let project = values.iter().find_map(|(name, value)| match value {
            ParameterValue::Text(project) if name == PROJECT_NAME => Some(module_name(project)),
            _ => None,
        });
        let TemplateUri { category, toolchain, variant } = &self.uri;
        let given = [
            Some(text(category)),
            Some(text(toolchain)),
            Some(text(variant)),
            Some(ParameterValue::Integer(this_year())),
            Some(ParameterValue::List(beside.iter().map(|category| (*category).into()).collect())),
            project.as_deref().map(text),
        ];
        for (name, value) in GIVEN.iter().zip(given) {
            if let Some(value) = value
                && !values.iter().any(|(known, _)| known == name)
            {
                values.push(((*name).into(), value));
            }
        }
    }
}

/// Refuses a path that leads out of the project, or that not every system has.
fn check_path(path: &str) -> Result<(), String> {
    let is_wrong =
        |part: &str| matches!(part, "" | "." | "..") || part.contains(|c: char| c.is_control() || c == '\\');
    let problem = if path.len() > MAX_PATH {
        format!("has {} bytes; the most are {MAX_PATH}", path.len())
    } else if path.split('/').any(is_wrong) {
        format!("is {path:?}; expected a path in the project, such as src/main.rs")
    } else {
        return Ok(());
    };
    Err(format!("the path of the result {problem}"))
}

/// The year now, in UTC.
fn this_year() -> i64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    year_of_day((seconds / 86_400) as i64)
}

/// The year of a day, counted from 1970-01-01.
fn year_of_day(day: i64) -> i64 {
    // Years that begin in March have the leap day at their end; 719,468 days lie between March of year 0 and 1970.
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day = day.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    era * 400 + year + i64::from(306 <= day_of_year)
}

#[cfg(test)]
mod tests {
    use super::super::rule::Rule;
    use super::super::value::ParameterType;
    use super::*;

    fn template(path: &'static str, source: &'static str) -> Template {
        let name = Parameter {
            name: "project_name".into(),
            description: "".into(),
            kind: ParameterType::Text,
            default: None,
            rule: Rule::Any,
            values: Vec::new(),
        };
        Template {
            uri: TemplateUri::parse("template://a/b/c").unwrap(),
            name: "N".into(),
            description: "D".into(),
            mime_type: "text/plain".into(),
            path: path.into(),
            parameters: [name].into(),
            source: source.into(),
        }
    }

    fn generated(template: &Template, name: &str) -> Result<Generated, GenerateError> {
        template.generate(&[("project_name".into(), SentValue::Text(name.into()))], &[])
    }

    #[test]
    fn path_and_content_are_rendered_with_parameters_and_given_values() {
        let template = template(
            "src/{{ module_name }}.rs",
            "{{ project_name }} {{ category }}/{{ toolchain }}/{{ variant }}\n",
        );
        assert_eq!(template.check_sources(), Ok(()));
        let Generated { path, content, .. } = generated(&template, "My-App").unwrap();
        assert_eq!((&*path, &*content), ("src/my_app.rs", "My-App a/b/c\n"));
        assert_eq!(template.problems(&[]).len(), 1);
        assert!(matches!(template.generate(&[], &[]), Err(GenerateError::Parameters(_))));
    }

    #[test]
    fn a_path_stays_in_the_project() {
        let template = template("{{ project_name }}", "");
        for name in
            ["..", "../x", "a/../b", "/etc/x", "", "a//b", "a\\b", "a\nb", "./a", "a/", &"x".repeat(2_000)]
        {
            assert!(matches!(generated(&template, name), Err(GenerateError::Failed(_))), "{name:?}");
        }
        assert!(generated(&template, ".github/a b").is_ok());
    }

    #[test]
    fn years_change_at_their_first_day() {
        for (day, year) in [
            (0, 1970),
            (364, 1970),
            (365, 1971),
            (11_016, 2000),
            (11_322, 2000),
            (11_323, 2001),
            (20_454, 2026),
            (20_453, 2025),
        ] {
            assert_eq!(year_of_day(day), year, "{day}");
        }
    }
}
