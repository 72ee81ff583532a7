//! `directory_tree`: a folder and everything in it as JSON.

use serde_json::json;

use super::CONTENT;
use super::walking::{Listed, Passed, Patterns, exclude_globs, passed, shown};
use crate::engine::{
    Control, EntryKind, FilePath, GlobBudget, Result, TreeExclude, WalkOptions, WalkStep, Workspace,
};
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::{LimitedText, cursor_len};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "directory_tree",
    title: "Directory Tree",
    description: "Show a folder and everything in it as JSON: name, type (file or directory), and children of directories. \
        excludePatterns are globs of paths below the folder; one without * excludes at any depth. Give max_depth for a first \
        look at a large tree, and include_ignored: false to leave out what git ignores. Example: \
        {\"path\":\".\",\"excludePatterns\":[\"node_modules\"],\"max_depth\":3}",
    instructions: "",
    takes: Takes::of::<TreeArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct TreeArguments {
        /// Path of the folder
        path: FilePath,
        /// Globs of paths to leave out, below the folder
        exclude_patterns as "excludePatterns": Option<Patterns>,
        /// How many levels of folders are shown
        max_depth: Option<Count>,
        /// Whether files that git ignores are shown
        include_ignored: bool = true,
        /// Where an earlier answer says that the tree goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct DirectoryTree {
    arguments: TreeArguments,
    /// The arguments that a cursor of this tree belongs to.
    key: String,
    limit: Option<usize>,
}

impl Request for TreeArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let patterns = self.exclude_patterns.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
        let depth = self.max_depth.map_or(0, |depth| depth.0);
        let key = format!("{depth} {} {patterns:?}", self.include_ignored);
        Ok(Box::new(DirectoryTree { arguments: self, key, limit: options.limit }))
    }
}

impl Call for DirectoryTree {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let TreeArguments { path, exclude_patterns, max_depth, include_ignored, cursor } = &self.arguments;
        let mut budget = GlobBudget::default();
        let excludes =
            exclude_globs(exclude_patterns.as_ref(), |pattern| TreeExclude::within(pattern, &mut budget))?;
        let listed = Listed { workspace, tool: TOOL.name, folder: path, arguments: &self.key };
        let after = listed.behind(cursor.as_ref())?;
        let depth = max_depth.map_or(usize::MAX, |depth| depth.0 as usize);
        let options = WalkOptions { depth, skip_ignored: !include_ignored, ..WalkOptions::default() };
        let mut walk = workspace.walk(path, options, control)?;
        let (mut tree, mut last) = (TreeText::new(self.limit), Vec::new());
        let mut seen = 0;
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
            let counts = match after.as_ref().map(|after| passed(walk.path_from_start(), is_folder, after)) {
                None | Some(Passed::No) => true,
                Some(Passed::Above) => false,
                Some(Passed::Yes) => {
                    walk.skip_folder();
                    continue;
                }
            };
            let file_name = name.rsplit_once('/').map_or(&*name, |(_, name)| name);
            let path_len = walk.path_from_start().len();
            if tree.push(entry.level, file_name, is_folder, counts, path_len) {
                last.clear();
                last.extend_from_slice(walk.path_from_start());
            }
        }
        let note = listed.note(&walk.left_out(), cursor.as_ref());
        let next = || Ok((TOOL.name, self.next(&listed.cursor_behind(&last)?)));
        tree.end().reply(wanted, "entries", next, note.as_deref())
    }
}

impl DirectoryTree {
    /// The arguments of the call that goes on at `cursor`.
    fn next(&self, cursor: &str) -> serde_json::Value {
        let TreeArguments { path, exclude_patterns, max_depth, include_ignored, .. } = &self.arguments;
        let mut next = json!({ "path": path.sent(), "cursor": cursor });
        if let Some(patterns) = exclude_patterns {
            next["excludePatterns"] = json!(patterns.0);
        }
        if let Some(depth) = max_depth {
            next["max_depth"] = json!(depth.0);
        }
        if !include_ignored {
            next["include_ignored"] = json!(false);
        }
        next
    }
}

/// The JSON text of a tree, with two blanks of indentation for each level, built entry by entry. It is valid also if it
/// is cut: the brackets that are open are closed.
struct TreeText {
    list: LimitedText,
    /// For each folder that is open, and the list at the top: whether it has an entry.
    open: Vec<bool>,
}

impl TreeText {
    fn new(limit: Option<usize>) -> TreeText {
        let mut list = LimitedText::new(limit);
        list.text_mut().push('[');
        TreeText { list, open: vec![false] }
    }

    /// Adds an entry of this level, from 1. Returns whether it is shown. One that does not count was shown before. A cursor
    /// behind it holds its path, of `path_len` bytes.
    fn push(&mut self, level: usize, name: &str, is_folder: bool, counts: bool, path_len: usize) -> bool {
        // The entry, and all brackets of the folders above it.
        let room = 2 * name.len() + 96 + 12 * level + 8 * level * level + cursor_len(path_len);
        // Each page shows an entry, however deep it lies, so that pages come to an end.
        let is_shown = !self.list.is_full() && (self.list.shown() == 0 || self.list.has_room(room));
        if counts {
            self.list.count(is_shown);
        }
        if !is_shown {
            return false;
        }
        while self.open.len() > level {
            self.close();
        }
        let has_entry = self.open.last_mut().is_some_and(|has_entry| std::mem::replace(has_entry, true));
        let text = self.list.text_mut();
        text.push_str(if has_entry { ",\n" } else { "\n" });
        indent(text, 4 * level - 2);
        text.push_str("{\n");
        indent(text, 4 * level);
        text.push_str("\"name\": ");
        push_json(text, name);
        text.push_str(",\n");
        indent(text, 4 * level);
        if is_folder {
            text.push_str("\"type\": \"directory\",\n");
            indent(text, 4 * level);
            text.push_str("\"children\": [");
            self.open.push(false);
        } else {
            text.push_str("\"type\": \"file\"\n");
            indent(text, 4 * level - 2);
            text.push('}');
        }
        counts
    }

    /// Closes the innermost folder.
    fn close(&mut self) {
        let Some(has_entry) = self.open.pop() else { return };
        let level = self.open.len();
        let text = self.list.text_mut();
        if has_entry {
            text.push('\n');
            indent(text, 4 * level);
        }
        text.push(']');
        if level > 0 {
            text.push('\n');
            indent(text, 4 * level - 2);
            text.push('}');
        }
    }

    fn end(mut self) -> LimitedText {
        while !self.open.is_empty() {
            self.close();
        }
        self.list
    }
}

fn indent(text: &mut String, width: usize) {
    text.extend(std::iter::repeat_n(' ', width));
}

fn push_json(text: &mut String, name: &str) {
    if name.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(name);
        text.push('"');
    } else {
        text.push_str(&serde_json::Value::from(name).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_as_javascript_writes_it() {
        let mut tree = TreeText::new(None);
        for (level, name, is_folder) in [
            (1, "a", true),
            (2, "b", true),
            (3, "c\"", false),
            (2, "d", false),
            (1, "e", true),
            (1, "f", false),
        ] {
            assert!(tree.push(level, name, is_folder, true, 0));
        }
        let value = json!([
            { "name": "a", "type": "directory", "children": [
                { "name": "b", "type": "directory", "children": [{ "name": "c\"", "type": "file" }] },
                { "name": "d", "type": "file" },
            ] },
            { "name": "e", "type": "directory", "children": [] },
            { "name": "f", "type": "file" },
        ]);
        let mut list = tree.end();
        let text = std::mem::take(list.text_mut());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.starts_with(
            "[\n  {\n    \"name\": \"a\",\n    \"type\": \"directory\",\n    \"children\": [\n      {"
        ));
        assert!(text.contains("\"children\": []\n  },"));
        assert_eq!(TreeText::new(None).end().text_mut(), "[]");
    }

    #[test]
    fn a_tree_that_is_cut_is_valid_json_within_the_limit() {
        for limit in [1_500, 3_000, 10_000] {
            let mut tree = TreeText::new(Some(limit));
            let shown = (0..200).filter(|level| tree.push(level % 30 + 1, "folder", true, true, 0)).count();
            let mut list = tree.end();
            assert!(list.is_full() && shown < 200);
            assert!(list.text_mut().len() <= limit, "{limit}");
            serde_json::from_str::<serde_json::Value>(list.text_mut()).unwrap();
        }
    }
}
