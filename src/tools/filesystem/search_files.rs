//! `search_files`: files and folders whose paths match a glob.

use serde_json::json;

use super::CONTENT;
use crate::engine::{
    Control, EntryKind, FilePath, Glob, GlobBudget, Passed, Result, WalkOptions, WalkStep, Workspace, passed,
};
use crate::sys::path::{told, with_slashes};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::walking::{Listed, Patterns, exclude_globs, shown};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_pattern};

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
        exclude_patterns as "excludePatterns": Option<Patterns>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct SearchFiles {
    arguments: SearchArguments,
    /// The arguments that a cursor of this list belongs to.
    key: String,
    limit: Option<usize>,
}

impl Request for SearchArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let patterns = self.exclude_patterns.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
        let key = format!("{:?} {patterns:?}", self.pattern);
        Ok(Box::new(SearchFiles { arguments: self, key, limit: options.limit }))
    }
}

impl Call for SearchFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn memory(&self) -> usize {
        memory::WALK
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let SearchArguments { path, pattern, exclude_patterns, cursor } = &self.arguments;
        let mut budget = GlobBudget::default();
        let wanted_paths =
            Glob::within(pattern, &mut budget).map_err(|error| wrong_pattern("pattern", &error))?;
        let excludes =
            exclude_globs(exclude_patterns.as_ref(), |pattern| Glob::within(pattern, &mut budget))?;
        let listed = Listed { workspace, tool: TOOL.name, folder: path, arguments: &self.key };
        let after = listed.behind(cursor.as_ref())?;
        let mut walk = workspace.walk(path, WalkOptions::default(), control)?;
        let base = workspace.absolute(path)?;
        let mut line = with_slashes(&base.to_string_lossy()).into_owned();
        line.push('/');
        let base_len = line.len();
        let (mut list, mut last, mut seen) = (LimitedText::new(self.limit), Vec::new(), 0);
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            seen += 1;
            control.progress(seen, None);
            let name = shown(walk.path_from_start());
            if excludes.iter().any(|exclude| exclude.matches(&name)) {
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
            let matches = position == Passed::No && wanted_paths.matches(&name);
            // A link that leads out of the folder, or nowhere, is no file.
            if !matches || entry.kind == EntryKind::Link && walk.stat_of_target().is_none() {
                continue;
            }
            line.truncate(base_len);
            line.push_str(&name);
            if list.push_line(&told(&line)) {
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
