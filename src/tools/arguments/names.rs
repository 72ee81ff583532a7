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

/// The names that mean the same as `name`, with `name` itself.
pub(super) fn same_as(name: &str) -> &'static [&'static str] {
    SAME.into_iter().find(|names| names.contains(&name)).unwrap_or_default()
}

/// Whether `key` is one of the names of a call's file.
pub(super) fn names_a_file(key: &str) -> bool {
    SAME[0].contains(&key)
}

/// The one of `known` that was probably meant by `name`. Each has further names in [`same_as`].
pub(super) fn meant(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = plain(name);
    let distance = |other: &str| {
        let other = plain(other);
        let short = name.len().min(other.len());
        if 3 <= short && (name.contains(&other) || other.contains(&name)) {
            return Some(1);
        }
        let edits = strsim::damerau_levenshtein(&name, &other);
        (edits * 3 <= name.len().max(other.len())).then_some(edits)
    };
    let nearest = |known: &'static str| {
        let all = same_as(known).iter().copied().chain([known]);
        all.filter_map(distance).min().map(|distance| (distance, known))
    };
    known.filter_map(nearest).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
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
            ("zzz", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(sent, known.into_iter()), expected, "{sent}");
        }
        assert_eq!(meant(&"name".repeat(10_000), known.into_iter()), Some("name"));
    }
}
