//! `--print-config`: the entry for this server in the settings of an MCP client.
//!
//! The entry starts this program, or what started it, with the arguments of the same command line. Knows the clients'
//! formats, and nothing of the server but its options.

use std::any::TypeId;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueEnum};

use super::starter::Starter;
use super::{Stop, home};

/// The name of the server in the clients' settings.
const SERVER: &str = "file-editor";

/// The flag itself, which the entry does not have.
const FLAG: &str = "print_config";

/// `--print-config`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Zed,
}

/// An entry.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientEntry {
    /// The entry, with its final line break.
    pub text: String,
    /// Where it goes, in one line.
    pub place: &'static str,
    /// What the user should know about it, one line each.
    pub remarks: Vec<String>,
}

/// The entry that starts this program with the arguments in `matches`, over stdio. `adds_stdio`: they do not say so.
pub(super) fn entry(
    client: Client,
    command: &Command,
    matches: &ArgMatches,
    adds_stdio: bool,
) -> Result<ClientEntry, Stop> {
    let program = std::env::current_exe().map_err(|error| {
        Stop::Wrong(format!("--print-config: the path of this program is unknown: {error}"))
    })?;
    let starter = Starter::find(&program);
    let mut words = match &starter {
        Starter::Words(words) => words.clone(),
        Starter::Path | Starter::PathInCache => vec![unicode(&program)?],
    };
    for argument in command.get_arguments().filter(|argument| argument.get_id() != FLAG) {
        words.extend(written(argument, matches)?);
    }
    if adds_stdio {
        words.push("--transport=stdio".into());
    }
    Ok(ClientEntry {
        text: text(client, &words[0], &words[1..]),
        place: place(client),
        remarks: starter.remark().map(str::to_owned).into_iter().collect(),
    })
}

/// How one argument was given on the command line; nothing if it was not. Paths become absolute, so that no folder begins
/// like a flag.
fn written(argument: &Arg, matches: &ArgMatches) -> Result<Vec<String>, Stop> {
    let id = argument.get_id().as_str();
    // The help and the version have no values; they end the program before this.
    let is_given = matches.try_contains_id(id).unwrap_or(false)
        && matches.value_source(id) == Some(ValueSource::CommandLine);
    if !is_given {
        return Ok(Vec::new());
    }
    let name = argument.get_long().map(|long| format!("--{long}"));
    if let (ArgAction::SetTrue, Some(name)) = (argument.get_action(), &name) {
        return Ok(vec![name.clone()]);
    }
    let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let values = matches.get_raw(id).into_iter().flatten().map(|value| {
        let value = match is_path {
            true => {
                let path = home::expanded(value.into());
                unicode(&std::path::absolute(&path).unwrap_or(path))?
            }
            false => unicode(Path::new(value))?,
        };
        Ok(match &name {
            Some(name) => format!("{name}={value}"),
            None => value,
        })
    });
    values.collect()
}

/// A path as text. No client's settings can hold other bytes.
fn unicode(path: &Path) -> Result<String, Stop> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Stop::Wrong(format!(
            "--print-config: {} is not UTF-8, which settings of clients must be; give another path",
            path.display()
        ))
    })
}

fn text(client: Client, program: &str, arguments: &[String]) -> String {
    let json = |servers: &str, typed: bool| {
        let kind = if typed { "\n      \"type\": \"stdio\"," } else { "" };
        let program = quoted(program);
        let arguments = list(arguments, 8, "      ");
        format!(
            "{{\n  \"{servers}\": {{\n    \"{SERVER}\": {{{kind}\n      \"command\": {program},\n      \"args\": {arguments}\n    }}\n  }}\n}}\n"
        )
    };
    match client {
        Client::ClaudeCode | Client::Cursor => json("mcpServers", true),
        Client::ClaudeDesktop => json("mcpServers", false),
        Client::VsCode => json("servers", true),
        Client::Zed => json("context_servers", false),
        Client::Codex => format!(
            "[mcp_servers.{SERVER}]\ncommand = {}\nargs = {}\n",
            quoted(program),
            list(arguments, 4, "")
        ),
    }
}

/// An array of strings, one a line, for JSON and TOML.
fn list(texts: &[String], indent: usize, before_end: &str) -> String {
    let mut list = String::from("[");
    for (nth, text) in texts.iter().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        // A write to a String cannot fail.
        let _ = write!(list, "{comma}\n{:indent$}{}", "", quoted(text));
    }
    list + "\n" + before_end + "]"
}

/// A string of JSON that is a basic string of TOML, too: the only difference is DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn place(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => {
            "Claude Code: .mcp.json in the project's folder; for all projects, the member mcpServers of ~/.claude.json"
        }
        Client::ClaudeDesktop => {
            "Claude Desktop: claude_desktop_config.json, which Settings > Developer > Edit Config opens"
        }
        Client::Cursor => {
            "Cursor: .cursor/mcp.json in the project's folder, or ~/.cursor/mcp.json for all projects"
        }
        Client::VsCode => {
            "VS Code: .vscode/mcp.json in the project's folder, or what the command MCP: Open User Configuration opens"
        }
        Client::Codex => "Codex: ~/.codex/config.toml",
        Client::Zed => "Zed: settings.json, which the command zed: open settings file opens",
    }
}

#[cfg(all(test, feature = "toolkit"))] // That has the parser of TOML.
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_string_of_json_and_of_toml() {
        let odd = "a \"b\" \\ c\n\t\u{1}\u{7f}\u{e9}\u{1f600}'";
        let arguments = [odd.to_owned(), "--x=y z".into()];
        for client in Client::value_variants() {
            let text = text(*client, odd, &arguments);
            let (program, args) = match client {
                Client::Codex => {
                    let read: toml::Table = text.parse().unwrap();
                    let server = &read["mcp_servers"][SERVER];
                    let args = server["args"].as_array().unwrap().iter();
                    let args: Vec<String> = args.map(|arg| arg.as_str().unwrap().into()).collect();
                    (server["command"].as_str().unwrap().to_owned(), args)
                }
                _ => {
                    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
                    let server = &read.as_object().unwrap().values().next().unwrap()[SERVER];
                    let args = server["args"].as_array().unwrap().iter();
                    let args: Vec<String> = args.map(|arg| arg.as_str().unwrap().into()).collect();
                    (server["command"].as_str().unwrap().to_owned(), args)
                }
            };
            assert_eq!((program.as_str(), args.as_slice()), (odd, &arguments[..]), "{client:?}");
        }
    }
}
