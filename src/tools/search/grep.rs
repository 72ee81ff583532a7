//! `grep`: the lines of files that match a regular expression.

use std::time::Instant;

use serde_json::json;

use self::content::LineForm;
pub(in crate::tools) use self::hints::{Fruitless, hints};
use self::place::Place;
use self::relevance::{Asked, Relevance};
use self::run::Run;
pub(in crate::tools) use self::scope::Scope;
pub(in crate::tools) use self::searched::balance;
pub(in crate::tools) use self::wanted_files::{Chosen, Globs, WantedFiles};
use crate::tools::arguments::{Count, Field, Keyword, Natural, Request, Takes, UpTo, arguments};
use crate::tools::cursor::{Cursor, call_key};
use crate::tools::filesystem::CONTENT;
use crate::tools::pattern_text::WaysOut;
use crate::tools::{AnswerLimit, Call, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_cursor};
use engine::Workspace;
use folder::{Control, Error, FilePath, Result};
use search::PatternOptions;
use text::encoding::EncodingChoice;

mod content;
mod cut_line;
mod file_text;
mod files;
mod hints;
mod place;
mod progress;
mod relevance;
mod run;
mod scope;
mod searched;
mod started;
mod tally;
mod wanted_files;

pub(crate) static TOOL: Tool = Tool {
    name: "grep",
    title: "Search in Files",
    description: "Search the text of files for a regular expression (Rust syntax, no look-around) or, with fixed_strings, \
        for a text. output_mode: files_with_matches (default; newest first, with the number of matching lines), content \
        (the lines, grouped by file), count. Files that git ignores, hidden and binary files are left out unless asked \
        for; the last line says what was searched and what was left out. Lines count from {first}. \
        Example: {\"pattern\":\"fn \\\\w+_at\\\\(\",\"path\":\"src\",\"glob\":\"*.rs\",\"output_mode\":\"content\",\"-C\":2}",
    instructions: "",
    takes: Takes::of::<GrepArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// What an answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum OutputMode {
    Content,
    Files,
    Count,
}

impl Keyword for OutputMode {
    const WORDS: &'static [(&'static str, OutputMode)] = &[
        ("content", OutputMode::Content),
        ("files_with_matches", OutputMode::Files),
        ("count", OutputMode::Count),
    ];
}

/// In which order files come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Sort {
    Path,
    Modified,
    /// Files that define the word first, then those of tests behind the others.
    Relevance,
}

impl Keyword for Sort {
    const WORDS: &'static [(&'static str, Sort)] =
        &[("path", Sort::Path), ("modified", Sort::Modified), ("relevance", Sort::Relevance)];
}

/// Lines before or behind a match.
type ContextLines = UpTo<1_000>;

/// The longest line that is told whole, in characters, unless a call says otherwise.
const MAX_COLUMNS: u64 = 500;

arguments! {
    pub(in crate::tools) struct GrepArguments {
        /// Regular expression to find
        pattern: String,
        /// Folder or file to search; all by default
        path as "path" or "directory" or "dir_path" or "target_directory" or "folder": Option<FilePath>,
        /// Only files that match, such as *.rs or src/**; !tests/** leaves out; several separated by commas
        glob as "glob" or "include" or "include_pattern": Option<Globs>,
        /// Only files of this type, such as rust, py, js
        types as "type": Option<Globs>,
        /// What to answer; files_with_matches by default
        output_mode: Option<OutputMode>,
        /// Lines to show behind each match
        after as "-A" or "after": Option<ContextLines>,
        /// Lines to show before each match
        before as "-B" or "before": Option<ContextLines>,
        /// Lines to show before and behind each match
        context as "-C" or "context": Option<ContextLines>,
        /// Whether upper and lower case are the same
        ignore_case as "-i" or "ignore_case" or "case_insensitive": bool = false,
        /// Whether lines have numbers
        numbers as "-n" or "line_numbers": bool = true,
        /// Whether only the matches themselves are told
        only_matching as "-o" or "only_matching": bool = false,
        /// Whether a match must be whole words
        whole_words as "-w" or "word": bool = false,
        /// Whether the pattern is text, not a regular expression
        fixed_strings as "fixed_strings" or "literal": bool = false,
        /// Whether a match may span lines
        multiline: bool = false,
        /// How many entries (lines or files) at most
        head_limit as "head_limit" or "limit" or "max_results": Option<Count>,
        /// How many entries to leave out first
        offset: Option<Natural>,
        /// Where an earlier answer says that it goes on
        cursor: Option<Cursor>,
        /// Longer lines are cut around the match
        max_columns: Option<Count>,
        /// Whether files that git ignores are searched
        include_ignored: bool = false,
        /// Whether hidden files are searched
        include_hidden: bool = false,
        /// Encoding of the files, such as shift_jis or koi8-r; what is not UTF-8 is guessed without it, UTF-16 found by its mark
        encoding: EncodingChoice = "utf-8",
        /// Order of the files; content and count by path, files_with_matches by modified; relevance: those that define the word first, tests last
        sort as "sort" or "sort_by" or "sortBy": Option<Sort>,
        /// Files to leave out, as globs
        exclude as "exclude" or "exclude_pattern": Option<Globs>,
        /// false is the same as -i: true
        case_sensitive: Option<bool>,
        /// true is the same as output_mode: files_with_matches
        names_only: Option<bool>,
        tally: Option<Natural>,
    }
}

/// What to send instead of a pattern that cannot be used.
const WAYS_OUT: WaysOut = WaysOut {
    not_linear: "search for the part that is not in them, with the context (-C) or a second call to see the rest",
    syntax: "escape the character with \\, or pass \"fixed_strings\": true to search for the text itself",
    line_break: "pass \"multiline\": true",
};

/// A parsed call.
#[derive(Debug)]
struct Grep {
    /// The arguments as they stand in the call that goes on.
    sent: serde_json::Map<String, serde_json::Value>,
    scope: Scope,
    mode: OutputMode,
    form: LineForm,
    most: Option<u64>,
    offset: u64,
    place: Option<Place>,
    cursor: Option<Cursor>,
    sort: Sort,
    /// The group of the pattern whose texts are counted, if that is wanted; 0: the match.
    tally: Option<u64>,
    limit: AnswerLimit,
}

/// How a tool of another set answers.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct GrepStyle {
    /// Whether lines are told unless the call says otherwise.
    pub(in crate::tools) tells_lines: bool,
    /// See [`LineForm`].
    pub(in crate::tools) is_spaced: bool,
}

impl Request for GrepArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        self.into_grep(GrepStyle { tells_lines: false, is_spaced: false }, options)
    }
}

impl GrepArguments {
    /// The arguments, in the order in which the set `search` describes them.
    pub(in crate::tools) fn fields() -> &'static [Field] {
        GrepArguments::FIELDS
    }

    /// The call, of a tool that answers so.
    pub(in crate::tools) fn into_grep(
        self,
        style: GrepStyle,
        options: ParseOptions,
    ) -> Result<Box<dyn Call>> {
        let mode = match (self.output_mode, self.names_only) {
            (Some(mode), _) => mode,
            (None, Some(false)) => OutputMode::Content,
            (None, None) if style.tells_lines => OutputMode::Content,
            // Who asks for lines around matches wants to see the matches.
            (None, None) if self.context.or(self.before).or(self.after).is_some() || self.only_matching => {
                OutputMode::Content
            }
            (None, _) => OutputMode::Files,
        };
        let context = |own: Option<ContextLines>| own.or(self.context).map_or(0, |lines| lines.0);
        let form = LineForm {
            numbers: self.numbers,
            is_spaced: style.is_spaced,
            base: options.base,
            before: context(self.before),
            after: context(self.after),
            only_matches: self.only_matching,
            max_columns: self.max_columns.map_or(MAX_COLUMNS, |columns| columns.0) as usize,
        };
        let chosen = Chosen::relative([&self.glob, &self.exclude, &self.types], options.folders)?;
        let default = if mode == OutputMode::Files { Sort::Modified } else { Sort::Path };
        let sort = self.sort.unwrap_or(default);
        let place = match &self.cursor {
            Some(cursor) => Some(Place::read(&cursor.after).ok_or_else(wrong_cursor)?),
            None => None,
        };
        Ok(Box::new(Grep {
            sent: self.sent(),
            scope: Scope {
                how: PatternOptions {
                    fixed: self.fixed_strings,
                    ignore_case: self.ignore_case || self.case_sensitive == Some(false),
                    whole_words: self.whole_words,
                    multiline: self.multiline,
                },
                chosen,
                path: options.path_or_all(self.path)?,
                pattern: self.pattern,
                include_ignored: self.include_ignored,
                include_hidden: self.include_hidden,
                encoding: self.encoding,
            },
            mode,
            form,
            most: self.head_limit.map(|count| count.0),
            // What a cursor did not leave out yet.
            offset: place.as_ref().map_or(self.offset.map_or(0, |entries| entries.0), |place| place.skip),
            place,
            cursor: self.cursor,
            sort,
            tally: self.tally.map(|group| group.0),
            limit: options.limit,
        }))
    }

    /// The arguments of the call that goes on, but for its cursor.
    fn sent(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut sent = serde_json::Map::new();
        let mut put = |name: &str, value: serde_json::Value| drop(sent.insert(name.into(), value));
        put("pattern", json!(self.pattern));
        let globs = |globs: &Globs| match &globs.0[..] {
            [one] => json!(one),
            several => json!(several),
        };
        self.path.iter().for_each(|path| put("path", json!(path.sent())));
        for (name, value) in [("glob", &self.glob), ("type", &self.types), ("exclude", &self.exclude)] {
            value.iter().for_each(|value| put(name, globs(value)));
        }
        self.output_mode.iter().for_each(|mode| put("output_mode", json!(word_of(*mode))));
        for (name, value) in [("-A", self.after), ("-B", self.before), ("-C", self.context)] {
            value.iter().for_each(|value| put(name, json!(value.0)));
        }
        for (name, value, default) in [
            ("-i", self.ignore_case, false),
            ("-n", self.numbers, true),
            ("-o", self.only_matching, false),
            ("-w", self.whole_words, false),
            ("fixed_strings", self.fixed_strings, false),
            ("multiline", self.multiline, false),
            ("include_ignored", self.include_ignored, false),
            ("include_hidden", self.include_hidden, false),
        ] {
            if value != default {
                put(name, json!(value));
            }
        }
        for (name, value) in [("offset", self.offset), ("tally", self.tally)] {
            value.iter().for_each(|value| put(name, json!(value.0)));
        }
        for (name, value) in [("head_limit", self.head_limit), ("max_columns", self.max_columns)] {
            value.iter().for_each(|value| put(name, json!(value.0)));
        }
        if self.encoding != EncodingChoice::default() {
            put("encoding", json!(self.encoding.name()));
        }
        self.sort.iter().for_each(|sort| put("sort", json!(word_of(*sort))));
        for (name, value) in [("case_sensitive", self.case_sensitive), ("names_only", self.names_only)] {
            value.iter().for_each(|value| put(name, json!(value)));
        }
        sent
    }
}

/// The word for a value.
fn word_of<K: Keyword + PartialEq>(value: K) -> Option<&'static str> {
    K::WORDS.iter().find(|(_, known)| *known == value).map(|(word, _)| *word)
}

impl Call for Grep {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn begins_early(&self) -> bool {
        self.sort == Sort::Path
    }

    fn memory(&self) -> usize {
        if self.sort == Sort::Relevance { memory::SEARCH + memory::ANALYSIS } else { memory::SEARCH }
    }

    fn searched(&self) -> Option<&FilePath> {
        self.scope.path.as_ref()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let pattern = self.scope.read_pattern(&WAYS_OUT)?;
        let wanted_files = self.scope.files()?;
        let wants = &wanted_files;
        let (started, pattern) = (Instant::now(), &pattern);
        let asked = Asked { pattern, scope: &self.scope, wants, workspace, control };
        let reply = self.relevance(asked).and_then(|relevance| {
            let relevance = relevance.as_ref();
            if let Some(cursor) = &self.cursor {
                cursor.check(self.key(workspace, relevance)?)?;
            }
            let run = Run { grep: self, workspace, pattern, wants, relevance, control, started };
            match (self.tally, self.mode, self.sort) {
                (Some(group), ..) => run.tally(group, wanted),
                (None, OutputMode::Content, Sort::Path) => run.content(wanted),
                (None, OutputMode::Content, _) => run.content_by_rank(wanted),
                (None, _, Sort::Path) => run.files_by_path(wanted),
                (None, _, _) => run.files_by_rank(wanted),
            }
        });
        match reply {
            Err(error @ Error::NotFound { .. }) => {
                Err(self.scope.glob_in_path(workspace, control)?.unwrap_or(error))
            }
            reply => reply,
        }
    }
}

impl Grep {
    /// What ranks the files, if they come by relevance.
    fn relevance(&self, asked: Asked) -> Result<Option<Relevance>> {
        let is_wanted = self.sort == Sort::Relevance && self.tally.is_none();
        is_wanted.then(|| Relevance::of(asked)).transpose()
    }

    /// The number for the call that a cursor belongs to. How much each answer shows is no matter of the cursor; files by relevance come
    /// in another order where it is not known which of them define the word.
    fn key(&self, workspace: &Workspace, relevance: Option<&Relevance>) -> Result<u64> {
        let is_unknown = relevance.is_some_and(|relevance| relevance.note.is_some());
        Ok(self.key_of_arguments(workspace)? ^ u64::from(is_unknown))
    }

    fn key_of_arguments(&self, workspace: &Workspace) -> Result<u64> {
        let mut arguments = self.sent.clone();
        arguments.retain(|name, _| !["head_limit", "offset", "max_columns", "-n"].contains(&name.as_str()));
        let arguments = serde_json::Value::from(arguments).to_string();
        match &self.scope.path {
            Some(path) => call_key(workspace, TOOL.name, path, &arguments),
            None => Ok(xxhash_rust::xxh3::xxh3_64(arguments.as_bytes())),
        }
    }
}
