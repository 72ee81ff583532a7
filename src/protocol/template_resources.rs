//! Templates as resources (contract 16): their list, their scheme and their sources. There are none without the feature
//! `toolkit`.

use serde_json::Value;
#[cfg(feature = "toolkit")]
use serde_json::json;

use super::Service;
#[cfg(feature = "toolkit")]
use toolkit::templates::{FORM, Template, served};

/// What the URI of a template begins with.
pub(super) const SCHEME: &str = "template://";

impl Service {
    /// Whether clients see templates: where a tool of the set `toolkit` is offered.
    pub(super) fn offers_templates(&self) -> bool {
        self.offered().any(|offered| offered.set.name == "toolkit")
    }
}

/// A page of templates. If there are more, also the URI of the last.
pub(super) type Page = (Vec<Value>, Option<String>);

/// The templates behind the one with the URI `after`, at most `most` of them. `None` if there is no such template.
#[cfg(feature = "toolkit")]
pub(super) fn page(after: Option<&str>, most: usize) -> Option<Page> {
    let all = served().list(None, None).map(|template| (template.uri.to_string(), template));
    let all: Vec<_> = all.collect();
    let rest = match after {
        None => &all[..],
        Some(after) => &all[all.iter().position(|(uri, _)| uri == after)? + 1..],
    };
    let page = &rest[..rest.len().min(most)];
    let last = page.last().filter(|_| page.len() < rest.len()).map(|(uri, _)| uri.clone());
    let describe = |(uri, template): &(String, &Template)| {
        let Template { name, description, mime_type, .. } = template;
        json!({ "uri": uri, "name": name, "description": description, "mimeType": mime_type })
    };
    Some((page.iter().map(describe).collect(), last))
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
pub(super) fn page(_: Option<&str>, _: usize) -> Option<Page> {
    Some((Vec::new(), None))
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn scheme() -> String {
    String::new()
}

#[cfg(not(feature = "toolkit"))]
pub(super) fn contents(_: &str) -> Option<Value> {
    None
}
