//! The argument `parameters`: named values of any type, which the template checks.

use serde_json::Value as Json;

use crate::tools::arguments::{Argument, Value};
use ::toolkit::templates::SentValue;
use folder::Result;

/// The longest object, in bytes: texts of templates are shorter, and many small values take much memory.
const MAX_JSON: usize = 1 << 20;

/// See the module.
#[derive(Debug)]
pub(super) struct TemplateParameters {
    pub(super) values: Vec<(String, SentValue)>,
    /// The object as it was sent.
    pub(super) json: Json,
}

impl Argument for TemplateParameters {
    fn expected() -> String {
        "an object of parameters, such as {\"project_name\":\"my-app\"}".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"object""#);
    }

    fn read(value: &Value) -> Result<TemplateParameters> {
        let wrong = || value.wrong(&TemplateParameters::expected());
        // Some clients send objects as strings.
        let inner = if value.json().starts_with('"') { Some(value.string()?) } else { None };
        let json = inner.as_deref().unwrap_or(value.json());
        if json.len() > MAX_JSON {
            let problem = format!("it has {} bytes; expected at most {MAX_JSON}", json.len());
            return Err(value.refuse(problem));
        }
        match serde_json::from_str(json) {
            Ok(json @ Json::Object(_)) => Ok(TemplateParameters { values: values(&json), json }),
            _ => Err(wrong()),
        }
    }
}

fn values(json: &Json) -> Vec<(String, SentValue)> {
    let members = json.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.clone(), sent(value))).collect()
}

fn sent(value: &Json) -> SentValue {
    match value {
        Json::Null => SentValue::Null,
        Json::Bool(value) => SentValue::Boolean(*value),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => SentValue::Integer(integer),
            None => SentValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => SentValue::Text(text.clone()),
        Json::Array(items) => SentValue::List(items.iter().map(sent).collect()),
        Json::Object(_) => SentValue::Object,
    }
}

/// The longest arguments that a text tells whole, in bytes.
const TOLD: usize = 400;

/// The arguments of a next call for a text. Parameters that are long are those that the client has.
pub(super) fn short_call(arguments: &Json) -> String {
    let text = arguments.to_string();
    if text.len() <= TOLD {
        return text;
    }
    let mut short = arguments.clone();
    if let Some(members) = short.as_object_mut() {
        members.remove("parameters");
    }
    let text: String = short.to_string().chars().take(TOLD).collect();
    format!("{text} and the same parameters")
}
