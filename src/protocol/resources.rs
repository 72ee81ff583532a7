//! Resources (contract 6.5): the templates, and the folder's text files as `file:///`. Lists them in pages, and reads them
//! unchanged.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call_context::Form;
use super::method::{List, MethodResult, Outcome, RpcError};
use super::pending_call::PendingCall;
use super::result_frame::{Asked, CacheScope};
use super::{Service, Session, Step, template_resources};
use crate::tools::{Call, Members, OutputKinds, Reply, file_uri, timestamp};
use engine::{FileEntry, Workspace};
use folder::{Control, Error, FilePath, Result};
use sys::path::below_in_uri;

/// Files in one page of `resources/list`.
const PAGE: usize = 1_000;

/// Characters to encode in a URI's path: all except letters, digits, `/` and `-._~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Tools that read parts of files, by path.
const READERS: [&str; 3] = ["read_text_file", "view", "read"];

/// Media types by file extension; all other files are plain text.
const MEDIA_TYPES: [(&str, &str); 14] = [
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("tsv", "text/tab-separated-values"),
];

pub(super) fn list(service: &Service, _: &mut Session, asked: &Asked, params: &str) -> MethodResult {
    let unknown = || RpcError::params("unknown cursor");
    let from = match List::cursor(params)? {
        None if service.offers_templates() => ListFrom::Templates(None),
        None => ListFrom::Files(None),
        Some(cursor) => match text_in(&cursor).ok_or_else(unknown)? {
            text if text.starts_with(template_resources::SCHEME) && service.offers_templates() => {
                ListFrom::Templates(Some(text))
            }
            text => ListFrom::Files(Some(text.strip_prefix(AFTER).ok_or_else(unknown)?.to_owned())),
        },
    };
    let call = ListResources { from, dated: asked.revision.has_structured_content() };
    Ok(pending(service, asked, "resources/list", None, Box::new(call)))
}

pub(super) fn templates(service: &Service, _: &mut Session, _: &Asked, params: &str) -> MethodResult {
    List::one_page(params)?;
    // `resources/list` returns every text file, so files need no scheme.
    let schemes = if service.offers_templates() { template_resources::scheme() } else { String::new() };
    Ok(Outcome::Members(format!(r#""resourceTemplates":[{schemes}]"#), CacheScope::Private))
}

#[derive(Deserialize)]
struct ReadParams<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

pub(super) fn read(service: &Service, _: &mut Session, asked: &Asked, params: &str) -> MethodResult {
    let params: ReadParams = serde_json::from_str(params).map_err(RpcError::params)?;
    let uri = params.uri.into_owned();
    if service.offers_templates() && uri.starts_with(template_resources::SCHEME) {
        let call = ReadTemplate { uri: uri.clone() };
        return Ok(pending(service, asked, "resources/read", Some(uri), Box::new(call)));
    }
    let (names, folders) = (service.options.names, &service.options.folders);
    let name = (0..folders.folders().len()).find_map(|number| {
        let name = folders.paths_of(number).find_map(|folder| name_of(folder, &uri))?;
        Some(FilePath::parse(&name, names, folders).ok()?.in_folder(number))
    });
    let call = ReadResource { uri: uri.clone(), name };
    Ok(pending(service, asked, "resources/read", Some(uri), Box::new(call)))
}

fn pending(
    service: &Service,
    asked: &Asked,
    operation: &'static str,
    uri: Option<String>,
    call: Box<dyn Call>,
) -> Outcome {
    let mut context = service.context(Form::Resource { asked: asked.clone(), uri }, operation, None);
    // Where tools take parts of files of any size, an error names them.
    context.guide.paths = READERS.iter().any(|tool| context.guide.offered.has(tool));
    Outcome::Step(Step::Call(PendingCall::new(call, context)))
}

/// What the cursor of a page of files begins with; the URI of a template stands for itself.
const AFTER: &str = "after:";

/// A cursor holds the last name of its page: it needs no state and survives changes of the folder.
fn cursor_behind(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{AFTER}{name}"))
}

fn text_in(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// Where a page begins. Templates come before files.
#[derive(Debug)]
enum ListFrom {
    /// Behind the template with this URI.
    Templates(Option<String>),
    /// Behind the file with this name.
    Files(Option<String>),
}

#[derive(Debug)]
struct ListResources {
    from: ListFrom,
    dated: bool,
}

impl Call for ListResources {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        let (mut resources, after) = match &self.from {
            ListFrom::Files(after) => (Vec::new(), after.as_deref()),
            ListFrom::Templates(after) => {
                // There is room for a file behind the last of them.
                let page = template_resources::page(after.as_deref(), PAGE - 1);
                let (templates, last) = page.ok_or_else(unknown_cursor)?;
                if let Some(last) = last {
                    let next = URL_SAFE_NO_PAD.encode(last);
                    let data = Members::default().with("resources", &templates).with("nextCursor", &next);
                    return Ok(Reply { data, ..Reply::default() });
                }
                (templates, None)
            }
        };
        let room = PAGE - resources.len();
        let page = workspace.list_page(after, room, control)?;
        if page.uncounted > 0 {
            // Whether these files are text is unknown, so any list would be wrong.
            return Err(Error::TimedOut);
        }
        let is_text = |file: &&FileEntry| {
            file.lines.is_some()
                || file.changing
                || begins_as_text(workspace, page.name(file), file.size, control)
        };
        let texts = page.files.iter().filter(is_text);
        resources.extend(texts.map(|file| describe(page.name(file), file, workspace.path(), self.dated)));
        let next = page.files.last().filter(|_| page.more).map(|last| cursor_behind(page.name(last)));
        let data = Members::default().with("resources", &resources).with_some("nextCursor", next.as_ref());
        Ok(Reply { data, ..Reply::default() })
    }
}

/// Whether a file that is too large to be read whole is likely text.
fn begins_as_text(workspace: &Workspace, name: &str, size: u64, control: &Control) -> bool {
    let is_large = size > workspace.options().max_bytes;
    is_large && workspace.parse_path(name).is_ok_and(|path| workspace.begins_as_text(&path, control))
}

/// The error for a cursor that no page gave, or whose template is gone.
fn unknown_cursor() -> Error {
    Error::InvalidArguments { at: "cursor".into(), problem: "unknown cursor; list again without one".into() }
}

fn describe(name: &str, file: &FileEntry, folder: &Path, dated: bool) -> Value {
    let mut json = json!({
        "uri": uri_of(folder, name), "name": name, "mimeType": media_type(name), "size": file.size,
    });
    if dated {
        json["annotations"] = json!({ "lastModified": timestamp(file.modified) });
    }
    json
}

#[derive(Debug)]
struct ReadTemplate {
    uri: String,
}

impl Call for ReadTemplate {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, _: OutputKinds, _: &Control) -> Result<Reply> {
        let missing = || Error::not_found(&self.uri);
        let contents = template_resources::contents(&self.uri).ok_or_else(missing)?;
        let data = Members::default().with("contents", &[contents]);
        Ok(Reply { data, ..Reply::default() })
    }
}

#[derive(Debug)]
struct ReadResource {
    uri: String,
    /// The file of the URI, if it is in the folder.
    name: Option<FilePath>,
}

impl Call for ReadResource {
    fn file(&self) -> Option<&FilePath> {
        self.name.as_ref()
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        let missing = || Error::not_found(&self.uri);
        let name = self.name.as_ref().ok_or_else(missing)?;
        let excerpt = workspace.read_raw(name, control)?;
        let data = Members::default().with("uri", &self.uri).with("mimeType", &media_type(name.as_str()));
        Ok(Reply { data, excerpt: Some(excerpt), ..Reply::default() })
    }
}

fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    known.map_or("text/plain", |(_, media_type)| media_type)
}

fn uri_of(folder: &Path, name: &str) -> String {
    file_uri(&folder.join(name), ENCODED)
}

/// The name of the file in `folder` for a URI, decoded once. `None` if the URI is outside the folder.
fn name_of(folder: &Path, uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
    if path.contains(['?', '#']) {
        return None;
    }
    let decoded: Vec<u8> = percent_decode_str(path).collect();
    below_in_uri(&decoded, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_leads_back_to_its_name_and_nowhere_else() {
        let folder = Path::new("/tmp/a b");
        for name in ["x.txt", "ä 漢#?%.md", "..."] {
            let uri = uri_of(folder, name);
            assert!(uri.is_ascii() && uri.starts_with("file:///tmp/a%20b/"), "{uri}");
            assert_eq!(name_of(folder, &uri).as_deref(), Some(name));
        }
        assert_eq!(name_of(folder, "file://localhost/tmp/a%20b/x").as_deref(), Some("x"));
        // The decoded path is a name that no policy allows.
        assert_eq!(name_of(folder, "file:///tmp/a%20b/..%2Fx").as_deref(), Some("../x"));
        for uri in
            ["", "x", "file:///tmp/a%20b", "file:///tmp/a%20bc/x", "http://tmp/a%20b/x", "file:///etc/passwd"]
        {
            assert_eq!(name_of(folder, uri), None, "{uri}");
        }
        assert_eq!(name_of(Path::new("/"), "file:///x").as_deref(), Some("x"));
    }

    #[test]
    fn a_cursor_is_opaque_and_nothing_else_is_one() {
        let name_in = |cursor: &str| Some(text_in(cursor)?.strip_prefix(AFTER)?.to_owned());
        assert_eq!(name_in(&cursor_behind("ä.txt")).as_deref(), Some("ä.txt"));
        for broken in ["", "x", "after:x", "////"] {
            assert_eq!(name_in(broken), None, "{broken}");
        }
    }

    #[test]
    fn media_types_go_by_the_end_of_the_name() {
        let names = ["a.MD", "a.json", "a.rs", "md", ".html"];
        assert_eq!(
            names.map(media_type),
            ["text/markdown", "application/json", "text/plain", "text/plain", "text/html"]
        );
    }
}
