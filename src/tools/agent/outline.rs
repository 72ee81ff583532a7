//! `outline`: what is defined where, and how long it is (contract 22).

mod listed;

use serde_json::{Value, json};

use self::listed::{Entries, Filter, Position};
use crate::tools::arguments::{Argument, Count, Keyword, Request, Takes, Value as ArgumentValue, arguments};
use crate::tools::balance::{Balance, Reason, several};
use crate::tools::cursor::{Cursor, call_key};
use crate::tools::near::{Advised, AdvisedPath, GlobInPath};
use crate::tools::search::grep::{Chosen, Globs};
use crate::tools::walking::path_line_in;
use crate::tools::{AnswerLimit, Call, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_cursor};
use ::toolkit::outlines::{Kind, OutlineOptions, Outlines, outlines};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, Result, WalkOptions};

pub(crate) static TOOL: Tool = Tool {
    name: "outline",
    title: "Outline of Code",
    description: "What is defined where: first and last line, signature. Example: {\"sort\":\"length\",\"kind\":\"function\",\"limit\":5}",
    instructions: "",
    takes: Takes::of::<OutlineArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// The order of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Place,
    Length,
    Name,
}

impl Keyword for Sort {
    const WORDS: &'static [(&'static str, Sort)] =
        &[("place", Sort::Place), ("length", Sort::Length), ("name", Sort::Name)];
}

/// A kind of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WantedKind(Kind);

impl WantedKind {
    /// By its word, also for several and in other case.
    fn of(word: &str) -> Option<WantedKind> {
        let word = word.trim().to_lowercase();
        let kind = |word: &str| Kind::WORDS.iter().find(|(known, _)| *known == word);
        let one = || word.strip_suffix("es").and_then(kind).or_else(|| word.strip_suffix('s').and_then(kind));
        kind(&word).or_else(one).map(|(_, kind)| WantedKind(*kind))
    }

    fn word(self) -> Option<&'static str> {
        Kind::WORDS.iter().find(|(_, kind)| *kind == self.0).map(|(word, _)| *word)
    }
}

impl Argument for WantedKind {
    fn expected() -> String {
        let words: Vec<&str> = Kind::WORDS.iter().map(|(word, _)| *word).collect();
        format!("one of {}", words.join(", "))
    }

    /// Without all the words, which cost tokens in each session.
    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &ArgumentValue) -> Result<WantedKind> {
        WantedKind::of(&value.string()?).ok_or_else(|| value.wrong(&WantedKind::expected()))
    }
}

arguments! {
    struct OutlineArguments {
        /// -
        path as "path" or "directory" or "folder" or "file": Option<FilePath>,
        /// Glob of files
        pattern as "pattern" or "glob" or "glob_pattern": Option<Globs>,
        /// Such as get or Store::get
        name as "name" or "symbol" or "query": Option<String>,
        /// function, class, heading, ...
        kind as "kind" or "type": Option<WantedKind>,
        /// Only what others may use
        public: Option<bool>,
        /// -
        sort as "sort" or "sort_by" or "sortBy": Option<Sort>,
        /// -
        limit as "limit" or "head_limit" or "max_results": Option<Count>,
        /// -
        cursor: Option<Cursor>,
    }
}

/// A parsed call.
#[derive(Debug)]
struct OutlineCall {
    path: Option<FilePath>,
    /// The path of a served folder itself.
    top: FilePath,
    chosen: Chosen,
    filter: Filter,
    sort: Sort,
    most: Option<u64>,
    cursor: Option<Cursor>,
    /// The arguments of the call that goes on, without the cursor.
    sent: Value,
    limit: AnswerLimit,
}

impl Request for OutlineArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let sent = self.sent();
        let OutlineArguments { path, pattern, name, kind, public, sort, limit, cursor } = self;
        let globs = pattern.map(|globs| globs.relative("pattern", options.folders)).transpose()?;
        Ok(Box::new(OutlineCall {
            path: options.path_or_all(path)?,
            top: options.path("")?,
            chosen: Chosen::of(globs.unwrap_or_default(), Globs::default()),
            filter: Filter {
                name: name.filter(|name| !name.trim().is_empty()),
                kind: kind.map(|kind| kind.0),
                is_public: public.unwrap_or(false),
            },
            sort: sort.unwrap_or(Sort::Place),
            most: limit.map(|limit| limit.0),
            cursor,
            sent,
            limit: options.limit,
        }))
    }
}

impl OutlineArguments {
    fn sent(&self) -> Value {
        let mut sent = json!({});
        self.path.iter().for_each(|path| sent["path"] = json!(path.sent()));
        match self.pattern.as_ref().map(|globs| &globs.0[..]) {
            None | Some([]) => {}
            Some([one]) => sent["pattern"] = json!(one),
            Some(several) => sent["pattern"] = json!(several),
        }
        self.name.iter().for_each(|name| sent["name"] = json!(name));
        self.kind.iter().for_each(|kind| sent["kind"] = json!(kind.word()));
        self.sort.iter().for_each(|sort| sent["sort"] = json!(word(*sort)));
        if self.public == Some(true) {
            sent["public"] = json!(true);
        }
        self.limit.iter().for_each(|limit| sent["limit"] = json!(limit.0));
        sent
    }
}

/// The word of a value.
fn word<K: Keyword + PartialEq>(value: K) -> Option<&'static str> {
    K::WORDS.iter().find(|(_, known)| *known == value).map(|(word, _)| *word)
}

impl Call for OutlineCall {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        self.path.as_ref()
    }

    fn memory(&self) -> usize {
        memory::ANALYSIS
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let key = self.key(workspace)?;
        let after = match &self.cursor {
            None => None,
            Some(cursor) => {
                cursor.check(key)?;
                Some(Position::parse(&cursor.after).ok_or_else(wrong_cursor)?)
            }
        };
        let files = self.chosen.files()?;
        let options = OutlineOptions {
            path: self.path.as_ref(),
            wants: &|path, from_start, is_folder| files.wants(path, from_start, is_folder),
            with: self.filter.own_name(),
        };
        let found = match outlines(workspace, options, control) {
            Err(error @ Error::NotFound { .. }) => {
                return Err(self.glob_in_path(workspace, control)?.unwrap_or(error));
            }
            found => found?,
        };
        self.reply(workspace, found, after, key, wanted)
    }
}

impl OutlineCall {
    fn reply(
        &self,
        workspace: &Workspace,
        found: Outlines,
        after: Option<Position>,
        key: u64,
        wanted: OutputKinds,
    ) -> Result<Reply> {
        let note = self.note(workspace, &found);
        let folders = workspace.folder_paths().folders();
        let line = |file: &::toolkit::outlines::FileOutline| {
            path_line_in(folders, file.place.folder, &file.place.path)
        };
        let limit = self.limit.without(&note);
        let mut entries = Entries::new(&self.filter, limit, self.most.unwrap_or(u64::MAX), &line);
        match self.sort {
            Sort::Place => entries.by_place(&found.files, after.as_ref()),
            Sort::Length => entries.by_length(&found.files, after.as_ref()),
            Sort::Name => entries.by_name(&found.files, after.as_ref()),
        }
        let (mut list, last) = entries.finish();
        if list.total() == 0 {
            let nothing = self.nothing(&found, after.is_some());
            list.text_mut().push_str(&nothing);
        }
        if found.late.is_some() {
            list.stop(crate::tools::walking::TIME);
        }
        let next = || {
            let mut next = self.sent.clone();
            if let Some(last) = &last {
                next["cursor"] = json!(Cursor { call: key, after: last.text(), state: 0 }.text());
            }
            Ok((TOOL.name, next))
        };
        let note = Some(note).filter(|note| !note.is_empty());
        list.reply(wanted, "definitions", next, note.as_deref())
    }

    /// What an answer without definitions says: with a name, also what is called nearly so.
    fn nothing(&self, found: &Outlines, is_behind: bool) -> String {
        if is_behind {
            return "No further definitions".into();
        }
        let Some(name) = &self.filter.name else { return "No definitions".into() };
        let near = listed::near_names(&found.files, name);
        let near = if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
        format!("Nothing of that name is defined{near}")
    }

    /// The last lines: files that could not be read, and what was left out.
    fn note(&self, workspace: &Workspace, found: &Outlines) -> String {
        let folders = workspace.folder_paths().folders();
        let mut lines: Vec<String> = found
            .refused
            .iter()
            .take(TOLD)
            .map(|(place, why)| {
                format!(
                    "[{} is not outlined: {}]",
                    path_line_in(folders, place.folder, &place.path),
                    why.why()
                )
            })
            .collect();
        let is_one = |path: &FilePath| workspace.info(path).is_ok_and(|info| info.kind == EntryKind::File);
        // Of one file, there is nothing else to say.
        if !self.path.as_ref().is_some_and(is_one) {
            lines.push(self.balance(found));
        }
        lines.join("\n")
    }

    fn balance(&self, found: &Outlines) -> String {
        let mut balance = Balance::default();
        balance.add_walk(&found.left_out);
        let counts = &found.counts;
        for (reason, number) in [
            (Reason::Links, counts.links),
            (Reason::Special, counts.special),
            (Reason::OtherLanguage, found.unknown),
            (Reason::NotOutlined, found.refused.len() as u64),
            (Reason::NotWanted, counts.not_wanted.saturating_sub(found.unknown)),
            (Reason::NotWantedFolders, counts.not_wanted_folders),
        ] {
            balance.add(reason, number);
        }
        if let Some(late) = &found.late {
            balance.add(Reason::NotAnalyzed, late.files);
            if late.has_unseen {
                balance.add_unseen();
            }
        }
        balance.line(&format!("{} outlined", several(found.outlined, "file")))
    }

    /// The error for a path that does not exist, if it is a glob and files match.
    fn glob_in_path(&self, workspace: &Workspace, control: &Control) -> Result<Option<Error>> {
        let Some(path) = &self.path else { return Ok(None) };
        let options =
            |_: &str| WalkOptions { skip_ignored: true, skip_hidden: true, ..WalkOptions::default() };
        let takes = |_: &AdvisedPath| true;
        let advised = Advised { options: &options, takes: &takes, ..Advised::OF_FILES };
        let found = GlobInPath::find(path, &["", "/**"], &advised, workspace, control)?;
        Ok(found.map(|found| {
            found.error(json!({ "path": found.folder, "pattern": format!("./{}", found.glob) }))
        }))
    }

    /// What a cursor of this list belongs to.
    fn key(&self, workspace: &Workspace) -> Result<u64> {
        let mut arguments = self.sent.clone();
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.remove("limit");
        }
        let folders = if self.path.is_some() { &[] } else { workspace.folder_paths().folders() };
        let arguments = format!("{arguments} {folders:?}");
        call_key(workspace, TOOL.name, self.path.as_ref().unwrap_or(&self.top), &arguments)
    }
}

/// Files that could not be outlined and are named.
const TOLD: usize = 5;
