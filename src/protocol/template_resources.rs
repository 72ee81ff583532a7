//! Templates as resources (contract 16): their list, their scheme and their sources. There are none without the feature
//! `toolkit`.

use serde_json::Value;
#[cfg(feature = "toolkit")]
use serde_json::json;

use super::Service;
#[cfg(feature = "toolkit")]
use crate::toolkit::templates::{FORM, Template, served};

/// What the URI of a template begins with.
pub(super) const SCHEME: &str = "template://";

impl Service {
    /// Whether clients see templates: where a tool of the set `toolkit` is offered.
    pub(super) fn offers_templates(&self) -> bool {
        self.offered().any(|offered| offered.set.name == "toolkit")
    }
}

/// The templates behind the one with the URI `after`, at most `most` of them. If there are more, also the URI of the last.
#[cfg(feature = "toolkit")]
pub(super) fn page(after: Option<&str>, most: usize) -> (Vec<Value>, Option<String>) {
    let all = served().list(None, None).map(|template| (template.uri.to_string(), template));
    // The list is in the order of the parts of the URIs. A cursor of a template that is gone begins anew.
    let all: Vec<_> = all.collect();
    let start = after.and_then(|after| all.iter().position(|(uri, _)| uri == after));
    let rest = &all[start.map_or(0, |at| at + 1)..];
    let page = &rest[..rest.len().min(most)];
    let last = page.last().filter(|_| page.len() < rest.len()).map(|(uri, _)| uri.clone());
    let describe = |(uri, template): &(String, &Template)| {
        let Template { name, description, mime_type, .. } = template;
        json!({ "uri": uri, "name": name, "description": description, "mimeType": mime_type })
    };
    (page.iter().map(describe).collect(), last)
}

/// The entry of `resources/templates/list`.
#[cfg(feature = "toolkit")]
pub(super) fn scheme() -> String {
    let entry = json!({
        "uriTemplate": FORM,
        "name": "Templates",
        "description": "Sources of the templates that generate_template and scaffold_project render",
        "mimeType": "text/plain",
    });
    entry.to_string()
}

/// The source of a template as an item of `contents`.
#[cfg(feature = "toolkit")]
pub(super) fn contents(uri: &str) -> Option<Value> {
    let template = served().find(uri).ok()?;
    Some(json!({ "uri": uri, "mimeType": template.mime_type, "text": template.source }))
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn page(_: Option<&str>, _: usize) -> (Vec<Value>, Option<String>) {
    (Vec::new(), None)
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn scheme() -> String {
    String::new()
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn contents(_: &str) -> Option<Value> {
    None
}
