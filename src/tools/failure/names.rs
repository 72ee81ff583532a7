//! What to do about a name or path that is not admitted, or leads to nothing.

use serde_json::json;

use super::{Guide, path_argument};
use folder::{MAX_COMPONENTS, MAX_NAME, MAX_PATH, NameProblem, NameRule, NotFound, readings};

pub(super) fn name_hint(problem: &NameProblem, guide: Guide) -> Option<String> {
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
    let rule = "Nothing was created, because it reads as a glob: a new name has no '*' and no '?', and is none such as '!(a)'. Give the \
        path of one file or folder.";
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
            _ => {
                let at = path_argument(reader);
                format!(r#"{{"{at}":{path},"start_line":{first},"end_line":{last}}}"#)
            }
        };
        Some(format!(" Read the lines with {reader} {lines}."))
    };
    let read = lines.and_then(call).unwrap_or_default();
    format!("Give the path '{name}' without line numbers.{read}")
}

/// Names like the missing one, or else how to see which there are.
pub(super) fn near_names(missing: &NotFound, guide: Guide) -> Option<String> {
    let NotFound { name, similar, above, lines } = missing;
    if let [first, ..] = &similar[..]
        && let Some((bare, Some(_))) = readings(name).find(|(bare, _)| first.trim_end_matches('/') == *bare)
    {
        return Some(match first.ends_with('/') {
            true => format!("'{bare}' is a folder: give its path without line numbers."),
            false => with_lines(bare, *lines, guide),
        });
    }
    let see = || match guide.lister(name, above.as_deref()) {
        Some(lister) => Some(format!("Use {lister} to see which files there are.")),
        None => guide.paths.then(|| {
            "Give the path of a file that is there, relative to the served folder or absolute.".to_owned()
        }),
    };
    match &similar[..] {
        [] => see(),
        [file] if name.strip_prefix(&**file).is_some_and(|below| below.starts_with('/')) => {
            let see = see().unwrap_or_default();
            Some(format!("'{file}' is a file, not a folder, so nothing is below it. {see}"))
        }
        similar => Some(format!("Files with a similar name: {}", similar.join(", "))),
    }
}
