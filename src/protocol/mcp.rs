//! MCP: handshake, tools, ping (SPEC 6.1, 6.5).

use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::pending::Form;
use super::rpc::{self, Id, Input, Message, Refusal, code};
use super::{ConnectionState, Offer, Revision, SERVER_NAME, Service, Session, Step};
use crate::tools::{Dialect, LineBase, Tool};

/// What a client is told about the server as a whole.
const INSTRUCTIONS: &str = "One folder of text files. Names are plain file names, lines count from 0. Use list_files to \
    see what is there, read_file to read a file or a range of its lines, edit_file to change lines or create a file. \
    Line numbers change with every edit: read again before the next, or give expect.";

impl Service {
    /// One input of an MCP connection: a line of stdio, or the body of an HTTP request.
    pub fn mcp(&self, session: &mut Session, input: &[u8]) -> Step {
        match rpc::parse(input) {
            Input::One(message) => self.message(session, message),
            Input::Batch(_) if !session.revision().has_batches() => {
                let why = "Invalid request: arrays of messages exist in revision 2025-03-26 only";
                refuse(Refusal::new(Id::null(), code::INVALID_REQUEST, why))
            }
            Input::Batch(items) if items.is_empty() => {
                let why = "Invalid request: an empty array";
                refuse(Refusal::new(Id::null(), code::INVALID_REQUEST, why))
            }
            Input::Batch(items) => {
                Step::Batch(items.into_iter().map(|item| self.batched(session, item)).collect())
            }
        }
    }

    /// A message in a batch, where a handshake has no place.
    fn batched(&self, session: &mut Session, message: Message) -> Step {
        match message {
            Message::Request { id, method, .. } if method == "initialize" => {
                let why = "Invalid request: initialize must not be part of a batch";
                refuse(Refusal::new(id, code::INVALID_REQUEST, why))
            }
            message => self.message(session, message),
        }
    }

    fn message(&self, session: &mut Session, message: Message) -> Step {
        match message {
            Message::Request { id, method, params } => self.request(session, id, &method, params),
            Message::Notification { method, params } => notification(session, &method, params),
            Message::Response => Step::Silent,
            Message::Invalid(refusal) => refuse(refusal),
        }
    }

    fn request(&self, session: &mut Session, id: Id, method: &str, params: Option<&str>) -> Step {
        if session.state() == ConnectionState::Shutting {
            return refuse(Refusal::new(id, code::INTERNAL_ERROR, "The server is shutting down"));
        }
        let params = params.unwrap_or("{}");
        let result = match method {
            "initialize" => self.initialize(session, params),
            "ping" => Ok("{}".into()),
            "tools/list" => self.list_tools(session, params),
            "tools/call" => match self.call_tool(session, &id, params) {
                Ok(step) => return step,
                Err(problem) => Err(problem),
            },
            _ => {
                let direct = session.has_direct_methods().then(|| self.direct(&id, method, Some(params)));
                return direct.flatten().unwrap_or_else(|| {
                    refuse(Refusal::new(id, code::METHOD_NOT_FOUND, format!("Method not found: {method}")))
                });
            }
        };
        match result {
            Ok(result) => {
                let mut out = rpc::result_head(&id);
                out.extend_from_slice(result.as_bytes());
                out.push(b'}');
                Step::Answer(Answer::ready(200, out))
            }
            Err(problem) => refuse(Refusal::new(id, code::INVALID_PARAMS, problem)),
        }
    }

    fn initialize(&self, session: &mut Session, params: &str) -> Result<String, String> {
        let params: Initialize =
            serde_json::from_str(params).map_err(|error| format!("Invalid params: {error}"))?;
        for (name, value) in [("capabilities", params.capabilities), ("clientInfo", params.client_info)] {
            if !value.get().starts_with('{') {
                return Err(format!("Invalid params: {name} must be an object"));
            }
        }
        let client: ClientInfo = serde_json::from_str(params.client_info.get())
            .map_err(|error| format!("Invalid params: clientInfo: {error}"))?;
        let revision = Revision::parse(&params.protocol_version).unwrap_or(Revision::NEWEST);
        session.initialize(revision);
        let (asked, spoken) = (&*params.protocol_version, revision.as_str());
        tracing::info!(client = &*client.name, version = &*client.version, asked, spoken, "initialize");
        let mut server = format!(r#""name":"{SERVER_NAME}","version":"{}""#, env!("CARGO_PKG_VERSION"));
        if revision.has_structured_content() {
            server.push_str(r#","title":"File Editing Server""#);
        }
        if revision.has_description() {
            server.push_str(r#","description":"One folder of text files: list, read by line range, edit""#);
        }
        Ok(format!(
            r#"{{"protocolVersion":"{spoken}","capabilities":{{"tools":{{}}}},"serverInfo":{{{server}}},"instructions":"{INSTRUCTIONS}"}}"#
        ))
    }

    fn list_tools(&self, session: &Session, params: &str) -> Result<String, String> {
        let params: List =
            serde_json::from_str(params).map_err(|error| format!("Invalid params: {error}"))?;
        if params.cursor.is_some() {
            return Err("Invalid params: unknown cursor; the list has one page".into());
        }
        let tools: Vec<String> = self.offered().map(|tool| self.describe(tool, session.revision())).collect();
        Ok(format!(r#"{{"tools":[{}]}}"#, tools.join(",")))
    }

    /// A tool as `tools/list` shows it (SPEC 6.1).
    fn describe(&self, tool: &Tool, revision: Revision) -> String {
        let mut json = format!(r#"{{"name":"{}""#, tool.name);
        // Writing to a String cannot fail.
        if revision.has_structured_content() {
            let _ = write!(json, r#","title":"{}""#, tool.title);
        }
        let description = serde_json::Value::from(tool.description);
        let (reads, title, schema) = (!tool.writes, tool.title, tool.input_schema);
        let _ = write!(
            json,
            r#","description":{description},"inputSchema":{schema},"annotations":{{"title":"{title}","readOnlyHint":{reads},"destructiveHint":false,"idempotentHint":{reads},"openWorldHint":false}}"#
        );
        if let Some(schema) = tool.output_schema.filter(|_| self.gives_data(revision)) {
            let _ = write!(json, r#","outputSchema":{schema}"#);
        }
        json.push('}');
        json
    }

    fn gives_data(&self, revision: Revision) -> bool {
        self.options.structured && revision.has_structured_content()
    }

    fn call_tool(&self, session: &Session, id: &Id, params: &str) -> Result<Step, String> {
        let params: CallTool =
            serde_json::from_str(params).map_err(|error| format!("Invalid params: {error}"))?;
        let arguments = match params.arguments.map(RawValue::get) {
            None | Some("null") => "{}",
            Some(arguments) if arguments.starts_with('{') => arguments,
            Some(_) => return Err("Invalid params: arguments must be an object".into()),
        };
        let Offer::Tool(tool) = self.offer(&params.name) else {
            return Err(format!("Unknown tool: {}", params.name));
        };
        let dialect = Dialect { base: LineBase::Zero, names: self.options.names, create_if_missing: true };
        let structured = tool.output_schema.is_some() && self.gives_data(session.revision());
        Ok(self.parse_call(tool, arguments, dialect, Form::Tool { id: id.clone(), structured }))
    }
}

fn notification(session: &mut Session, method: &str, params: Option<&str>) -> Step {
    match method {
        "notifications/initialized" => session.initialized(),
        "notifications/cancelled" => {
            let params = params.and_then(|params| serde_json::from_str::<Cancelled>(params).ok());
            if let Some(id) = params.and_then(|params| Id::parse(params.request_id.get())) {
                return Step::Cancel(id);
            }
        }
        _ => tracing::debug!(method, "notification ignored"),
    }
    Step::Silent
}

/// The answer to a message that is refused, which is logged.
fn refuse(refusal: Refusal) -> Step {
    tracing::warn!(id = refusal.id.as_json(), code = refusal.code, "{}", refusal.message);
    let status = match refusal.code {
        code::PARSE_ERROR | code::INVALID_REQUEST => 400,
        _ => 200,
    };
    Step::Answer(Answer::ready(status, refusal.to_json()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    #[serde(borrow)]
    protocol_version: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow)]
    client_info: &'a RawValue,
}

#[derive(Deserialize)]
struct ClientInfo<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    version: std::borrow::Cow<'a, str>,
}

#[derive(Deserialize)]
struct List {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct CallTool<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}
