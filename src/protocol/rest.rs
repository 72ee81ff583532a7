//! REST paths and direct JSON-RPC methods (contract 6.2): the same tools, with lines from 1, error codes and HTTP
//! statuses; and every MCP tool as `POST /tools/{name}`.

use super::answer::Answer;
use super::call_context::Form;
use super::failure::{error_data, failure_code, rest_error};
use super::report::Report;
use super::result_frame::Asked;
use super::rpc::{self, Id, Refusal, code};
use super::{Offer, Service, Step};
use crate::tools::LineBase;

/// The refusal of a call that writes under `--read-only`.
const READ_ONLY: &str = "Permission denied: the server is read-only";

impl Service {
    /// Whether `/name` is a REST path and `name` a direct method. True for an edit under `--read-only`, which
    /// is refused when it is called.
    pub fn is_direct_operation(&self, name: &str) -> bool {
        match self.offer(name) {
            Offer::Tool(offered) | Offer::ReadOnly(offered) => offered.tool.direct,
            Offer::Unknown => false,
        }
    }

    /// Whether `/tools/name` is a path. True for a tool that writes under `--read-only`, as above.
    pub fn is_tool(&self, name: &str) -> bool {
        !matches!(self.offer(name), Offer::Unknown)
    }

    /// Handles a POST to `/operation` with this body.
    pub fn rest(&self, operation: &str, body: &[u8]) -> Step {
        match json_text(body) {
            Ok(text) => self.direct_call(operation, Some(text), Form::Rest, self.rest_refusal(operation)),
            Err(problem) => self.rest_refusal(operation)(400, code::PARSE_ERROR, &problem),
        }
    }

    /// Handles a POST to `/tools/name` with the tool's arguments as body. The answer is an MCP tool result.
    pub fn posted(&self, name: &str, body: &[u8]) -> Step {
        let refuse = self.rest_refusal(name);
        let text = match json_text(body) {
            Ok(text) => text,
            Err(problem) => return refuse(400, code::PARSE_ERROR, &problem),
        };
        match self.offer(name) {
            Offer::Tool(offered) => {
                let structured = offered.tool.output_schema.is_some() && self.options.structured;
                self.tool_call(&offered, text, Form::Posted { structured }, &self.author)
            }
            Offer::ReadOnly(offered) => refuse(403, failure_code(offered.set.codes), READ_ONLY),
            Offer::Unknown => refuse(404, code::METHOD_NOT_FOUND, &self.unknown_tool(name)),
        }
    }

    /// Makes refusals in the form of REST.
    fn rest_refusal(&self, operation: &str) -> impl Fn(u16, i32, &str) -> Step {
        move |status, code, message: &str| {
            let data = error_data(None, operation, message, (self.options.clock)());
            let refusal = Refusal { id: Id::null(), code, message: message.into(), data: Some(data) };
            let report = Report::refused(operation, None, code, message);
            Step::Answer(Answer::ready(status, rest_error(&refusal)).reported(report))
        }
    }

    /// Handles a direct JSON-RPC method. `None` if there is no such method.
    pub(super) fn direct(&self, asked: &Asked, method: &str, params: Option<&str>) -> Option<Step> {
        self.is_direct_operation(method).then(|| {
            let refuse = |_, code, message: &str| {
                let id = asked.id.clone();
                let report = Report::refused(method, Some(&id), code, message);
                let data = error_data(None, method, message, (self.options.clock)());
                let refusal = Refusal { id, code, message: message.into(), data: Some(data) };
                Step::Answer(Answer::ready(200, refusal.to_json()).reported(report))
            };
            self.direct_call(method, params, Form::Direct { asked: asked.clone() }, refuse)
        })
    }

    fn direct_call(
        &self,
        operation: &str,
        params: Option<&str>,
        form: Form,
        refuse: impl Fn(u16, i32, &str) -> Step,
    ) -> Step {
        let offered = match self.offer(operation) {
            Offer::Tool(offered) if offered.tool.direct => offered,
            Offer::ReadOnly(offered) if offered.tool.direct => {
                return refuse(403, failure_code(offered.set.codes), READ_ONLY);
            }
            _ => return refuse(404, code::METHOD_NOT_FOUND, "Method not found"),
        };
        let options = self.parse_options(&offered, LineBase::One, false, &self.author);
        self.parse_call(&offered, params.unwrap_or("{}"), options, form)
    }
}

/// The body of a request as JSON text, or what is wrong with it.
fn json_text(body: &[u8]) -> Result<&str, String> {
    let text = simdutf8::basic::from_utf8(body).map_err(|_| "Parse error: not UTF-8")?;
    rpc::no_json(text).map_or(Ok(text), |error| Err(format!("Parse error: {error}")))
}
