//! Checks the head of an HTTP request before the body is read (contract 6.3): its source, its token, its target.
//!
//! Pure: reads the head, and returns a target or a refusal.

use std::net::IpAddr;

use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, Uri};
use subtle::ConstantTimeEq;

use crate::protocol::{Headers, Service, code};

/// Which requests are allowed.
#[derive(Debug)]
pub(super) struct Checks {
    /// Whether the server is bound to loopback. If so, it refuses a foreign `Host`.
    pub(super) loopback: bool,
    /// Further hosts and origins that are not foreign.
    pub(super) allowed: Allowed,
    /// The token that every request must carry.
    pub(super) token: Option<Vec<u8>>,
    /// Largest body, in bytes.
    pub(super) max_bytes: usize,
}

/// Hosts and origins that the operator has allowed, in lower case (`--allow-host`, `--allow-origin`).
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Names of hosts. One without a port stands for all ports.
    pub hosts: Vec<String>,
    /// Origins.
    pub origins: Vec<String>,
}

impl Allowed {
    fn host(&self, authority: &str) -> bool {
        let name = authority.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = name.map_or(authority, |(name, _)| name);
        self.hosts.iter().any(|host| host.eq_ignore_ascii_case(authority) || host.eq_ignore_ascii_case(name))
    }

    fn origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

/// The target of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Mcp,
    /// A REST path.
    Rest(String),
    /// `/tools/{name}`.
    Tool(String),
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpRefusal {
    pub(super) status: u16,
    pub(super) code: i32,
    pub(super) message: String,
    /// A header for the response.
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

fn refused(status: u16, code: i32, message: impl Into<String>) -> HttpRefusal {
    HttpRefusal { status, code, message: message.into(), header: None }
}

impl Checks {
    /// Checks in the order of contract 6.3: Host and Origin 403, token 401, path 404, method 405, length 413,
    /// content type 400; then unsupported codings: of the content 415, of the transfer 501.
    pub(super) fn check(&self, head: &Parts, service: &Service) -> Result<Target, HttpRefusal> {
        self.check_source(&head.headers, &head.uri)?;
        if !switches::is_off("http-token") {
            self.check_token(&head.headers)?;
        }
        let path = head.uri.path();
        let target = target(path, service).ok_or_else(|| {
            let message = match path.strip_prefix("/tools/") {
                Some(name) => service.unknown_tool(name),
                None => match path.trim_end_matches('/').rsplit('/').next() {
                    Some(name) if service.is_tool(name) => {
                        format!("Not found: {path}; the tool is at POST /tools/{name}, MCP is at /mcp")
                    }
                    _ => format!("Not found: {path}; MCP is at /mcp"),
                },
            };
            refused(404, code::METHOD_NOT_FOUND, message)
        })?;
        if head.method != Method::POST {
            let mut refusal = refused(405, code::INVALID_REQUEST, "Method not allowed; use POST");
            refusal.header = Some((hyper::header::ALLOW, HeaderValue::from_static("POST")));
            return Err(refusal);
        }
        let length =
            head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if !switches::is_off("http-length") && length.is_some_and(|length| length > self.max_bytes as u64) {
            return Err(self.too_large());
        }
        if !switches::is_off("http-content-type") && !is_json(&head.headers) {
            return Err(refused(400, code::INVALID_REQUEST, "Content-Type must be application/json"));
        }
        check_codings(&head.headers)?;
        if target == Target::Mcp {
            check_single(&head.headers)?;
        }
        Ok(target)
    }

    /// Checks a request of the admin port: Host and Origin 403, token 401. Only private pages need the token, and only
    /// where other machines can reach the port.
    pub(super) fn check_operator(&self, head: &Parts, is_private: bool) -> Result<(), HttpRefusal> {
        // Browsers always name a host. Programs that check the health of servers may not.
        let names_source = head.headers.contains_key(HOST) || head.headers.contains_key(ORIGIN);
        if !switches::is_off("admin-source") && (names_source || head.uri.authority().is_some()) {
            self.check_source(&head.headers, &head.uri)?;
        }
        if !switches::is_off("admin-token") && is_private && !self.loopback {
            self.check_token(&head.headers)
        } else {
            Ok(())
        }
    }

    pub(super) fn too_large(&self) -> HttpRefusal {
        let limit = self.max_bytes;
        refused(413, code::INVALID_REQUEST, format!("The body is over {limit} bytes (--max-size)"))
    }

    /// Prevents DNS rebinding: a page of a foreign site must not reach the server through the user's browser.
    fn check_source(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), HttpRefusal> {
        let foreign = |what| refused(403, code::INVALID_REQUEST, format!("Forbidden: foreign {what}"));
        for origin in headers.get_all(ORIGIN) {
            if !switches::is_off("http-origin")
                && !origin.to_str().is_ok_and(|origin| is_local_origin(origin) || self.allowed.origin(origin))
            {
                return Err(foreign("Origin"));
            }
        }
        // The request must name a host, and all its hosts must be local: programs differ in which one they
        // use.
        let said = headers.get_all(HOST).iter().map(|host| host.to_str().ok());
        let mut hosts = said.chain(uri.authority().map(|host| Some(host.as_str()))).peekable();
        let any = hosts.peek().is_some();
        let is_known = |host: &str| is_local_authority(host) || self.allowed.host(host);
        if !switches::is_off("http-host")
            && self.loopback
            && !(any && hosts.all(|host| host.is_some_and(is_known)))
        {
            return Err(foreign("Host"));
        }
        Ok(())
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let sent = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).and_then(|value| {
            let (scheme, token) = value.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
        });
        if sent.is_some_and(|sent| sent.ct_eq(token).into()) {
            return Ok(());
        }
        let mut refusal = refused(401, code::INVALID_REQUEST, "Unauthorized: a bearer token is required");
        refusal.header = Some((hyper::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        Err(refusal)
    }
}

/// The target that the path names. `None` if there is none.
fn target(path: &str, service: &Service) -> Option<Target> {
    if matches!(path, "/" | "/mcp") {
        return Some(Target::Mcp);
    }
    let name = path.strip_prefix('/')?;
    match name.strip_prefix("tools/") {
        Some(tool) => service.is_tool(tool).then(|| Target::Tool(tool.into())),
        None => service.is_direct_operation(name).then(|| Target::Rest(name.into())),
    }
}

/// The header that tells the session of a revision with a handshake.
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The headers that MCP uses.
const MCP_HEADERS: [&str; 4] = ["mcp-protocol-version", "mcp-method", "mcp-name", SESSION_ID];

/// Refuses a header of MCP that comes twice: programs differ in which value they use.
fn check_single(headers: &HeaderMap) -> Result<(), HttpRefusal> {
    match MCP_HEADERS.iter().find(|name| headers.get_all(**name).iter().nth(1).is_some()) {
        Some(name) => {
            Err(refused(400, code::INVALID_REQUEST, format!("The header {name} must not come twice")))
        }
        None => Ok(()),
    }
}

/// The headers that MCP uses. A value that is not visible ASCII becomes empty, which equals no valid value.
pub(super) fn mcp_headers(headers: &HeaderMap) -> Headers {
    let read = |name: &str| {
        let value = headers.get(name)?;
        Some(value.to_str().unwrap_or_default().trim().to_owned())
    };
    let [version, method, name, session] = MCP_HEADERS.map(read);
    Headers { version, method, name, session }
}

/// Whether the client accepts a stream of events: it says so by name.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    codings(headers, ACCEPT).any(|range| {
        let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let is_named = parts.next().is_some_and(|name| is(name, b"text/event-stream"));
        let weight = |part: &[u8]| std::str::from_utf8(part).ok()?.strip_prefix("q=")?.parse::<f32>().ok();
        is_named && !parts.filter_map(weight).any(|weight| weight == 0.0)
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = |value: &str| value.split(';').next().map(|essence| essence.trim().to_ascii_lowercase());
    let value = headers.get(CONTENT_TYPE).and_then(|value| essence(value.to_str().ok()?));
    value.as_deref() == Some("application/json")
}

/// Refuses a coded body. hyper decodes `chunked` and ignores other codings.
fn check_codings(headers: &HeaderMap) -> Result<(), HttpRefusal> {
    if codings(headers, CONTENT_ENCODING).any(|coding| !coding.is_empty() && !is(coding, b"identity")) {
        let why = "Content-Encoding is not supported; send the body as it is";
        let mut refusal = refused(415, code::INVALID_REQUEST, why);
        refusal.header = Some((ACCEPT_ENCODING, HeaderValue::from_static("identity")));
        return Err(refusal);
    }
    let mut transfer = codings(headers, TRANSFER_ENCODING);
    if transfer.next().is_some_and(|coding| !is(coding, b"chunked")) || transfer.next().is_some() {
        let mut refusal = refused(501, code::INVALID_REQUEST, "Transfer-Encoding must be chunked, or none");
        // Another program may see another end of the body.
        refusal.header = Some((CONNECTION, HeaderValue::from_static("close")));
        return Err(refusal);
    }
    Ok(())
}

/// The elements of all headers with this name, in order.
fn codings(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    let values = headers.get_all(name).into_iter();
    values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

fn is(coding: &[u8], name: &[u8]) -> bool {
    coding.eq_ignore_ascii_case(name)
}

fn is_local_origin(origin: &str) -> bool {
    origin.split_once("://").is_some_and(|(scheme, authority)| {
        matches!(scheme, "http" | "https") && is_local_authority(authority)
    })
}

/// Whether `host[:port]` is this machine, by a name that needs no DNS.
fn is_local_authority(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, "")) => (v6, None),
        Some((v6, rest)) => (v6, rest.strip_prefix(':').or(Some("not a port"))),
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let port_is_one = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let local =
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    port_is_one && local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_accepted_where_they_are_named() {
        let accepts = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            accepts_events(&headers)
        };
        for named in [
            &["application/json, text/event-stream"][..],
            &["TEXT/Event-Stream; q=0.5,*/*"],
            &["application/json", "text/event-stream"],
        ] {
            assert!(accepts(named), "{named:?}");
        }
        for other in [
            &[][..],
            &["*/*"],
            &["text/*", "application/json"],
            &["text/event-stream;q=0, application/json"],
            &["x-text/event-stream"],
        ] {
            assert!(!accepts(other), "{other:?}");
        }
    }

    #[test]
    fn hosts_and_origins_are_known_as_the_operator_has_named_them() {
        let allowed = Allowed {
            hosts: vec!["files.example.com".into(), "other.example:8443".into(), "[2001:db8::1]".into()],
            origins: vec!["https://app.example.com".into()],
        };
        for host in [
            "files.example.com",
            "FILES.example.com:443",
            "other.example:8443",
            "[2001:db8::1]:8080",
            "[2001:db8::1]",
        ] {
            assert!(allowed.host(host), "{host}");
        }
        for host in
            ["example.com", "files.example.com.evil.com", "other.example", "other.example:1", "", ":80"]
        {
            assert!(!allowed.host(host), "{host}");
        }
        assert!(allowed.origin("https://APP.example.com"));
        for origin in
            ["http://app.example.com", "https://app.example.com:8443", "https://app.example.com/", "null"]
        {
            assert!(!allowed.origin(origin), "{origin}");
        }
    }

    #[test]
    fn only_loopback_names_are_local() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:8080"]
        {
            assert!(is_local_authority(host), "{host}");
        }
        for host in [
            "",
            "evil.com",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "evil.com:8080",
            "10.0.0.1",
            "[::2]",
            "localhost:x",
            "[::1]x",
            "user@localhost",
            "0.0.0.0",
        ] {
            assert!(!is_local_authority(host), "{host}");
        }
        assert!(is_local_origin("http://localhost:3000") && is_local_origin("https://[::1]"));
        for origin in ["null", "file://", "localhost", "http://localhost/path", "ftp://localhost", ""] {
            assert!(!is_local_origin(origin), "{origin}");
        }
    }
}
