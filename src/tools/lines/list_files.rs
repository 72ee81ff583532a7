//! `list_files`: the files in the folder (contract 4).

use std::fmt::Write;

use serde::Serialize;

use crate::engine::{Control, FilePath, Listing, NamePolicy, Result, Workspace};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::timestamp::{push_timestamp, timestamp};
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "list_files",
    title: "List files",
    description: "List the text files in the folder, sorted by name, with the time of the last change (UTC) and the \
        number of lines (-1: not text, too large or not readable). Takes no arguments. Use it first to learn the names \
        that read_file and edit_file take. Example: {}",
    instructions: "Use list_files to see what is there.",
    takes: Takes::of::<ListArguments>(),
    output_schema: Some(concat!(
        r#"{"type":"object","properties":{"#,
        r#""files":{"type":"array","items":{"type":"object","properties":{"#,
        r#""name":{"type":"string"},"#,
        r#""size":{"type":"integer","description":"Bytes"},"#,
        r#""modified":{"type":"string","description":"UTC, RFC 3339"},"#,
        r#""readable":{"type":"boolean"},"#,
        r#""writable":{"type":"boolean"},"#,
        r#""lines":{"type":"integer","description":"-1: not text, too large or not readable"}"#,
        r#"},"required":["name","size","modified","readable","writable","lines"]}},"#,
        r#""total_count":{"type":"integer"},"#,
        r#""directory":{"type":"string"}"#,
        r#"},"required":["files","total_count","directory"]}"#
    )),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct ListArguments {}
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ListFiles { names: options.names }))
    }
}

#[derive(Debug)]
struct ListFiles {
    names: NamePolicy,
}

impl Call for ListFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let listing = workspace.list(wanted.data, control)?;
        let text = if wanted.text { text(&listing, self.names) } else { String::new() };
        let data = if wanted.data { data(&listing) } else { Members::default() };
        Ok(Reply { text, data, ..Reply::default() })
    }
}

fn text(listing: &Listing, names: NamePolicy) -> String {
    let (mut text, mut number) = (String::with_capacity(128 + listing.files.len() * 72), itoa::Buffer::new());
    text.push_str("Files in directory:\n\n");
    for file in &listing.files {
        // Without format macros, which would take most of the time for a file with a cached index.
        text.push_str("name: ");
        text.push_str(listing.name(file));
        text.push_str(", modified: ");
        push_timestamp(&mut text, file.modified);
        text.push_str(", lines: ");
        text.push_str(number.format(count(file.lines)));
        text.push('\n');
    }
    if !listing.files.is_empty() {
        text.push('\n');
    }
    // A write to a String cannot fail.
    let _ = write!(text, "Total files: {}", listing.files.len());
    if listing.unlisted > 0 {
        let why = match names {
            NamePolicy::Portable => "name outside a-z A-Z 0-9 . _ -; see --names",
            NamePolicy::Any | NamePolicy::Paths => "name not usable",
        };
        let _ = write!(text, "\nNot listed: {} ({why})", listing.unlisted);
    }
    if listing.uncounted > 0 {
        let files = listing.uncounted;
        let _ = write!(text, "\nNot counted: {files} (the time was up; call again to count on)");
    }
    let changing = listing.files.iter().filter(|file| file.changing).count();
    if changing > 0 {
        let _ =
            write!(text, "\nNot counted: {changing} (written to while the lines were counted; call again)");
    }
    text
}

#[derive(Serialize)]
struct ListedFile<'l> {
    name: &'l str,
    size: u64,
    modified: String,
    readable: bool,
    writable: bool,
    lines: i64,
}

fn data(listing: &Listing) -> Members {
    let files = listing.files.iter().map(|file| ListedFile {
        name: listing.name(file),
        size: file.size,
        modified: timestamp(file.modified),
        readable: file.readable,
        writable: file.writable,
        lines: count(file.lines),
    });
    Members::default()
        .with("files", &files.collect::<Vec<_>>())
        .with("total_count", &listing.files.len())
        .with("directory", &listing.directory.to_string_lossy())
}

fn count(lines: Option<usize>) -> i64 {
    lines.map_or(-1, |lines| lines as i64)
}
