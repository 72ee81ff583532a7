//! `validate_template`: whether a template takes these parameters (contract 16).

use serde_json::{Value, json};

use super::template_failure::{self, problem_lines};
use super::template_parameters::TemplateParameters;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool};
use ::toolkit::templates::{Problem, served};
use engine::Workspace;
use folder::{Control, FilePath, Result};

pub(crate) static TOOL: Tool = Tool {
    name: "validate_template",
    title: "Validate Template Parameters",
    description: "Check whether a template takes these parameters, without generating anything. All problems are told at once. \
        Example: {\"resource_uri\":\"template://makefile/rust/cli\",\"parameters\":{\"project_name\":\"my-app\"}}",
    instructions: "",
    takes: Takes::of::<ValidateArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"valid":{"type":"boolean"},"errors":{"type":"array","items":{"type":"object","properties":{"parameter":{"type":"string"},"problem":{"type":"string"},"expected":{"type":"string"}},"required":["parameter","problem","expected"]}}},"required":["valid","errors"]}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct ValidateArguments {
        /// URI of the template: template://{category}/{toolchain}/{variant}
        resource_uri as "resource_uri" or "uri" or "template_uri": String,
        /// Parameters to check
        parameters as "parameters" or "params": TemplateParameters,
    }
}

#[derive(Debug)]
struct Validate(ValidateArguments);

impl Request for ValidateArguments {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(Validate(self)))
    }
}

impl Call for Validate {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let ValidateArguments { resource_uri, parameters } = &self.0;
        let template =
            served().find(resource_uri).map_err(|error| template_failure::lookup(resource_uri, error))?;
        let problems = template.problems(&parameters.values);
        let text = match problems.is_empty() {
            true => "Valid".into(),
            false => format!("Not valid\n{}", problem_lines(&problems)),
        };
        let data = if wanted.data { data(&problems) } else { Members::default() };
        Ok(Reply { text, data, ..Reply::default() })
    }
}

fn data(problems: &[Problem]) -> Members {
    let error = |Problem { parameter, problem, expected }: &Problem| json!({ "parameter": parameter, "problem": problem, "expected": expected });
    let errors: Vec<Value> = problems.iter().map(error).collect();
    Members::default().with("valid", &problems.is_empty()).with("errors", &errors)
}
