//! `read_media_file`: a file of any kind, as base64, which is made when the answer is sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde_json::json;
use serde_json::value::RawValue;

use std::path::Path;

use super::version_meta;
use crate::engine::{Control, FilePath, Result, Workspace};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::{Call, MediaItem, Members, OutputKinds, ParseOptions, Reply, Tool, file_uri};

pub(crate) static TOOL: Tool = Tool {
    name: "read_media_file",
    title: "Read Media File",
    description: "Read an image, a sound or any other file as base64 with its media type. Use read_text_file for text. \
        Example: {\"path\":\"logo.png\"}",
    instructions: "",
    takes: Takes::of::<MediaArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"content":{"type":"array","items":{"type":"object"}}},"required":["content"]}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// Media types by extension in lower case. Other files have the last one.
const MEDIA_TYPES: [(&str, &str); 11] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("bmp", "image/bmp"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
];
const OTHER: &str = "application/octet-stream";

/// Characters of a path that a URI encodes.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

arguments! {
    struct MediaArguments {
        /// Path of the file
        path: FilePath,
    }
}

#[derive(Debug)]
struct ReadMediaFile(FilePath);

impl Request for MediaArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ReadMediaFile(self.path)))
    }
}

impl Call for ReadMediaFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let path = workspace.absolute(&self.0)?;
        let (excerpt, version) = workspace.read_bytes(&self.0, control)?;
        let (item, meta) = (item_for(&path), version_meta(&version));
        if !wanted.data {
            return Ok(Reply { excerpt: Some(excerpt), media: Some(item), meta, ..Reply::default() });
        }
        // Data for programs holds the file a second time.
        let item = item.before + &STANDARD.encode(excerpt.bytes()) + &item.after;
        excerpt.check(self.0.sent())?;
        let data = Members::default().with("content", &[&RawValue::from_string(item.clone()).ok()]);
        Ok(Reply { items: Some(item), data, meta, ..Reply::default() })
    }
}

/// The item of the content for the file at `path`.
fn item_for(path: &Path) -> MediaItem {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let known = MEDIA_TYPES.iter().find(|(known, _)| extension.as_deref() == Some(known));
    let media_type = known.map_or(OTHER, |(_, media_type)| *media_type);
    match media_type.split_once('/') {
        Some((kind @ ("image" | "audio"), _)) => MediaItem {
            before: format!(r#"{{"type":"{kind}","mimeType":"{media_type}","data":""#),
            after: r#""}"#.into(),
        },
        _ => {
            let uri = file_uri(path, ENCODED);
            let (uri, media_type) = (json!(uri), json!(media_type));
            MediaItem {
                before: format!(
                    r#"{{"type":"resource","resource":{{"uri":{uri},"mimeType":{media_type},"blob":""#
                ),
                after: r#""}}"#.into(),
            }
        }
    }
}
