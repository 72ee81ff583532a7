//! Templates of files for new projects (contract 16): built-in ones and the operator's own, rendered by minijinja within
//! bounds.
//!
//! Pure work: it reads the operator's folder once and writes nothing. It knows no workspace, tool, JSON or protocol.

mod builtin;
mod catalogue;
mod filters;
mod language;
mod own;
mod parameter;
mod project;
mod project_name;
mod render;
mod search;
mod template;
mod uri;

pub use catalogue::{Catalogue, LookupError, serve, served};
pub use own::{Broken, OwnTemplates};
pub use parameter::{
    MAX_TEXT, MAX_TEXTS, Parameter, ParameterType, ParameterValue, Problem, SentValue, WholePattern,
};
pub use project::{ProjectError, generate_project};
pub use render::MAX_OUTPUT;
pub use template::{GenerateError, Generated, Template};
pub use uri::{FORM, SCHEME, TemplateUri};
