//! The set `toolkit` (contract 16).

pub(crate) mod churn; // analyze_code_churn, on repositories that the git program makes
mod complexity; // analyze_complexity: figures by hand, formats, projects, hostile texts
mod out_of_time; // analyses whose time is up
mod templates; // templates: the tools, codes, resources, projects, own templates
