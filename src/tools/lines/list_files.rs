//! `list_files`: the files in the folder (contract 4).

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::timestamp::{push_timestamp, timestamp};
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool, wrong_pattern};
use engine::{FileEntry, ListOptions, Listing, Workspace};
use folder::{Control, FilePath, LeftOut, NamePolicy, Result};
use text::glob::Glob;

pub(crate) static TOOL: Tool = Tool {
    name: "list_files",
    title: "List files",
    description: "List the text files in the folder, sorted by name, with the time of the last change (UTC) and the \
        number of lines (-1: not text, too large or not readable). Use it first to learn the names{?read_file+edit_file| that read_file and edit_file take}. Example: {}",
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
        r#""directory":{"type":"string"},"#,
        r#""not_readable":{"type":"integer","description":"Files and folders that are not listed because they cannot be read"},"#,
        r#""next":{"type":"object","description":"If there is more: the arguments of the call that goes on","properties":{"#,
        r#""after":{"type":"string"},"match":{"type":"string"},"limit":{"type":"integer"}}},"#,
        r#""partial":{"type":"boolean","description":"The time was up before all files were met"}"#,
        r#"},"required":["files","total_count","directory"]}"#
    )),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct ListArguments {
        /// Glob of names, such as *.txt
        pattern as "match": Option<String>,
        /// Only names after this one
        after: Option<String>,
        /// Maximum number of files
        limit: Option<Count>,
    }
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ListFiles { arguments: self, names: options.names, limit: options.limit.bytes }))
    }
}

/// Room for the lines after the list under a limit, in bytes, without the name in the last one.
const LAST_LINES: usize = 1_024;

/// What an answer says if the time was up before the first file.
const NO_PROGRESS: &str = "\n[No file could be looked at in the time. The same call may end in the same way: have the server \
    started with a longer --timeout, or for a folder further down]";

#[derive(Debug)]
struct ListFiles {
    arguments: ListArguments,
    names: NamePolicy,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

impl Call for ListFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { pattern, after, limit } = &self.arguments;
        // Read when the call runs, because it may take a while.
        let glob = pattern.as_deref().map(Glob::parse).transpose();
        let glob = glob.map_err(|error| wrong_pattern("match", &error))?;
        let options = ListOptions {
            after: after.as_deref(),
            pattern: glob.as_ref(),
            limit: limit.map_or(usize::MAX, |limit| limit.0.try_into().unwrap_or(usize::MAX)),
            with_access: wanted.data,
        };
        let listing = workspace.list_some(options, control)?;
        let data = if wanted.data { self.data(&listing) } else { Members::default() };
        let (mut text, mut meta) = (String::new(), Members::default());
        if wanted.text {
            let shown = push_files(&mut text, &listing, self.limit);
            push_totals(&mut text, &listing, self.names);
            let total = listing.files.len();
            let next = self.next(&listing, shown);
            if next.is_none() && listing.late.is_some() {
                text.push_str(NO_PROGRESS);
            }
            if let Some(next) = next {
                // A write to a String cannot fail.
                let _ = match shown == total {
                    true => {
                        let are = if listing.late.is_some() { "may be" } else { "are" };
                        write!(text, "\n[There {are} more files. Go on with {} {next}]", TOOL.name)
                    }
                    false => {
                        write!(text, "\n[Shown: {shown} of {total} files. Go on with {} {next}]", TOOL.name)
                    }
                };
                if shown < total {
                    let truncated = json!({ "shown": shown, "of": total, "next": next });
                    meta = meta.with("file-editor/truncated", &truncated);
                }
            }
        }
        Ok(Reply { text, data, meta, ..Reply::default() })
    }
}

impl ListFiles {
    /// The arguments of the call that goes on after `shown` files; `None` if there are no more.
    fn next(&self, listing: &Listing, shown: usize) -> Option<Json> {
        let is_all = shown == listing.files.len() && !listing.more;
        let last = match &listing.late {
            Some(met) if is_all => Some(&**met),
            _ => listing.files[..shown].last().filter(|_| !is_all).map(|file| listing.name(file)),
        };
        let ListArguments { pattern, limit, after } = &self.arguments;
        let last = last.filter(|last| *last != after.as_deref().unwrap_or_default())?;
        let mut next = json!({ "after": last });
        if let Some(pattern) = pattern {
            next["match"] = json!(pattern);
        }
        if let Some(limit) = limit {
            next["limit"] = json!(limit.0);
        }
        Some(next)
    }

    fn data(&self, listing: &Listing) -> Members {
        let files = listing.files.iter().map(|file| ListedFile {
            name: listing.name(file),
            size: file.size,
            modified: timestamp(file.modified),
            readable: file.readable,
            writable: file.writable,
            lines: count(file.lines),
        });
        let LeftOut { unreadable, unknown, .. } = listing.left_out;
        let not_readable = unreadable + unknown;
        Members::default()
            .with("files", &files.collect::<Vec<_>>())
            .with("total_count", &listing.files.len())
            .with("directory", &listing.directory.to_string_lossy())
            .with_some(
                "not_readable",
                (!switches::is_off("list-unread-told") && not_readable > 0).then_some(&not_readable),
            )
            .with_some("next", self.next(listing, listing.files.len()).as_ref())
            .with_some("partial", listing.late.is_some().then_some(&true))
    }
}

/// Adds the title and one line for each file, as far as there is room, but at least one. Returns the number of files.
fn push_files(text: &mut String, listing: &Listing, limit: Option<usize>) -> usize {
    let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(LAST_LINES.min(limit / 2)));
    text.reserve(128 + (listing.files.len() * 72).min(room));
    text.push_str("Files in directory:\n\n");
    let mut shown = 0;
    for file in &listing.files {
        let start = text.len();
        push_file(text, listing, file);
        // The name also stands in the call that goes on.
        if shown > 0 && text.len().saturating_add(listing.name(file).len()) > room {
            text.truncate(start);
            break;
        }
        shown += 1;
    }
    if shown > 0 {
        text.push('\n');
    }
    shown
}

fn push_file(text: &mut String, listing: &Listing, file: &FileEntry) {
    // Without format macros, which would take most of the time for a file with a cached index.
    text.push_str("name: ");
    text.push_str(listing.name(file));
    text.push_str(", modified: ");
    push_timestamp(text, file.modified);
    text.push_str(", lines: ");
    text.push_str(itoa::Buffer::new().format(count(file.lines)));
    text.push('\n');
}

/// Adds the number of files, and a line for everything that is not listed or not counted.
fn push_totals(text: &mut String, listing: &Listing, names: NamePolicy) {
    // A write to a String cannot fail.
    let _ = write!(text, "Total files: {}", listing.files.len());
    if listing.unlisted > 0 {
        let why = match names {
            NamePolicy::Portable => "name outside a-z A-Z 0-9 . _ -; see --names",
            NamePolicy::Any | NamePolicy::Paths => "name not usable",
        };
        let _ = write!(text, "\nNot listed: {} ({why})", listing.unlisted);
    }
    let LeftOut { unreadable, unknown, mounts, too_deep, repositories, .. } = listing.left_out;
    for (number, what) in [
        (listing.folders, "folders (see --names=paths)"),
        (unreadable, "folders that cannot be read"),
        (unknown, "entries that cannot be read"),
        (mounts, "folders on other file systems"),
        (too_deep, "folders that lie too deep"),
        (repositories, "folders of git (see --allow-git)"),
    ] {
        if number > 0 {
            let _ = write!(text, "\nNot shown: {number} {what}");
        }
    }
    if listing.late.is_some() {
        text.push_str("\nNot shown: all that was not met before the time was up");
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

fn count(lines: Option<usize>) -> i64 {
    lines.map_or(-1, |lines| lines as i64)
}
