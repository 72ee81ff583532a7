//! Pure functions between bytes and calls, replies and bytes. No I/O, no await.
//!
//! [`Service`] takes a message and says what to do ([`Step`]); a transport does it and sends the [`Answer`]. Knows no
//! sockets and no threads.

mod answer;
mod call_log;
mod catalog;
mod escape;
mod failure;
mod handshake;
mod mcp;
mod method;
mod pending;
mod prompts;
mod resources;
mod rest;
mod result_frame;
mod revision;
mod rpc;
mod session;
mod stateless;
#[cfg(test)]
pub(crate) mod test_calls;

use std::path::PathBuf;
use std::sync::Arc;

pub use answer::{Answer, BLOCK, Pulled};
pub use call_log::{METRICS, Metrics};
pub use escape::{Breaks, Escaper, MIN_BLOCK, NotUtf8, escape_str};
pub use failure::Category;
pub use mcp::Admit;
pub use method::OVER_RATE;
pub use pending::{NO_ROOM, Pending};
pub use revision::Revision;
pub use rpc::{Id, Input, Message, Refusal, code, parse};
pub use session::{ConnectionState, Session};
pub use stateless::Headers;

use crate::engine::NamePolicy;
use crate::tools::{self, Tool};

/// The name under which the server is known to MCP clients (SPEC 1).
pub const SERVER_NAME: &str = "file-editing-server";

/// What a transport has to do about a message.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Silent,
    /// Send this.
    Answer(Answer),
    /// Carry this out, then send what it answers.
    Call(Pending),
    /// Call off the request with this id, if it is in work.
    Cancel(Id),
    /// All of these; the answers go out as one array.
    Batch(Vec<Step>),
}

/// What is offered, and how (SPEC 2).
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The tools offered.
    pub tools: Vec<&'static Tool>,
    /// Whether tools that write are left out.
    pub read_only: bool,
    /// Whether results carry data beside the text.
    pub structured: bool,
    /// Which names are admitted.
    pub names: NamePolicy,
    /// The folder's canonical path, for the URIs of its files.
    pub folder: PathBuf,
    /// Seconds that an operation may take.
    pub timeout: u64,
}

/// All protocols of one server, for any number of connections.
#[derive(Debug, Clone)]
pub struct Service {
    options: Arc<ServiceOptions>,
}

/// Whether a tool can be called.
enum Offer {
    Tool(&'static Tool),
    ReadOnly,
    Unknown,
}

impl Service {
    /// A service with these options.
    pub fn new(options: ServiceOptions) -> Service {
        Service { options: Arc::new(options) }
    }

    fn offer(&self, name: &str) -> Offer {
        match tools::find(name) {
            Some(tool) if !self.options.tools.iter().any(|offered| offered.name == tool.name) => {
                Offer::Unknown
            }
            Some(tool) if tool.writes && self.options.read_only => Offer::ReadOnly,
            Some(tool) => Offer::Tool(tool),
            None => Offer::Unknown,
        }
    }

    /// The tools that clients see, in their fixed order.
    fn offered(&self) -> impl Iterator<Item = &'static Tool> {
        tools::TOOLS.into_iter().filter(|tool| matches!(self.offer(tool.name), Offer::Tool(_)))
    }
}

/// The answer to an HTTP request that never became a message: by REST's form on its paths, else by JSON-RPC's.
pub fn http_refusal(rest: bool, status: u16, code: i32, message: &str) -> Answer {
    call_log::refused("", "", code, message);
    let mut refusal = Refusal::new(Id::null(), code, message);
    if !rest {
        return Answer::ready(status, refusal.to_json());
    }
    refusal.data = Some(failure::error_data(None, "", message));
    Answer::ready(status, failure::rest_error(&refusal))
}

/// The answer to a message over stdio that is refused without a look into it.
pub fn refusal(id: Id, code: i32, message: &str) -> Answer {
    call_log::refused("", id.as_json(), code, message);
    Answer::ready(200, Refusal::new(id, code, message).to_json())
}
