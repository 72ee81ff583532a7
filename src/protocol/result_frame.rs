//! The frame of a successful result, which depends on the revision (contract 6.5).

use super::SERVER_NAME;
use super::revision::Revision;
use super::rpc::Id;

/// The request data that an answer needs.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) revision: Revision,
    /// Whether an incomplete answer may be cut (HTTP). On stdio, the answer is checked before it is sent.
    pub(super) can_cut: bool,
}

/// How long a client may cache a result, and for which users. Stateless revisions state it.
#[derive(Debug, Clone, Copy)]
pub(super) enum CacheScope {
    /// No statement: results of calls.
    Unsaid,
    /// The same for all users while the server runs.
    Public,
    /// Content of the folder, which may change at any time.
    Private,
}

/// The server's name and version, and the further fields of the revision.
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

/// The message up to the first member of its result. Includes the members that every result of the revision
/// has.
pub(super) fn open(asked: &Asked, keep: CacheScope) -> Vec<u8> {
    open_with(asked, keep, "")
}

/// The same, with further members of `_meta`.
pub(super) fn open_with(asked: &Asked, keep: CacheScope, meta: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(asked.id.as_json().as_bytes());
    out.extend_from_slice(br#","result":{"#);
    if asked.revision.is_stateless() {
        let caching = match keep {
            CacheScope::Unsaid => "",
            CacheScope::Public => r#""ttlMs":3600000,"cacheScope":"public","#,
            CacheScope::Private => r#""ttlMs":0,"cacheScope":"private","#,
        };
        let info = server_info(asked.revision);
        let comma = if meta.is_empty() { "" } else { "," };
        let frame = format!(
            r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{info}{comma}{meta}}},{caching}"#
        );
        out.extend_from_slice(frame.as_bytes());
    } else if !meta.is_empty() {
        out.extend_from_slice([r#""_meta":{"#, meta, "},"].concat().as_bytes());
    }
    out
}

/// The end of the result and of the message.
pub(super) const CLOSE: &[u8] = b"}}";

/// A whole message whose result has these members.
pub(super) fn whole(asked: &Asked, keep: CacheScope, members: &str) -> Vec<u8> {
    let mut out = open(asked, keep);
    out.extend_from_slice(members.as_bytes());
    out.extend_from_slice(CLOSE);
    out
}
