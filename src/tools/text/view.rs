//! `view`: `read_file` by another name, which also lists folders (contract 15).

use super::read_file::{self, ReadArguments, ReadText};
use crate::tools::arguments::{Argument, Request, Takes, Value};
use crate::tools::listing::Listing;
use crate::tools::text_page::Reader;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: READER.tool,
    title: "View",
    description: "{?read_file|The same as read_file, with the same arguments.|Read a text file, or lines of it.} Of a folder, given as filename alone, it lists the entries \
        two levels deep, each with [FILE] or [DIR] before its path. Example: {\"filename\":\"src\"}",
    instructions: "",
    takes: Takes::of::<ViewArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

/// What goes on behind a page of a text.
const READER: Reader = Reader { tool: "view", ..read_file::READER };

/// How many levels of a folder are listed.
const LEVELS: u64 = 2;

#[derive(Debug)]
struct ViewArguments(ReadArguments);

impl Argument for ViewArguments {
    fn expected() -> String {
        ReadArguments::expected()
    }

    fn schema(out: &mut String) {
        ReadArguments::schema(out);
    }

    fn read(value: &Value) -> Result<ViewArguments> {
        ReadArguments::read(value).map(ViewArguments)
    }
}

impl Request for ViewArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let limit = options.limit.bytes;
        Ok(Box::new(View { text: self.0.into_read(options, READER)?, limit }))
    }
}

/// A parsed call.
#[derive(Debug)]
struct View {
    text: ReadText,
    limit: Option<usize>,
}

impl Call for View {
    fn file(&self) -> Option<&FilePath> {
        self.text.file()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        match self.text.run(workspace, wanted, control) {
            // A folder is no file that can be read.
            Err(error) if is_refusal(&error) => match workspace.info(&self.text.path) {
                Ok(info) if info.kind == EntryKind::Folder => self.list(workspace, wanted, control),
                // Such as one of a file system that does not answer.
                Err(
                    failed @ (Error::FolderGone
                    | Error::OneFolderGone { .. }
                    | Error::FolderSwitched
                    | Error::ReadFailed { .. }),
                ) => Err(failed),
                _ => Err(error),
            },
            read => read,
        }
    }
}

/// Whether a read may have ended with this error because it was one of a folder.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::IsAFolder { .. }
            | Error::PermissionDenied { .. }
            | Error::RefusedLink { .. }
            | Error::InvalidArguments { .. }
    )
}

impl View {
    fn list(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ReadText { path: folder, cursor, chooses, .. } = &self.text;
        if let Some(name) = chooses {
            let problem = format!("'{}' is a folder; expected filename alone, which lists it", folder.sent());
            return Err(Error::InvalidArguments { at: (*name).into(), problem });
        }
        let listing = Listing {
            tool: TOOL.name,
            argument: READER.path,
            folder,
            depth: LEVELS,
            default_depth: LEVELS,
            cursor: cursor.as_ref(),
            // Programs get the whole list.
            limit: self.limit.filter(|_| wanted.text),
            has_search: false,
        };
        listing.reply(workspace, wanted, control)
    }
}
