//! The frame of a successful result, which differs between revisions (SPEC 6.5).

use super::SERVER_NAME;
use super::revision::Revision;
use super::rpc::Id;

/// What a request is, for whoever answers it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) revision: Revision,
    /// Whether an answer that cannot be completed may be cut off (HTTP); on stdio it must be checked first.
    pub(super) can_cut: bool,
}

/// How long a client may keep a result, and for whom: stateless revisions want to know.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// No statement: results of calls.
    Unsaid,
    /// The same for everybody as long as the server runs.
    Public,
    /// Content of the folder, which may change at any time.
    Private,
}

/// The server's name and version, and what more the revision has.
pub(super) fn server_info(revision: Revision) -> String {
    let mut info = format!(r#"{{"name":"{SERVER_NAME}","version":"{}""#, env!("CARGO_PKG_VERSION"));
    if revision.has_structured_content() {
        info.push_str(r#","title":"File Editing Server""#);
    }
    if revision.has_description() {
        info.push_str(r#","description":"One folder of text files: list, read by line range, edit""#);
    }
    info.push('}');
    info
}

/// The message up to the first member of its result; what every result of the revision carries is in it.
pub(super) fn open(asked: &Asked, keep: Keep) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(asked.id.as_json().as_bytes());
    out.extend_from_slice(br#","result":{"#);
    if asked.revision.is_stateless() {
        let caching = match keep {
            Keep::Unsaid => "",
            Keep::Public => r#""ttlMs":3600000,"cacheScope":"public","#,
            Keep::Private => r#""ttlMs":0,"cacheScope":"private","#,
        };
        let info = server_info(asked.revision);
        let frame = format!(
            r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{info}}},{caching}"#
        );
        out.extend_from_slice(frame.as_bytes());
    }
    out
}

/// What closes the result and the message.
pub(super) const CLOSE: &[u8] = b"}}";

/// A whole message with these members in its result.
pub(super) fn whole(asked: &Asked, keep: Keep, members: &str) -> Vec<u8> {
    let mut out = open(asked, keep);
    out.extend_from_slice(members.as_bytes());
    out.extend_from_slice(CLOSE);
    out
}
