//! What a model or a person does next about an error, in the names of the tools that the client is offered.

use serde_json::json;

use super::Guide;
use crate::tools::{LineBase, command_failure, encoding_failure};
use folder::{
    Error, MAX_COMPONENTS, MAX_NAME, MAX_PATH, MissingFile, NameProblem, NameRule, Occupant, readings,
};
use text::encoding::{EncodingChoice, Likely};

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
    match error {
        Error::LineOutOfRange { missing: Some(MissingFile { name, similar }), .. } => {
            let near =
                near_names(name, similar, (None, None), guide).map(|near| format!(" {near}")).unwrap_or_default();
            Some(format!("There is no file '{name}'.{near}"))
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
        Error::NoParent { parent, missing, there, .. } => no_parent(parent, missing, there, guide),
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
                 (--exclude) or would at the new path, or because it is another file system or a file that is being written. Move or \
                 delete the other entries in it by their own paths.{list}"
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
        Error::NotAFolder { name, folder: None } => Some(format!("Read it with {}.", guide.reader(name)?)),
        Error::IsAFolder { name } => {
            let (what, name) = if matches!(&**name, "" | ".") { ("the served", ".") } else { ("a", &**name) };
            let list = guide.lister(name, Some(name)).filter(|_| guide.paths);
            let list = list.map(|list| format!(" See what is in it with {list}.")).unwrap_or_default();
            Some(format!("It is {what} folder, not a file.{list}"))
        }
        Error::ServedFolder { .. } => {
            Some("It is the served folder itself, which is neither moved nor deleted nor replaced.".into())
        }
        Error::RefusedLink { .. } if guide.paths => {
            Some(
                "It leads through a link that is absolute, or leads to nothing, to a file where a folder must be, in a circle, or out of \
                 the served folders."
                    .into(),
            )
        }
        Error::PermissionDenied { name } => {
            Some(format!("See what it is with {}.", guide.call("get_file_info", name)?))
        }
        Error::NotText { name } => {
            Some(format!("Get its bytes with {}.", guide.call("read_media_file", name)?))
        }
        Error::TooLarge { is_result: false, .. } => guide.parts(),
        Error::TooLarge { is_result: true, .. } if guide.paths => {
            Some("Nothing was changed. Make the change in several calls that add less text each.".into())
        }
        Error::LongLine { .. } => {
            Some("Read it with start_line and end_line alone, which take lines of any length.".into())
        }
        Error::Unencodable { in_part, .. } => Some(encoding_failure::lacking(*in_part, guide)),
        Error::Undecodable { .. } => {
            let such = EncodingChoice::COMMON;
            Some(format!("If it has another encoding, pass \"encoding\", such as {such}, or auto."))
        }
        Error::OtherEncoding { name, likely: Some(Likely::NoText(kind)), .. } => {
            let media = guide.call("read_media_file", name);
            let media = media.map(|call| format!(" Get its bytes with {call}.")).unwrap_or_default();
            Some(format!("It is {}, not text.{media}", kind.name()))
        }
        Error::OtherEncoding { likely, .. } => Some(encoding_failure::hint(*likely)),
        Error::NotEmpty { removed: 0, all_may_go: true, .. } => {
            Some("Nothing was deleted. Pass recursive: true to delete what is in it.".into())
        }
        Error::NotEmpty { removed: 0, .. } => Some("Nothing was deleted.".into()),
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
        Error::NotFound { name, similar, above, lines } => {
            near_names(name, similar, (above.as_deref(), *lines), guide)
        }
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
            "Nothing was changed. Send the same call again in a moment. If it fails while no other edit is in work, the file is \
             too large for this edit."
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
        Error::TimedOut => Some("Nothing was changed.".into()),
        Error::OutcomeUnknown => Some(
            "The change may have been made, or be made later. Read what it changes before you send it again."
                .into(),
        ),
        Error::CannotRun { why } => command_failure::hint(why),
        _ => None,
    }
}

/// What to do about a folder that does not exist. With several served folders: where it was looked for.
fn no_parent(parent: &str, missing: &[String], there: &[String], guide: Guide) -> Option<String> {
    let create = guide.call("create_directory", parent).map(|call| format!("Create it first with {call}."));
    let looked = match (missing, there) {
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
        Occupant::Folder { inside: Some(inside) } => {
            Some(format!("It is a folder. To put it in there, give the destination {}.", json!(inside)))
        }
        Occupant::Folder { inside: None } => {
            Some("It is the folder that the source is in; give another destination.".into())
        }
        Occupant::Elsewhere { there, beside, is_folder } => {
            let into = if *is_folder { ", or one inside that folder" } else { "" };
            Some(format!(
                "Another served folder has {there}. To put it beside its source, give the destination {}{into}.",
                json!(beside)
            ))
        }
        Occupant::Source => Some("It is the source itself; give another destination.".into()),
        Occupant::Kept => None,
    };
    format!("Nothing was changed. {}", way_out.as_deref().unwrap_or("Give another path."))
}

fn name_hint(problem: &NameProblem, guide: Guide) -> Option<String> {
    match problem {
        NameProblem::Policy(NameRule::NoGlob) => Some(no_glob(guide)),
        NameProblem::Policy(rule) => Some(rule_of_names(*rule)),
        NameProblem::Parent => {
            Some("Give the path without '..': relative to the folder, or absolute.".into())
        }
        NameProblem::TooLong => {
            Some(format!("A path has at most {MAX_PATH} bytes and {MAX_COMPONENTS} components."))
        }
        NameProblem::Outside { folders, meant } => {
            let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
            let outside = format!("The path is in none of the served folders: {}", folders.join(", "));
            Some(match meant {
                Some(meant) => format!("{outside}\nPerhaps it is '{meant}' here."),
                None => outside,
            })
        }
        NameProblem::Several { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| json!(path).to_string()).collect();
            if let [only] = &paths[..] {
                return Some(format!(
                    "Nothing was created: an entry is there whose name looks the same, with characters that are not seen. In JSON, its path is {only}."
                ));
            }
            Some(format!(
                "Several entries may be meant. In JSON, give one of the paths {}.",
                paths.join(", ")
            ))
        }
        NameProblem::InFolder { path } => Some(format!(
            "Nothing was created: it reads as '{path}', and that folder exists. This server takes names, not paths; the operator can \
             allow paths with --names=paths."
        )),
        NameProblem::Foreign { meant: Some(meant), lines: Some(lines) } => {
            Some(format!("Nothing was created. {}", with_lines(meant, Some(*lines), guide)))
        }
        NameProblem::Foreign { meant, .. } => {
            let rule = "Nothing was created: names are divided by '/', with no drive, variable or '~' before them \
                and no quotes, brackets, stars, blanks, '@', ',', ':' or line number around them.";
            Some(match meant {
                Some(meant) => format!("{rule} Give '{meant}' instead."),
                None => format!("{rule} Give a path relative to the folder, such as 'src/main.rs'."),
            })
        }
    }
}

/// What to do about a glob where the path of a new entry is wanted.
fn no_glob(guide: Guide) -> String {
    let rule = "Nothing was created: '*' and '?' stand for other characters in a glob, so a new name has none. Give the path of one file or folder.";
    let finder = ["glob", "search_files"].into_iter().find(|tool| guide.offered.has(tool));
    finder.map_or(rule.into(), |tool| format!("{rule} To find the files that a glob names, use {tool}."))
}

/// What a name must be, by this rule.
fn rule_of_names(rule: NameRule) -> String {
    match rule {
        NameRule::Names => "A name is neither empty nor '.' or '..'.".into(),
        NameRule::Short => format!("A name has at most {MAX_NAME} bytes."),
        NameRule::NotTemporary => {
            "Names such as .file-editor-tmp-0123456789abcdef are those of the server's temporary files.".into()
        }
        NameRule::Usable => "The system of the server has no such name.".into(),
        NameRule::Portable => "A name has only letters from a to z, digits, '.', '_' and '-'. The operator can allow others with \
            --names=any."
            .into(),
        NameRule::NoPath => {
            "Files have names here, not paths. The operator can allow paths with --names=paths.".into()
        }
        NameRule::NoControl => "A new name has no control characters, tabs included. One that exists is taken as lists show it, \
            with \\xNN."
            .into(),
        NameRule::NoGlob => "A new name has no '*' and no '?'.".into(),
        NameRule::NoEscape => "Nothing that exists is shown so, and a new name has no \\xNN, which stands for a control character or a \
            byte that is no UTF-8."
            .into(),
    }
}

/// What to send instead of the path of the file `name` with line numbers behind it, which the file has if they are given.
fn with_lines(name: &str, lines: Option<(u64, u64)>, guide: Guide) -> String {
    let base = |line: u64| (line.max(1) - 1).saturating_add(guide.base.first());
    let call = |(first, last): (u64, u64)| {
        let (path, first, last) = (json!(name), base(first), base(last.max(first)));
        let reader = guide.line_reader("read_text_file")?;
        let lines = match reader {
            "read" => format!(r#"{{"path":{path},"lines":"{first}-{last}"}}"#),
            _ => format!(r#"{{"path":{path},"start_line":{first},"end_line":{last}}}"#),
        };
        Some(format!(" Read the lines with {reader} {lines}."))
    };
    let read = lines.and_then(call).unwrap_or_default();
    let rule = match (guide.line_reader("read_text_file"), guide.offered.has("edit")) {
        (Some("read"), true) => "read and edit take them as lines, grep and replace take none",
        (Some("read"), false) => "read takes them as lines, grep takes none",
        _ => "start_line and end_line say which lines are read",
    };
    format!("Give the path '{name}' without line numbers: {rule}.{read}")
}

/// Names like the missing `name`, or else how to see which there are.
fn near_names(
    name: &str,
    similar: &[String],
    (above, lines): (Option<&str>, Option<(u64, u64)>),
    guide: Guide,
) -> Option<String> {
    if let [first, ..] = similar
        && let Some((bare, Some(_))) = readings(name).find(|(bare, _)| first.trim_end_matches('/') == *bare)
    {
        return Some(match first.ends_with('/') {
            true => format!("'{bare}' is a folder: give its path without line numbers."),
            false => with_lines(bare, lines, guide),
        });
    }
    match similar {
        [] => Some(format!("Use {} to see which files there are.", guide.lister(name, above)?)),
        similar => Some(format!("Files with a similar name: {}", similar.join(", "))),
    }
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
