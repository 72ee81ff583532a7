//! `directory_tree`: a folder and everything in it as JSON.

use serde_json::json;

use super::CONTENT;
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::{LimitedText, cursor_len};
use crate::tools::near::of_folder;
use crate::tools::walking::{Listed, Patterns, exclude_globs, shown_line};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, memory};
use engine::Workspace;
use folder::{Control, EntryKind, FilePath, Result, WalkOptions};
use text::glob::{GlobBudget, TreeExclude};

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
    /// Whether the client is offered search_files.
    has_search: bool,
}

impl Request for TreeArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let patterns = self.exclude_patterns.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
        let depth = self.max_depth.map_or(0, |depth| depth.0);
        let key = format!("{depth} {} {patterns:?}", self.include_ignored);
        let has_search = options.offered.has("search_files");
        Ok(Box::new(DirectoryTree { arguments: self, key, limit: options.limit.bytes, has_search }))
    }
}

impl Call for DirectoryTree {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.path)
    }

    fn memory(&self) -> usize {
        memory::WALK
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
        let mut tree = TreeText::new(self.limit);
        let is_excluded = |path: &str| excludes.iter().any(|exclude| exclude.matches(path));
        let reached = listed.walk(options, after.as_deref(), &is_excluded, control, |walk, met| {
            // Not only JSON's escapes, because the text of a path holds no line break.
            let name = shown_line(walk.name());
            let (is_folder, path_len) = (met.kind == EntryKind::Folder, walk.path_from_start().len());
            tree.push(met.level, &name, is_folder, !met.is_above, path_len)
        });
        let reached = match reached {
            Err(error) => return Err(of_folder(error, path, self.has_search, workspace, control)?),
            Ok(reached) => reached,
        };
        let note = listed.note(&reached, cursor.as_ref());
        let mut list = tree.end();
        let go_on = listed.end(&mut list, &reached, cursor.as_ref())?;
        let next = || Ok((TOOL.name, self.next(go_on.as_deref())));
        list.reply(wanted, "entries", next, note.as_deref())
    }
}

impl DirectoryTree {
    /// The arguments of the call that goes on at `cursor`.
    fn next(&self, cursor: Option<&str>) -> serde_json::Value {
        let TreeArguments { path, exclude_patterns, max_depth, include_ignored, .. } = &self.arguments;
        let mut next = json!({ "path": path.sent() });
        if let Some(cursor) = cursor {
            next["cursor"] = json!(cursor);
        }
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
    /// The folders above the next entry that an earlier page told.
    above: Vec<String>,
    /// The number of levels by which entries are told higher, because the folders above them are told as one.
    raised: usize,
    /// For each folder that is open, and the list at the top: whether it has an entry.
    open: Vec<bool>,
}

impl TreeText {
    fn new(limit: Option<usize>) -> TreeText {
        let mut list = LimitedText::new(limit);
        list.text_mut().push('[');
        TreeText { list, above: Vec::new(), raised: 0, open: vec![false] }
    }

    /// Adds an entry of this level, from 1. Returns whether it is shown. One that does not count was shown before. A cursor
    /// behind it holds its path, of `path_len` bytes.
    fn push(&mut self, level: usize, name: &str, is_folder: bool, counts: bool, path_len: usize) -> bool {
        let leaves = level <= self.above.len();
        self.above.truncate(level - 1);
        if !counts {
            self.above.push(name.to_owned());
            return false;
        }
        if self.list.is_full() {
            self.list.count(false);
            return false;
        }
        // The folders above are told in front of the first entry, and again without those that it leaves if they are one.
        let tells_above = self.list.shown() == 0 || leaves && self.raised > 0;
        let nested = nested_len(&self.above);
        let joins = self.above.len() > 1 && self.list.is_over_a_quarter(nested);
        let (raised, above_len) = match tells_above {
            false => (self.raised, 0),
            true if joins => (self.above.len() - 1, 128 + json_len(&self.above.join("/"))),
            true => (0, nested),
        };
        let own = level - raised;
        // The entry, and all brackets of the folders above it.
        let room = above_len + json_len(name) + 96 + 12 * own + 8 * own * own + cursor_len(path_len);
        // Each page shows an entry, so that pages come to an end.
        let is_shown = self.list.shown() == 0 || self.list.has_room(room);
        self.list.count(is_shown);
        if !is_shown {
            return false;
        }
        if tells_above {
            self.tell_above(raised);
        }
        self.put(own, name, is_folder);
        true
    }

    /// Adds the folders above the next entry; the first ones are one entry if entries are to be `raised`.
    fn tell_above(&mut self, raised: usize) {
        self.raised = raised;
        self.close_to(1);
        let above = std::mem::take(&mut self.above);
        if raised > 0 {
            self.put(1, &above.join("/"), true);
        } else {
            above.iter().enumerate().for_each(|(nth, name)| self.put(nth + 1, name, true));
        }
        self.above = above;
    }

    /// Adds an entry of this level of the text.
    fn put(&mut self, level: usize, name: &str, is_folder: bool) {
        self.close_to(level);
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
    }

    /// Closes the folders from this level on.
    fn close_to(&mut self, level: usize) {
        while self.open.len() > level {
            self.close();
        }
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
        self.close_to(0);
        self.list
    }
}

fn indent(text: &mut String, width: usize) {
    text.extend(std::iter::repeat_n(' ', width));
}

/// The most bytes that folders within each other take.
fn nested_len(names: &[String]) -> usize {
    names.iter().zip(1..).map(|(name, level): (_, usize)| 64 + 20 * level + json_len(name)).sum()
}

fn json_len(name: &str) -> usize {
    let mut text = String::new();
    push_json(&mut text, name);
    text.len()
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

    #[test]
    fn pages_of_a_deep_tree_are_within_the_limit_and_tell_the_folders_above_as_one() {
        for limit in [1_024, 1_500, 10_000] {
            let (mut done, mut pages) = (0, 0);
            while done < 200 {
                let mut tree = TreeText::new(Some(limit));
                let shown = (1..=200).filter(|level| tree.push(*level, "f", true, *level > done, 2 * level));
                let shown = shown.count();
                let text = std::mem::take(tree.end().text_mut());
                assert!(0 < shown && text.len() <= limit, "{limit}: {} bytes", text.len());
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                if done > 100 {
                    let above = vec!["f"; done].join("/");
                    assert_eq!((&value[0]["name"], &value[1]), (&json!(above), &json!(null)));
                    assert_eq!(value[0]["children"][0]["name"], json!("f"));
                }
                (done, pages) = (done + shown, pages + 1);
            }
            assert!(pages < 200, "{pages}");
        }
    }

    #[test]
    fn an_entry_beside_folders_told_as_one_is_told_below_those_above_it() {
        let mut tree = TreeText::new(Some(3_000));
        (1..=40).for_each(|level| assert!(!tree.push(level, "f", true, false, 0)));
        for (level, name) in [(41, "deep"), (40, "up"), (2, "second"), (1, "top")] {
            assert!(tree.push(level, name, false, true, 0), "{name}");
        }
        let value: serde_json::Value = serde_json::from_str(tree.end().text_mut()).unwrap();
        let file = |name: &str| json!({ "name": name, "type": "file" });
        let folder = |levels: usize, name: &str| {
            let path = vec!["f"; levels].join("/");
            json!({ "name": path, "type": "directory", "children": [file(name)] })
        };
        assert_eq!(value, json!([folder(40, "deep"), folder(39, "up"), folder(1, "second"), file("top")]));
    }
}
