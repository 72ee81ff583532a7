//! `read_media_file`: a file that is not text, as base64, which is made when the answer is sent (contract 25).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde_json::json;
use serde_json::value::RawValue;

use std::path::Path;

use super::version_meta;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::{Call, Guide, MediaItem, Members, OutputKinds, ParseOptions, Reply, Tool, file_uri};
use engine::Workspace;
use folder::{Control, Error, FilePath, Result, ToolFailure, ToolFailureKind};
use text::encoding::{Encoding, EncodingChoice, EncodingSource, TextEncoding};
use text::file_kind::{FileKind, kind_of};

pub(crate) static TOOL: Tool = Tool {
    name: "read_media_file",
    title: "Read Media File",
    description: "Read an image (PNG, JPEG, GIF, WebP), a sound or any other file that is not text, as base64 with the media \
        type that its bytes say.{?read_text_file| Use read_text_file for text, SVG too.} \
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

/// The media type of bytes of which no kind is known.
const OTHER: &str = "application/octet-stream";

/// The longest base64 that is told as an image, in bytes. Clients refuse a longer one, and the whole conversation with it.
const LONGEST_IMAGE: usize = 5 << 20;

/// How a Git LFS pointer begins, which stands where the file itself was not fetched, and what its first line holds.
const LFS_POINTER: (&[u8], &[u8]) = (b"version ", b"//git-lfs.github.com/spec/");

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
struct ReadMediaFile {
    path: FilePath,
    guide: Guide,
}

impl Request for MediaArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ReadMediaFile { path: self.path, guide: options.guide() }))
    }
}

impl Call for ReadMediaFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let path = workspace.absolute(&self.path)?;
        let (excerpt, version) = workspace.read_bytes(&self.path, control)?;
        if let Some((what, is_utf_8)) = no_media(excerpt.bytes(), control)? {
            excerpt.check(self.path.sent())?;
            return Err(self.refuse(what, is_utf_8));
        }
        let (item, meta) = (item_for(&path, excerpt.bytes()), version_meta(&version));
        if !wanted.data {
            return Ok(Reply { excerpt: Some(excerpt), media: Some(item), meta, ..Reply::default() });
        }
        // Data for programs holds the file a second time.
        let item = item.before + &STANDARD.encode(excerpt.bytes()) + &item.after;
        excerpt.check(self.path.sent())?;
        let data = Members::default().with("content", &[&RawValue::from_string(item.clone()).ok()]);
        Ok(Reply { items: Some(item), data, meta, ..Reply::default() })
    }
}

impl ReadMediaFile {
    /// The error for a file that is `what`.
    fn refuse(&self, what: &str, is_utf_8: bool) -> Error {
        let reader = match is_utf_8 {
            true => self.guide.reader(self.path.sent()),
            false => self.guide.reader_of_any(self.path.sent()),
        };
        let hint = match what {
            EMPTY => None,
            POINTER => Some("The file itself is not here; fetch it with 'git lfs pull'.".into()),
            _ => reader.map(|call| format!("Read it with {call}.")),
        };
        let message = format!("File '{}' is {what}", self.path.sent());
        Error::OfTool(Box::new(ToolFailure {
            kind: ToolFailureKind::Rejected,
            message,
            hint,
            problems: Vec::new(),
        }))
    }
}

const EMPTY: &str = "empty";
const POINTER: &str = "a Git LFS pointer, not the file that it stands for";

/// What bytes are instead of media: nothing, or text; and whether that is UTF-8.
fn no_media(bytes: &[u8], control: &Control) -> Result<Option<(&'static str, bool)>> {
    let is_svg = || memchr::memmem::find(&bytes[..bytes.len().min(1 << 10)], b"<svg").is_some();
    let is_pointer = || {
        let first = &bytes[..bytes.len().min(128)];
        bytes.starts_with(LFS_POINTER.0) && memchr::memmem::find(first, LFS_POINTER.1).is_some()
    };
    let text = EncodingChoice::Auto.of_text(bytes, || control.check())?;
    let is_utf_8 = text.as_ref().is_ok_and(|text| text.encoding == Encoding::Utf8);
    let what =
        match text {
            _ if bytes.is_empty() => Some(EMPTY),
            _ if is_pointer() => Some(POINTER),
            Ok(TextEncoding {
                source: EncodingSource::Guess | EncodingSource::WeakGuess, encoding, ..
            }) if encoding.unit() == 1 && has_controls(bytes) => None,
            Err(_) => None,
            Ok(_) if is_svg() => Some("an SVG image, which is text"),
            Ok(_) => Some("text, not media"),
        };
    Ok(what.map(|what| (what, is_utf_8)))
}

/// Whether bytes have control characters that text has not. What only looks like text in some encoding soon has one.
fn has_controls(bytes: &[u8]) -> bool {
    let is_odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B);
    bytes[..bytes.len().min(64 << 10)].iter().any(is_odd)
}

/// The item of the content for the file at `path`, by what its bytes are. Its name may say anything.
fn item_for(path: &Path, bytes: &[u8]) -> MediaItem {
    let kind = kind_of(bytes);
    let is_short = bytes.len().div_ceil(3) * 4 <= LONGEST_IMAGE;
    let form = match kind {
        Some(FileKind::Png | FileKind::Jpeg | FileKind::Gif | FileKind::WebP) if is_short => Some("image"),
        Some(FileKind::Wav | FileKind::Mp3 | FileKind::Ogg | FileKind::Flac) => Some("audio"),
        _ => None,
    };
    let media_type = kind.map_or(OTHER, FileKind::media_type);
    match form {
        Some(form) => MediaItem {
            before: format!(r#"{{"type":"{form}","mimeType":"{media_type}","data":""#),
            after: r#""}"#.into(),
        },
        None => {
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
