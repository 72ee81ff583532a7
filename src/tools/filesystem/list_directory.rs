//! `list_directory`: the entries of a folder, and of the folders in it down to a depth.

use super::CONTENT;
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::listing::Listing;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::Workspace;
use folder::{Control, FilePath, Result};

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
    /// Whether the client is offered search_files.
    has_search: bool,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let has_search = options.offered.has("search_files");
        Ok(Box::new(ListDirectory { arguments: self, limit: options.limit.bytes, has_search }))
    }
}

impl Call for ListDirectory {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { path, depth, cursor } = &self.arguments;
        let (folder, cursor, limit) = (path, cursor.as_ref(), self.limit);
        let (tool, argument, depth, default_depth) = (TOOL.name, "path", depth.0, 1);
        let has_search = self.has_search;
        let listing = Listing { tool, argument, folder, depth, default_depth, cursor, limit, has_search };
        listing.reply(workspace, wanted, control)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tools::filesystem::{directory_tree, list_directory_with_sizes};
    use crate::tools::{LineBase, ToolNames};
    use folder::Progress;

    #[test]
    fn a_list_of_a_folder_tells_how_many_entries_it_has_met() {
        let (folder, _, workspace) = crate::testing::served();
        (0..9).for_each(|n| std::fs::write(folder.path().join(format!("f{n}")), "").unwrap());
        let options = ParseOptions {
            base: LineBase::One,
            names: folder::NamePolicy::Paths,
            paths: true,
            folders: workspace.folder_paths(),
            limit: Some(1_024).into(),
            create_if_missing: true,
            offered: ToolNames::default(),
            author: &std::sync::Arc::default(),
            handles: &std::sync::Arc::default(),
        };
        for tool in [&TOOL, &list_directory_with_sizes::TOOL, &directory_tree::TOOL] {
            let call = tool.parse(r#"{"path":"."}"#, options).unwrap();
            let control = Control::new(Duration::from_secs(60));
            call.run(&workspace, OutputKinds { text: true, data: false }, &control).unwrap();
            assert_eq!(control.progressed(), Progress { done: 9, total: None }, "{}", tool.name);
        }
    }
}
