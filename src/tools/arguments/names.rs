//! Names of arguments: those that mean the same, and those that were probably meant.
//!
//! Models send the names that other tools taught them (contract 7).

/// Names that mean the same argument.
const SAME: [&[&str]; 7] = [
    &["name", "path", "filename", "file_path", "target_file"],
    &["old_text", "oldText", "old_string", "old_str"],
    &["new_text", "newText", "new_string", "new_str"],
    &["dry_run", "dryRun"],
    &["start_line", "startLine"],
    &["end_line", "endLine"],
    &["content", "text", "file_text"],
];

/// Names of arguments in other tools, and what may be meant by them, the likeliest first: one argument, or several together.
const MEANT: &[(&[&str], &[&[&str]])] = &[
    (
        &[
            "path",
            "name",
            "filename",
            "file",
            "file_path",
            "uri",
            "url",
            "absolute_path",
            "relative_path",
            "document",
        ],
        &[&["path"], &["filename"], &["name"], &["paths"], &["source"], &["project_path"]],
    ),
    (
        &["paths", "files", "filenames", "file_paths", "uris"],
        &[&["paths"], &["path"], &["filename"], &["name"]],
    ),
    (
        &["dir", "directory", "folder", "cwd", "root", "working_directory", "project_root"],
        &[&["path"], &["work_dir"], &["project_path"], &["filename"]],
    ),
    (&["src", "from_path", "old_path"], &[&["source"]]),
    (&["dest", "dst", "target", "to_path", "new_path"], &[&["destination"]]),
    (
        &[
            "old_text",
            "old_string",
            "old_str",
            "old",
            "search",
            "search_text",
            "find",
            "original",
            "target_text",
        ],
        &[&["old_text"], &["oldText"], &["old"], &["pattern"], &["expect"]],
    ),
    (
        &[
            "new_text",
            "new_string",
            "new_str",
            "new",
            "replace",
            "replacement",
            "replace_with",
            "insert_text",
        ],
        &[&["new_text"], &["newText"], &["new"], &["content"]],
    ),
    (
        &["edits", "changes", "replacements", "operations", "diff", "patch"],
        &[&["edits"], &["old_text", "new_text"]],
    ),
    (
        &["content", "contents", "text", "body", "data", "code", "file_content", "file_text"],
        &[&["content"], &["new_text"], &["newText"], &["append"]],
    ),
    (&["query", "regex", "regexp", "search", "search_term", "search_query", "needle", "q"], &[&["pattern"]]),
    (
        &["glob", "globs", "include", "include_pattern", "file_pattern", "name_pattern"],
        &[&["glob"], &["pattern"]],
    ),
    (
        &["exclude", "excludes", "exclude_pattern", "exclude_patterns", "ignore"],
        &[&["excludePatterns"], &["exclude"]],
    ),
    (
        &["lines", "line_range", "view_range", "range", "ranges"],
        &[&["start_line", "end_line"], &["line", "end_line"], &["lines"]],
    ),
    (
        &[
            "line",
            "line_start",
            "line_number",
            "from",
            "from_line",
            "first_line",
            "begin",
            "offset",
            "insert_line",
        ],
        &[&["start_line"], &["line"], &["lines"]],
    ),
    (&["line_end", "to", "to_line", "last_line", "until"], &[&["end_line"]]),
    (
        &["limit", "max_results", "max_count", "num_lines", "line_count", "count", "n"],
        &[&["head_limit"], &["limit"], &["max_lines"], &["head"], &["expectedCount"], &["occurrences"]],
    ),
    (&["recursive", "max_depth", "levels"], &[&["depth"], &["max_depth"]]),
    (&["from", "src", "source_path", "old_path"], &[&["source"]]),
    (&["to", "dst", "dest", "target", "destination_path", "new_path"], &[&["destination"]]),
    (&["replace_all", "all", "global"], &[&["replaceAll"], &["replace_all"]]),
    (&["cmd", "script", "shell"], &[&["command"]]),
    (
        &["start_line", "start", "line_start", "first_line", "from_line", "line", "line_number"],
        &[&["lines"], &["start_line"], &["line"]],
    ),
    (&["end_line", "end", "line_end", "last_line", "to_line"], &[&["lines"], &["end_line"]]),
    (
        &["new_path", "new_name", "rename", "move", "target_path", "destination", "dest", "dst", "to"],
        &[&["move_to"]],
    ),
    (&["copy", "duplicate"], &[&["copy_to"]]),
];

/// The names that mean the same as `name`, with `name` itself.
pub(super) fn same_as(name: &str) -> &'static [&'static str] {
    SAME.into_iter().find(|names| names.contains(&name)).unwrap_or_default()
}

/// Whether `key` is one of the names of a call's file.
pub fn names_a_file(key: &str) -> bool {
    SAME[0].contains(&key)
}

/// The arguments that were probably meant by `name`, as they stand in a sentence. `place` finds an argument of the call that was made: as
/// it is called there, with the argument that it is in.
pub(super) fn meant_by(
    name: &str,
    known: impl Iterator<Item = &'static str>,
    place: impl Fn(&'static str) -> Option<String>,
) -> Option<String> {
    let sent = plain(name);
    let mut candidates =
        MEANT.iter().filter(|(names, _)| names.iter().any(|name| plain(name) == sent)).peekable();
    // What is known to mean something else is not taken for a name that is like it.
    let is_known = candidates.peek().is_some();
    let places =
        |together: &&[&'static str]| together.iter().map(|name| place(name)).collect::<Option<Vec<_>>>();
    // The text of a part is no content that becomes the whole file, which stands in no other argument.
    let is_part = ["new", "replac", "insert"].iter().any(|start| sent.starts_with(start));
    let found = candidates.flat_map(|(_, meant)| *meant).find_map(places).map(|found| found.join(" and "));
    let found = found.filter(|found| !is_part || found != "content");
    found.or_else(|| meant(name, known).filter(|_| !is_known).map(str::to_owned))
}

/// The one of `known` whose name is like `name`. Each has further names in [`same_as`].
fn meant(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let distance = |other: &str| distance(name, other);
    let nearest = |known: &'static str| {
        let all = same_as(known).iter().copied().chain([known]);
        all.filter_map(distance).min().map(|distance| (distance, known))
    };
    known.filter_map(nearest).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How far the argument `sent` is from the name of one, if it is likely meant. Its last words tell what it is (`file_type` is a type, no
/// file); it may be the beginning of a word; or a few letters are left out, put in, or wrong, but not its first one.
fn distance(sent: &str, known: &str) -> Option<usize> {
    let (sent_words, known_words) = (words(sent), words(known));
    let (name, other) = (plain(sent), plain(known));
    let is_last = other.len() >= 3 && sent_words.ends_with(&known_words);
    let is_start = |word: &String| word.starts_with(&name);
    if is_last || name.len() >= 3 && (is_start(&other) || known_words.iter().any(is_start)) {
        return Some(usize::from(name != other));
    }
    let edits = strsim::damerau_levenshtein(&name, &other);
    let (short, long) = if name.len() < other.len() { (&name, &other) } else { (&other, &name) };
    let mut rest = long.chars();
    let is_left_out = short.chars().all(|letter| rest.any(|other| other == letter));
    let starts_so = {
        let (mut one, mut two) = (name.chars(), other.chars());
        let starts = [one.next(), one.next(), two.next(), two.next()];
        starts[0] == starts[2] || (starts[0], starts[1]) == (starts[3], starts[2])
    };
    let is_near = if is_left_out { edits * 3 < long.len() } else { starts_so && edits * 4 <= long.len() };
    is_near.then_some(edits)
}

/// The words of a name in any style, in one case, cut: no argument's name is long.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars().take(40) {
        if matches!(letter, '_' | '-') || was_small && letter.is_uppercase() {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| !matches!(letter, '_' | '-')) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The name in one case, without `_` and `-`, cut: no argument's name is long.
fn plain(name: &str) -> String {
    name.chars().filter(|char| !matches!(char, '_' | '-')).take(40).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_found_whatever_its_style() {
        let known = ["name", "start_line", "end_line", "content", "create_if_missing"];
        for (sent, expected) in [
            ("nmae", Some("name")),
            ("file", Some("name")),
            ("StartLine", Some("start_line")),
            ("start", Some("start_line")),
            ("end-line", Some("end_line")),
            ("new_content", Some("content")),
            ("createIfMissing", Some("create_if_missing")),
            ("conten", Some("content")),
            ("contnt", Some("content")),
            ("anme", Some("name")),
            ("filter", None),
            ("comment", None),
            ("game", None),
            ("content_type", None),
            ("rename_all", None),
            ("zzz", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(sent, known.into_iter()), expected, "{sent}");
        }
        assert_eq!(meant(&"name_".repeat(10_000), known.into_iter()), Some("name"));
    }
}
