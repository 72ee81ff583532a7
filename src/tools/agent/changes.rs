//! `changes`: what has changed, and who changed it (contract 20).

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

mod files;
#[cfg(feature = "toolkit")]
mod since_head;

use super::change_id::ChangeId;
use super::changed::cut;
use crate::tools::arguments::{Argument, Keyword, Request, Takes, UpTo, Value, arguments};
use crate::tools::balance::several;
use crate::tools::limited::content;
use crate::tools::timestamp::{parse_timestamp, timestamp};
use crate::tools::{AnswerLimit, Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeLog, ChangeNumber, ChangedFile, Workspace};
use folder::{Control, Error, FilePath, Result};
use journal::{Author, Change};
use text::shown::shown_line;

pub(crate) static TOOL: Tool = Tool {
    name: "changes",
    title: "Show Changes",
    description: "What changed since the session began, a change or a time, and by whom. Example: {\"since\":\"2h\",\"path\":\"src\"}",
    instructions: "",
    takes: Takes::of::<ChangesArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct ChangesArguments {
        /// A change (c17), a time (RFC 3339), an age (10m, 2h, 3d) or HEAD (git)
        since: Option<Since>,
        /// -
        path: Option<FilePath>,
        /// me: this session's alone
        by: Option<Who>,
        /// -
        diff: bool = true,
        /// Lines around
        context: UpTo<MOST_CONTEXT> = 1,
        change as "change" or "id": Option<ChangeId>,
    }
}

/// The most lines around a change.
const MOST_CONTEXT: u64 = 4;

/// The most changes that are told one by one, the last ones.
const MOST_CHANGES: usize = 30;

/// How to see what an answer had no room for.
const WAY_ON: &str = ": give the path of a folder or file, a later since, or diff: false";

/// The most characters of a client's name and of a message that are shown.
const MOST_NAME: usize = 60;
const MOST_MESSAGE: usize = 200;

/// Whose changes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Me,
    All,
}

impl Keyword for Who {
    const WORDS: &'static [(&'static str, Who)] = &[("all", Who::All), ("me", Who::Me)];
}

/// From when on changes are shown.
#[derive(Debug, Clone, Copy)]
enum Since {
    /// Behind this change.
    Change(ChangeNumber),
    /// From so many milliseconds since 1970 on.
    Time(u64),
    /// From so many milliseconds ago on.
    Age(u64),
    /// Since the last commit of the git repository.
    Head,
}

impl Since {
    fn parse(text: &str) -> Option<Since> {
        let text = text.trim();
        let units = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
        let age = units.iter().find_map(|(unit, ms)| {
            text.strip_suffix(unit)?.trim().parse::<u64>().ok()?.checked_mul(*ms).map(Since::Age)
        });
        let change = || ChangeId::parse(text).map(|ChangeId(number)| Since::Change(number));
        if text == "HEAD" {
            return Some(Since::Head);
        }
        let time = || parse_timestamp(text).map(|ms| Since::Time(u64::try_from(ms).unwrap_or(0)));
        age.or_else(change).or_else(time)
    }
}

impl Argument for Since {
    fn expected() -> String {
        "the id of a change such as c17, a time such as 2026-01-31T12:00:00Z, an age such as 10m, 2h or 3d, or HEAD".into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Since> {
        if let Ok(number) = value.json().parse() {
            return Ok(Since::Change(number));
        }
        Since::parse(&value.string()?).ok_or_else(|| value.wrong(&Since::expected()))
    }
}

/// A change and its number.
type Numbered = (ChangeNumber, Change);

/// What a call asks for.
struct Asked {
    changes: Vec<Numbered>,
    /// What has become of the files that they changed.
    files: Vec<ChangedFile>,
    /// The oldest change that is kept, if older ones may have been asked for.
    is_cut: Option<ChangeNumber>,
}

/// A parsed call.
#[derive(Debug)]
struct Changes {
    since: Option<Since>,
    /// Only this change, and what was done to its files since.
    only: Option<ChangeNumber>,
    path: Option<FilePath>,
    by_me: bool,
    with_diff: bool,
    context: usize,
    author: Arc<Author>,
    limit: AnswerLimit,
}

impl Request for ChangesArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let ChangesArguments { since, path, by, diff: with_diff, context, change } = self;
        let only = change.map(|ChangeId(number)| number);
        let since = only.map(|number| Since::Change(number.saturating_sub(1))).or(since);
        let context = context.0 as usize;
        let by_me = by == Some(Who::Me);
        let (author, limit) = (options.author.clone(), options.limit);
        Ok(Box::new(Changes { since, only, path, by_me, with_diff, context, author, limit }))
    }
}

impl Call for Changes {
    fn file(&self) -> Option<&FilePath> {
        self.path.as_ref()
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        if let Some(Since::Head) = self.since {
            return self.since_head(workspace, control);
        }
        let log = workspace.change_log().ok_or_else(|| Error::InvalidArguments {
            at: "since".into(),
            problem: "there is no journal (--journal=off): what has changed is known only since HEAD, in a git repository: pass \"since\": \"HEAD\"".into(),
        })?;
        if let Some(Since::Change(number)) = self.since {
            let last = log.numbers().map_err(unread)?.last().copied().unwrap_or(0);
            let (at, asked) = self.only.map_or(("since", number), |only| ("change", only));
            if asked > last && !log.damaged().contains(&asked) {
                let problem = format!("there is no change c{asked}; the last one is c{last}");
                return Err(Error::InvalidArguments { at: at.into(), problem });
            }
        }
        if let Some(only) = self.only
            && log.read(only).map_err(unread)?.is_none()
        {
            let problem = log.why_not_there(only).map_err(unread)?;
            return Err(Error::InvalidArguments { at: "change".into(), problem });
        }
        let Asked { changes, files, is_cut } = self.asked(log, workspace, control)?;
        if let Some(path) = self.path.as_ref().filter(|_| files.is_empty()) {
            workspace.check_ever_there(path, control)?;
        }
        let mut text = match (files.len(), changes.len()) {
            (0, _) => "Nothing has changed.".to_owned(),
            (files, changes) => {
                format!("{} in {}", several(changes as u64, "change"), several(files as u64, "file"))
            }
        };
        if let Some(oldest) = is_cut {
            // A write to a String cannot fail.
            let _ = write!(
                text,
                "\n[Changes before c{oldest} are not known any more: they were removed to make room]"
            );
        }
        self.push_unrecorded(&mut text, workspace);
        let before = changes.len().saturating_sub(MOST_CHANGES);
        if before > 0 {
            let _ = write!(text, "\n[{before} earlier ones are not shown: give since, or path]");
        }
        changes[before..].iter().for_each(|(number, change)| self.push_change(&mut text, *number, change));
        self.push_files(&mut text, &files, &log.damaged());
        cut(&mut text, self.limit, WAY_ON);
        let is_nothing = files.is_empty();
        Ok(Reply { is_nothing, ..content(text, OutputKinds { text: true, data: false }) })
    }
}

impl Changes {
    fn asked(&self, log: &ChangeLog, workspace: &Workspace, control: &Control) -> Result<Asked> {
        let is_wanted = self.is_wanted(log);
        let behind = if let Some(Since::Change(number)) = self.since { number } else { 0 };
        let mut changes = changes_from(log, behind, &is_wanted).map_err(unread)?;
        let oldest = log.oldest().map_err(unread)?;
        let is_cut = oldest.filter(|oldest| match self.since {
            Some(Since::Change(number)) => number + 1 < *oldest && self.only.is_none(),
            // The time may have begun before.
            _ => changes.first().is_some_and(|(first, _)| first <= oldest),
        });
        let is_asked = |(number, change): &&Numbered| {
            is_wanted(change)
                && self.only.is_none_or(|only| *number == only)
                && (!self.by_me || change.author.session == self.author.session)
        };
        let asked: HashSet<ChangeNumber> =
            changes.iter().filter(is_asked).map(|(number, _)| *number).collect();
        let is_asked = |number| asked.contains(&number);
        let mut files =
            workspace.changed_files(&changes, &is_asked, self.by_me, self.path.as_ref(), control)?;
        files.retain(|file| !file.is_part);
        let told: HashSet<ChangeNumber> =
            files.iter().flat_map(|file| file.changes.iter().copied()).collect();
        changes.retain(|(number, _)| asked.contains(number) && told.contains(number));
        Ok(Asked { changes, files, is_cut })
    }

    /// The line for changes of the session that the journal lacks.
    fn push_unrecorded(&self, text: &mut String, workspace: &Workspace) {
        let behind = if let Some(Since::Change(number)) = self.since { number } else { 0 };
        let mut lost = workspace.unrecorded(&self.author.session, self.path.as_ref());
        lost.retain(|lost| lost.behind >= behind && self.only.is_none());
        let Some(last) = lost.last() else { return };
        let (number, paths) = (several(lost.len() as u64, "change"), workspace.unrecorded_paths(last));
        // A write to a String cannot fail.
        let _ = write!(
            text,
            "\n[{number} of yours not in the journal, which could not be written; the last one is of {paths}]"
        );
    }

    /// Whether a change is one of the time that is asked for.
    fn is_wanted(&self, log: &ChangeLog) -> impl Fn(&Change) -> bool {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let from = match self.since {
            Some(Since::Time(ms)) => ms,
            Some(Since::Age(ms)) => (now.as_millis() as u64).saturating_sub(ms),
            Some(Since::Change(_) | Since::Head) => 0,
            None => log.started_ms(),
        };
        // A clock that was set back hides no change of the session.
        let session = self.since.is_none().then(|| self.author.session.clone());
        move |change| change.time_ms >= from || session.as_ref() == Some(&change.author.session)
    }

    fn push_change(&self, text: &mut String, number: ChangeNumber, change: &Change) {
        let time = timestamp((change.time_ms / 1_000) as i64);
        let by = match &change.author {
            author if author.session == self.author.session => "you",
            author if author.client.is_empty() => "another client",
            author => &author.client,
        };
        let by = shortened(&shown_line(by.as_bytes()), MOST_NAME);
        // A write to a String cannot fail.
        let _ = write!(text, "\nc{number} {time} {} by {by}", change.tool);
        if let Some(undone) = change.undoes {
            let _ = write!(text, ", of c{undone}");
        }
        if !change.not_undoable.is_empty() {
            let _ = write!(text, " [it cannot be undone, and is in no diff: {}]", change.not_undoable);
        }
        if !change.message.is_empty() {
            let _ = write!(text, ": {}", shortened(&shown_line(change.message.as_bytes()), MOST_MESSAGE));
        }
    }
}

#[cfg(not(feature = "toolkit"))]
impl Changes {
    fn since_head(&self, _: &Workspace, _: &Control) -> Result<Reply> {
        let problem = "this build reads no git repositories; expected a change, a time or an age".into();
        Err(Error::InvalidArguments { at: "since".into(), problem })
    }
}

/// Of the changes behind a number the first one that is wanted, and all behind that, in order. Their times need not be in order: clocks
/// are set.
fn changes_from(
    log: &ChangeLog,
    behind: ChangeNumber,
    is_wanted: impl Fn(&Change) -> bool,
) -> std::io::Result<Vec<Numbered>> {
    let mut changes = Vec::new();
    for number in log.numbers()?.into_iter().filter(|number| *number > behind) {
        let Some(change) = log.read(number)? else { continue };
        if !changes.is_empty() || is_wanted(&change) {
            changes.push((number, change));
        }
    }
    Ok(changes)
}

/// The error for a journal that cannot be read.
fn unread(source: std::io::Error) -> Error {
    Error::WriteFailed { source }
}

/// The first characters of a text.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
