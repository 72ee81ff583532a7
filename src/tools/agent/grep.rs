//! `grep` as agents know it: the lines that match, or how often each text does (contract 19).

use crate::tools::arguments::{Argument, Request, Takes, Value, write_shown};
use crate::tools::search::grep::{GrepArguments, GrepStyle};
use crate::tools::{Call, ParseOptions, Tool};
use folder::Result;

pub(crate) static TOOL: Tool = Tool {
    name: "grep",
    title: "Search in Files",
    description: "Lines that match a regular expression (Rust syntax), and what was left out. \
        Example: {\"pattern\":\"fn \\\\w+_at\\\\(\",\"glob\":\"*.rs\",\"-C\":2}",
    instructions: "",
    takes: Takes::of::<AgentGrepArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// What the schema shows.
const SHOWN: &[(&str, &str)] = &[
    ("pattern", ""),
    ("path", ""),
    ("glob", "*.rs, src/**, !tests/**"),
    ("type", "rust, py, ..."),
    ("output_mode", ""),
    ("-A", ""),
    ("-B", ""),
    ("-C", ""),
    ("-i", ""),
    ("-o", ""),
    ("-w", ""),
    ("fixed_strings", ""),
    ("multiline", ""),
    ("tally", "Count by the text of this group, 0: the match"),
    ("head_limit", ""),
    ("offset", ""),
    ("cursor", ""),
    ("include_ignored", ""),
    ("include_hidden", ""),
    ("encoding", ""),
    ("sort", ""),
];

#[derive(Debug)]
struct AgentGrepArguments(GrepArguments);

impl Argument for AgentGrepArguments {
    fn expected() -> String {
        GrepArguments::expected()
    }

    fn schema(out: &mut String) {
        write_shown(GrepArguments::fields(), SHOWN, out);
    }

    fn read(value: &Value) -> Result<AgentGrepArguments> {
        GrepArguments::read(value).map(AgentGrepArguments)
    }
}

impl Request for AgentGrepArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        self.0.into_grep(GrepStyle { tells_lines: true, is_spaced: true }, options)
    }
}
