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
mod rule;
mod search;
mod template;
mod uri;
mod value;

pub use catalogue::{Catalogue, LookupError, serve, served};
pub use own::{Broken, OwnTemplates};
pub use parameter::{MAX_TEXT, MAX_TEXTS, Parameter, Problem};
pub use project::{ProjectError, generate_project};
pub use render::MAX_OUTPUT;
pub use rule::{Rule, WholePattern};
pub use template::{GenerateError, Generated, Template};
pub use uri::{FORM, SCHEME, TemplateUri};
pub use value::{ParameterType, ParameterValue, SentValue};
