//! The state of one connection (contract 6.5). Only the state `Shutting` refuses requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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

/// The most characters of a client's name and version that are kept: each change is recorded with them, and the id of a session holds
/// them.
const MOST_NAME: usize = 100;

/// How many characters of an id are there by chance, before a `.` and the client.
const BY_CHANCE: usize = 32;

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

    /// One HTTP request of `author`: keeps no state, and uses the revision of its header.
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
        self.author = Arc::new(Author { client: shortened(&client), session: self.author.session.clone() });
        self.enter(ConnectionState::Initializing);
    }

    /// Takes the name and version of the client from a request. Over HTTP, all such requests of one name are one session.
    pub(super) fn name(&mut self, client: String) {
        let own = &self.author.session;
        let session = match self.direct {
            true => own.clone(),
            false => format!("{:016x}", xxhash_rust::xxh3::xxh3_64(format!("{own} {client}").as_bytes())),
        };
        self.author = Arc::new(Author { client: shortened(&client), session });
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

fn shortened(client: &str) -> String {
    client.chars().take(MOST_NAME).collect()
}

/// A client in a session of its own.
pub(super) fn new_author(client: &str) -> Author {
    let session = format!("{:016x}", RandomState::new().hash_one(client));
    Author { client: client.into(), session }
}

/// The id of a new session over HTTP. It holds all that the server has to know of the session, so that none is kept, and any server can
/// answer the next request.
pub(super) fn new_id(client: &str) -> String {
    let chance = || RandomState::new().hash_one(client);
    format!("{:016x}{:016x}.{}", chance(), chance(), STANDARD.encode(shortened(client)))
}

/// Who sends the requests with this id of a session. `None`: no server has given it.
pub(super) fn author_of(id: &str) -> Option<Author> {
    let (chance, client) = id.split_once('.').filter(|(chance, _)| chance.len() == BY_CHANCE)?;
    chance.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    let client = String::from_utf8(STANDARD.decode(client).ok()?).ok()?;
    client.chars().nth(MOST_NAME).is_none().then_some(())?;
    Some(Author { client, session: format!("{:016x}", xxhash_rust::xxh3::xxh3_64(id.as_bytes())) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_session_tells_the_client_and_is_a_header() {
        let long = "ä".repeat(1_000);
        for client in ["c 1", "", "Ä\r\nX: y 1", &long] {
            let (one, other) = (new_id(client), new_id(client));
            assert!(one.len() < 400 && one.bytes().all(|byte| byte.is_ascii_graphic()), "{one}");
            let (one, other) = (author_of(&one).unwrap(), author_of(&other).unwrap());
            assert_eq!(one.client, client.chars().take(MOST_NAME).collect::<String>());
            assert_ne!(one.session, other.session);
        }
    }

    #[test]
    fn an_id_that_no_server_gave_is_none() {
        let chance = "0".repeat(BY_CHANCE);
        for id in [
            "",
            "x",
            "stray.YQ==",
            &*chance,
            &format!("{chance}.*"),
            &format!("{chance}./w=="),
            &format!("g{}.YQ==", &chance[1..]),
            &format!("{chance}.{}", STANDARD.encode("n".repeat(MOST_NAME + 1))),
        ] {
            assert_eq!(author_of(id), None, "{id}");
        }
    }
}
