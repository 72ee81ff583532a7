//! MCP: from a message to its method (SPEC 6.5). What the methods do is in the modules beside this one.

use super::answer::Answer;
use super::record;
use super::result::{self, Asked, Keep};
use super::rpc::{self, Id, Input, Message, Refusal, code};
use super::stateless::{self, Headers};
use super::{ConnectionState, Revision, Service, Session, Step, catalog, handshake, prompts, resources};
use crate::tools::shortened;

/// What a method came to.
pub(super) enum Outcome {
    /// The members of a result.
    Members(String, Keep),
    /// Something to be carried out.
    Step(Step),
}

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) code: i32,
    pub(super) message: String,
    /// A JSON value.
    pub(super) data: Option<String>,
    pub(super) status: u16,
}

impl Problem {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Problem {
        let status = match code {
            code::PARSE_ERROR | code::INVALID_REQUEST => 400,
            _ => 200,
        };
        Problem { code, message: message.into(), data: None, status }
    }

    /// Parameters that are not what the method takes.
    pub(super) fn params(problem: impl std::fmt::Display) -> Problem {
        Problem::new(code::INVALID_PARAMS, format!("Invalid params: {problem}"))
    }

    /// The same under an HTTP status of its own.
    pub(super) fn with_status(self, status: u16) -> Problem {
        Problem { status, ..self }
    }

    /// The same with a JSON value beside it.
    pub(super) fn with_data(self, data: serde_json::Value) -> Problem {
        Problem { data: Some(data.to_string()), ..self }
    }
}

pub(super) type Handled = Result<Outcome, Problem>;

/// A method, and the revisions that have it.
struct Method {
    name: &'static str,
    by_handshake: bool,
    stateless: bool,
    handle: fn(&Service, &mut Session, &Asked, &str) -> Handled,
}

/// Every method. A new one is one line here.
static METHODS: [Method; 10] = [
    Method { name: "initialize", by_handshake: true, stateless: false, handle: handshake::initialize },
    Method { name: "ping", by_handshake: true, stateless: false, handle: handshake::ping },
    Method { name: "server/discover", by_handshake: false, stateless: true, handle: stateless::discover },
    Method { name: "tools/list", by_handshake: true, stateless: true, handle: catalog::list },
    Method { name: "tools/call", by_handshake: true, stateless: true, handle: catalog::call },
    Method { name: "resources/list", by_handshake: true, stateless: true, handle: resources::list },
    Method {
        name: "resources/templates/list",
        by_handshake: true,
        stateless: true,
        handle: resources::templates,
    },
    Method { name: "resources/read", by_handshake: true, stateless: true, handle: resources::read },
    Method { name: "prompts/list", by_handshake: true, stateless: true, handle: prompts::list },
    Method { name: "prompts/get", by_handshake: true, stateless: true, handle: prompts::get },
];

/// The capabilities that go with [`METHODS`]; nothing here changes while the server runs.
pub(super) const CAPABILITIES: &str = r#"{"tools":{},"resources":{},"prompts":{}}"#;

impl Service {
    /// One line of a stdio connection.
    pub fn mcp(&self, session: &mut Session, input: &[u8]) -> Step {
        self.input(session, None, input)
    }

    /// The body of an HTTP request with these headers; nothing is remembered.
    pub fn mcp_over_http(&self, headers: &Headers, body: &[u8]) -> Step {
        let revision = headers.version.as_deref().map_or(Some(Revision::UNSAID), Revision::by_handshake);
        let mut session = Session::http(revision.unwrap_or(Revision::V2026_07_28));
        self.input(&mut session, Some(headers), body)
    }

    fn input(&self, session: &mut Session, headers: Option<&Headers>, input: &[u8]) -> Step {
        match rpc::parse(input) {
            Input::One(message) => self.message(session, headers, message),
            Input::Batch(_) if !session.revision().has_batches() => {
                let why = "Invalid request: arrays of messages exist in revision 2025-03-26 only";
                refuse(Id::null(), Problem::new(code::INVALID_REQUEST, why))
            }
            Input::Batch(items) if items.is_empty() => {
                refuse(Id::null(), Problem::new(code::INVALID_REQUEST, "Invalid request: an empty array"))
            }
            Input::Batch(items) => {
                let steps = items.into_iter().map(|item| self.batched(session, headers, item));
                Step::Batch(steps.collect())
            }
        }
    }

    /// A message in a batch, where a handshake has no place.
    fn batched(&self, session: &mut Session, headers: Option<&Headers>, message: Message) -> Step {
        match message {
            Message::Request { id, method, .. } if method == "initialize" => {
                let why = "Invalid request: initialize must not be part of a batch";
                refuse(id, Problem::new(code::INVALID_REQUEST, why))
            }
            message => self.message(session, headers, message),
        }
    }

    fn message(&self, session: &mut Session, headers: Option<&Headers>, message: Message) -> Step {
        match message {
            Message::Request { id, method, params } => {
                let params = params.unwrap_or("{}");
                self.request(session, headers, id.clone(), &method, params)
                    .unwrap_or_else(|problem| refuse(id, problem))
            }
            Message::Notification { method, params } => handshake::notification(session, &method, params),
            Message::Response if headers.is_some() && session.revision().is_stateless() => {
                let why = "Invalid request: the server asks nothing, so there is nothing to answer";
                refuse(Id::null(), Problem::new(code::INVALID_REQUEST, why))
            }
            Message::Response => Step::Silent,
            Message::Invalid(Refusal { id, code, message, .. }) => refuse(id, Problem::new(code, message)),
        }
    }

    fn request(
        &self,
        session: &mut Session,
        headers: Option<&Headers>,
        id: Id,
        method: &str,
        params: &str,
    ) -> Result<Step, Problem> {
        if session.state() == ConnectionState::Shutting {
            return Err(Problem::new(code::INTERNAL_ERROR, "The server is shutting down"));
        }
        let revision = stateless::revision_of(session, headers, method, params)?;
        let asked = Asked { id, revision, received: session.received(), can_cut: headers.is_some() };
        let known = METHODS.iter().find(|known| {
            known.name == method && if revision.is_stateless() { known.stateless } else { known.by_handshake }
        });
        let Some(known) = known else {
            let direct = session.has_direct_methods() && !revision.is_stateless();
            let step = direct.then(|| self.direct(&asked, method, Some(params))).flatten();
            return step.ok_or_else(|| unknown(session, revision, method));
        };
        if revision.is_stateless() {
            stateless::check_log_level(params)?;
        }
        Ok(match (known.handle)(self, session, &asked, params)? {
            Outcome::Step(step) => step,
            Outcome::Members(members, keep) => {
                Step::Answer(Answer::ready(200, result::whole(&asked, keep, &members)))
            }
        })
    }
}

fn unknown(session: &Session, revision: Revision, method: &str) -> Problem {
    if method == "server/discover" && session.state() == ConnectionState::Uninitialized {
        // A client that probes for the stateless revision but does not speak it.
        return Problem::params("_meta: io.modelcontextprotocol/protocolVersion is missing");
    }
    let problem = Problem::new(code::METHOD_NOT_FOUND, format!("Method not found: {}", shortened(method)));
    if revision.is_stateless() { problem.with_status(404) } else { problem }
}

/// The answer to a message that is refused, which is logged.
fn refuse(id: Id, problem: Problem) -> Step {
    let Problem { code, message, data, status } = problem;
    record::refused("", id.as_json(), code, &message);
    let refusal = Refusal { id, code, message, data };
    Step::Answer(Answer::ready(status, refusal.to_json()))
}
