//! `search_templates`: the templates that answer a query, best first (contract 16).

use serde_json::json;

use super::template_rows::{Rows, there_are};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use ::toolkit::templates::served;
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "search_templates",
    title: "Search Templates",
    description: "Search the templates by words of their names, descriptions and URIs. Answers with one template a line, best \
        first, each with a score from 0 to 1. Example: {\"query\":\"docker image\",\"toolchain\":\"rust\"}",
    instructions: "",
    takes: Takes::of::<SearchArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"uri":{"type":"string"},"name":{"type":"string"},"description":{"type":"string"},"mimeType":{"type":"string"},"parameters":{"type":"array","items":{"type":"object"}},"score":{"type":"number","minimum":0,"maximum":1}},"required":["uri","name","description","mimeType","parameters","score"]}}},"required":["results"]}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct SearchArguments {
        /// Words to search
        query as "query" or "q": String,
        /// Only templates of this toolchain, such as rust
        toolchain: Option<String>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct SearchTemplates {
    arguments: SearchArguments,
    top: FilePath,
    limit: Option<usize>,
}

impl Request for SearchArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(SearchTemplates { arguments: self, top: options.path("")?, limit: options.limit.bytes }))
    }
}

impl Call for SearchTemplates {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let SearchArguments { query, toolchain, cursor } = &self.arguments;
        let found = served().search(query, toolchain.as_deref());
        let mut arguments = json!({ "query": query });
        if let Some(toolchain) = toolchain {
            arguments["toolchain"] = json!(toolchain);
        }
        let rows = Rows {
            tool: TOOL.name,
            member: "results",
            rows: found.into_iter().map(|(score, template)| (Some(score), template)).collect(),
            arguments,
            cursor: cursor.as_ref(),
            limit: self.limit,
            top: &self.top,
            nothing: format!("No templates found. {}", there_are()),
        };
        rows.reply(workspace, wanted)
    }
}
