//! Finds the method of an MCP message (contract 6.5). The methods are in the modules beside this one.

use std::sync::Arc;

use super::answer::Answer;
use super::method::{MethodResult, Outcome, RpcError};
use super::report::Report;
use super::result_frame::{self, Asked};
use super::rpc::{self, Id, Input, Message, Refusal, code};
use super::session::author_of;
use super::stateless::{self, Headers};
use super::{ConnectionState, Revision, Service, Session, Step, handshake, prompts, resources, tool_methods};
use crate::tools::shortened;

/// Called once for each message that gets an answer. Returns false if the message is over `--rate-limit`.
pub type Admit<'a> = &'a mut dyn FnMut() -> bool;

/// A method, and the kinds of revisions that have it.
struct Method {
    name: &'static str,
    by_handshake: bool,
    stateless: bool,
    handle: fn(&Service, &mut Session, &Asked, &str) -> MethodResult,
}

/// Every method. A new method is one entry here.
static METHODS: [Method; 10] = [
    Method { name: "initialize", by_handshake: true, stateless: false, handle: handshake::initialize },
    Method { name: "ping", by_handshake: true, stateless: false, handle: handshake::ping },
    Method { name: "server/discover", by_handshake: false, stateless: true, handle: stateless::discover },
    Method { name: "tools/list", by_handshake: true, stateless: true, handle: tool_methods::list },
    Method { name: "tools/call", by_handshake: true, stateless: true, handle: tool_methods::call },
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

/// The error for the id of a session that no server has given.
const NO_SESSION: &str =
    "There is no session with this Mcp-Session-Id; send initialize without one, and use the id of its answer";

impl Service {
    /// Handles one line of a stdio connection.
    pub fn mcp(&self, session: &mut Session, input: &[u8]) -> Step {
        self.mcp_within(session, &mut || true, input)
    }

    /// The same, under a rate limit.
    pub fn mcp_within(&self, session: &mut Session, admit: Admit, input: &[u8]) -> Step {
        self.input(session, None, admit, input)
    }

    /// Handles the body of an HTTP request with these headers. Keeps no state.
    pub fn mcp_over_http(&self, headers: &Headers, admit: Admit, body: &[u8]) -> Step {
        let revision = headers.version.as_deref().map_or(Some(Revision::UNSAID), Revision::by_handshake);
        // Revisions without a handshake have no such header, and a server to which sessions do not matter gives none.
        let id = headers.session.as_deref().filter(|_| revision.is_some() && self.knows_sessions());
        let author = match id.map(author_of) {
            None => self.author.clone(),
            Some(Some(author)) => Arc::new(author),
            // It is no other client's session, either.
            Some(None) => {
                return Step::Answer(self.http_refusal(false, 404, code::INVALID_REQUEST, NO_SESSION));
            }
        };
        let mut session = Session::http(revision.unwrap_or(Revision::V2026_07_28), author);
        self.input(&mut session, Some(headers), admit, body)
    }

    fn input(&self, session: &mut Session, headers: Option<&Headers>, admit: Admit, input: &[u8]) -> Step {
        match rpc::parse(input) {
            Input::One(message) => {
                over_rate(&message, admit).unwrap_or_else(|| self.message(session, headers, message))
            }
            // A batch that is refused as a whole counts as one message.
            Input::Batch(items) if (items.is_empty() || !session.revision().has_batches()) && !admit() => {
                refuse(Id::null(), RpcError::over_rate())
            }
            Input::Batch(_) if !session.revision().has_batches() => {
                let why = "Invalid request: arrays of messages exist in revision 2025-03-26 only";
                refuse(Id::null(), RpcError::new(code::INVALID_REQUEST, why))
            }
            Input::Batch(items) if items.is_empty() => {
                refuse(Id::null(), RpcError::new(code::INVALID_REQUEST, "Invalid request: an empty array"))
            }
            Input::Batch(items) => {
                let step =
                    |item| over_rate(&item, admit).unwrap_or_else(|| self.batched(session, headers, item));
                Step::Batch(items.into_iter().map(step).collect())
            }
        }
    }

    /// A message in a batch, where `initialize` is not allowed.
    fn batched(&self, session: &mut Session, headers: Option<&Headers>, message: Message) -> Step {
        match message {
            Message::Request { id, method, .. } if method == "initialize" => {
                let why = "Invalid request: initialize must not be part of a batch";
                refuse(id, RpcError::new(code::INVALID_REQUEST, why))
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
                refuse(Id::null(), RpcError::new(code::INVALID_REQUEST, why))
            }
            Message::Response => Step::Silent,
            Message::Invalid(Refusal { id, code, message, .. }) => refuse(id, RpcError::new(code, message)),
        }
    }

    fn request(
        &self,
        session: &mut Session,
        headers: Option<&Headers>,
        id: Id,
        method: &str,
        params: &str,
    ) -> Result<Step, RpcError> {
        if session.state() == ConnectionState::Shutting {
            return Err(RpcError::new(code::INTERNAL_ERROR, "The server is shutting down"));
        }
        // Only a request with `_meta` may use another revision than its session.
        let revision = match session.revision() {
            revision if !revision.is_stateless() && !params.contains("_meta") => revision,
            _ => {
                let (revision, client) = stateless::revision_of(session, headers, method, params)?;
                client.into_iter().for_each(|client| session.name(client));
                revision
            }
        };
        if let Some(headers) = headers.filter(|_| !revision.is_stateless()) {
            stateless::check_not_contradicted(headers, method, params)?;
        }
        let asked = Asked { id, revision, can_cut: headers.is_some() };
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
                Step::Answer(Answer::ready(200, result_frame::whole(&asked, keep, &members)))
            }
        })
    }
}

fn unknown(session: &Session, revision: Revision, method: &str) -> RpcError {
    if method == "server/discover" && session.state() == ConnectionState::Uninitialized {
        // The client looks for the stateless revision, but sends no `_meta` of it.
        return RpcError::params("_meta: io.modelcontextprotocol/protocolVersion is missing");
    }
    let problem = RpcError::new(code::METHOD_NOT_FOUND, format!("Method not found: {}", shortened(method)));
    if revision.is_stateless() { problem.with_status(404) } else { problem }
}

/// The refusal of a message over the limit. Counts only messages that get an answer.
fn over_rate(message: &Message, admit: Admit) -> Option<Step> {
    let id = match message {
        Message::Request { id, .. } => id,
        Message::Invalid(refusal) => &refusal.id,
        Message::Notification { .. } | Message::Response => return None,
    };
    (!admit()).then(|| refuse(id.clone(), RpcError::over_rate()))
}

/// The answer to a refused message.
fn refuse(id: Id, problem: RpcError) -> Step {
    let RpcError { code, message, data, status } = problem;
    let report = Report::refused("", Some(&id), code, &message);
    let refusal = Refusal { id, code, message, data };
    Step::Answer(Answer::ready(status, refusal.to_json()).reported(report))
}
