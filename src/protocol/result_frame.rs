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
        info.push_str(r#","description":"Text files for LLM agents: find, read and edit them""#);
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
pub(super) fn open_with(asked: &Asked, keep: CacheScope, further: &str) -> Vec<u8> {
    let mut out = begin(asked);
    let meta = meta(asked, further);
    if !meta.is_empty() {
        out.extend_from_slice(meta.as_bytes());
        out.push(b',');
    }
    if asked.revision.is_stateless() {
        out.extend_from_slice(match keep {
            CacheScope::Unsaid => b"",
            CacheScope::Public => br#""ttlMs":3600000,"cacheScope":"public","#,
            CacheScope::Private => br#""ttlMs":0,"cacheScope":"private","#,
        });
    }
    out
}

/// The message up to the first member of its result that depends on the result.
pub(super) fn begin(asked: &Asked) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(asked.id.as_json().as_bytes());
    out.extend_from_slice(br#","result":{"#);
    if asked.revision.is_stateless() {
        out.extend_from_slice(br#""resultType":"complete","#);
    }
    out
}

/// The member `_meta` with these members and those that every result of the revision has. Empty if there are none.
pub(super) fn meta(asked: &Asked, further: &str) -> String {
    if !asked.revision.is_stateless() {
        return plain_meta(further);
    }
    let info = server_info(asked.revision);
    let comma = if further.is_empty() { "" } else { "," };
    plain_meta(&format!(r#""io.modelcontextprotocol/serverInfo":{info}{comma}{further}"#))
}

/// The member `_meta` with these members. Empty if there are none.
pub(super) fn plain_meta(members: &str) -> String {
    match members.is_empty() {
        true => String::new(),
        false => [r#""_meta":{"#, members, "}"].concat(),
    }
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
