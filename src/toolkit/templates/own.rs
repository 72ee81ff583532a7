//! The operator's own templates: one folder each, with `template.toml` and `template.txt`.
//!
//! They are read once, at start. A broken one is left out and named; it does not keep the server from starting.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use toml::{Table, Value};

use super::language::MAX_SOURCE;
use super::parameter::Parameter;
use super::rule::{Rule, WholePattern};
use super::template::Template;
use super::uri::TemplateUri;
use super::value::{ParameterType, ParameterValue};

/// The most templates in a folder.
const MAX_TEMPLATES: usize = 1_000;

/// The most parameters of a template.
const MAX_PARAMETERS: usize = 64;

/// The longest `template.toml`, in bytes.
const MAX_TOML: usize = 64 << 10;

/// A template that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its folder.
    pub folder: String,
    /// Its URI, if that could be read.
    pub uri: Option<TemplateUri>,
    /// What is wrong with it, in one line.
    pub problem: String,
}

/// Own templates, by the names of their folders.
#[derive(Debug, Default)]
pub struct OwnTemplates {
    /// Those that can be used.
    pub templates: Vec<Template>,
    /// Those that cannot.
    pub broken: Vec<Broken>,
}

/// Reads the templates in `folder`. Returns an error if the folder cannot be read.
pub(super) fn load(folder: &Path) -> io::Result<OwnTemplates> {
    let folder = &*folder.canonicalize()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.path().is_dir() {
            names.push(entry.file_name());
        }
    }
    text::order::sort_by(&mut names, Ord::cmp);
    let mut own = OwnTemplates::default();
    for (number, name) in names.iter().enumerate() {
        let mut uri = None;
        let read = match number < MAX_TEMPLATES {
            true => read(folder, &folder.join(name), &mut uri),
            false => Err(format!("there are more than {MAX_TEMPLATES} templates")),
        };
        let read =
            read.and_then(|template| match own.templates.iter().any(|other| other.uri == template.uri) {
                true => Err(format!("another template has the URI {}", template.uri)),
                false => Ok(template),
            });
        match read {
            Ok(template) => own.templates.push(template),
            Err(problem) => {
                let problem = problem.split_whitespace().collect::<Vec<_>>().join(" ");
                own.broken.push(Broken { folder: name.to_string_lossy().into_owned(), uri, problem });
            }
        }
    }
    Ok(own)
}

/// Reads one template of those in `top`. Puts its URI into `uri` as soon as it is known.
fn read(top: &Path, folder: &Path, uri: &mut Option<TemplateUri>) -> Result<Template, String> {
    let text = read_text(top, folder, "template.toml", MAX_TOML)?;
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let line = line.map_or(String::new(), |line| format!("line {line}: "));
        format!("template.toml: {line}{}", error.message())
    })?;
    let parsed = TemplateUri::parse(&text_of(&mut table, "uri")?);
    let parsed = parsed.map_err(|problem| format!("template.toml: uri: {problem}"))?;
    *uri = Some(parsed.clone());
    let template = Template {
        uri: parsed,
        name: text_of(&mut table, "name")?.into(),
        description: optional_text(&mut table, "description")?.unwrap_or_default().into(),
        mime_type: optional_text(&mut table, "mime_type")?.unwrap_or_else(|| "text/plain".into()).into(),
        path: text_of(&mut table, "path")?.into(),
        parameters: parameters(table.remove("parameters"))?.into(),
        source: read_text(top, folder, "template.txt", MAX_SOURCE)?.into(),
    };
    if let Some(name) = table.keys().next() {
        let known = "uri, name, description, mime_type, path and parameters";
        return Err(format!("template.toml: unknown key {name}; there are {known}"));
    }
    template.check_sources().map_err(|problem| {
        format!("template.txt: {problem}").replace("template.txt: path:", "template.toml: path:")
    })?;
    Ok(template)
}

/// A text file of at most `most` bytes. A link must not lead out of `top`: clients read what templates hold.
fn read_text(top: &Path, folder: &Path, name: &str, most: usize) -> Result<String, String> {
    let path = folder.join(name).canonicalize().map_err(|error| format!("{name}: {error}"))?;
    if !path.starts_with(top) && !switches::is_off("template-links") {
        return Err(format!("{name} leads through a link out of the folder of templates"));
    }
    // Opening a pipe would wait for its writer.
    if !path.metadata().map_err(|error| format!("{name}: {error}"))?.is_file() {
        return Err(format!("{name} is not a file"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).map_err(|error| format!("{name}: {error}"))?;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
    if bytes.len() > most {
        return Err(format!("{name} is longer than {most} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
}

fn text_of(table: &mut Table, key: &str) -> Result<String, String> {
    let text = optional_text(table, key)?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("template.toml: {key} is missing or empty"))
}

fn optional_text(table: &mut Table, key: &str) -> Result<Option<String>, String> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("template.toml: {key} is not a string")),
    }
}

fn parameters(value: Option<Value>) -> Result<Vec<Parameter>, String> {
    let table = match value {
        None => return Ok(Vec::new()),
        Some(Value::Table(table)) => table,
        Some(_) => return Err("template.toml: parameters is not a table".into()),
    };
    if table.len() > MAX_PARAMETERS {
        return Err(format!("template.toml: more than {MAX_PARAMETERS} parameters"));
    }
    let read = |(name, value): (String, Value)| {
        let place = format!("template.toml: parameters.{name}");
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("{place}: expected a name of letters, digits and _"));
        }
        let Value::Table(table) = value else { return Err(format!("{place} is not a table")) };
        parameter(name, table).map_err(|problem| format!("{place}: {problem}"))
    };
    table.into_iter().map(read).collect()
}

fn parameter(name: String, mut table: Table) -> Result<Parameter, String> {
    let within = |problem: String| problem.replacen("template.toml: ", "", 1);
    let kind = optional_text(&mut table, "type").map_err(within)?.unwrap_or_else(|| "string".into());
    let types = ParameterType::NAMES.map(|(name, _)| name).join(", ");
    let kind = ParameterType::NAMES.iter().find(|(name, _)| *name == kind).map(|(_, kind)| *kind);
    let kind = kind.ok_or_else(|| format!("unknown type; expected one of {types}"))?;
    let description = optional_text(&mut table, "description").map_err(within)?.unwrap_or_default();
    let pattern = optional_text(&mut table, "pattern").map_err(within)?;
    let rule = match pattern {
        None => Rule::Any,
        Some(source) => {
            Rule::Pattern(WholePattern::new(&source).map_err(|error| format!("pattern: {error}"))?)
        }
    };
    let values = match table.remove("values") {
        None => Vec::new(),
        Some(Value::Array(values)) => {
            values.iter().map(|value| value_of(kind, value, "values")).collect::<Result<_, _>>()?
        }
        Some(_) => return Err("values is not an array".into()),
    };
    let default = table.remove("default").map(|value| value_of(kind, &value, "default")).transpose()?;
    let given = default.is_some();
    let required = match table.remove("required") {
        None => default.is_none(),
        Some(Value::Boolean(true)) if default.is_some() => {
            return Err("it is required and has a default; give one of them".into());
        }
        Some(Value::Boolean(required)) => required,
        Some(_) => return Err("required is not true or false".into()),
    };
    if let Some(key) = table.keys().next() {
        let known = "type, description, default, required, pattern and values";
        return Err(format!("unknown key {key}; there are {known}"));
    }
    let default = default.or_else(|| (!required).then(|| kind.empty()));
    let parameter =
        Parameter { name: name.into(), description: description.into(), kind, default, rule, values };
    match given.then(|| parameter.wrong_default()).flatten() {
        Some(problem) => Err(format!("its default {}; expected {}", problem.problem, problem.expected)),
        None => Ok(parameter),
    }
}

fn value_of(kind: ParameterType, value: &Value, key: &str) -> Result<ParameterValue, String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let value = match kind {
        ParameterType::Text => text(value).map(ParameterValue::Text),
        ParameterType::Integer => value.as_integer().map(ParameterValue::Integer),
        ParameterType::Boolean => value.as_bool().map(ParameterValue::Boolean),
        ParameterType::List => {
            let items = value.as_array().and_then(|items| items.iter().map(text).collect::<Option<_>>());
            items.map(ParameterValue::List)
        }
    };
    value.ok_or_else(|| format!("{key} does not have the type {}", kind.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "uri = \"template://notes/any/plain\"\nname = \"Notes\"\npath = \"{{ title|kebab }}.md\"\n";

    fn loaded(folders: &[(&str, &str, &str)]) -> OwnTemplates {
        let folder = tempfile::tempdir().unwrap();
        for (name, toml, text) in folders {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("template.toml"), toml).unwrap();
            fs::write(folder.path().join(name).join("template.txt"), text).unwrap();
        }
        load(folder.path()).unwrap()
    }

    fn problem(toml: &str, text: &str) -> String {
        let own = loaded(&[("x", toml, text)]);
        assert!(own.templates.is_empty(), "{toml}");
        own.broken[0].problem.clone()
    }

    #[test]
    fn a_template_is_read_with_its_parameters() {
        let toml = format!(
            "{GOOD}description = \"D\"\nmime_type = \"text/markdown\"\n[parameters.title]\ntype = \"string\"\npattern = \"[a-z ]+\"\n\
             [parameters.tags]\ntype = \"list\"\nrequired = false\n[parameters.level]\ntype = \"integer\"\ndefault = 2\nvalues = [1, 2]\n"
        );
        let own =
            loaded(&[("notes", &toml, "# {{ title }}\n{% for tag in tags %}\n- {{ tag }}\n{% endfor %}")]);
        assert_eq!(own.broken, []);
        let template = &own.templates[0];
        assert_eq!(template.uri.to_string(), "template://notes/any/plain");
        let defaults: Vec<_> =
            template.parameters.iter().map(|one| (&*one.name, one.default.clone())).collect();
        assert!(defaults.contains(&("title", None)));
        assert!(defaults.contains(&("tags", Some(ParameterValue::List(Vec::new())))));
        assert!(defaults.contains(&("level", Some(ParameterValue::Integer(2)))));
    }

    #[test]
    fn what_is_broken_is_named_with_its_reason_and_the_others_are_there() {
        let toml = format!("{GOOD}[parameters.title]\n");
        let own = loaded(&[("a", "uri = ", ""), ("b", &toml, "x"), ("c", &toml, "x")]);
        assert_eq!(own.templates.len(), 1);
        let folders: Vec<&str> = own.broken.iter().map(|broken| &*broken.folder).collect();
        assert_eq!(folders, ["a", "c"]);
        assert!(own.broken[1].problem.contains("another template has the URI"), "{:?}", own.broken);
        for (toml, text, what) in [
            ("uri = ", "", "template.toml: line 1"),
            ("", "", "uri is missing"),
            ("uri = 1", "", "uri is not a string"),
            ("uri = \"x\"", "", "uri: it does not begin with template://"),
            ("uri = \"template://a/b/c\"", "", "name is missing"),
            ("uri = \"template://a/b/c\"\nname = \"x\"", "", "path is missing"),
            ("uri = \"template://a/b/c\"\nname = \"x\"\npath = \"../up\"", "", "path: "),
            (GOOD, "", "path: it uses title, which is no parameter"),
            (&toml, "{{ other }}", "template.txt: it uses other"),
            (&toml, "{{ title", "template.txt: "),
            (&toml, "\n{{ title ~ title }}", "template.txt: line 2: templates do not have the operator ~"),
            (&toml, "{% include 'x' %}", "the statement include"),
            (&format!("{toml}type = \"text\""), "", "parameters.title: unknown type; expected one of string"),
            (&format!("{toml}default = 1"), "", "parameters.title: default does not have the type string"),
            (
                &format!("{toml}default = \"\"\npattern = \"[a-z]+\""),
                "",
                "parameters.title: its default is \"\"; expected a string that matches [a-z]+",
            ),
            (
                &format!("{toml}default = \"b\"\nvalues = [\"a\"]"),
                "",
                "parameters.title: its default is \"b\"; expected one of \"a\"",
            ),
            (&format!("{toml}pattern = \"(\""), "", "parameters.title: pattern: "),
            (&format!("{toml}values = 1"), "", "values is not an array"),
            (&format!("{toml}values = [1]"), "", "values does not have the type string"),
            (&format!("{toml}required = 1"), "", "required is not true or false"),
            (&format!("{toml}required = true\ndefault = \"x\""), "", "required and has a default"),
            (&format!("{toml}other = 1"), "", "parameters.title: unknown key other"),
            (&format!("{GOOD}other = 1\n[parameters.title]"), "", "unknown key other"),
            (&format!("{GOOD}parameters = 1"), "", "parameters is not a table"),
            (&format!("{toml}[parameters.\"a-b\"]"), "", "expected a name of letters"),
            (&format!("{GOOD}x = {}", "[".repeat(30_000)), "", "template.toml: line 4"),
            (&format!("{GOOD}x{} = 1", ".x".repeat(30_000)), "", "template.toml: "),
        ] {
            let problem = problem(toml, text);
            assert!(problem.contains(what) && !problem.contains('\n'), "{toml} {text}: {problem}");
        }
    }

    #[test]
    fn files_that_are_missing_or_no_text_files_are_problems() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["no-files", "no-text", "folder", "bytes", "long", ".hidden"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let write = |path: &str, bytes: &[u8]| fs::write(folder.path().join(path), bytes).unwrap();
        let toml = format!("{GOOD}[parameters.title]\n");
        write("no-text/template.toml", toml.as_bytes());
        fs::create_dir(folder.path().join("folder/template.toml")).unwrap();
        write("bytes/template.toml", b"\xff");
        write("long/template.toml", toml.as_bytes());
        write("long/template.txt", &vec![b'x'; MAX_SOURCE + 1]);
        write("file", b"x");
        let own = load(folder.path()).unwrap();
        let problems: Vec<String> =
            own.broken.iter().map(|broken| format!("{}: {}", broken.folder, broken.problem)).collect();
        assert_eq!(problems.len(), 5, "{problems:?}");
        for (problem, what) in
            problems.iter().zip(["UTF-8", "not a file", "longer", "template.toml", "template.txt"])
        {
            assert!(problem.contains(what), "{problem}");
        }
        assert!(load(&folder.path().join("missing")).is_err());
    }
}
