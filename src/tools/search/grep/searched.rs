//! The last line of an answer of `grep`: how much was searched, and what was left out and why.

use crate::tools::balance::{Balance, Reason, several};
use engine::{SearchStop, Searched};
use search::PatternOptions;

/// What `grep` counts: lines, or matches where one may go over several lines.
pub(super) fn hit(how: PatternOptions) -> &'static str {
    if how.multiline { "match" } else { "matching line" }
}

/// What was searched and what was left out, of all files or of those behind a cursor. So the numbers of all answers in the
/// order of paths are together those of the whole; the file in which a cursor points counts where it begins. `hit` is what counts, if that is told;
/// `has_more`: the time was up before the last hit was told; `is_brief`: in fewer words, as agents pay for them.
pub(in crate::tools) fn balance(
    searched: &Searched,
    hit: Option<&str>,
    [is_behind, has_more]: [bool; 2],
    is_brief: bool,
) -> String {
    let counts = &searched.counts;
    let ends_in_a_file = searched.last.as_ref().is_some_and(|last| last.rest.is_some());
    let mut balance = Balance::default();
    balance.add_walk(&searched.left_out);
    for (reason, number) in [
        (Reason::Links, counts.links),
        (Reason::Special, counts.special),
        (Reason::Binary, counts.binary),
        (Reason::NotText, counts.not_text),
        (Reason::Unreadable, counts.unreadable),
        (Reason::NotWanted, counts.not_wanted),
        (Reason::NotWantedFolders, counts.not_wanted_folders),
        (Reason::TooLargeToCopy, counts.too_large_to_copy),
        (Reason::NoTime, searched.not_searched),
        (Reason::NoTimeForRest, u64::from(ends_in_a_file && searched.stop == Some(SearchStop::Time))),
    ] {
        balance.add(reason, number);
    }
    if searched.has_unseen {
        balance.add_unseen();
    }
    if has_more || searched.stop == Some(SearchStop::Enough) {
        balance.add_more();
    }
    let so_far = if searched.stop.is_some() { " so far" } else { "" };
    let behind = if is_behind { "behind the cursor " } else { "" };
    let files = several_and_rest(counts.files, searched.resumed.is_some() && counts.files > 0);
    let found = match is_brief && !searched.is_resumed_found {
        true => counts.found.to_string(),
        false => several_and_rest(counts.found, searched.is_resumed_found),
    };
    let mut head = format!("{behind}{files} searched{so_far}");
    if let Some(hit) = hit {
        let hit = if is_brief { hit.trim_start_matches("matching ") } else { hit };
        head.push_str(&format!(", {} in {found}", several(counts.hits, hit)));
    }
    if counts.changing > 0 {
        let files = several(counts.changing, "file");
        head.push_str(&format!(", {files} written to meanwhile, whose lines may be of different moments"));
    }
    if counts.guessed > 0 {
        let files = several(counts.guessed, "file");
        head.push_str(&match is_brief {
            true => format!(", {files} in a guessed encoding"),
            false => {
                format!(", {files} not in UTF-8 searched in the likely encoding (pass encoding to name it)")
            }
        });
    }
    if counts.replaced > 0 {
        let files = several(counts.replaced, "file");
        head.push_str(&format!(
            ", {files} with bytes that are no character of the encoding, searched as U+FFFD"
        ));
    }
    if counts.as_bytes > 0 {
        let files = several(counts.as_bytes, "file");
        head.push_str(&format!(
            ", {files} over 64 MB and not in UTF-8 searched as UTF-8: of other characters, only ASCII is found"
        ));
    }
    if counts.unsure > 0 {
        let files = several(counts.unsure, "file");
        head.push_str(&match is_brief {
            true => format!(", {files} without a match perhaps in another encoding than guessed"),
            false => format!(
                ", {files} without a match that may have another encoding than the likely one (pass encoding to name it)"
            ),
        });
    }
    if counts.undecoded > 0 {
        let files = several(counts.undecoded, "file");
        head.push_str(&format!(", {files} with characters of ISO-2022 that are not decoded"));
    }
    if counts.unsure + counts.undecoded > 0 {
        balance.add_doubt();
    }
    balance.line(&head)
}

/// A number of files; the rest of a file is one of them.
fn several_and_rest(number: u64, has_rest: bool) -> String {
    match (has_rest, number.saturating_sub(1)) {
        (false, _) => several(number, "file"),
        (true, 0) => "the rest of 1 file".into(),
        (true, whole) => format!("{} and the rest of 1", several(whole, "file")),
    }
}
