//! Pure functions between bytes and calls, replies and bytes. No I/O, no await.
//!
//! [`Service`] reads a message and returns a [`Step`]; the executor runs it, and a transport sends the
//! [`Answer`]. This layer runs no call, writes no log, and reads only the clock in its options.

mod answer;
mod call_context;
mod early;
mod encoder;
mod failure;
mod fingerprint;
mod handshake;
mod mcp;
mod method;
mod pending_call;
mod progress;
mod prompts;
mod report;
mod resources;
mod rest;
mod result_frame;
mod revision;
mod rpc;
mod session;
mod stateless;
mod template_resources;
#[cfg(test)]
pub(crate) mod test_calls;
mod tool_methods;

use std::sync::Arc;
use std::time::SystemTime;

pub use crate::tools::BUSY_SECONDS;
pub use answer::{Answer, BLOCK, Pulled, StreamObserver};
pub use failure::Category;
pub use mcp::Admit;
pub use method::OVER_RATE;
pub use pending_call::{NO_ROOM, PendingCall};
pub use report::{LoggedFailure, Report};
pub use revision::Revision;
pub use rpc::{Id, Input, Message, Refusal, code, parse};
pub use session::{ConnectionState, Session};
pub use stateless::Headers;

use self::call_context::{CallContext, Form};
use crate::tools::sets::Codes;
use crate::tools::{self, Guide, Handles, LineBase, Offered, ParseOptions, Tool, ToolNames};
use folder::{Caller, FolderPaths, NamePolicy};
use journal::Author;
use text::shown::in_one_line;

/// The server's name for MCP clients (contract 1).
pub const SERVER_NAME: &str = "file-editing-server";

/// What a transport does with a message.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Silent,
    /// Nothing: the server does not know the method of this notification.
    Ignored(String),
    /// Send this answer.
    Answer(Answer),
    /// Run this call, then send its answer.
    Call(PendingCall),
    /// Cancel the call with this id, if it has not ended.
    Cancel(Id),
    /// Do all of these, and send the answers as one array.
    Batch(Vec<Step>),
}

/// What the service offers (contract 2).
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The tools offered, in the order in which clients see them.
    pub tools: Vec<Offered>,
    /// Whether tools that write are left out.
    pub read_only: bool,
    /// Whether results also have structured data.
    pub structured: bool,
    /// Which names are allowed.
    pub names: NamePolicy,
    /// The served folders, for absolute paths and the URIs of files.
    pub folders: FolderPaths,
    /// The longest text of an answer in bytes, 0 for no limit; `None`: as usual in each set.
    pub answer_limit: Option<usize>,
    /// The most estimated tokens of an answer in sets that tokens limit, 0 for no limit.
    pub answer_tokens: usize,
    /// Whether the changes of all tools are recorded.
    pub records: bool,
    /// The longest time of an operation, in seconds.
    pub timeout: u64,
    /// The clock for times in errors.
    pub clock: fn() -> SystemTime,
}

/// All protocols of one server, for any number of connections.
#[derive(Debug, Clone)]
pub struct Service {
    options: Arc<ServiceOptions>,
    /// The tools that clients see.
    names: ToolNames,
    /// Who sends the calls that come over HTTP without a session.
    author: Arc<Author>,
    /// What calls can go on with.
    handles: Arc<Handles>,
}

/// Whether a tool can be called.
enum Offer {
    Tool(Offered),
    /// It writes, and the server is read-only.
    ReadOnly(Offered),
    Unknown,
}

impl Service {
    /// A service with these options.
    pub fn new(options: ServiceOptions) -> Service {
        let mut service = Service {
            options: Arc::new(options),
            names: ToolNames::default(),
            author: Arc::new(session::new_author("HTTP")),
            handles: Arc::default(),
        };
        service.names = ToolNames::of(service.offered().map(|offered| offered.tool));
        service
    }

    /// Frees what is kept for calls that go on with others, as far as it is too old.
    pub fn forget_old_handles(&self) {
        self.handles.forget_old();
    }

    fn offer(&self, name: &str) -> Offer {
        match self.options.tools.iter().find(|offered| offered.tool.name == name) {
            Some(offered)
                if !switches::is_off("posted-read-only") && offered.tool.writes && self.options.read_only =>
            {
                Offer::ReadOnly(*offered)
            }
            Some(offered) => Offer::Tool(*offered),
            None => Offer::Unknown,
        }
    }

    /// The error for a tool that is not offered. It names those that are.
    pub fn unknown_tool(&self, name: &str) -> String {
        let tools: Vec<&str> = self.offered().map(|offered| offered.tool.name).collect();
        let name = tools::shortened(name);
        format!("Unknown tool: {}; the tools are {}", in_one_line(&name), tools.join(", "))
    }

    /// How the arguments of this tool are read by an interface whose lines count from `base`.
    fn parse_options<'p>(
        &'p self,
        offered: &Offered,
        base: LineBase,
        create_if_missing: bool,
        author: &'p Arc<Author>,
    ) -> ParseOptions<'p> {
        let ServiceOptions { names, answer_limit, answer_tokens, ref folders, .. } = *self.options;
        let limit = offered.set.answer_limit(answer_limit, answer_tokens);
        let (paths, offered, handles) = (offered.set.paths, self.names, &self.handles);
        ParseOptions { base, names, paths, folders, limit, create_if_missing, offered, author, handles }
    }

    /// A call of a tool over MCP or by `POST /tools/{name}`.
    fn tool_call(&self, offered: &Offered, arguments: &str, form: Form, author: &Arc<Author>) -> Step {
        let options = self.parse_options(offered, offered.base, true, author);
        self.parse_call(offered, arguments, options, form)
    }

    /// A call with parsed arguments, or the error for wrong arguments.
    fn parse_call(&self, offered: &Offered, arguments: &str, options: ParseOptions, form: Form) -> Step {
        let Offered { set, tool, .. } = *offered;
        let context = |file| CallContext {
            writes: tool.writes,
            caller: self.recorded(tool, options.author),
            codes: set.codes,
            guide: options.guide(),
            ..self.context(form, tool.name, file)
        };
        match tool.parse(arguments, options) {
            Ok(call) => {
                let file = call.file().map(|name| name.as_str().to_owned());
                let fingerprint =
                    call.idempotency_key().map(|_| fingerprint::of_call(tool.name, options, arguments));
                let call = PendingCall::new(call, context(file));
                Step::Call(call.with_fingerprint(fingerprint))
            }
            Err(error) => Step::Answer(context(tools::name_as_sent(arguments)).failure(&error)),
        }
    }

    /// As whose the changes of a tool are recorded. `None`: they are not.
    fn recorded(&self, tool: &Tool, author: &Author) -> Option<Arc<Caller>> {
        (tool.writes && self.options.records).then(|| {
            let Author { client, session } = author.clone();
            Arc::new(Caller { client, session, tool: tool.name })
        })
    }

    /// The context of a call that reads.
    fn context(&self, form: Form, operation: &'static str, file: Option<String>) -> CallContext {
        let ServiceOptions { timeout, clock, .. } = *self.options;
        let guide = Guide { base: LineBase::Zero, offered: self.names, paths: false };
        let codes = Codes::Files;
        CallContext { form, operation, file, writes: false, caller: None, guide, timeout, codes, clock }
    }

    /// The answer to an HTTP request that is refused before it is parsed: in the form of REST if `rest`, else
    /// of JSON-RPC.
    pub fn http_refusal(&self, rest: bool, status: u16, code: i32, message: &str) -> Answer {
        let mut refusal = Refusal::new(Id::null(), code, message);
        let body = if rest {
            refusal.data = Some(failure::error_data(None, "", message, (self.options.clock)()));
            failure::rest_error(&refusal)
        } else {
            refusal.to_json()
        };
        Answer::ready(status, body).reported(Report::refused("", None, code, message))
    }

    /// Whether it matters which session a call is of: what a client did before.
    fn knows_sessions(&self) -> bool {
        self.options.records || self.offered().any(Offered::knows_sessions)
    }

    /// The tools that clients see, in a fixed order.
    fn offered(&self) -> impl Iterator<Item = &Offered> {
        self.options.tools.iter().filter(|offered| !(offered.tool.writes && self.options.read_only))
    }
}

/// The answer to a message on stdio that is refused before it is parsed.
pub fn refusal(id: Id, code: i32, message: &str) -> Answer {
    let report = Report::refused("", Some(&id), code, message);
    Answer::ready(200, Refusal::new(id, code, message).to_json()).reported(report)
}
