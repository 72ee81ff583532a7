//! What a model or a person does next about an error, in the names of the tools that the client is offered.

use std::io::ErrorKind;

use serde_json::json;

use super::Guide;
use super::names::{name_hint, near_names};
use crate::tools::{LineBase, command_failure, encoding_failure};
use folder::{Error, NoParent, Occupant};
use text::encoding::{EncodingChoice, Likely, Malformed};

/// Maximum number of characters of a line that an error quotes.
const QUOTED: usize = 500;

/// A reminder that lines count from 1, for errors about a line where the first line is not 0.
pub(super) fn first_line(error: &Error, base: LineBase) -> Option<String> {
    let names_a_line = matches!(
        error,
        Error::NegativeLine
            | Error::InvalidRange { .. }
            | Error::StartPastEnd { .. }
            | Error::LineOutOfRange { .. }
            | Error::NotAsExpected { .. }
    );
    (names_a_line && base == LineBase::One).then(|| "Lines count from 1.".into())
}

/// What to do about `error`, if that is known.
pub(super) fn hint(error: &Error, guide: Guide) -> Option<String> {
    let base = guide.base;
    // Tools of names alone keep to the letter of contract 7.
    let in_trees = |hint: &str| guide.paths.then(|| hint.to_owned());
    match error {
        Error::LineOutOfRange { missing: Some(missing), .. } => {
            let near = near_names(missing, guide).map(|near| format!(" {near}")).unwrap_or_default();
            Some(format!("There is no file '{}'.{near}", missing.name))
        }
        Error::OfTool(failure) => failure.hint.clone(),
        Error::StartPastEnd { total, .. } | Error::LineOutOfRange { total, .. } => {
            Some(lines_there_are(*total, base))
        }
        Error::InvalidName { problem } => name_hint(problem, guide),
        Error::GitFolder { .. } => {
            Some(
                "Nothing is written in a folder of git (.git, or one with HEAD, objects and refs), and no new one is made, because git runs \
                 programs that it names."
                    .into(),
            )
        }
        Error::KeptByGit { .. } => Some(
            "Of a folder of git (.git, or one with HEAD, objects and refs) only HEAD is read, because its other files can hold credentials. The operator can allow it with \
             --allow-git."
                .into(),
        ),
        Error::UnsafeLocks { why, .. } => {
            Some(format!("Nothing is written there: {why}. The operator can allow it with --unsafe-locks."))
        }
        Error::NoParent(folder) => no_parent(folder, guide),
        Error::Ambiguous { paths, .. } => Some(format!(
            "Nothing was changed, because then the path would lead to another one. Give the absolute path of the one that you mean: {}.",
            paths.join(" or ")
        )),
        Error::Excluded { .. } => Some("The operator keeps this path from clients (--exclude). Give another path.".into()),
        Error::HoldsKept { name } => {
            let list = guide.lister(name, Some(name)).filter(|_| guide.paths);
            let list = list.map(|list| format!(" See what is in it with {list}.")).unwrap_or_default();
            Some(format!(
                "Nothing was changed: the folder holds something that must stay where it is, because the operator keeps it from clients \
                 (--exclude) or would at the new path, or because it is another file system or a file that is being written. So the \
                 folder stays; other entries in it can be moved or deleted by their own paths.{list}"
            ))
        }
        Error::OneFolderGone { folder } => Some(format!(
            "The served folder {folder} is gone, or the link that was given for it leads elsewhere, so what it has is not known. To change \
             what another served folder has, give its absolute path."
        )),
        Error::Exists { occupant, .. } => Some(occupied(occupant, guide)),
        Error::NotAFolder { folder: Some(folder), .. } => {
            Some(format!("Another served folder has the folder {folder}: give an absolute path to put it there."))
        }
        Error::NotAFolder { name, folder: None } => Some(match guide.reader(name) {
            Some(reader) => format!("If it is text, read it with {reader}."),
            None => "Give the path of a folder.".into(),
        }),
        Error::IsAFolder { name } => {
            let (what, name) = if matches!(&**name, "" | ".") { ("the served", ".") } else { ("a", &**name) };
            let list = guide.lister(name, Some(name)).filter(|_| guide.paths);
            let list = list.map(|list| format!(" See what is in it with {list}.")).unwrap_or_default();
            Some(format!("It is {what} folder, not a file.{list}"))
        }
        Error::ServedFolder { .. } => {
            Some("It is the served folder itself, which is neither moved nor deleted nor replaced. Give a path in it.".into())
        }
        Error::RefusedLink { .. } if guide.paths => {
            Some(
                "It leads through a link that is absolute, or leads to nothing, to a file where a folder must be, in a circle, or out of \
                 the served folders. Give the path of what it leads to, if that is served."
                    .into(),
            )
        }
        Error::PermissionDenied { name } => match guide.call("get_file_info", name) {
            Some(call) => Some(format!("See what it is with {call}.")),
            None => in_trees("Give another path, or ask the user for the permission."),
        },
        Error::NotText { name } => match guide.call("read_media_file", name) {
            Some(call) => Some(format!("Get its bytes with {call}.")),
            None => in_trees(
                "It has NUL bytes: if it is text in UTF-16, pass \"encoding\": \"utf-16le\" or \"utf-16be\", else give another file.",
            ),
        },
        Error::TooLarge { is_result: false, .. } => {
            guide.parts().or_else(|| in_trees("The operator can raise the limit with --max-file."))
        }
        Error::TooLarge { is_result: true, .. } if guide.paths => {
            Some("Nothing was changed. Make the change in several calls that add less text each.".into())
        }
        Error::ReplacesTooLarge { name, .. } => Some(guide.replacer(name)),
        Error::LongLine { .. } => {
            Some("Read it with start_line and end_line alone, which take lines of any length.".into())
        }
        Error::Unencodable { in_part, .. } => Some(encoding_failure::lacking(*in_part, guide)),
        Error::Undecodable { encoding, why, .. } => {
            let others: Vec<&str> =
                EncodingChoice::COMMON.split(", ").filter(|other| !encoding.name().starts_with(other)).collect();
            let such = others.join(", ");
            let others = format!("If it has another encoding, pass \"encoding\", such as {such}, or auto.");
            Some(match why {
                Malformed::LoneSurrogate => format!("If it is UTF-16, {IN_LINES} {others}"),
                _ => others,
            })
        }
        Error::OtherEncoding(other) => Some(match other.likely {
            Some(Likely::NoText(kind)) => {
                let media = guide.call("read_media_file", &other.name);
                let media = media.map(|call| format!(" Get its bytes with {call}.")).unwrap_or_default();
                format!("It is {}, not text.{media}", kind.name())
            }
            None if guide.paths => encoding_failure::with_wrong_bytes(&other.name, guide),
            likely => encoding_failure::hint(likely),
        }),
        Error::NotEmpty { removed: 0, all_may_go: true, .. } => {
            Some("Nothing was deleted. Pass recursive: true to delete what is in it.".into())
        }
        Error::NotEmpty { removed: 0, .. } => Some(
            "Nothing was deleted. Pass recursive: true to delete what is in it, if nothing in it must stay.".into(),
        ),
        Error::NotEmpty { removed, .. } => {
            Some(format!("{removed} entries in it were deleted; others came meanwhile. Delete it again."))
        }
        Error::OtherVersion { name, expected, actual } => Some(match actual {
            Some(actual) => {
                let again = guide.reader(name);
                let again = again.map_or("read the file again".into(), |call| format!("see it with {call}"));
                format!("Expected {expected}, but it is {actual}. Nothing was changed; {again}.")
            }
            None => format!("Expected {expected}, but there is no such state now. Nothing was changed."),
        }),
        Error::NotFound(missing) => near_names(missing, guide),
        Error::NotAsExpected { actual, stands_at, .. } => {
            let now = format!("It is now: {}", quoted(actual));
            let first = base.first();
            Some(match stands_at {
                None => now,
                Some((at, last)) if at == last => format!("{now}\nThe expected text is line {}.", at + first),
                Some((at, last)) => {
                    format!("{now}\nThe expected text is lines {}-{}.", at + first, last + first)
                }
            })
        }
        Error::Conflict { .. } => {
            Some("Give one edit for the line; its content may hold several lines.".into())
        }
        Error::UnknownOperation { .. } => Some("Use replace, insert or delete.".into()),
        Error::Busy => Some(
            "Nothing was changed. If others are in work, send the same call again in a moment. If not, this one is too large: make it in \
             parts, each of fewer places."
                .into(),
        ),
        Error::NoThread => Some(
            "Nothing was changed. Look at the mounts in the served folder, and send the call again later."
                .into(),
        ),
        Error::FolderSwitched => Some(
            "The server was started with a link that leads to another folder now. The operator can restart the server to serve \
             that one, or switch the link back."
                .into(),
        ),
        Error::TimedOut => in_trees("Nothing was changed. Ask for less in one call, or send it again.")
            .or_else(|| Some("Nothing was changed.".into())),
        Error::Locked { .. } => in_trees("Nothing was changed. Send the same call again in a moment."),
        Error::ReadFailed { source } if source.kind() == ErrorKind::Unsupported && source.raw_os_error().is_none() => in_trees(
            "The system makes such a file when it is read, so its size and its versions are not known. Read it with another program, \
             or read another file.",
        ),
        Error::ReadFailed { .. } | Error::WriteFailed { .. } | Error::ListingFailed { .. } => {
            in_trees("Send the call again; if it fails again, tell the user what the system says.")
        }
        Error::OutcomeUnknown => Some(
            "The change may have been made, or be made later. Read what it changes before you send it again."
                .into(),
        ),
        Error::CannotRun { why } => command_failure::hint(why),
        // Their messages say it, or nobody waits for the answer.
        Error::NegativeLine
        | Error::FolderGone
        | Error::InvalidRange { .. }
        | Error::RefusedLink { .. }
        | Error::TooLarge { .. }
        | Error::InvalidUtf8
        | Error::NotInParts { .. }
        | Error::DeleteWithContent
        | Error::Unmatched(_)
        | Error::Changed { .. }
        | Error::NoSearchMemory
        | Error::NoReadMemory
        | Error::Cancelled
        | Error::InvalidArguments { .. } => None,
    }
}

/// What works with a text in which some bytes are wrong.
const IN_LINES: &str = "lines without them can be read by their numbers, and edited by text in ASCII.";

/// What to do about a folder that does not exist. With several served folders: where it was looked for.
fn no_parent(folder: &NoParent, guide: Guide) -> Option<String> {
    let NoParent { parent, missing, there, inside, .. } = folder;
    if let Some(inside) = inside {
        let create = guide.call("create_directory", parent);
        let create = create.map(|call| format!("create it first with {call}, then ")).unwrap_or_default();
        return Some(format!(
            "Nothing was changed. To put it into that folder, {create}give the path {}.",
            json!(inside)
        ));
    }
    let create = guide.call("create_directory", parent).map(|call| format!("Create it first with {call}."));
    let looked = match (&missing[..], &there[..]) {
        ([], []) => return create,
        (_, []) => format!("There is no folder {parent}, nor {}.", missing.join(", nor ")),
        (_, there) => format!(
            "There is no folder {parent}. There is {}: give an absolute path to put it there.",
            there.join(", and ")
        ),
    };
    Some(match create {
        Some(create) => format!("{looked} {create}"),
        None => looked,
    })
}

/// What to do about what stands at the path of a new file or folder. What the call was not asked to replace is not deleted.
fn occupied(occupant: &Occupant, guide: Guide) -> String {
    let way_out = match occupant {
        Occupant::File { at } => guide
            .call("delete_file", at)
            .map(|delete| format!("Give another path, or remove what is there with {delete}.")),
        Occupant::Folder { inside: Some(inside), is_free: true } => {
            Some(format!("It is a folder. To put it in there, give the path {}.", json!(inside)))
        }
        Occupant::Folder { inside: Some(inside), .. } => {
            Some(format!("It is a folder, in which {} is not free either. Give another path.", json!(inside)))
        }
        Occupant::Folder { inside: None, .. } => {
            Some("It is the folder that the source is in. Give another path.".into())
        }
        Occupant::Elsewhere { there, beside, is_folder } => {
            let into = if *is_folder { ", or one inside that folder" } else { "" };
            Some(format!(
                "Another served folder has {there}. To put it beside its source, give the path {}{into}.",
                json!(beside)
            ))
        }
        Occupant::Source => Some("It is the source itself. Give another path.".into()),
        Occupant::Kept => None,
    };
    format!("Nothing was changed. {}", way_out.as_deref().unwrap_or("Give another path."))
}

fn lines_there_are(total: usize, base: LineBase) -> String {
    let first = base.first();
    match total as u64 {
        0 => "The file has no lines.".into(),
        1 => format!("The file has 1 line, {first}."),
        lines => format!("The file has {lines} lines, {first}-{}.", lines - 1 + first),
    }
}

/// The line in quotes, cut if it is long.
fn quoted(line: &str) -> String {
    let shown: String = line.chars().take(QUOTED).collect();
    match line.chars().count() - shown.chars().count() {
        0 => format!("\"{shown}\""),
        more => format!("\"{shown}\" and {more} characters more"),
    }
}
