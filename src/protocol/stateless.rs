//! Stateless revisions: `_meta` in each request, HTTP headers that repeat it, and discovery.
//!
//! Nothing is kept between requests. The checks follow the order of section 6.2 of the protocol checklist.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::handshake::{ClientInfo, instructions};
use super::method::{CAPABILITIES, MethodResult, Outcome, RpcError};
use super::result_frame::{Asked, CacheScope};
use super::{Revision, Service, Session, rpc};

/// A header is missing or differs from the body.
const HEADER_MISMATCH: i32 = -32020;

/// The revision is not supported.
const UNSUPPORTED_VERSION: i32 = -32022;

const OTHER_HEADERS: &str = "Mcp-Method and Mcp-Name must repeat the method and the name or uri of the body";

const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The HTTP headers that MCP uses. A value that is not ASCII is empty here.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    /// `MCP-Protocol-Version`
    pub version: Option<String>,
    /// `Mcp-Method`
    pub method: Option<String>,
    /// `Mcp-Name`
    pub name: Option<String>,
    /// `Mcp-Session-Id`, which only revisions with a handshake have.
    pub session: Option<String>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    /// The name of a tool or a prompt.
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    /// The URI of a resource.
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct LogLevelMeta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    level: Option<&'a RawValue>,
}

/// The revision of a request: from its `_meta`, else the session's; and the name and version of the client, if `_meta` tells them. A
/// stateless session requires `_meta`, except for `initialize`.
pub(super) fn revision_of(
    session: &Session,
    headers: Option<&Headers>,
    method: &str,
    params: &str,
) -> Result<(Revision, Option<String>), RpcError> {
    let handshake = !session.revision().is_stateless();
    let params: Params = serde_json::from_str(params).map_err(|error| bad(RpcError::params(error)))?;
    let meta: Option<Meta> = match params.meta.map(RawValue::get) {
        Some(meta) if meta.starts_with('{') => serde_json::from_str(meta).ok(),
        _ => None,
    };
    let said = meta.as_ref().and_then(|meta| meta.version);
    if said.is_none() && (handshake || method == "initialize") {
        return Ok((session.revision().min(Revision::NEWEST_BY_HANDSHAKE), None));
    }
    let header = headers.map(|headers| headers.version.as_deref());
    match check_meta(meta.unwrap_or(EMPTY), header)? {
        said if headers.is_none_or(|headers| agree(headers, method, &params)) => Ok(said),
        _ => Err(mismatch(OTHER_HEADERS)),
    }
}

const EMPTY: Meta<'static> = Meta { version: None, capabilities: None, client: None };

fn check_meta(meta: Meta, header: Option<Option<&str>>) -> Result<(Revision, Option<String>), RpcError> {
    let missing = |what| bad(RpcError::params(format!("_meta: io.modelcontextprotocol/{what}")));
    let version = meta.version.and_then(|version| rpc::string(version.get()));
    let Some(version) = version else {
        return Err(match header.flatten().filter(|sent| Revision::parse(sent).is_none()) {
            Some(sent) => bad(RpcError::params(unknown_header(sent))),
            None => missing("protocolVersion must be a string"),
        });
    };
    if !meta.capabilities.is_some_and(|capabilities| capabilities.get().starts_with('{')) {
        return Err(missing("clientCapabilities must be an object"));
    }
    let client = meta.client.map(ClientInfo::parse).transpose().map_err(bad)?;
    if header.is_some_and(|header| header != Some(&*version)) {
        return Err(mismatch("MCP-Protocol-Version must repeat the protocolVersion of the body"));
    }
    let revision = Revision::parse(&version).filter(|revision| revision.is_stateless());
    let revision = revision.ok_or_else(|| unsupported(&version))?;
    Ok((revision, client.map(|client| client.told())))
}

/// What is wrong with a header of a revision that is unknown, where the body names none.
fn unknown_header(sent: &str) -> String {
    let (sent, known): (String, Vec<&str>) = (sent.chars().take(40).collect(), Revision::names().collect());
    format!("the header MCP-Protocol-Version names '{sent}', which is none of {}", known.join(", "))
}

/// Refuses an unknown log level. This is the last check, after the method was found.
pub(super) fn check_log_level(params: &str) -> Result<(), RpcError> {
    if !params.contains("logLevel") {
        return Ok(());
    }
    let params: Params = serde_json::from_str(params).map_err(RpcError::params)?;
    let meta: Option<LogLevelMeta> = params.meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
    let level = meta.and_then(|meta| meta.level).map(|level| rpc::string(level.get()).unwrap_or_default());
    match level {
        Some(level) if !LOG_LEVELS.contains(&&*level) => {
            Err(RpcError::params("_meta: io.modelcontextprotocol/logLevel is no known level"))
        }
        _ => Ok(()),
    }
}

/// Whether the headers repeat the method and its name or URI.
fn agree(headers: &Headers, method: &str, params: &Params) -> bool {
    if headers.method.as_deref() != Some(method) {
        return false;
    }
    // The method itself refuses a name that is missing or not a string.
    let Some(named) = named(method, params) else { return true };
    headers.name.as_deref().and_then(decoded).is_some_and(|header| header == named)
}

/// Refuses a request of a revision that does not need the headers if it has them, and they say something else: a proxy may
/// go by them.
pub(super) fn check_not_contradicted(headers: &Headers, method: &str, params: &str) -> Result<(), RpcError> {
    if headers.method.is_none() && headers.name.is_none() {
        return Ok(());
    }
    let params: Option<Params> = serde_json::from_str(params).ok();
    let named = params.and_then(|params| named(method, &params).map(Cow::into_owned));
    let same_method = headers.method.as_deref().is_none_or(|header| header == method);
    let same_name = match (headers.name.as_deref(), named) {
        (Some(header), Some(named)) => decoded(header).is_some_and(|header| header == named),
        _ => true,
    };
    if same_method && same_name { Ok(()) } else { Err(mismatch(OTHER_HEADERS)) }
}

/// The name or URI that a method is called with.
fn named<'a>(method: &str, params: &Params<'a>) -> Option<Cow<'a, str>> {
    let named = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => None,
    };
    named.and_then(|name| rpc::string(name.get()))
}

/// A header's value. `=?base64?…?=` encodes a value that a header cannot hold.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

fn bad(problem: RpcError) -> RpcError {
    problem.with_status(400)
}

fn mismatch(message: &str) -> RpcError {
    bad(RpcError::new(HEADER_MISMATCH, message))
}

/// The refusal of a revision that is unknown or needs a handshake.
fn unsupported(version: &str) -> RpcError {
    let supported: serde_json::Value = serde_json::from_str(&Revision::stateless_names()).unwrap_or_default();
    let data = json!({ "supported": supported, "requested": version });
    bad(RpcError::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(data))
}

/// `server/discover`: the server's revisions and capabilities.
pub(super) fn discover(service: &Service, _: &mut Session, _: &Asked, _: &str) -> MethodResult {
    let versions = Revision::stateless_names();
    let members = format!(
        r#""supportedVersions":{versions},"capabilities":{CAPABILITIES},"instructions":"{}""#,
        instructions(service)
    );
    Ok(Outcome::Members(members, CacheScope::Public))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_header_can_hold_comes_as_base64() {
        assert_eq!(decoded("plain.txt").as_deref(), Some("plain.txt"));
        assert_eq!(decoded("=?base64?w6QgYg==?=").as_deref(), Some("ä b"));
        for broken in ["=?base64?w6QgYg=?=", "=?base64?*?=", "=?base64?/w==?="] {
            assert_eq!(decoded(broken), None, "{broken}");
        }
    }
}
