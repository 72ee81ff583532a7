//! The parameters of templates: what each takes, and all problems of the values that a call gives.
//!
//! Knows no template and no JSON.

use std::borrow::Cow;

use super::project_name;
use super::rule::Rule;
use super::value::{ParameterType, ParameterValue, SHOWN, SentValue, quoted};

/// The longest text of a parameter, in bytes.
pub const MAX_TEXT: usize = 16 << 10;

/// The most items of a list.
pub(super) const MAX_ITEMS: usize = 1_000;

/// The longest texts of all parameters of a call together, in bytes.
pub const MAX_TEXTS: usize = 256 << 10;

/// One parameter of a template.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it is for; may be empty.
    pub description: Cow<'static, str>,
    /// Its type.
    pub kind: ParameterType,
    /// What it is if the call does not give it. `None`: it is required.
    pub default: Option<ParameterValue>,
    /// What a text, or each text of a list, must be.
    pub rule: Rule,
    /// The only values that it takes, if there are any.
    pub values: Vec<ParameterValue>,
}

/// What is wrong with one parameter of a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The parameter.
    pub parameter: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub expected: String,
}

impl Parameter {
    /// The value of the parameter in a call that sent `sent` for it.
    fn read(&self, sent: Option<&SentValue>) -> Result<ParameterValue, Problem> {
        let sent = match (sent, &self.default) {
            (Some(sent), _) if *sent != SentValue::Null => sent,
            (_, Some(default)) => return Ok(default.clone()),
            (_, None) => return Err(self.problem("is missing".into())),
        };
        let value = self.typed(sent).ok_or_else(|| self.problem(format!("is {}", sent.shown())))?;
        self.check(&value)?;
        Ok(value)
    }

    /// The value with the parameter's type. Texts are taken for numbers and truth values, as models send them.
    fn typed(&self, sent: &SentValue) -> Option<ParameterValue> {
        use ParameterValue::{Boolean, Integer, List, Text};
        let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
        Some(match (self.kind, sent) {
            (ParameterType::Text, SentValue::Text(text)) => Text(text.clone()),
            (ParameterType::Integer, SentValue::Integer(number)) => Integer(*number),
            (ParameterType::Integer, SentValue::Number(number)) => Integer(whole(*number)?),
            (ParameterType::Integer, SentValue::Text(text)) => Integer(text.parse().ok()?),
            (ParameterType::Boolean, SentValue::Boolean(value)) => Boolean(*value),
            (ParameterType::Boolean, SentValue::Text(text)) => Boolean(text.parse().ok()?),
            (ParameterType::List, SentValue::List(items)) => {
                let text = |item: &SentValue| match item {
                    SentValue::Text(text) => Some(text.clone()),
                    _ => None,
                };
                List(items.iter().map(text).collect::<Option<Vec<_>>>()?)
            }
            _ => return None,
        })
    }

    /// Why the default is none that a call could send, if there is a default.
    pub(super) fn wrong_default(&self) -> Option<Problem> {
        self.default.as_ref().and_then(|default| self.check(default).err())
    }

    fn check(&self, value: &ParameterValue) -> Result<(), Problem> {
        let texts = match value {
            ParameterValue::Text(text) => std::slice::from_ref(text),
            ParameterValue::List(items) => items,
            ParameterValue::Integer(_) | ParameterValue::Boolean(_) => &[],
        };
        if texts.len() > MAX_ITEMS {
            return Err(self.problem(format!("has {} items; the most are {MAX_ITEMS}", texts.len())));
        }
        for text in texts {
            if text.len() > MAX_TEXT {
                return Err(self.problem(format!("has {} bytes; the most are {MAX_TEXT}", text.len())));
            }
            self.check_text(text)?;
        }
        match self.values.is_empty() || self.values.contains(value) {
            true => Ok(()),
            false => Err(self.problem(format!("is {}", value.shown()))),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), Problem> {
        if !self.rule.allows(text) {
            return Err(self.problem(format!("is {}", quoted(text))));
        }
        match &self.rule {
            Rule::ProjectName(toolchain) => self.check_reserved(text, toolchain),
            _ => Ok(()),
        }
    }

    fn check_reserved(&self, name: &str, toolchain: &str) -> Result<(), Problem> {
        let Some(problem) = project_name::reserved(name, toolchain) else { return Ok(()) };
        let expected = format!("another name, such as {name}-app");
        Err(Problem { parameter: self.name.to_string(), problem, expected })
    }

    fn problem(&self, problem: String) -> Problem {
        Problem { parameter: self.name.to_string(), problem, expected: self.expected() }
    }

    /// What the parameter takes, in words.
    pub fn expected(&self) -> String {
        if !self.values.is_empty() {
            let values: Vec<String> = self.values.iter().map(ParameterValue::shown).collect();
            return format!("one of {}", values.join(", "));
        }
        let kind = self.kind.expected();
        match &self.rule {
            Rule::Any => kind.into(),
            Rule::OneLine => format!("{kind} of one line"),
            Rule::ProjectName(_) => format!(
                "a name of at most {} letters and digits that begins with a letter, with single - or _ between them",
                project_name::MAX_CHARS
            ),
            Rule::Pattern(pattern) => format!("{kind} that matches {}", pattern.source),
        }
    }
}

/// The values of all parameters, in their order, or everything that is wrong with what was sent.
pub(super) fn check(
    parameters: &[Parameter],
    sent: &[(String, SentValue)],
) -> Result<Vec<(String, ParameterValue)>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut values = Vec::new();
    for parameter in parameters {
        // Of two with one name, the last counts.
        let value = sent.iter().rfind(|(name, _)| *name == parameter.name).map(|(_, value)| value);
        match parameter.read(value) {
            Ok(value) => values.push((parameter.name.to_string(), value)),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(unknown(parameters, sent));
    let texts: usize = values.iter().map(|(_, value)| text_bytes(value)).sum();
    if texts > MAX_TEXTS {
        let problem = format!("have {texts} bytes of text together; the most are {MAX_TEXTS}");
        let expected = "shorter texts".into();
        problems.push(Problem { parameter: "parameters".into(), problem, expected });
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn text_bytes(value: &ParameterValue) -> usize {
    match value {
        ParameterValue::Text(text) => text.len(),
        ParameterValue::List(items) => items.iter().map(String::len).sum(),
        ParameterValue::Integer(_) | ParameterValue::Boolean(_) => 0,
    }
}

/// A problem for each name that is no parameter.
pub(super) fn unknown(parameters: &[Parameter], sent: &[(String, SentValue)]) -> Vec<Problem> {
    let mut known: Vec<&str> = Vec::new();
    for parameter in parameters {
        if !known.contains(&&*parameter.name) {
            known.push(&parameter.name);
        }
    }
    let mut problems: Vec<Problem> = Vec::new();
    for (name, _) in sent.iter().filter(|(name, _)| !known.contains(&&**name)) {
        let name: String = name.chars().take(SHOWN).collect();
        if problems.len() == MAX_ITEMS || problems.iter().any(|problem| problem.parameter == name) {
            continue;
        }
        let near = known.iter().map(|known| (strsim::jaro_winkler(known, &name), *known));
        let near = near.filter(|(likeness, _)| *likeness > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
        let expected = match near {
            Some((_, near)) => format!("perhaps {near}; the parameters are {}", known.join(", ")),
            None if known.is_empty() => "no parameters".into(),
            None => format!("one of {}", known.join(", ")),
        };
        problems.push(Problem {
            parameter: name,
            problem: "is no parameter of the template".into(),
            expected,
        });
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::rule::WholePattern;
    use super::*;

    fn parameter(name: &'static str, kind: ParameterType) -> Parameter {
        Parameter {
            name: name.into(),
            description: "".into(),
            kind,
            default: None,
            rule: Rule::Any,
            values: Vec::new(),
        }
    }

    fn text(text: &str) -> SentValue {
        SentValue::Text(text.into())
    }

    fn one(parameter: &Parameter, sent: SentValue) -> Result<ParameterValue, String> {
        let sent = [(parameter.name.to_string(), sent)];
        match check(std::slice::from_ref(parameter), &sent) {
            Ok(mut values) => Ok(values.remove(0).1),
            Err(problems) => {
                assert_eq!(problems.len(), 1, "{problems:?}");
                Err(format!("{} {}", problems[0].parameter, problems[0].problem))
            }
        }
    }

    #[test]
    fn all_problems_are_told_at_once_and_in_order() {
        let mut name = parameter("project_name", ParameterType::Text);
        name.rule = Rule::ProjectName("rust");
        let parameters =
            [name, parameter("size", ParameterType::Integer), parameter("tests", ParameterType::Boolean)];
        let sent = [
            ("project_name".into(), text("../x")),
            ("tests".into(), SentValue::Integer(1)),
            ("projectname".into(), text("x")),
            ("zzz".into(), SentValue::Null),
        ];
        let problems = check(&parameters, &sent).unwrap_err();
        let shown: Vec<(&str, &str)> =
            problems.iter().map(|problem| (&*problem.parameter, &*problem.problem)).collect();
        assert_eq!(
            shown,
            [
                ("project_name", "is \"../x\""),
                ("size", "is missing"),
                ("tests", "is 1"),
                ("projectname", "is no parameter of the template"),
                ("zzz", "is no parameter of the template"),
            ]
        );
        assert_eq!(problems[2].expected, "true or false");
        assert!(problems[3].expected.starts_with("perhaps project_name"), "{}", problems[3].expected);
        assert_eq!(problems[4].expected, "one of project_name, size, tests");
    }

    #[test]
    fn values_are_read_by_type_and_leniently_where_the_meaning_is_plain() {
        let (integer, boolean) =
            (parameter("n", ParameterType::Integer), parameter("b", ParameterType::Boolean));
        assert_eq!(one(&integer, text("5")), Ok(ParameterValue::Integer(5)));
        assert_eq!(one(&integer, SentValue::Number(5.0)), Ok(ParameterValue::Integer(5)));
        assert_eq!(one(&integer, SentValue::Number(5.5)), Err("n is 5.5".into()));
        assert!(one(&integer, SentValue::Number(1e300)).is_err());
        assert_eq!(one(&boolean, text("true")), Ok(ParameterValue::Boolean(true)));
        assert_eq!(one(&boolean, text("yes")), Err("b is \"yes\"".into()));
        let list = parameter("l", ParameterType::List);
        assert_eq!(one(&list, SentValue::List(vec![text("a")])), Ok(ParameterValue::List(vec!["a".into()])));
        assert_eq!(one(&list, SentValue::List(vec![SentValue::Integer(1)])), Err("l is a list".into()));
        assert_eq!(one(&list, text("a")), Err("l is \"a\"".into()));
        assert_eq!(
            one(&parameter("t", ParameterType::Text), SentValue::Object),
            Err("t is an object".into())
        );
        assert_eq!(one(&parameter("t", ParameterType::Text), SentValue::Null), Err("t is missing".into()));
    }

    #[test]
    fn patterns_match_the_whole_text_and_lists_item_by_item() {
        let mut list = parameter("l", ParameterType::List);
        list.rule = Rule::Pattern(WholePattern::new("a|b").unwrap());
        assert!(one(&list, SentValue::List(vec![text("a"), text("b")])).is_ok());
        assert_eq!(one(&list, SentValue::List(vec![text("a"), text("ab")])), Err("l is \"ab\"".into()));
        assert!(WholePattern::new("(").is_err() && WholePattern::new(r"(\w{1000}){1000}").is_err());
    }

    #[test]
    fn only_the_values_of_a_closed_set_are_taken() {
        let mut parameter = parameter("v", ParameterType::Text);
        parameter.values = vec![ParameterValue::Text("x".into()), ParameterValue::Text("y".into())];
        assert!(one(&parameter, text("y")).is_ok());
        assert_eq!(one(&parameter, text("z")), Err("v is \"z\"".into()));
        assert_eq!(parameter.expected(), r#"one of "x", "y""#);
    }

    #[test]
    fn texts_and_lists_that_are_too_long_are_refused() {
        let (one_text, list) = (parameter("t", ParameterType::Text), parameter("l", ParameterType::List));
        assert!(one(&one_text, text(&"x".repeat(MAX_TEXT))).is_ok());
        assert!(one(&one_text, text(&"x".repeat(MAX_TEXT + 1))).unwrap_err().contains("bytes"));
        assert!(one(&list, SentValue::List(vec![text("x"); MAX_ITEMS + 1])).unwrap_err().contains("items"));
        let long = SentValue::List(vec![text(&"x".repeat(MAX_TEXT)); MAX_TEXTS / MAX_TEXT + 1]);
        assert!(one(&list, long).unwrap_err().contains("together"));
    }

    #[test]
    fn names_of_projects_have_a_form_a_length_and_reserved_words() {
        let mut name = parameter("project_name", ParameterType::Text);
        name.rule = Rule::ProjectName("rust");
        for good in ["a", "my-app", "My_App2", &"x".repeat(64)] {
            assert!(one(&name, text(good)).is_ok(), "{good}");
        }
        for bad in [
            "",
            "../x",
            "a/b",
            "-rf",
            "a.",
            ".a",
            "a b",
            "1a",
            "a-",
            "a--b",
            "_a",
            "\u{e4}",
            "a\n",
            "a\0",
            "C:x",
            "a\\b",
            &"x".repeat(65),
            &"x".repeat(300),
            "test",
            "fn",
        ] {
            assert!(one(&name, text(bad)).is_err(), "{bad:?}");
        }
    }
}
