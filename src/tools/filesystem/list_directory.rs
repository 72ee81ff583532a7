//! `list_directory`: the entries of a folder, and of the folders in it down to a depth.

use serde_json::json;

use super::CONTENT;
use crate::engine::{Control, EntryKind, FilePath, Passed, Result, WalkOptions, WalkStep, Workspace, passed};
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::walking::{Listed, shown};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "list_directory",
    title: "List Directory",
    description: "List the entries of a folder, sorted by name, each with [FILE] or [DIR] before its name. With depth also \
        those of the folders in it, as paths. A long list ends in a line with the call that goes on. Example: \
        {\"path\":\"src\"}",
    instructions: "",
    takes: Takes::of::<ListArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct ListArguments {
        /// Path of the folder
        path: FilePath,
        /// How many levels of folders are listed
        depth: Count = 1,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct ListDirectory {
    arguments: ListArguments,
    limit: Option<usize>,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ListDirectory { arguments: self, limit: options.limit }))
    }
}

impl Call for ListDirectory {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { path, depth, cursor } = &self.arguments;
        let key = depth.0.to_string();
        let listed = Listed { workspace, tool: TOOL.name, folder: path, arguments: &key };
        let after = listed.behind(cursor.as_ref())?;
        let options = WalkOptions { depth: depth.0 as usize, ..WalkOptions::default() };
        let mut walk = workspace.walk(path, options, control)?;
        let (mut list, mut last, mut line) = (LimitedText::new(self.limit), Vec::new(), String::new());
        let mut seen = 0;
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            seen += 1;
            control.progress(seen, None);
            let is_folder = entry.kind == EntryKind::Folder;
            match after.as_ref().map(|after| passed(walk.path_from_start(), is_folder, after)) {
                None | Some(Passed::No) => {}
                Some(Passed::Above) => continue,
                Some(Passed::Yes) => {
                    walk.skip_folder();
                    continue;
                }
            }
            line.clear();
            line.push_str(if is_folder { "[DIR] " } else { "[FILE] " });
            line.push_str(&shown(walk.path_from_start()));
            if list.push_line(&line) {
                last.clear();
                last.extend_from_slice(walk.path_from_start());
            }
        }
        let note = listed.note(&walk.left_out(), cursor.as_ref());
        let next = || {
            let mut next = json!({ "path": path.sent(), "cursor": listed.cursor_behind(&last)? });
            if depth.0 != 1 {
                next["depth"] = json!(depth.0);
            }
            Ok((TOOL.name, next))
        };
        list.reply(wanted, "entries", next, note.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::Progress;
    use crate::tools::filesystem::{directory_tree, list_directory_with_sizes};
    use crate::tools::{LineBase, ToolNames};

    #[test]
    fn a_list_of_a_folder_tells_how_many_entries_it_has_met() {
        let (folder, _, workspace) = crate::testing::served();
        (0..9).for_each(|n| std::fs::write(folder.path().join(format!("f{n}")), "").unwrap());
        let options = ParseOptions {
            base: LineBase::One,
            names: crate::engine::NamePolicy::Paths,
            paths: true,
            folders: workspace.folder_paths(),
            limit: Some(1_024),
            create_if_missing: true,
            offered: ToolNames::default(),
        };
        for tool in [&TOOL, &list_directory_with_sizes::TOOL, &directory_tree::TOOL] {
            let call = tool.parse(r#"{"path":"."}"#, options).unwrap();
            let control = Control::new(Duration::from_secs(60));
            call.run(&workspace, OutputKinds { text: true, data: false }, &control).unwrap();
            assert_eq!(control.progressed(), Progress { done: 9, total: None }, "{}", tool.name);
        }
    }
}
