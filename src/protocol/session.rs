//! The state of one connection (contract 6.5). Only the state `Shutting` refuses requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use journal::Author;

use super::Revision;

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// `initialize` was not answered yet.
    Uninitialized,
    /// `initialize` was answered.
    Initializing,
    /// The client has confirmed the handshake.
    Ready,
    /// New requests are refused; calls in progress finish.
    Shutting,
    /// The connection has ended.
    Closed,
}

/// The state and the revision of one connection.
#[derive(Debug, Clone)]
pub struct Session {
    state: ConnectionState,
    revision: Revision,
    direct: bool,
    author: Arc<Author>,
}

impl Session {
    /// A stdio connection. It has all states, and direct methods.
    pub fn stdio() -> Session {
        let revision = Revision::NEWEST_BY_HANDSHAKE;
        let author = Arc::new(new_author(""));
        Session { state: ConnectionState::Uninitialized, revision, direct: true, author }
    }

    /// One HTTP request: keeps no state, and uses the revision of its header.
    pub(super) fn http(revision: Revision, author: Arc<Author>) -> Session {
        Session { state: ConnectionState::Ready, revision, direct: false, author }
    }

    /// Who sends its calls.
    pub(super) fn author(&self) -> &Arc<Author> {
        &self.author
    }

    /// The revision in use.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether the connection has direct methods such as `list_files` (contract 6.2).
    pub(super) fn has_direct_methods(&self) -> bool {
        self.direct
    }

    /// The state of the connection.
    pub fn state(&self) -> ConnectionState {
        self.state
    }

    /// `client`: its name and version.
    pub(super) fn initialize(&mut self, revision: Revision, client: String) {
        self.revision = revision;
        self.author = Arc::new(Author { client, session: self.author.session.clone() });
        self.enter(ConnectionState::Initializing);
    }

    /// Takes the name and version of the client from a request. Over HTTP, which keeps no sessions, all requests of one name are one
    /// session.
    pub(super) fn name(&mut self, client: String) {
        let own = &self.author.session;
        let session = match self.direct {
            true => own.clone(),
            false => format!("{:016x}", xxhash_rust::xxh3::xxh3_64(format!("{own} {client}").as_bytes())),
        };
        self.author = Arc::new(Author { client, session });
    }

    pub(super) fn initialized(&mut self) {
        if self.state == ConnectionState::Initializing {
            self.enter(ConnectionState::Ready);
        }
    }

    /// Changes to `state`.
    pub fn enter(&mut self, state: ConnectionState) {
        self.state = state;
    }
}

/// A client in a session of its own.
pub(super) fn new_author(client: &str) -> Author {
    let session = format!("{:016x}", RandomState::new().hash_one(client));
    Author { client: client.into(), session }
}
