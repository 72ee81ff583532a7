//! Carries out a call of a tool for a command.
//!
//! Knows no flags.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::output::Answer;
use crate::cli::{Config, Stop, cannot_open};
use crate::tools::{ErrorText, Guide, Handles, LineBase, Offered, OutputKinds, ParseOptions, ToolNames};
use engine::Workspace;
use folder::{Control, Error, NamePolicy};
use journal::Author;

/// The largest patch, or JSON of edits, in bytes.
pub(super) const MAX_INPUT: u64 = 100 << 20;

/// The argument of the flag that says that nothing is written.
const DRY_RUN: &str = "dry_run";

/// The session of all commands of a user: `undo` without a change takes back the last one of a command line.
const SESSION: &str = "command line";

/// The folder in which a command works, and what it may do there.
pub(super) struct Place {
    pub(super) workspace: Arc<Workspace>,
    tools: Vec<Offered>,
    timeout: u64,
    /// The command, within the time of the command line.
    pub(super) control: Arc<Control>,
    author: Arc<Author>,
    handles: Arc<Handles>,
}

impl Place {
    /// The place of a command that is `client` for the journal, on a workspace of its own.
    pub(super) fn open(config: &Config, client: String) -> Result<Place, Stop> {
        let options = config.workspace_options()?;
        let workspace = Workspace::open(&config.folders(), options).map_err(|error| cannot_open(&error))?;
        Place::new(Arc::new(workspace), config, client)
    }

    /// The same on this workspace.
    pub(super) fn new(workspace: Arc<Workspace>, config: &Config, client: String) -> Result<Place, Stop> {
        let (tools, timeout) = (config.offered(1)?, config.timeout);
        let control = Arc::new(Control::new(Duration::from_secs(timeout)));
        let author = Arc::new(Author { client, session: SESSION.to_owned() });
        Ok(Place { workspace, tools, timeout, control, author, handles: Arc::new(Handles::off()) })
    }

    /// Whether there is a regular file at this path, as far as the file system says. What a search may read is not asked here.
    pub(super) fn is_file(&self, path: &str) -> bool {
        let folder = self.workspace.folder_paths().folders().first();
        folder.is_some_and(|folder| folder.join(path).is_file())
    }

    /// The text of an error, in the words of the tools.
    pub(super) fn told(&self, error: &Error) -> String {
        ErrorText::of(error, self.guide(), self.timeout).text()
    }

    fn names(&self) -> ToolNames {
        ToolNames::of(self.tools.iter().map(|offered| offered.tool))
    }

    fn guide(&self) -> Guide {
        Guide { base: LineBase::One, offered: self.names(), paths: true }
    }

    /// Calls a tool of the set `agent`.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<Answer, Stop> {
        let offered = self.tools.iter().find(|offered| offered.tool.name == tool);
        let Some(offered) = offered else { return Err(Stop::Wrong(format!("there is no tool {tool}"))) };
        let options = ParseOptions {
            base: LineBase::One,
            names: NamePolicy::Paths,
            paths: true,
            folders: self.workspace.folder_paths(),
            limit: None.into(),
            create_if_missing: true,
            offered: self.names(),
            author: &self.author,
            handles: &self.handles,
        };
        let wanted = OutputKinds { text: true, data: false };
        let done = offered.tool.parse(&arguments.to_string(), options);
        let done = done.and_then(|call| call.run(&self.workspace, wanted, &self.control));
        Ok(match done {
            Ok(reply) => Answer::of(reply),
            Err(error) => Answer::Failed(self.told(&error)),
        })
    }
}

/// The arguments of `edit` with its input: JSON, which is a list of edits or an object with arguments, or a patch. `path` is where the
/// input comes from. With the flag for it nothing is written, whatever the input says.
pub(super) fn with_input(mut arguments: Value, input: String, path: &Path) -> Result<Value, Stop> {
    let own = match serde_json::from_str(&input) {
        Ok(Value::Array(edits)) => json!({ "edits": edits }),
        Ok(Value::Object(object)) => object.into(),
        // No patch begins so: what is wrong with the JSON is what its writer wants to know.
        Err(error) if input.trim_start().starts_with(['[', '{']) => {
            return Err(Stop::Wrong(format!("{}: not JSON: {error}", path.display())));
        }
        _ => json!({ "patch": input }),
    };
    let is_dry = arguments.get(DRY_RUN) == Some(&Value::Bool(true));
    if let (Some(arguments), Value::Object(own)) = (arguments.as_object_mut(), own) {
        arguments.extend(own);
        if is_dry {
            // Its other name.
            arguments.remove("dryRun");
            arguments.insert(DRY_RUN.into(), true.into());
        }
    }
    Ok(arguments)
}

/// What stands in the file at `path`. `-` is standard input.
pub(super) fn read_input(path: &Path) -> Result<String, Stop> {
    read(path).map_err(|problem| Stop::Wrong(format!("{}: {problem}", path.display())))
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_INPUT + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(format!("more than {} MB; give a part at a time", MAX_INPUT >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8; give the texts of an edit in UTF-8".to_owned())
}
