//! `get_file_info`: what the system tells of a file or folder.

use super::{CONTENT, format};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::Workspace;
use folder::{Control, EntryKind, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "get_file_info",
    title: "Get File Info",
    description: "Show what is at a path without reading it: size in bytes, times (UTC), permissions, and whether it is a \
        file or a folder. Links are followed. Example: {\"path\":\"src/main.rs\"}",
    instructions: "",
    takes: Takes::of::<InfoArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct InfoArguments {
        /// Path of the file or folder
        path: FilePath,
    }
}

#[derive(Debug)]
struct GetFileInfo(FilePath);

impl Request for InfoArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(GetFileInfo(self.path)))
    }
}

impl Call for GetFileInfo {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.0)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let info = workspace.info_or_near(&self.0, control)?;
        // A file system that does not know when a file was created tells 1970, as there.
        let created = format::date(info.created_ms.unwrap_or(0));
        let (modified, accessed) = (format::date(info.modified_ms), format::date(info.accessed_ms));
        let text = format!(
            "size: {}\ncreated: {created}\nmodified: {modified}\naccessed: {accessed}\nisDirectory: {}\nisFile: {}\npermissions: {:03o}",
            info.size,
            info.kind == EntryKind::Folder,
            info.kind == EntryKind::File,
            info.mode & 0o777,
        );
        Ok(content(text, wanted))
    }
}
