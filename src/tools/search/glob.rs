//! `glob`: files by a glob of their paths, newest first.

use std::borrow::Cow;

use serde_json::json;

use super::best::{Best, Place};
use super::hints;
use super::pattern::Pattern;
use crate::engine::{
    Control, EntryKind, Error, FilePath, Glob, Result, Walk, WalkOptions, WalkOrder, WalkStep, Workspace,
};
use crate::tools::arguments::{Count, Keyword, Request, Takes, arguments};
use crate::tools::balance::{Balance, Reason};
use crate::tools::cursor::{Cursor, call_key, state_of};
use crate::tools::limited::LimitedText;
use crate::tools::walking::{Start, shown, shown_line, starts};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};

pub(crate) static TOOL: Tool = Tool {
    name: "glob",
    title: "Find Files by Glob",
    description: "Find files by a glob of their paths, newest first. A pattern without / matches at any depth: *.rs finds all \
        Rust files, ./*.rs only those in the folder itself, src/**/*.{ts,tsx} those below src. * and ? do not match /, ** \
        matches any folders. It may be an absolute path in a served folder. Files that git ignores and hidden files (names that \
        begin with a dot) are left out unless asked for; a pattern with such a name, like .env or **/.github/*, asks for hidden \
        ones. Answers with one path a line, then with what was left out. Finds files, no folders. Example: \
        {\"pattern\":\"**/*.test.ts\",\"path\":\"src\"}",
    instructions: "Use glob to find files by their paths.",
    takes: Takes::of::<GlobArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// In which order files are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Newest first.
    Modified,
    /// By the bytes of their paths.
    Path,
    /// Largest first.
    Size,
}

impl Keyword for Sort {
    const WORDS: &'static [(&'static str, Sort)] =
        &[("modified", Sort::Modified), ("path", Sort::Path), ("size", Sort::Size)];
}

arguments! {
    struct GlobArguments {
        /// Glob of paths, such as *.rs or src/**/*.ts
        pattern as "pattern" or "glob_pattern" or "glob": String,
        /// Path of the folder to search; without it, all served folders
        path as "path" or "directory" or "dir_path" or "target_directory" or "folder": Option<FilePath>,
        /// In which order: newest first, by path, or largest first
        sort as "sort" or "sort_by" or "sortBy": Sort = "modified",
        /// Maximum number of paths
        limit as "limit" or "head_limit" or "max_results": Option<Count>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
        /// Also files that git ignores
        include_ignored: bool = false,
        /// Also names that begin with a dot
        include_hidden: bool = false,
    }
}

impl Request for GlobArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let pattern = Pattern::parse(&self.pattern, options)?;
        let top = options.path("")?;
        let call = GlobFiles { arguments: self, pattern, top, limit: options.limit };
        call.check_absolute()?;
        Ok(Box::new(call))
    }
}

#[derive(Debug)]
pub(super) struct GlobFiles {
    arguments: GlobArguments,
    pub(super) pattern: Pattern,
    /// The path of a served folder itself.
    top: FilePath,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

impl Call for GlobFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let glob = self.pattern.glob()?;
        let key = self.key(workspace)?;
        let after = match &self.arguments.cursor {
            None => None,
            Some(cursor) => {
                cursor.check(key)?;
                Some(Place::parse(&cursor.after).ok_or_else(wrong_cursor)?)
            }
        };
        let starts = self.starts(workspace, control)?;
        let best = Best::new(self.limit, self.arguments.limit.map(|limit| limit.0));
        let mut search = Search::new(control, glob, self.arguments.sort, after, best);
        for start in &starts {
            search.run(workspace, start, self.options())?;
        }
        self.reply(workspace, &starts, search, wanted, key)
    }
}

impl GlobFiles {
    /// Refuses an absolute pattern with a path that it does not lie in.
    fn check_absolute(&self) -> Result<()> {
        let (Some(path), true) = (&self.arguments.path, self.pattern.is_absolute) else { return Ok(()) };
        let (folder, inner) = (path.as_str(), self.pattern.folder.as_str());
        let is_same_folder = path.folder().is_none() || path.folder() == self.pattern.folder.folder();
        let is_within = folder.is_empty()
            || inner.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if is_same_folder && is_within {
            return Ok(());
        }
        let problem =
            format!("it is absolute and not in {}; give one of them, or a relative pattern", path.sent());
        Err(Error::InvalidArguments { at: "pattern".into(), problem })
    }

    /// Where the walks begin: in the folder that the pattern names, of the folder of the call.
    fn starts(&self, workspace: &Workspace, control: &Control) -> Result<Vec<Start>> {
        let (path, named) = (self.arguments.path.as_ref(), &self.pattern.folder);
        if let Some(path) = path
            && workspace.info_or_near(path, control)?.kind != EntryKind::Folder
        {
            return Err(Error::NotAFolder { name: path.sent().into() });
        }
        let joined = match path {
            _ if self.pattern.is_absolute => Some(named.clone()),
            Some(path) if named.as_str().is_empty() => Some(path.clone()),
            Some(path) => Some(path.join(named.as_str())),
            None => None,
        };
        starts(workspace, joined.as_ref(), named)
    }

    /// What a walk of this call enters and shows.
    pub(super) fn options(&self) -> WalkOptions {
        let GlobArguments { sort, include_ignored, include_hidden, .. } = self.arguments;
        WalkOptions {
            order: if sort == Sort::Path { WalkOrder::Path } else { WalkOrder::Name },
            skip_ignored: !include_ignored,
            skip_hidden: !(include_hidden || self.pattern.names_hidden),
            ..WalkOptions::default()
        }
    }

    /// What a cursor of this list belongs to.
    fn key(&self, workspace: &Workspace) -> Result<u64> {
        let GlobArguments { pattern, path, sort, include_ignored, include_hidden, .. } = &self.arguments;
        let folders = if path.is_some() { &[] } else { workspace.folder_paths().folders() };
        let arguments = format!("{pattern:?} {sort:?} {include_ignored} {include_hidden} {folders:?}");
        call_key(workspace, TOOL.name, path.as_ref().unwrap_or(&self.top), &arguments)
    }

    fn reply(
        &self,
        workspace: &Workspace,
        starts: &[Start],
        search: Search,
        wanted: OutputKinds,
        key: u64,
    ) -> Result<Reply> {
        let stopped = search.stopped;
        let is_nothing = search.best.total() == 0;
        let mut note = Vec::new();
        if is_nothing && !stopped && search.after.is_none() {
            note = hints::hints(self, workspace, starts, &search.balance, search.control)?;
        }
        let state = |after: Option<&Place>| match (self.arguments.sort, after) {
            (Sort::Path, Some(after)) => state_around(workspace, starts, &after.path),
            (Sort::Path, None) => 0,
            _ => search.best.state(),
        };
        if let Some(cursor) = &self.arguments.cursor
            && !(stopped && self.arguments.sort != Sort::Path)
            && state(search.after.as_ref()) != cursor.state
        {
            note.push("[The files have changed since the cursor was made]".into());
        }
        note.push(search.balance_line());
        let note = note.join("\n");
        let total = search.best.total();
        let limit = self.limit.map(|limit| limit.saturating_sub(note.len().min(limit / 4)));
        let mut list = LimitedText::new(limit);
        if let Some(most) = self.arguments.limit {
            list = list.at_most(most.0);
        }
        let set_state = search.best.state();
        let (is_in_order, met) = (self.arguments.sort == Sort::Path, search.met);
        let mut last: Option<Place> = None;
        for place in search.best.into_sorted() {
            if list.push_line(&shown_line(&place.path)) {
                last = Some(place);
            }
        }
        list.count_more(total - list.total());
        if is_nothing {
            list.text_mut().push_str(if search.after.is_some() {
                "No more files match"
            } else {
                "No files match"
            });
        }
        if stopped {
            list.stop("the time was up");
        }
        if stopped && is_in_order && !list.is_full() {
            // All that was met was shown, so the next call begins behind it.
            last = met.or(last).or(search.after);
        }
        let next = || {
            let mut next = self.arguments_again();
            if stopped && !is_in_order {
                // What was not met may come first in this order.
                next["sort"] = json!("path");
            } else if let Some(last) = &last {
                let state = match is_in_order {
                    true => state_around(workspace, starts, &last.path),
                    false => set_state,
                };
                next["cursor"] = json!(Cursor { call: key, after: last.text(), state }.text());
            }
            Ok((TOOL.name, next))
        };
        list.reply(wanted, "files", next, Some(&note))
    }

    /// The arguments of the call, without the cursor.
    fn arguments_again(&self) -> serde_json::Value {
        let GlobArguments { pattern, path, sort, limit, include_ignored, include_hidden, .. } =
            &self.arguments;
        let mut again = json!({ "pattern": pattern });
        if let Some(path) = path {
            again["path"] = json!(path.sent());
        }
        if let Some((word, _)) =
            Sort::WORDS.iter().find(|(_, other)| other == sort && *sort != Sort::Modified)
        {
            again["sort"] = json!(word);
        }
        if let Some(limit) = limit {
            again["limit"] = json!(limit.0);
        }
        for (name, value) in [("include_ignored", include_ignored), ("include_hidden", include_hidden)] {
            if *value {
                again[name] = json!(true);
            }
        }
        again
    }
}

/// The state of the folder that holds `path`, which begins as one of `starts` does. 0 if there is no such folder.
fn state_around(workspace: &Workspace, starts: &[Start], path: &[u8]) -> u64 {
    let below = |start: &Start| {
        let rest = std::str::from_utf8(path.strip_prefix(start.before.as_bytes())?).ok()?;
        let parent = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
        // In a cursor that no server made.
        if parent.split('/').any(|component| matches!(component, "." | "..")) {
            return None;
        }
        let folder = if parent.is_empty() { start.folder.clone() } else { start.folder.join(parent) };
        workspace.entry_stamp(&folder).ok().map(|stamp| state_of(&stamp))
    };
    starts.iter().find_map(below).unwrap_or(0)
}

/// The walks of one call, and what they found.
struct Search<'c> {
    control: &'c Control,
    glob: Glob,
    sort: Sort,
    /// The last file that was shown before.
    after: Option<Place>,
    best: Best,
    balance: Balance,
    /// Files that the walks met.
    seen: u64,
    /// Files that match, also those shown before.
    matching: u64,
    /// The time was up before the end.
    stopped: bool,
    /// What a walk in the order of paths met last.
    met: Option<Place>,
}

impl<'c> Search<'c> {
    fn new(control: &'c Control, glob: Glob, sort: Sort, after: Option<Place>, best: Best) -> Search<'c> {
        let (balance, seen, matching) = (Balance::default(), 0, 0);
        Search { control, glob, sort, after, best, balance, seen, matching, stopped: false, met: None }
    }

    /// Searches in one folder. A folder that the pattern names need not exist.
    fn run(&mut self, workspace: &Workspace, start: &Start, options: WalkOptions) -> Result<()> {
        if self.stopped {
            return Ok(());
        }
        match workspace.walk(&start.folder, options, self.control) {
            Ok(walk) => self.walk(walk, start),
            Err(Error::NotFound { .. } | Error::NotAFolder { .. }) => Ok(()),
            Err(Error::PermissionDenied { .. }) => {
                self.balance.add(Reason::UnreadableFolders, 1);
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    fn walk(&mut self, mut walk: Walk, start: &Start) -> Result<()> {
        let mut path = start.before.clone().into_bytes();
        loop {
            let entry = match walk.next_step() {
                Ok(Some(WalkStep::Entry(entry))) => entry,
                Ok(Some(WalkStep::Leave(_))) => continue,
                Ok(None) => break,
                Err(Error::TimedOut) => {
                    self.stopped = true;
                    break;
                }
                Err(other) => return Err(other),
            };
            path.truncate(start.before.len());
            path.extend_from_slice(walk.path_from_start());
            match entry.kind {
                EntryKind::Folder if self.is_passed(&path) => walk.skip_folder(),
                EntryKind::Folder => {}
                EntryKind::Special => self.balance.add(Reason::Special, 1),
                kind => self.meet(&walk, &path, kind == EntryKind::Link),
            }
        }
        if self.stopped && self.sort == Sort::Path {
            self.met = Some(Place { key: 0, path });
        }
        self.balance.add_walk(&walk.left_out());
        Ok(())
    }

    /// Whether all that is in the folder `path` was met by the calls before.
    fn is_passed(&self, path: &[u8]) -> bool {
        let Some(after) = self.after.as_ref().filter(|_| self.sort == Sort::Path) else { return false };
        let holds_it = after.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(b"/"));
        !holds_it && path.iter().chain(b"/").lt(&after.path)
    }

    /// Whether a file of this place was shown by the calls before.
    fn was_shown(&self, key: i128, path: &[u8]) -> bool {
        self.after.as_ref().is_some_and(|after| after.cmp_to(key, path).is_ge())
    }

    /// Takes a file, or a link that may lead to one.
    fn meet(&mut self, walk: &Walk, path: &[u8], is_link: bool) {
        if self.sort == Sort::Path && self.was_shown(0, path) {
            return;
        }
        let target = if is_link { walk.stat_of_target() } else { None };
        if is_link && !target.as_ref().is_some_and(|stat| EntryKind::of_mode(stat.st_mode) == EntryKind::File)
        {
            self.balance.add(Reason::Links, 1);
            return;
        }
        self.seen += 1;
        self.control.progress(self.seen, None);
        let name: Cow<str> = shown(walk.path_from_start());
        if !self.glob.matches(&name) {
            return;
        }
        let key = match self.sort {
            Sort::Path => 0,
            sort => match target.or_else(|| walk.stat()) {
                None => return,
                Some(stat) if sort == Sort::Size => i128::from(stat.st_size),
                Some(stat) => i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
            },
        };
        self.matching += 1;
        match self.was_shown(key, path) {
            true => self.best.pass(key, path),
            false => self.best.offer(key, path),
        }
    }

    fn balance_line(&self) -> String {
        let behind = match (self.sort, &self.after) {
            (Sort::Path, Some(_)) => "behind the cursor ",
            _ => "",
        };
        let (files, matches) = (
            if self.seen == 1 { "file" } else { "files" },
            if self.matching == 1 { "matches" } else { "match" },
        );
        let seen = format!("{behind}{} {files} seen, {} {matches}", self.seen, self.matching);
        self.balance.line(&match self.stopped {
            true => format!("{seen} before the time was up"),
            false => seen,
        })
    }
}
