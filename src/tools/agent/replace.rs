//! `replace`: what a pattern matches, in all files that `grep` would search, all or none (contract 19).

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value as Json, json};

use self::numbers::Numbers;
use self::planned::{Planned, Request as Wanted};
use self::run::Run;
use crate::tools::arguments::{Natural, Request, Takes, Text, arguments};
use crate::tools::handles::Handles;
use crate::tools::search::grep::{Chosen, Globs, Scope};
use crate::tools::{AnswerLimit, Call, Guide, OutputKinds, ParseOptions, Reply, Tool, memory};
use engine::Workspace;
use folder::{Control, Error, FilePath, Result};
use journal::Author;
use search::PatternOptions;
use text::encoding::EncodingChoice;

mod listed;
mod numbers;
mod planned;
mod run;
mod told;

pub(crate) static TOOL: Tool = Tool {
    name: "replace",
    title: "Replace in Files",
    description: "Replace what a regex (Rust) matches, in many files, all or none. In replacement $1, ${name} and $0 are groups, $$ is $. \
        dry_run numbers the places. \
        Example: {\"pattern\":\"foo\\\\((\\\\w+)\\\\)\",\"replacement\":\"bar($1)\",\"glob\":\"*.rs\"}",
    instructions: "",
    takes: Takes::of::<ReplaceArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct ReplaceArguments {
        /// Regex, in one line
        pattern as "pattern" or "regex" or "search" or "find": Option<String>,
        /// Text in its place
        replacement as "replacement" or "replace" or "replace_with" or "new" or "new_text": Option<Text>,
        /// Folder or file
        path as "path" or "directory" or "dir_path" or "target_directory" or "folder": Option<FilePath>,
        /// *.rs, !tests/**
        glob as "glob" or "include" or "include_pattern": Option<Globs>,
        /// rust, py
        types as "type": Option<Globs>,
        /// Both are text
        fixed_strings as "fixed_strings" or "literal": Option<bool>,
        /// Ignore case
        ignore_case as "-i" or "ignore_case" or "case_insensitive": Option<bool>,
        /// Whole words
        whole_words as "-w" or "word": Option<bool>,
        /// May span lines
        multiline: Option<bool>,
        /// foo, Foo, FOO stay so
        preserve_case: Option<bool>,
        /// Refuse another number of places
        expected as "expected" or "count": Option<Natural>,
        /// Only list
        dry_run as "dry_run" or "dryRun": Option<bool>,
        /// Of a dry run: do that
        plan: Option<String>,
        /// With plan: "1-4,7"
        only: Option<Numbers>,
        /// What for
        message: Option<Text>,
        /// As in grep
        encoding: Option<EncodingChoice>,
        /// Ignored, too
        include_ignored: Option<bool>,
        /// Hidden, too
        include_hidden: Option<bool>,
    }
}

/// A parsed call.
#[derive(Debug)]
struct Replace {
    what: What,
    only: Option<Numbers>,
    expected: Option<u64>,
    dry_run: bool,
    message: String,
    author: Arc<Author>,
    handles: Arc<Handles>,
    guide: Guide,
    limit: AnswerLimit,
}

/// The places that are replaced.
#[derive(Debug)]
enum What {
    /// Those that a search finds.
    Found(Arc<Wanted>),
    /// Those of a dry run, by the name of its plan. With other arguments, they must be those of the dry run.
    Plan(String, Map<String, Json>),
}

impl Request for ReplaceArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let refuse =
            |at: &str, problem: &str| Err(Error::InvalidArguments { at: at.into(), problem: problem.into() });
        let is = |flag: Option<bool>| flag.unwrap_or_default();
        let sent = self.sent();
        let ReplaceArguments { plan, only, dry_run, .. } = self;
        let expected = self.expected.as_ref().map(|count| count.0);
        let message = self.message.as_ref().map_or(String::new(), |message| message.0.clone());
        let what = match (plan, self.pattern, self.replacement) {
            (Some(plan), ..) => What::Plan(plan, sent),
            (None, ..) if only.is_some() => {
                return refuse("only", "it is of a plan; pass the plan of the dry run, too");
            }
            (None, None, _) => {
                return refuse("pattern", "it is missing; expected a regular expression, or a plan");
            }
            (None, _, None) => {
                return refuse(
                    "replacement",
                    "it is missing; expected the text in its place, \"\" to remove the matches",
                );
            }
            (None, Some(pattern), Some(Text(replacement))) => {
                let scope = Scope {
                    how: PatternOptions {
                        fixed: is(self.fixed_strings),
                        ignore_case: is(self.ignore_case),
                        whole_words: is(self.whole_words),
                        multiline: is(self.multiline),
                    },
                    chosen: Chosen::relative([&self.glob, &None, &self.types], options.folders)?,
                    path: options.path_or_all(self.path)?,
                    pattern,
                    include_ignored: is(self.include_ignored),
                    include_hidden: is(self.include_hidden),
                    encoding: self.encoding.unwrap_or_default(),
                };
                What::Found(Arc::new(Wanted {
                    scope,
                    replacement,
                    preserve_case: is(self.preserve_case),
                    sent,
                }))
            }
        };
        let (author, handles) = (options.author.clone(), options.handles.clone());
        let (guide, limit) = (options.guide(), options.limit);
        let dry_run = is(dry_run);
        Ok(Box::new(Replace { what, only, expected, dry_run, message, author, handles, guide, limit }))
    }
}

impl ReplaceArguments {
    /// The arguments that say what is replaced, as far as they were given.
    fn sent(&self) -> Map<String, Json> {
        let text = |text: &Option<Text>| text.as_ref().map(|text| json!(text.0));
        let globs = |globs: &Option<Globs>| globs.as_ref().map(|globs| json!(globs.0));
        let flag = |flag: Option<bool>| flag.filter(|flag| *flag).map(|flag| json!(flag));
        let is_given = |encoding: &EncodingChoice| *encoding != EncodingChoice::default();
        let encoding = self.encoding.filter(is_given).map(|encoding| json!(encoding.name()));
        let all = [
            ("pattern", self.pattern.as_ref().map(|pattern| json!(pattern))),
            ("replacement", text(&self.replacement).filter(|text| self.plan.is_none() || text != "")),
            ("path", self.path.as_ref().map(|path| json!(path.sent()))),
            ("glob", globs(&self.glob)),
            ("type", globs(&self.types)),
            ("fixed_strings", flag(self.fixed_strings)),
            ("-i", flag(self.ignore_case)),
            ("-w", flag(self.whole_words)),
            ("multiline", flag(self.multiline)),
            ("preserve_case", flag(self.preserve_case)),
            ("encoding", encoding),
            ("include_ignored", flag(self.include_ignored)),
            ("include_hidden", flag(self.include_hidden)),
        ];
        let mut sent = Map::new();
        sent.extend(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        sent
    }
}

impl Call for Replace {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn memory(&self) -> usize {
        memory::SEARCH
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        let started = Instant::now();
        match &self.what {
            What::Found(wanted) => Run::new(self, wanted, workspace, control, started)?.found(),
            What::Plan(name, sent) => {
                let gone = || Error::InvalidArguments {
                    at: "plan".into(),
                    problem: format!(
                        "there is no {name} (any more): a plan is of this session, lives ten minutes, is used up by success, \
                        and goes when too many are kept; make another by dry_run"
                    ),
                };
                let claimed = self.handles.claim::<Planned>(name, &self.author.session).ok_or_else(gone)?;
                let planned = claimed.what.clone();
                planned.check_sent(sent)?;
                let (reply, is_done) =
                    Run::new(self, &planned.request, workspace, control, started)?.planned(&planned)?;
                if is_done {
                    claimed.use_up();
                }
                Ok(reply)
            }
        }
    }
}

/// Whether a regular expression has `()`, which is meant as text: as a group it has none.
fn has_empty_group(pattern: &str) -> bool {
    // A bracket that closes a class is text right behind `[` or `[^`. Classes may be in others.
    let (mut is_escaped, mut classes, mut is_first, mut before) = (false, 0_usize, false, ' ');
    pattern.chars().any(|c| {
        let is_empty = !is_escaped && classes == 0 && before == '(' && c == ')';
        match c {
            '[' if !is_escaped => classes += 1,
            ']' if !is_escaped && !is_first => classes = classes.saturating_sub(1),
            _ => {}
        }
        is_first = !is_escaped && (c == '[' || is_first && before == '[' && c == '^');
        before = if is_escaped { ' ' } else { c };
        is_escaped = c == '\\' && !is_escaped;
        is_empty
    })
}

const EMPTY_GROUP: &str = "() is a group without text, so this matches what has no brackets; for brackets write \\(\\), or pass \"fixed_strings\": true";
