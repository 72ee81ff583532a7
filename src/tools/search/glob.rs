//! `glob`: files by a glob of their paths, newest first.

use serde_json::json;

use super::best::{Best, Place};
use super::found::{Search, Sort};
use super::hints;
use super::pattern::{Pattern, names_hidden};
use super::words::GlobWords;
use crate::tools::arguments::{Count, Keyword, Request, Takes, arguments};
use crate::tools::cursor::{Cursor, call_key, state_of};
use crate::tools::filesystem::CONTENT;
use crate::tools::limited::LimitedText;
use crate::tools::near::{Advised, GlobInPath, Near};
use crate::tools::near_globs::near_globs;
use crate::tools::walking::{NO_PROGRESS, SHARES_OF_ANSWER, Start, TIME, found_line, starts};
use crate::tools::{AnswerLimit, Call, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_cursor};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, NameProblem, Result, WalkOptions, WalkOrder};
use sys::path::told;
use text::glob::{GlobBudget, RootedGlob};

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
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

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
        let GlobArguments { pattern, path, sort, limit, cursor, include_ignored, include_hidden } = self;
        let limit = limit.map(|limit| limit.0);
        let (depth, ignored, hidden) = (None, include_ignored, include_hidden);
        GlobRequest { pattern, path, depth, sort, limit, cursor, ignored, hidden }.into_call(&WORDS, options)
    }
}

/// A search for files by a glob of their paths.
#[derive(Debug)]
pub(in crate::tools) struct GlobRequest {
    pub(in crate::tools) pattern: String,
    /// The folder to search; `None`: all served ones.
    pub(in crate::tools) path: Option<FilePath>,
    /// How many levels of folders are searched.
    pub(in crate::tools) depth: Option<u64>,
    pub(in crate::tools) sort: Sort,
    /// The most paths.
    pub(in crate::tools) limit: Option<u64>,
    pub(in crate::tools) cursor: Option<Cursor>,
    /// Also what git ignores.
    pub(in crate::tools) ignored: bool,
    /// Also names that begin with a dot.
    pub(in crate::tools) hidden: bool,
}

const WORDS: GlobWords = GlobWords {
    tool: TOOL.name,
    ignored: "include_ignored",
    hidden: "include_hidden",
    sort: Sort::Modified,
    names_folders: false,
};

impl GlobRequest {
    /// The call, of a tool with these words.
    pub(in crate::tools) fn into_call(
        self,
        words: &'static GlobWords,
        options: ParseOptions,
    ) -> Result<Box<dyn Call>> {
        let pattern = Pattern::parse(&self.pattern, options)?;
        let top = options.path("")?;
        let path = options.folder_or_all(self.path);
        let arguments = GlobRequest { path, ..self };
        let call = GlobFiles { arguments, words, pattern, top, limit: options.limit };
        call.check_absolute()?;
        Ok(Box::new(call))
    }
}

#[derive(Debug)]
struct GlobFiles {
    arguments: GlobRequest,
    words: &'static GlobWords,
    pattern: Pattern,
    /// The path of a served folder itself.
    top: FilePath,
    /// The longest text of an answer.
    limit: AnswerLimit,
}

impl Call for GlobFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        self.arguments.path.as_ref()
    }

    fn memory(&self) -> usize {
        memory::WALK
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        match self.found(workspace, wanted, control) {
            Err(Error::InvalidName { problem: NameProblem::Outside { folders, meant } }) => {
                // An error of the look for a slip says less.
                let meant = self.slip(workspace, control).unwrap_or_default().or(meant);
                Err(Error::InvalidName { problem: NameProblem::Outside { folders, meant } })
            }
            reply => reply,
        }
    }
}

impl GlobFiles {
    fn found(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let globs = self.pattern.globs(self.words.names_folders)?;
        let key = self.key(workspace)?;
        let after = match &self.arguments.cursor {
            None => None,
            Some(cursor) => {
                cursor.check(key)?;
                Some(Place::parse(&cursor.after).ok_or_else(wrong_cursor)?)
            }
        };
        let starts = self.starts(workspace, control)?;
        let best = Best::new(self.limit.bytes, self.arguments.limit);
        let mut search = Search::new(control, globs, self.arguments.sort, after, best);
        control.leaving_time(SHARES_OF_ANSWER, || {
            starts
                .iter()
                .try_for_each(|start| search.run(workspace, start, self.options(self.pattern.names_hidden)))
        })?;
        self.reply(workspace, &starts, search, wanted, key)
    }

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
        if let Some(path) = path {
            match workspace.info_or_near(path, control) {
                Ok(info) if info.kind == EntryKind::Folder => {}
                Ok(_) => return Err(Error::not_a_folder(path.sent())),
                Err(error) => return Err(self.glob_in_path(path, workspace, control)?.unwrap_or(error)),
            }
        }
        let joined = match path {
            _ if self.pattern.is_absolute => Some(named.clone()),
            Some(path) if named.as_str().is_empty() => Some(path.clone()),
            Some(path) => Some(path.join(named.as_str())),
            None => None,
        };
        starts(workspace, joined.as_ref(), named)
    }

    /// The error for a path that does not exist, if it is a glob and files match.
    fn glob_in_path(
        &self,
        path: &FilePath,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<Error>> {
        let behind = format!("/{}", self.pattern.rooted());
        let options = |glob: &str| self.options(names_hidden(glob));
        let advised = Advised { options: &options, takes: &|_| true, ..Advised::OF_FILES };
        let found = GlobInPath::find(path, &[&behind, "", "/**"], &advised, workspace, control)?;
        Ok(found.map(|found| {
            found.error(json!({ "path": found.folder, "pattern": format!("./{}", found.glob) }))
        }))
    }

    /// What a walk of this call enters and shows.
    fn options(&self, names_hidden: bool) -> WalkOptions {
        let GlobRequest { sort, depth, ignored, hidden, .. } = self.arguments;
        WalkOptions {
            depth: depth.map_or(usize::MAX, |depth| usize::try_from(depth).unwrap_or(usize::MAX)),
            order: if sort == Sort::Path { WalkOrder::Path } else { WalkOrder::Name },
            skip_ignored: !ignored,
            skip_hidden: !(hidden || names_hidden),
            ..WalkOptions::default()
        }
    }

    /// The first glob with a usual slip mended that matches a file in the folder of the call.
    fn slip(&self, workspace: &Workspace, control: &Control) -> Result<Option<String>> {
        let starts = starts(workspace, self.arguments.path.as_ref(), &self.top)?;
        let near = Near::new(workspace, &starts, control);
        for other in near_globs(&self.arguments.pattern) {
            let Ok(glob) = RootedGlob::new(&other).glob(&mut GlobBudget::default()) else { continue };
            if near.count(self.options(names_hidden(&other)), |path| glob.matches(path))?.number > 0 {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Lines for globs with a usual slip: in the folder of the call, whatever folder the pattern names.
    /// `named`: the folders that the pattern names.
    fn slips(&self, workspace: &Workspace, named: &[Start], control: &Control) -> Result<Vec<String>> {
        let starts = starts(workspace, self.arguments.path.as_ref(), &self.top)?;
        let near = Near::new(workspace, &starts, control);
        let mut lines = Vec::new();
        for other in near_globs(&self.arguments.pattern) {
            let Ok(glob) = RootedGlob::new(&other).glob(&mut GlobBudget::default()) else { continue };
            let options = self.options(names_hidden(&other));
            let with = format!("with {}", json!({ "pattern": told(&other) }));
            lines.extend(near.count(options, |path| glob.matches(path))?.line(&with));
        }
        let lower = self.arguments.pattern.to_lowercase();
        let is_missing = |start: &Start| workspace.info(&start.folder).is_err();
        if !self.pattern.is_absolute
            && named.iter().all(is_missing)
            && let Ok(glob) = RootedGlob::new(&lower).glob(&mut GlobBudget::default())
        {
            let options = self.options(self.pattern.names_hidden);
            let found = near.count(options, |path| glob.matches(&path.to_lowercase()))?;
            lines.extend(found.line("if upper and lower case are the same"));
        }
        Ok(lines)
    }

    /// What a cursor of this list belongs to.
    fn key(&self, workspace: &Workspace) -> Result<u64> {
        let GlobRequest { pattern, path, depth, sort, ignored, hidden, .. } = &self.arguments;
        let folders = if path.is_some() { &[] } else { workspace.folder_paths().folders() };
        let depth = depth.map_or(String::new(), |depth| format!(" {depth}"));
        let arguments = format!("{pattern:?} {sort:?} {ignored} {hidden} {folders:?}{depth}");
        call_key(workspace, self.words.tool, path.as_ref().unwrap_or(&self.top), &arguments)
    }

    fn reply(
        &self,
        workspace: &Workspace,
        starts: &[Start],
        search: Search,
        wanted: OutputKinds,
        key: u64,
    ) -> Result<Reply> {
        let (note, has_met_nothing) =
            (self.note(workspace, starts, &search)?, search.stopped && search.has_met_nothing());
        let most = self.arguments.limit.unwrap_or(u64::MAX);
        let mut list = LimitedText::new(self.limit.without(&note)).at_most(most);
        let Search { best, state, after, met, stopped, .. } = search;
        let (total, mut last) = (best.total(), None);
        for place in best.into_sorted() {
            if list.push_line(&found_line(starts, &place.path)) {
                last = Some(place);
            }
        }
        list.count_more(total - list.total());
        if total == 0 {
            list.text_mut().push_str(if after.is_some() { "No more files match" } else { "No files match" });
        }
        if stopped {
            if !list.is_full() {
                // All that was met was shown, so the next call begins behind it.
                last = met.or(last).or(after);
            }
            list.stop(TIME);
        }
        if has_met_nothing {
            list.stop_at_once(TIME);
        }
        let next = || {
            let mut next = self.arguments_again();
            if stopped && self.arguments.sort != Sort::Path {
                // What was not met may come first in this order.
                next["sort"] = json!("path");
            } else if let Some(last) = &last {
                let state = self.state_at(workspace, starts, last, state);
                next["cursor"] = json!(Cursor { call: key, after: last.text(), state }.text());
            }
            Ok((self.words.tool, next))
        };
        list.reply(wanted, "files", next, Some(&note))
    }

    /// The lines behind the paths: what is near, a change since the cursor was made, and the balance.
    fn note(&self, workspace: &Workspace, starts: &[Start], search: &Search) -> Result<String> {
        let mut lines = match &search.after {
            None if search.best.total() == 0 && !search.stopped => {
                match self.slips(workspace, starts, search.control)? {
                    slips if !slips.is_empty() => slips,
                    _ => hints::hints(
                        (&self.pattern, self.words),
                        &self.options(self.pattern.names_hidden),
                        workspace,
                        starts,
                        &search.balance,
                        search.control,
                    )?,
                }
            }
            _ => Vec::new(),
        };
        // In other orders, a part of the files says nothing of all of them.
        let is_known = !search.stopped || self.arguments.sort == Sort::Path;
        if let (Some(cursor), Some(after)) = (&self.arguments.cursor, &search.after)
            && is_known
            && self.state_at(workspace, starts, after, search.state) != cursor.state
        {
            lines.push("[The files have changed since the cursor was made]".into());
        }
        lines.push(search.balance_line());
        lines.extend((search.stopped && search.has_met_nothing()).then(|| NO_PROGRESS.into()));
        Ok(lines.join("\n"))
    }

    /// What a cursor at `place` keeps of the state of the files: `of_all` of them, or of the folder that holds the place.
    fn state_at(&self, workspace: &Workspace, starts: &[Start], place: &Place, of_all: u64) -> u64 {
        match self.arguments.sort {
            Sort::Path => state_around(workspace, starts, &place.path),
            Sort::Modified | Sort::Size => of_all,
        }
    }

    /// The arguments of the call, without the cursor.
    fn arguments_again(&self) -> serde_json::Value {
        let GlobRequest { pattern, path, depth, sort, limit, ignored, hidden, .. } = &self.arguments;
        let mut again = json!({ "pattern": pattern });
        if let Some(path) = path {
            again["path"] = json!(path.sent());
        }
        if let Some((word, _)) =
            Sort::WORDS.iter().find(|(_, other)| other == sort && *sort != self.words.sort)
        {
            again["sort"] = json!(word);
        }
        for (name, value) in [("depth", depth), ("limit", limit)] {
            value.iter().for_each(|value| again[name] = json!(value));
        }
        for (name, value) in [(self.words.ignored, ignored), (self.words.hidden, hidden)] {
            if *value {
                again[name] = json!(true);
            }
        }
        again
    }
}

/// The state of the folder that holds `path`, which begins as one of `starts` does. 0 if there is no such folder.
pub(in crate::tools) fn state_around(workspace: &Workspace, starts: &[Start], path: &[u8]) -> u64 {
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
