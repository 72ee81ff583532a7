//! `prompts/list` and `prompts/get`: ready requests from a user to a model that has these tools (contract 6.5).

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::method::{List, MethodResult, Outcome, RpcError};
use super::result_frame::{Asked, CacheScope};
use super::{Service, Session};
use crate::tools::{LineBase, Offered, shortened, with_first};

struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name and description; all arguments are required.
    arguments: &'static [(&'static str, &'static str)],
    /// The tool that the prompt requires, of the set [`SET`].
    needs: &'static str,
    /// The user's message. `{argument}` is replaced by the argument's value, and `{first}` by the number of the
    /// first line.
    text: &'static str,
}

/// The set whose tools the prompts name.
const SET: &str = "lines";

/// Every prompt. A new prompt is one entry here.
static PROMPTS: [Prompt; 2] = [
    Prompt {
        name: "explore_folder",
        title: "Explore the folder",
        description: "Find out what the files in the folder are about without reading all of them.",
        arguments: &[],
        needs: "read_file",
        text: "Find out what this folder holds. Call list_files first. Then read the beginnings of the files that look \
            most telling with read_file, start_line {first} and end_line 59; read further only where it pays, in ranges of a \
            few hundred lines. Do not change anything. Finish with a short summary: what the files are, how they belong \
            together, and which you did not look into.",
    },
    Prompt {
        name: "careful_edit",
        title: "Edit a file with care",
        description: "Change one file without touching a line that was not meant.",
        arguments: &[
            ("name", "The file to change, as list_files gives it"),
            ("change", "What is to be different afterwards"),
        ],
        needs: "edit_file",
        text: "In the file {name}, make this change: {change}\n\nRead the lines concerned with read_file first; they \
            count from {first}. Make all changes in one edit_file call: every line number names a line as it was before the \
            call. Give `expect` with each replace and delete, exactly as you read the line. If the answer says that a \
            line is not as expected, read that part again and correct the call; do not leave `expect` out. Afterwards \
            read the changed lines once more and say what you changed.",
    },
];

/// The prompts whose tools are offered, with the number of their first line.
fn offered(service: &Service) -> impl Iterator<Item = (&'static Prompt, LineBase)> {
    PROMPTS.iter().filter_map(|prompt| {
        let needed = |offered: &&Offered| offered.set.name == SET && offered.tool.name == prompt.needs;
        service.offered().find(needed).map(|offered| (prompt, offered.base))
    })
}

pub(super) fn list(service: &Service, _: &mut Session, asked: &Asked, params: &str) -> MethodResult {
    List::one_page(params)?;
    let titled = asked.revision.has_structured_content();
    let prompts: Vec<Value> = offered(service).map(|(prompt, _)| prompt.describe(titled)).collect();
    Ok(Outcome::Members(format!(r#""prompts":{}"#, Value::from(prompts)), CacheScope::Public))
}

#[derive(Deserialize)]
struct Get<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<HashMap<Cow<'a, str>, String>>,
}

pub(super) fn get(service: &Service, _: &mut Session, _: &Asked, params: &str) -> MethodResult {
    let params: Get = serde_json::from_str(params).map_err(RpcError::params)?;
    let Some((prompt, base)) = offered(service).find(|(prompt, _)| prompt.name == params.name) else {
        return Err(RpcError::params(format!("unknown prompt {:?}", shortened(&params.name))));
    };
    let text = prompt.fill(base, &params.arguments.unwrap_or_default())?;
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
    let description = Value::from(prompt.description);
    Ok(Outcome::Members(format!(r#""description":{description},"messages":{messages}"#), CacheScope::Unsaid))
}

impl Prompt {
    fn describe(&self, titled: bool) -> Value {
        let arguments: Vec<Value> = self
            .arguments
            .iter()
            .map(|(name, description)| json!({ "name": name, "description": description, "required": true }))
            .collect();
        let mut json = json!({ "name": self.name, "description": self.description, "arguments": arguments });
        if titled {
            json["title"] = self.title.into();
        }
        json
    }

    /// The text with the arguments filled in. One pass: the values themselves are not searched for arguments.
    fn fill(&self, base: LineBase, arguments: &HashMap<Cow<str>, String>) -> Result<String, RpcError> {
        let mut text = with_first(self.text, base);
        let mut at = 0;
        for (name, _) in self.arguments {
            let missing = || RpcError::params(format!("the argument {name:?} is missing"));
            let value = arguments.get(*name).ok_or_else(missing)?;
            let place = format!("{{{name}}}");
            if let Some(found) = text[at..].find(&place) {
                text.replace_range(at + found..at + found + place.len(), value);
                at += found + value.len();
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_put_in_their_places_and_not_looked_into() {
        let prompt = PROMPTS.iter().find(|prompt| prompt.name == "careful_edit").unwrap();
        let argument = |name: &'static str, value: &str| (Cow::Borrowed(name), value.to_owned());
        let given = HashMap::from([argument("name", "{change}"), argument("change", "{name}")]);
        let text = prompt.fill(LineBase::One, &given).unwrap();
        assert!(text.starts_with("In the file {change}, make this change: {name}\n"), "{text}");
        assert!(text.contains("they count from 1. "), "{text}");
        assert!(prompt.fill(LineBase::One, &HashMap::new()).is_err());
    }
}
