//! The methods of revisions with a handshake: `initialize`, `ping`, notifications.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::method::{CAPABILITIES, MethodResult, Outcome, RpcError};
use super::report::Report;
use super::result_frame::{self, Asked, CacheScope, server_info};
use super::rpc::Id;
use super::session::new_id;
use super::{Revision, Service, Session, Step};
use crate::tools::{Offered, with_first};

/// The instructions to a client: those of the sets and the tools that are offered.
pub(super) fn instructions(service: &Service) -> String {
    let mut parts: Vec<String> = Vec::new();
    for Offered { set, base, .. } in service.offered() {
        let part = with_first(set.instructions, *base);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let tools = service.offered().map(|offered| offered.tool.instructions);
    parts.extend(tools.filter(|part| !part.is_empty()).map(str::to_owned));
    parts.join(" ")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    #[serde(borrow)]
    protocol_version: Cow<'a, str>,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow)]
    client_info: &'a RawValue,
}

#[derive(Deserialize)]
pub(super) struct ClientInfo<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) version: Cow<'a, str>,
}

impl<'a> ClientInfo<'a> {
    /// The client's name and version.
    pub(super) fn parse(info: &'a RawValue) -> Result<ClientInfo<'a>, RpcError> {
        if !info.get().starts_with('{') {
            return Err(RpcError::params("clientInfo must be an object"));
        }
        serde_json::from_str(info.get()).map_err(|error| RpcError::params(format!("clientInfo: {error}")))
    }

    /// Its name and version, as changes record them.
    pub(super) fn told(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// Agrees on a revision. A second `initialize` is answered in the same way.
pub(super) fn initialize(
    service: &Service,
    session: &mut Session,
    request: &Asked,
    params: &str,
) -> MethodResult {
    let params: Initialize = serde_json::from_str(params).map_err(RpcError::params)?;
    if !params.capabilities.get().starts_with('{') {
        return Err(RpcError::params("capabilities must be an object"));
    }
    let client = ClientInfo::parse(params.client_info)?;
    let revision = Revision::by_handshake(&params.protocol_version).unwrap_or(Revision::NEWEST_BY_HANDSHAKE);
    let id = (service.knows_sessions() && !session.has_direct_methods()).then(|| new_id(&client.told()));
    session.initialize(revision, client.told());
    let (asked, spoken) = (&*params.protocol_version, revision.as_str());
    let members = format!(
        r#""protocolVersion":"{spoken}","capabilities":{CAPABILITIES},"serverInfo":{},"instructions":"{}""#,
        server_info(revision),
        instructions(service)
    );
    let client = (client.name.into_owned(), client.version.into_owned());
    let report = Report::Initialized { client, asked: asked.into(), spoken };
    let message = result_frame::whole(request, CacheScope::Unsaid, &members);
    let mut answer = Answer::ready(200, message).reported(report);
    answer.session = id;
    Ok(Outcome::Step(Step::Answer(answer)))
}

pub(super) fn ping(_: &Service, _: &mut Session, _: &Asked, _: &str) -> MethodResult {
    Ok(Outcome::Members(String::new(), CacheScope::Unsaid))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

/// Handles a notification. It gets no answer and runs no method that returns one.
pub(super) fn notification(session: &mut Session, method: &str, params: Option<&str>) -> Step {
    match method {
        "notifications/initialized" => session.initialized(),
        "notifications/cancelled" => {
            let params = params.and_then(|params| serde_json::from_str::<Cancelled>(params).ok());
            if let Some(id) = params.and_then(|params| Id::parse(params.request_id.get())) {
                return Step::Cancel(id);
            }
        }
        _ => return Step::Ignored(method.to_owned()),
    }
    Step::Silent
}
