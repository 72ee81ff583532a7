//! The state of one connection (contract 6.5). Only the state `Shutting` refuses requests.

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
}

impl Session {
    /// A stdio connection. It has all states, and direct methods.
    pub fn stdio() -> Session {
        let revision = Revision::NEWEST_BY_HANDSHAKE;
        Session { state: ConnectionState::Uninitialized, revision, direct: true }
    }

    /// One HTTP request: keeps no state, and uses the revision of its header.
    pub(super) fn http(revision: Revision) -> Session {
        Session { state: ConnectionState::Ready, revision, direct: false }
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

    pub(super) fn initialize(&mut self, revision: Revision) {
        self.revision = revision;
        self.enter(ConnectionState::Initializing);
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
