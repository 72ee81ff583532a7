//! The set `toolkit` (contract 16).

mod templates; // templates: the tools, codes, resources, projects, own templates
