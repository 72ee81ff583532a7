//! `search_files`: files and folders whose paths match a glob.

use serde_json::json;

use super::CONTENT;
use super::walking::{Listed, Passed, passed, shown};
use crate::engine::{Control, EntryKind, FilePath, Glob, Result, WalkOptions, WalkStep, Workspace};
use crate::tools::arguments::{List, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, wrong_pattern};

/// Maximum number of patterns in one call.
const MAX_PATTERNS: usize = 50;

pub(crate) static TOOL: Tool = Tool {
    name: "search_files",
    title: "Search Files",
    description: "Find files and folders by a glob of their path below `path`: *.ts matches there only, **/*.ts at any depth. \
        It looks at names, not at contents. Answers with absolute paths. Example: {\"path\":\"src\",\"pattern\":\"**/*.test.ts\"}",
    instructions: "",
    takes: Takes::of::<SearchArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct SearchArguments {
        /// Path of the folder to search
        path: FilePath,
        /// Glob of paths below it
        pattern: String,
        /// Globs of paths to leave out
        exclude_patterns as "excludePatterns": Option<List<String, 0, MAX_PATTERNS>>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct SearchFiles {
    arguments: SearchArguments,
    pattern: Glob,
    excludes: Vec<Glob>,
    /// The arguments that a cursor of this list belongs to.
    key: String,
    limit: Option<usize>,
}

impl Request for SearchArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let parse = |pattern: &String| Glob::parse(pattern).map_err(|error| wrong_pattern(&error));
        let patterns = self.exclude_patterns.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
        let excludes = patterns.iter().map(parse).collect::<Result<_>>()?;
        let pattern = parse(&self.pattern)?;
        let key = format!("{:?} {patterns:?}", self.pattern);
        Ok(Box::new(SearchFiles { arguments: self, pattern, excludes, key, limit: options.limit }))
    }
}

impl Call for SearchFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let SearchArguments { path, pattern, exclude_patterns, cursor } = &self.arguments;
        let listed = Listed { workspace, tool: TOOL.name, folder: path, arguments: &self.key };
        let after = listed.behind(cursor.as_ref())?;
        let mut walk = workspace.walk(path, WalkOptions::default(), control)?;
        let base = workspace.absolute(path)?;
        let mut line = base.to_string_lossy().into_owned();
        line.push('/');
        let base_len = line.len();
        let (mut list, mut last, mut seen) = (LimitedText::new(self.limit), Vec::new(), 0);
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            seen += 1;
            control.progress(seen, None);
            let name = shown(walk.path_from_start());
            if self.excludes.iter().any(|exclude| exclude.matches(&name)) {
                walk.skip_folder();
                continue;
            }
            let is_folder = entry.kind == EntryKind::Folder;
            let place = |after| passed(walk.path_from_start(), is_folder, after);
            let position = after.as_deref().map_or(Passed::No, place);
            if position == Passed::Yes {
                walk.skip_folder();
                continue;
            }
            let matches = position == Passed::No && self.pattern.matches(&name);
            // A link that leads out of the folder, or nowhere, is no file.
            if !matches || entry.kind == EntryKind::Link && walk.stat_of_target().is_none() {
                continue;
            }
            line.truncate(base_len);
            line.push_str(&name);
            if list.push_line(&line) {
                last.clear();
                last.extend_from_slice(walk.path_from_start());
            }
        }
        if list.total() == 0 {
            list.text_mut().push_str("No matches found");
        }
        let next = || {
            let cursor = listed.cursor_behind(&last)?;
            let mut next = json!({ "path": path.sent(), "pattern": pattern, "cursor": cursor });
            if let Some(patterns) = exclude_patterns {
                next["excludePatterns"] = json!(patterns.0);
            }
            Ok((TOOL.name, next))
        };
        let note = listed.note(&walk.left_out(), cursor.as_ref());
        list.reply(wanted, "matches", next, note.as_deref())
    }
}
