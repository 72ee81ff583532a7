//! The tree of a folder, one line a folder: `src/engine/: atomic.rs lock.rs walk/` (contract 19).
//!
//! Level by level, so that the first page of a large tree shows its upper folders.

use serde_json::json;

use crate::tools::balance::{Balance, Reason, several};
use crate::tools::cursor::{Cursor, call_key};
use crate::tools::limited::{LimitedText, cursor_len};
use crate::tools::near::{Advised, GlobInPath};
use crate::tools::search::glob::state_around;
use crate::tools::walking::{
    Listed, Met, NO_PROGRESS, Reached, Start, TIME, kept, path_kept, shown_line, starts,
};
use crate::tools::{AnswerLimit, Call, OutputKinds, Reply, memory, wrong_cursor};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, Passed, Result, Walk, WalkOptions, passed};

/// A call for a tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) tool: &'static str,
    /// The folder; `None`: all served ones.
    pub(super) path: Option<FilePath>,
    /// The path of a served folder itself.
    pub(super) top: FilePath,
    /// How many levels are shown.
    pub(super) depth: Option<u64>,
    pub(super) cursor: Option<Cursor>,
    pub(super) hidden: bool,
    pub(super) ignored: bool,
    /// The most entries, and the longest text.
    pub(super) limits: (Option<u64>, AnswerLimit),
}

/// An entry: its level, from 1, and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    level: usize,
    path: Vec<u8>,
}

impl Place {
    fn text(&self) -> String {
        format!("{} {}", self.level, kept(&self.path))
    }

    fn parse(text: &str) -> Option<Place> {
        let (level, path) = text.split_once(' ')?;
        let level = level.parse().ok().filter(|level| *level > 0)?;
        Some(Place { level, path: path_kept(path).into_owned() })
    }
}

/// What a look at the whole tree has found.
#[derive(Debug, Default)]
struct Counted {
    /// Entries, and those behind the cursor.
    entries: u64,
    behind: u64,
    /// The lowest level with entries.
    levels: usize,
    balance: Balance,
    is_late: bool,
}

impl Call for Tree {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        self.path.as_ref()
    }

    fn memory(&self) -> usize {
        memory::WALK
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let key = self.key(workspace)?;
        let after = match &self.cursor {
            None => None,
            Some(cursor) => {
                cursor.check(key)?;
                Some(Place::parse(&cursor.after).ok_or_else(wrong_cursor)?)
            }
        };
        match self.tree(workspace, wanted, control, key, after) {
            Err(error @ Error::NotFound { .. }) => {
                Err(self.glob_in_path(workspace, control)?.unwrap_or(error))
            }
            reply => reply,
        }
    }
}

impl Tree {
    fn tree(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
        key: u64,
        after: Option<Place>,
    ) -> Result<Reply> {
        let starts = starts(workspace, self.path.as_ref(), &self.top)?;
        let walk = Walked { tree: self, workspace, control, starts: &starts };
        let counted = control.leaving_time(1, || walk.count(after.as_ref()))?;
        let mut lines = Lines::new(self, after.clone());
        let mut is_late = counted.is_late;
        for level in after.as_ref().map_or(1, |after| after.level)..=counted.levels {
            is_late |= walk.level(level, after.as_ref(), &mut lines)?;
            if is_late || lines.is_full {
                break;
            }
        }
        let Lines { mut list, last, .. } = lines;
        list.count_more(counted.behind.saturating_sub(list.total()));
        let mut notes = vec![self.balance(&counted)];
        if let (Some(cursor), Some(after)) = (&self.cursor, &after)
            && state_around(workspace, &starts, &after.path) != cursor.state
        {
            notes.insert(0, "[The folder has changed since the cursor was made]".into());
        }
        match (is_late, list.shown()) {
            (true, 0) => {
                notes.push(NO_PROGRESS.into());
                list.stop_at_once(TIME);
            }
            (true, _) => list.stop(TIME),
            (false, _) => {}
        }
        if list.total() == 0 {
            list.text_mut().push_str(if after.is_some() { "No further entries" } else { "No entries" });
        }
        let next = || {
            let mut next = self.arguments();
            if let Some(last) = &last {
                let state = state_around(workspace, &starts, &last.path);
                next["cursor"] = json!(Cursor { call: key, after: last.text(), state }.text());
            }
            Ok((self.tool, next))
        };
        list.reply(wanted, "entries", next, Some(&notes.join("\n")))
    }

    /// The last line: how many entries there are, and what was left out.
    fn balance(&self, counted: &Counted) -> String {
        let so_far = if counted.is_late { " looked at so far" } else { "" };
        let mut line = counted.balance.line(&format!("{}{so_far}", several(counted.entries, "entry")));
        let left_out = |words: &str| counted.balance.line("").contains(words);
        let mut more = serde_json::Map::new();
        for (name, shown) in [("hidden", self.hidden), ("ignored", self.ignored)] {
            if !shown && left_out(&format!(" {name} ")) {
                more.insert(name.to_owned(), json!(true));
            }
        }
        if !more.is_empty() && line.pop().is_some() {
            line.push_str(&format!("; shown with {}]", serde_json::Value::from(more)));
        }
        line
    }

    /// The error for a path that does not exist, if it is a glob and files match.
    fn glob_in_path(&self, workspace: &Workspace, control: &Control) -> Result<Option<Error>> {
        let Some(path) = &self.path else { return Ok(None) };
        let options = |_: &str| self.options(usize::MAX);
        let advised = Advised { options: &options, takes: &|_| true, ..Advised::OF_FILES };
        let found = GlobInPath::find(path, &["", "/**"], &advised, workspace, control)?;
        Ok(found.map(|found| {
            found.error(json!({ "path": found.folder, "pattern": format!("./{}", found.glob) }))
        }))
    }

    fn options(&self, depth: usize) -> WalkOptions {
        WalkOptions {
            depth,
            skip_ignored: !self.ignored,
            skip_hidden: !self.hidden,
            ..WalkOptions::default()
        }
    }

    /// What a cursor of this tree belongs to.
    fn key(&self, workspace: &Workspace) -> Result<u64> {
        let folders = if self.path.is_some() { &[] } else { workspace.folder_paths().folders() };
        let arguments = format!("{:?} {} {} {folders:?}", self.depth, self.hidden, self.ignored);
        call_key(workspace, self.tool, self.path.as_ref().unwrap_or(&self.top), &arguments)
    }

    /// The arguments of the call, without the cursor.
    fn arguments(&self) -> serde_json::Value {
        let mut again = json!({});
        self.path.iter().for_each(|path| again["path"] = json!(path.sent()));
        for (name, value) in [("depth", self.depth), ("limit", self.limits.0)] {
            value.iter().for_each(|value| again[name] = json!(value));
        }
        for (name, value) in [("hidden", self.hidden), ("ignored", self.ignored)] {
            if value {
                again[name] = json!(true);
            }
        }
        again
    }
}

/// The walks of one call.
struct Walked<'w> {
    tree: &'w Tree,
    workspace: &'w Workspace,
    control: &'w Control,
    starts: &'w [Start],
}

impl Walked<'_> {
    /// Counts all entries, and those behind `after`.
    fn count(&self, after: Option<&Place>) -> Result<Counted> {
        let mut counted = Counted::default();
        let depth = self.tree.depth.map_or(usize::MAX, |depth| usize::try_from(depth).unwrap_or(usize::MAX));
        for start in self.starts {
            let meet = |walk: &Walk, met: Met| {
                counted.entries += 1;
                counted.levels = counted.levels.max(met.level);
                counted.behind += u64::from(after.is_none_or(|after| is_behind(after, start, walk, &met)));
                false
            };
            let walked = self.walk(start, depth, None, meet)?;
            let Some(reached) = walked else {
                counted.balance.add(Reason::UnreadableFolders, 1);
                continue;
            };
            counted.balance.add_walk(&reached.left_out);
            counted.is_late |= reached.is_late;
        }
        if counted.is_late {
            counted.balance.add_unseen();
        }
        Ok(counted)
    }

    /// Adds the entries of one level that are behind `after`. Returns whether the time was up.
    fn level(&self, level: usize, after: Option<&Place>, lines: &mut Lines) -> Result<bool> {
        let after = after.filter(|after| after.level == level);
        for start in self.starts {
            let from = match after.map(|after| below(after, start)) {
                None => None,
                Some(Some(path)) => Some(path),
                // It was shown before.
                Some(None) if after.is_some_and(|after| after.path.as_slice() > start.before.as_bytes()) => {
                    continue;
                }
                Some(None) => None,
            };
            let meet = |walk: &Walk, met: Met| {
                if met.level == level && !met.is_above {
                    lines.push(start, walk, &met);
                }
                false
            };
            let walked = self.walk(start, level, from, meet)?;
            if walked.is_some_and(|reached| reached.is_late) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Walks through one of the folders, down to a depth. `None`: it is one of several served folders, and cannot be read.
    fn walk(
        &self,
        start: &Start,
        depth: usize,
        after: Option<&[u8]>,
        meet: impl FnMut(&Walk, Met) -> bool,
    ) -> Result<Option<Reached>> {
        let Walked { tree, workspace, control, starts } = *self;
        let listed = Listed { workspace, tool: tree.tool, folder: &start.folder, arguments: "" };
        match listed.walk(tree.options(depth), after, &|_| false, control, meet) {
            Err(Error::OneFolderGone { .. } | Error::PermissionDenied { .. } | Error::KeptByGit { .. })
                if starts.len() > 1 =>
            {
                Ok(None)
            }
            reached => reached.map(Some),
        }
    }
}

/// The path below the folder `start` of a place, if it is there.
fn below<'p>(place: &'p Place, start: &Start) -> Option<&'p [u8]> {
    place.path.strip_prefix(start.before.as_bytes())
}

/// Whether an entry comes behind a place.
fn is_behind(after: &Place, start: &Start, walk: &Walk, met: &Met) -> bool {
    if met.level != after.level {
        return met.level > after.level;
    }
    match below(after, start) {
        Some(path) => passed(walk.path_from_start(), met.kind == EntryKind::Folder, path) == Passed::No,
        None => start.before.as_bytes() > after.path.as_slice(),
    }
}

/// The text of a tree.
struct Lines {
    list: LimitedText,
    most: u64,
    /// The folder whose entries the last line has, by its whole path.
    folder: Option<Vec<u8>>,
    /// The last entry that is shown.
    last: Option<Place>,
    is_full: bool,
}

impl Lines {
    fn new(tree: &Tree, last: Option<Place>) -> Lines {
        let (most, limit) = tree.limits;
        let list = LimitedText::new(limit);
        Lines { list, most: most.unwrap_or(u64::MAX), folder: None, last, is_full: false }
    }

    /// Adds an entry, unless the answer is full. The first one always is, so that each page goes on.
    fn push(&mut self, start: &Start, walk: &Walk, met: &Met) {
        if self.is_full {
            return;
        }
        let below = walk.path_from_start();
        let parent = memchr::memrchr(b'/', below).map_or(0, |at| at + 1);
        let folder = [start.before.as_bytes(), &below[..parent]].concat();
        let head = match self.folder.as_ref() == Some(&folder) {
            true => String::new(),
            false => format!("{}:", quoted(&folder_line(start, &below[..parent]))),
        };
        let name = shown_line(&below[parent..]);
        let slash = if met.kind == EntryKind::Folder { "/" } else { "" };
        let name = quoted(&format!("{name}{slash}"));
        let path = [start.before.as_bytes(), below].concat();
        let needed = head.len() + name.len() + 2 + cursor_len(path.len());
        let fits = self.list.shown() == 0 || self.list.has_room(needed);
        if !fits || self.list.shown() >= self.most {
            self.is_full = true;
            return;
        }
        if !head.is_empty() {
            let is_first = self.list.shown() == 0;
            let text = self.list.text_mut();
            text.push_str(if is_first { "" } else { "\n" });
            text.push_str(&head);
        }
        let text = self.list.text_mut();
        text.push(' ');
        text.push_str(&name);
        self.list.count(true);
        self.folder = Some(folder);
        self.last = Some(Place { level: met.level, path });
    }
}

/// The path of a folder as other tools take it, with a final slash.
fn folder_line(start: &Start, below: &[u8]) -> String {
    // An absolute path of Windows has its slashes.
    let is_of_windows = |line: &str| cfg!(windows) && line.contains('\\');
    match start.line(below.strip_suffix(b"/").unwrap_or(below)) {
        line if line.is_empty() => "./".into(),
        line if line.ends_with('/') || is_of_windows(&line) && line.ends_with('\\') => line,
        line if is_of_windows(&line) => line + "\\",
        line => line + "/",
    }
}

/// A name that stands among others: as JSON if it has blanks or quotes.
pub(super) fn quoted(name: &str) -> String {
    match name.contains([' ', '"']) {
        true => serde_json::Value::from(name).to_string(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_with_blanks_or_quotes_is_quoted() {
        for (name, told) in [("a.rs", "a.rs"), ("a b/", "\"a b/\""), ("a\"b", "\"a\\\"b\""), ("ä'", "ä'")] {
            assert_eq!(quoted(name), told);
        }
    }

    #[test]
    fn a_place_is_read_back_whatever_the_path() {
        for path in [&b"a b"[..], "ä".as_bytes(), b"\xff 1", b""] {
            let place = Place { level: 3, path: path.to_vec() };
            assert_eq!(Place::parse(&place.text()), Some(place));
        }
        assert!(["", "7", "x y", "0 a"].iter().all(|text| Place::parse(text).is_none()));
    }
}
