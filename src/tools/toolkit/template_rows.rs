//! Lists of templates: as lines for a model, and as objects for programs.

use serde_json::{Value, json};

use crate::tools::cursor::{Cursor, call_key};
use crate::tools::limited::LimitedText;
use crate::tools::{Members, OutputKinds, Reply, wrong_cursor};
use ::toolkit::templates::{Parameter, ParameterValue, Template, served};
use engine::Workspace;
use folder::{FilePath, Result};

/// The longest line of parameters behind a list, in bytes.
const SHARED: usize = 300;

/// A list of templates, which may go on in a further call.
pub(super) struct Rows<'r> {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// The member of the data that has the list.
    pub(super) member: &'static str,
    /// The templates, with their scores if they were searched.
    pub(super) rows: Vec<(Option<f64>, &'r Template)>,
    /// The arguments of the call, without the cursor.
    pub(super) arguments: Value,
    pub(super) cursor: Option<&'r Cursor>,
    pub(super) limit: Option<usize>,
    /// A served folder, which a cursor belongs to.
    pub(super) top: &'r FilePath,
    /// The text of an empty list.
    pub(super) nothing: String,
}

impl Rows<'_> {
    pub(super) fn reply(self, workspace: &Workspace, wanted: OutputKinds) -> Result<Reply> {
        let key = call_key(workspace, self.tool, self.top, &self.arguments.to_string())?;
        let mut rows = &self.rows[..];
        if let Some(cursor) = self.cursor {
            cursor.check(key)?;
            let at = rows.iter().position(|(_, template)| template.uri.to_string() == cursor.after);
            rows = &rows[at.ok_or_else(wrong_cursor)? + 1..];
        }
        let mut list = LimitedText::new(self.limit);
        let mut last = None;
        let shared = shared_parameters(rows);
        for (score, template) in rows {
            if list.push_line(&line(*score, template, shared.is_none())) {
                last = Some(template.uri.to_string());
            }
        }
        if rows.is_empty() {
            list.text_mut().push_str(&self.nothing);
        }
        let next = || {
            let mut next = self.arguments.clone();
            next["cursor"] = json!(Cursor { call: key, after: last.unwrap_or_default(), state: 0 }.text());
            Ok((self.tool, next))
        };
        let note = shared.filter(|_| !rows.is_empty());
        let note = note.map(|shared| format!("Parameters (? may be left out): {shared}"));
        let mut reply = list.reply(wanted, "templates", next, note.as_deref())?;
        reply.data = Members::default();
        if wanted.data {
            let objects: Vec<Value> = rows.iter().map(|(score, template)| object(*score, template)).collect();
            reply.data = reply.data.with(self.member, &objects);
        }
        Ok(reply)
    }
}

/// The parameters, if all templates have the same and they fit a line.
fn shared_parameters(rows: &[(Option<f64>, &Template)]) -> Option<String> {
    let (_, first) = rows.first()?;
    let first = parameter_names(first);
    let all_share = rows.iter().all(|(_, template)| parameter_names(template) == first);
    (all_share && first.len() <= SHARED).then_some(first)
}

fn line(score: Option<f64>, template: &Template, with_parameters: bool) -> String {
    let Template { uri, description, .. } = template;
    let score = score.map_or(String::new(), |score| format!("{score:.3} "));
    let parameters = match with_parameters {
        true => format!(" ({})", parameter_names(template)),
        false => String::new(),
    };
    format!("{score}{uri} - {description}{parameters}")
}

fn parameter_names(template: &Template) -> String {
    let name = |one: &Parameter| format!("{}{}", one.name, if one.default.is_some() { "?" } else { "" });
    template.parameters.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A template as an object, with the members of an MCP resource.
fn object(score: Option<f64>, template: &Template) -> Value {
    let mut object = json!({
        "uri": template.uri.to_string(),
        "name": template.name,
        "description": template.description,
        "mimeType": template.mime_type,
        "parameters": template.parameters.iter().map(parameter).collect::<Vec<_>>(),
    });
    if let Some(score) = score {
        object["score"] = json!(score);
    }
    object
}

fn parameter(parameter: &Parameter) -> Value {
    let mut object = json!({
        "name": parameter.name,
        "type": parameter.kind.name(),
        "required": parameter.default.is_none(),
        "description": parameter.description,
        "expected": parameter.expected(),
    });
    if let Some(default) = &parameter.default {
        object["default"] = value(default);
    }
    object
}

fn value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Text(text) => json!(text),
        ParameterValue::Integer(number) => json!(number),
        ParameterValue::Boolean(value) => json!(value),
        ParameterValue::List(items) => json!(items),
    }
}

/// What to say where no template fits: the toolchains and the categories that there are.
pub(super) fn there_are() -> String {
    let (toolchains, mut categories) = (served().toolchains(), served().categories(None));
    text::order::sort_by(&mut categories, Ord::cmp);
    categories.dedup();
    format!(
        "There are the toolchains {} and the categories {}.",
        toolchains.join(", "),
        categories.join(", ")
    )
}
