//! The answer to a job that was done: how many places in how many files, and on which lines (contract 19).

mod lines;

use std::convert::Infallible;
use std::fmt::Write;

use self::lines::{count_lines, ranges, shown_lines, told_ranges};
use crate::tools::balance::several;
use crate::tools::limited::{content, within_tokens};
use crate::tools::{AnswerLimit, OutputKinds, Reply};
use engine::{JobChange, JobDone, Recorded, Unremoved};
use text::encoding::{Encoding, EncodingChoice};
use text::line_diff::{DiffSize, MAX_LINE_EDITS, line_changes, plan_diff};
use text::lines::BOM;
use text::splice::{EditPlan, Splice};

/// Room for the last line of an answer that was cut, in bytes.
const LAST_LINE: usize = 64;

/// The most places whose new lines are shown, and the most of these lines.
const SHOWN_PLACES: usize = 3;
const SHOWN_LINES: usize = 12;

/// The most files that are told one by one.
const TOLD_FILES: usize = 10;

/// The most hidden entries that are told one by one.
const MOST_UNREMOVED: usize = 3;

/// The longest diff of a file, in bytes.
const MAX_DIFF: usize = 16 << 10;

/// Lines around the changes of a diff.
const CONTEXT: usize = 4;

/// What is told of one change.
#[derive(Debug)]
pub(super) struct Told {
    path: String,
    /// Places that changed.
    places: usize,
    kind: Kind,
    /// The line of the change, behind the path.
    what: String,
    /// The new lines of its places, each with its number, if there are few.
    lines: Option<Vec<(usize, String)>>,
    /// Its diff, if that is wanted.
    diff: Option<String>,
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Content,
    Moved,
    Linked,
    Deleted,
    Folder,
}

impl Told {
    pub(super) fn of(change: JobChange, with_diff: bool) -> Told {
        let of_kind = |kind: Kind, path: &str, what: String| Told {
            path: path.into(),
            places: 1,
            kind,
            what,
            lines: None,
            diff: None,
        };
        match change {
            JobChange::Moved { from, to } => of_kind(Kind::Moved, from, format!("moved to {to}")),
            JobChange::Link { path, target } => of_kind(Kind::Linked, path, format!("link to {target}")),
            JobChange::Folder { path } => of_kind(Kind::Folder, path, "new folder".into()),
            JobChange::Deleted { path } => of_kind(Kind::Deleted, path, "deleted".into()),
            JobChange::Content { path, is_new: true, old, plan } => {
                let mut text = Vec::new();
                // A write to memory cannot fail.
                let _ = plan.write_to(old, &mut text);
                if let Some(wide) = decoded(&text) {
                    text = wide.into_bytes();
                }
                let lines = several(count_lines(&text) as u64, "line");
                of_kind(Kind::Content, path, format!("new, {lines}"))
            }
            JobChange::Content { path, is_new: false, old, plan } => {
                let places = plan.places();
                let wide = as_utf_8(old, plan);
                let rewritten = wide.as_ref().map(|(old, new)| line_plan(old.as_bytes(), new.as_bytes()));
                let (old, plan) = match (&wide, &rewritten) {
                    (Some((old, _)), Some(rewritten)) => (old.as_bytes(), rewritten),
                    _ => (old, plan),
                };
                let ranges = ranges(old, plan);
                let diff = with_diff.then(|| hunks(path, old, plan, CONTEXT));
                let (lines, what) = (shown_lines(old, plan, &ranges), told_ranges(&ranges));
                Told { path: path.into(), places, kind: Kind::Content, what, lines, diff }
            }
        }
    }
}

/// The reply for what `told` says of all changes.
pub(super) fn done(job: JobDone<Told>, edits: usize, dry_run: bool, limit: AnswerLimit) -> Reply {
    let summary = match job.told[..] {
        [] if edits == 1 => "Nothing changed: the edit leaves everything as it is.".to_owned(),
        [] => "Nothing changed: the edits leave everything as it is.".to_owned(),
        _ => summary(&job.told, dry_run),
    };
    told(summary, job, limit, &[])
}

/// The reply for a job, with its first line, and with `notes` as its last ones.
pub(super) fn told(mut text: String, job: JobDone<Told>, limit: AnswerLimit, notes: &[String]) -> Reply {
    let is_nothing = job.told.is_empty() && job.recorded.is_none();
    let told = job.told;
    match job.recorded {
        None => {}
        Some(Recorded::Change(number)) => _ = write!(text, " (change c{number})"),
        Some(Recorded::NotUndoable(why)) => _ = write!(text, "\n[It cannot be undone: {why}]"),
        Some(Recorded::Unwritten(why)) => {
            _ = write!(text, "\n[It cannot be undone: the journal could not be written: {why}]");
        }
    }
    let places: usize = told.iter().map(|told| told.places).sum();
    let few_lines = |told: &Told| told.lines.as_ref().map_or(0, Vec::len);
    let shows_lines = places <= SHOWN_PLACES && told.iter().map(few_lines).sum::<usize>() <= SHOWN_LINES;
    if told.iter().any(|told| told.diff.is_some()) {
        told.iter().for_each(|told| told.push_diff(&mut text));
    } else if told.len() > TOLD_FILES {
        push_sums(&mut text, told);
    } else {
        told.iter().for_each(|told| told.push(&mut text, shows_lines));
    }
    let unremoved = unremoved(&job.unremoved);
    let notes: String = notes.iter().chain(&unremoved).map(|note| format!("\n{note}")).collect();
    cut(&mut text, limit.without(&notes), "");
    text.push_str(&notes);
    Reply { is_nothing, ..content(text, OutputKinds { text: true, data: false }) }
}

/// What an answer says of hidden entries that could not be removed.
fn unremoved(Unremoved { paths, is_removed_later }: &Unremoved) -> Option<String> {
    let shown = paths.get(..paths.len().min(MOST_UNREMOVED)).filter(|shown| !shown.is_empty())?.join(", ");
    let more = paths.len() - paths.len().min(MOST_UNREMOVED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let end = match is_removed_later {
        true => "a later call removes them",
        false => "remove them by another program",
    };
    Some(format!(
        "[All is done, but old files could not be removed and stay under hidden names: {shown}{more}; {end}]"
    ))
}

pub(super) fn summary(told: &[Told], dry_run: bool) -> String {
    let verb = if dry_run { "Would change" } else { "Changed" };
    let names = if told.iter().any(|told| told.kind == Kind::Content) { "" } else { " names:" };
    format!("{verb}{names} {}", counted(told))
}

/// How many places and names of what changes.
fn counted(told: &[Told]) -> String {
    let of = |kind: Kind| told.iter().filter(move |told| told.kind == kind);
    let count = |kind: Kind| of(kind).count() as u64;
    let (files, folders) = (count(Kind::Content), count(Kind::Folder));
    let places = || of(Kind::Content).map(|told| told.places as u64).sum();
    let mut parts = Vec::new();
    if files > 0 {
        parts.push(format!("{} in {}", several(places(), "place"), several(files, "file")));
    }
    let names = [(Kind::Moved, "moved"), (Kind::Linked, "linked"), (Kind::Deleted, "deleted")];
    let names = names.into_iter().map(|(kind, verb)| (count(kind), verb)).filter(|(number, _)| *number > 0);
    parts.extend(names.map(|(number, verb)| format!("{number} {verb}")));
    if folders > 0 {
        parts.push(several(folders, "new folder"));
    }
    parts.join(", ")
}

impl Told {
    fn push(&self, text: &mut String, shows_lines: bool) {
        // A write to a String cannot fail.
        match &self.lines {
            Some(lines) if shows_lines => {
                for (number, line) in lines {
                    let _ = write!(text, "\n{}:{number}: {line}", self.path);
                }
            }
            _ => _ = write!(text, "\n{}: {}", self.path, self.what),
        }
    }

    fn push_diff(&self, text: &mut String) {
        match &self.diff {
            Some(diff) => _ = write!(text, "\n{}\n{}", self.path, diff.trim_end_matches('\n')),
            None => self.push(text, false),
        }
    }
}

/// One line a folder.
fn push_sums(text: &mut String, mut told: Vec<Told>) {
    fn folder(told: &Told) -> &str {
        &told.path[..told.path.rfind('/').map_or(0, |at| at + 1)]
    }
    text::order::sort_by(&mut told, |one, other| folder(one).cmp(folder(other)));
    for of_one in told.chunk_by(|one, other| folder(one) == folder(other)) {
        let name = if folder(&of_one[0]).is_empty() { "./" } else { folder(&of_one[0]) };
        let _ = write!(text, "\n{name}: {}", counted(of_one));
    }
}

/// Cuts a text that is longer than answers may be at the end of a line, and says so, and how to see the rest.
pub(super) fn cut(text: &mut String, limit: AnswerLimit, way_on: &str) {
    let Some(most) = limit.bytes else { return };
    if text.len() <= most && within_tokens(text.as_bytes(), limit.tokens) == text.len() {
        return;
    }
    let last_line = LAST_LINE + way_on.len();
    let most = most.min(within_tokens(text.as_bytes(), limit.tokens_without(last_line)));
    let end = text::lines::char_boundary(text.as_bytes(), most.saturating_sub(last_line));
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = count_lines(&text.as_bytes()[end..]);
    text.truncate(end);
    let _ = write!(text, "\n[{} more are not shown{way_on}]", several(left as u64, "line"));
}

/// The text before and after a change of a file in UTF-16, both in UTF-8. `None`: it is in another encoding.
fn as_utf_8(old: &[u8], plan: &EditPlan) -> Option<(String, String)> {
    let old_text = decoded(old)?;
    let mut new = Vec::with_capacity(plan.len_after(old.len()));
    // A write to memory cannot fail.
    let _ = plan.write_to(old, &mut new);
    Some((old_text, decoded(&new)?))
}

/// The text of bytes in UTF-16, without the mark.
fn decoded(bytes: &[u8]) -> Option<String> {
    let marked = Encoding::of_mark(bytes);
    let mark = marked.map_or(0, |encoding| encoding.mark().len());
    let encoding = marked.or_else(|| unmarked(bytes)).filter(|encoding| encoding.unit() > 1)?;
    Some(encoding.decode_lossy(&bytes[mark..]).into_owned())
}

/// The encoding of bytes without a mark, as a read finds it. Without a NUL, they are not looked at: they are no UTF-16.
fn unmarked(bytes: &[u8]) -> Option<Encoding> {
    memchr::memchr(0, bytes)?;
    let Ok(found) = EncodingChoice::Auto.of_text(bytes, || Ok::<_, Infallible>(()));
    found.ok().map(|found| found.encoding)
}

/// The change of whole lines that makes the one text of the other.
fn line_plan(old: &[u8], new: &[u8]) -> EditPlan<'static> {
    let owned = |splice: Splice| Splice { at: splice.at, text: splice.text.into_owned().into() };
    EditPlan::new(line_changes(old, new).into_iter().map(owned).collect(), old).unwrap_or_default()
}

/// Whether a text has a mark, and what the plan makes of it, too.
fn keeps_mark(old: &[u8], plan: &EditPlan) -> bool {
    let first = plan.splices().next().filter(|splice| splice.at.start < BOM.len());
    old.starts_with(BOM) && first.is_none_or(|splice| splice.at.start == 0 && splice.text.starts_with(BOM))
}

/// The hunks of the diff of two texts, with so many lines around the changes.
pub(super) fn diff_of(path: &str, old: &[u8], new: &[u8], context: usize) -> String {
    // A file that was empty, or is, has no mark.
    let side = |text: &[u8]| if text.is_empty() { Some(String::new()) } else { decoded(text) };
    let wide = side(old).zip(side(new));
    let (old, new) = wide.as_ref().map_or((old, new), |(old, new)| (old.as_bytes(), new.as_bytes()));
    let whole = vec![Splice { at: 0..old.len(), text: new.into() }];
    hunks(path, old, &EditPlan::new(whole, old).unwrap_or_default(), context)
}

/// The hunks of the diff, with so many lines around the changes.
fn hunks(path: &str, old: &[u8], plan: &EditPlan, context: usize) -> String {
    // A mark that stays is no text.
    let is_marked = keeps_mark(old, plan);
    let size = DiffSize { bytes: MAX_DIFF, context };
    let Some(diff) = plan_diff(path, old, plan, MAX_LINE_EDITS, size) else {
        return "[The text is not UTF-8: no diff is shown]".into();
    };
    let mut hunks = diff.text.find("@@").map_or(String::new(), |at| diff.text[at..].to_owned());
    if is_marked && hunks.starts_with("@@ -1,") {
        for sign in [" ", "-", "+"] {
            hunks = hunks.replacen(&format!("\n{sign}\u{feff}"), &format!("\n{sign}"), 1);
        }
    }
    let shown = memchr::memchr_iter(b'\n', diff.text.as_bytes()).count();
    let lines = diff.lines.saturating_sub(shown);
    if lines > 0 {
        let lines = several(lines as u64, "line");
        let _ = writeln!(
            hunks,
            "[{lines} more of this diff are not shown: it is longer than {} KB]",
            MAX_DIFF >> 10
        );
    }
    if diff.left_out > 0 {
        let _ = writeln!(hunks, "[{} changes more are not shown]", diff.left_out);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_that_is_cut_says_so() {
        let lines =
            |word: &str| (0..1_000).map(|number| format!("line {number} {word}\n")).collect::<String>();
        let diff = diff_of("f", lines("foo").as_bytes(), lines("qux").as_bytes(), 1);
        assert!(
            diff.ends_with("lines more of this diff are not shown: it is longer than 16 KB]\n"),
            "{diff}"
        );
    }

    #[test]
    fn a_text_in_utf_16_has_its_own_lines() {
        let wide = |text: &str| {
            [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
        };
        let diff = diff_of("f", &wide("\u{10d}\u{a0a}a\nb\nc\n"), &wide("\u{10d}\u{a0a}a\nb\nd\n"), 1);
        assert_eq!(diff, "@@ -2,2 +2,2 @@\n b\n-c\n+d\n");
    }
}
