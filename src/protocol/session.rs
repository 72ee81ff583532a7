//! The state of one connection (SPEC 6.5). Requests are refused only in the state `Shutting`.

use super::Revision;

/// Where a connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// Nothing was said yet.
    Uninitialized,
    /// `initialize` was answered.
    Initializing,
    /// The client has confirmed.
    Ready,
    /// No new requests; those in work are finished.
    Shutting,
    /// Over.
    Closed,
}

/// What one connection has agreed on.
#[derive(Debug, Clone)]
pub struct Session {
    state: ConnectionState,
    revision: Revision,
    direct: bool,
}

impl Session {
    /// A stdio connection: has a life, and knows the direct methods.
    pub fn stdio() -> Session {
        let revision = Revision::NEWEST_BY_HANDSHAKE;
        Session { state: ConnectionState::Uninitialized, revision, direct: true }
    }

    /// One HTTP request: remembers nothing, speaks the revision of its header.
    pub(super) fn http(revision: Revision) -> Session {
        Session { state: ConnectionState::Ready, revision, direct: false }
    }

    /// The revision spoken.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether `list_files` and the like are methods here (SPEC 6.2).
    pub(super) fn has_direct_methods(&self) -> bool {
        self.direct
    }

    /// Where the connection is in its life.
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

    /// Goes on to `state`.
    pub fn enter(&mut self, state: ConnectionState) {
        self.state = state;
    }
}
