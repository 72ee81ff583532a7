//! `generate_template`: the text of one file (contract 16).

use serde_json::{Value, json};

use super::cut_text::{cut_meta, cut_text};
use super::template_parameters::{TemplateParameters, short_call};
use super::{scaffold_project, template_failure};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::filesystem::CONTENT;
use crate::tools::limited::content;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};
use ::toolkit::templates::served;
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "generate_template",
    title: "Generate Template",
    description: "Generate the text of one file from a template, such as a Makefile, a manifest or a CI workflow. Nothing is \
        written{?scaffold_project|; scaffold_project writes}. The name of the project is enough for the built-in templates{?list_templates|; list_templates tells the others}. \
        All wrong parameters are told at once. Example: \
        {\"resource_uri\":\"template://makefile/rust/cli\",\"parameters\":{\"project_name\":\"my-app\"}}",
    instructions: "",
    takes: Takes::of::<GenerateArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct GenerateArguments {
        /// URI of the template: template://{category}/{toolchain}/{variant}
        resource_uri as "resource_uri" or "uri" or "template_uri": String,
        /// Parameters of the template
        parameters as "parameters" or "params": TemplateParameters,
    }
}

#[derive(Debug)]
struct Generate {
    arguments: GenerateArguments,
    /// Whether the client is offered the tool that writes.
    can_write: bool,
    limit: Option<usize>,
}

impl Request for GenerateArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let can_write = options.offered.has(scaffold_project::TOOL.name);
        Ok(Box::new(Generate { arguments: self, can_write, limit: options.limit.bytes }))
    }
}

impl Call for Generate {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let GenerateArguments { resource_uri, parameters } = &self.arguments;
        let template =
            served().find(resource_uri).map_err(|error| template_failure::lookup(resource_uri, error))?;
        let made = template.generate(&parameters.values, &[]).map_err(template_failure::generate)?;
        let mut reply = content(made.content, wanted);
        if wanted.text {
            let next = json!({
                "toolchain": template.uri.toolchain, "templates": [resource_uri], "parameters": parameters.json, "write": true,
            });
            limit_text(&mut reply, self.limit, next, self.can_write);
        }
        Ok(reply)
    }
}

/// Cuts the text if it must be, and says how to get the whole. `next` are the arguments of the call that writes it.
fn limit_text(reply: &mut Reply, limit: Option<usize>, next: Value, can_write: bool) {
    let Some((shown, of)) = cut_text(&mut reply.text, limit) else { return };
    let go_on = match can_write {
        true => format!("Write it with scaffold_project {}", short_call(&next)),
        false => "The direct method generate_template gives all".into(),
    };
    reply.text.push_str(&format!("[Shown: {shown} of {of} bytes. {go_on}]"));
    reply.meta = cut_meta((shown, of), &if can_write { next } else { Value::Null });
}
