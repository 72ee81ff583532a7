//! REST paths and direct JSON-RPC methods (contract 6.2): the same tools, with lines from 1, error codes and HTTP
//! statuses.

use super::answer::Answer;
use super::call_context::Form;
use super::failure::{error_data, rest_error};
use super::report::Report;
use super::result_frame::Asked;
use super::rpc::{self, Id, Refusal, code};
use super::{Offer, Service, Step};
use crate::tools::{LineBase, ParseOptions};

impl Service {
    /// Whether `/name` is a REST path and `name` a direct method. True for an edit under `--read-only`, which
    /// is refused when it is called.
    pub fn is_direct_operation(&self, name: &str) -> bool {
        match self.offer(name) {
            Offer::Tool(tool) | Offer::ReadOnly(tool) => tool.direct,
            Offer::Unknown => false,
        }
    }

    /// Handles a POST to `/operation` with this body.
    pub fn rest(&self, operation: &str, body: &[u8]) -> Step {
        let refuse = |status, code, message: &str| {
            let data = error_data(None, operation, message, (self.options.clock)());
            let refusal = Refusal { id: Id::null(), code, message: message.into(), data: Some(data) };
            let report = Report::refused(operation, None, code, message);
            Step::Answer(Answer::ready(status, rest_error(&refusal)).reported(report))
        };
        let Ok(text) = simdutf8::basic::from_utf8(body) else {
            return refuse(400, code::PARSE_ERROR, "Parse error: not UTF-8");
        };
        if let Some(error) = rpc::no_json(text) {
            return refuse(400, code::PARSE_ERROR, &format!("Parse error: {error}"));
        }
        self.direct_call(operation, Some(text), Form::Rest, refuse)
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
        let tool = match self.offer(operation) {
            Offer::Tool(tool) if tool.direct => tool,
            Offer::ReadOnly(tool) if tool.direct => {
                return refuse(403, code::FILE_SYSTEM, "Permission denied: the server is read-only");
            }
            _ => return refuse(404, code::METHOD_NOT_FOUND, "Method not found"),
        };
        let params = params.unwrap_or("{}");
        let dialect = ParseOptions {
            base: LineBase::One,
            names: self.options.names,
            folders: &self.options.folders,
            create_if_missing: false,
        };
        self.parse_call(tool, params, dialect, form)
    }
}
