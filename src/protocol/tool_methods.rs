//! `tools/list` and `tools/call` (contract 6.1).

use std::borrow::Cow;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_context::Form;
use super::method::{List, MethodResult, Outcome, RpcError};
use super::progress::ProgressToken;
use super::result_frame::{Asked, CacheScope};
use super::{Offer, Revision, Service, Session, Step};
use crate::tools::Offered;
use crate::tools::arguments::is_object;

pub(super) fn list(service: &Service, _: &mut Session, asked: &Asked, params: &str) -> MethodResult {
    List::one_page(params)?;
    let tools: Vec<String> =
        service.offered().map(|offered| describe(service, offered, asked.revision)).collect();
    Ok(Outcome::Members(format!(r#""tools":[{}]"#, tools.join(",")), CacheScope::Public))
}

/// A tool's entry in `tools/list`.
fn describe(service: &Service, offered: &Offered, revision: Revision) -> String {
    let Offered { tool, base, .. } = offered;
    let mut json = format!(r#"{{"name":"{}""#, tool.name);
    // Writing to a String cannot fail.
    if revision.has_structured_content() {
        let _ = write!(json, r#","title":"{}""#, tool.title);
    }
    let description = serde_json::Value::from(tool.description(*base, service.names));
    let (title, schema) = (tool.title, tool.input_schema(*base, service.names));
    let (reads, destructive, idempotent) = (!tool.writes, tool.destructive, tool.idempotent);
    let _ = write!(
        json,
        r#","description":{description},"inputSchema":{schema},"annotations":{{"title":"{title}","readOnlyHint":{reads},"destructiveHint":{destructive},"idempotentHint":{idempotent},"openWorldHint":false}}"#
    );
    if let Some(schema) = tool.output_schema.filter(|_| gives_data(service, revision)) {
        let _ = write!(json, r#","outputSchema":{schema}"#);
    }
    json.push('}');
    json
}

fn gives_data(service: &Service, revision: Revision) -> bool {
    service.options.structured && revision.has_structured_content()
}

#[derive(Deserialize)]
struct CallTool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

pub(super) fn call(service: &Service, session: &mut Session, asked: &Asked, params: &str) -> MethodResult {
    let params: CallTool = serde_json::from_str(params).map_err(RpcError::params)?;
    let arguments = match params.arguments.map(RawValue::get) {
        None | Some("null") => "{}",
        Some(arguments) if is_object(arguments) => arguments,
        Some(_) => return Err(RpcError::params("arguments must be an object")),
    };
    let Offer::Tool(offered) = service.offer(&params.name) else {
        return Err(RpcError::new(super::code::INVALID_PARAMS, service.unknown_tool(&params.name)));
    };
    let structured = offered.tool.output_schema.is_some() && gives_data(service, asked.revision);
    let form = Form::Tool { asked: asked.clone(), structured };
    Ok(Outcome::Step(match (service.tool_call(&offered, arguments, form, session.author()), params.meta) {
        (Step::Call(call), Some(meta)) => Step::Call(call.with_progress_token(ProgressToken::in_meta(meta))),
        (step, _) => step,
    }))
}
