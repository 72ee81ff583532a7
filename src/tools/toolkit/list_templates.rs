//! `list_templates`: the templates that there are (contract 16).

use serde_json::json;

use super::template_rows::{Rows, there_are};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use ::toolkit::templates::served;
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "list_templates",
    title: "List Templates",
    description: "List the templates of files for new projects: their URIs, what each makes, and their parameters. Built in are \
        makefile, readme, gitignore, manifest, source, test, ci, dockerfile and license for rust, deno and python-uv, each as \
        cli and library. Example: {\"toolchain\":\"rust\"}",
    instructions: "Use list_templates and scaffold_project to begin a project.",
    takes: Takes::of::<ListArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"templates":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"mimeType":{"type":"string"},"parameters":{"type":"array","items":{"type":"object"}}},"required":["uri","name","description","mimeType","parameters"]}}},"required":["templates"]}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct ListArguments {
        /// Only templates of this toolchain, such as rust
        toolchain: Option<String>,
        /// Only templates of this category, such as makefile
        category: Option<String>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct ListTemplates {
    arguments: ListArguments,
    top: FilePath,
    limit: Option<usize>,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ListTemplates { arguments: self, top: options.path("")?, limit: options.limit.bytes }))
    }
}

impl Call for ListTemplates {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let ListArguments { toolchain, category, cursor } = &self.arguments;
        let listed = served().list(toolchain.as_deref(), category.as_deref());
        let mut arguments = json!({});
        for (name, value) in [("toolchain", toolchain), ("category", category)] {
            if let Some(value) = value {
                arguments[name] = json!(value);
            }
        }
        let rows = Rows {
            tool: TOOL.name,
            member: "templates",
            rows: listed.map(|template| (None, template)).collect(),
            arguments,
            cursor: cursor.as_ref(),
            limit: self.limit,
            top: &self.top,
            nothing: format!("No such templates. {}", there_are()),
        };
        rows.reply(workspace, wanted)
    }
}
