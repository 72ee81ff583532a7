//! One failing call, as each interface has it, and the check of its error on each.

use serde_json::Value;

use crate::support::{Direct, DirectError, Folder, Mcp, direct_on_both_with, on_both_with};

/// One failing call, as each interface has it.
#[derive(Clone)]
pub(super) struct Failure {
    pub(super) tool: &'static str,
    /// Lines from 0.
    pub(super) arguments: Value,
    /// The first line over MCP.
    pub(super) text: String,
    /// Lines from 1.
    pub(super) params: Value,
    /// The first line of the message over REST.
    pub(super) message: String,
    pub(super) code: i64,
    pub(super) status: u16,
}

impl Failure {
    /// A call that is the same in both interfaces, and whose message is the text without `Error: `.
    pub(super) fn new(tool: &'static str, arguments: Value, text: &str, code: i64, status: u16) -> Failure {
        let message = text.strip_prefix("Error: ").expect("a text of contract 7").to_owned();
        Failure { tool, params: arguments.clone(), arguments, text: text.to_owned(), message, code, status }
    }

    /// Where lines appear, the direct interface counts from 1.
    pub(super) fn counted_from_1(self, params: Value, message: &str) -> Failure {
        Failure { params, message: message.to_owned(), ..self }
    }

    #[track_caller]
    pub(super) fn over_mcp(&self, server: &dyn Mcp, folder: &Folder) {
        let before = folder.snapshot();
        let result = server.tool(self.tool, self.arguments.clone());
        assert_eq!(
            (result.first_line(), result.is_error),
            (self.text.as_str(), true),
            "{} {}",
            self.tool,
            self.arguments
        );
        assert_eq!(result.texts.len(), 1, "{}", result.result);
        assert_eq!(folder.snapshot(), before, "{} {}", self.tool, self.arguments);
    }

    #[track_caller]
    pub(super) fn over_direct(&self, server: &dyn Direct, folder: &Folder) {
        let before = folder.snapshot();
        let error = server.direct_error(self.tool, self.params.clone());
        let first = error.message.split('\n').next();
        assert_eq!(
            (first, error.code),
            (Some(self.message.as_str()), self.code),
            "{} {}",
            self.tool,
            self.params
        );
        assert!(error.status.is_none_or(|status| status == self.status), "{error:?}");
        check_data(&error, self.tool, self.params["name"].as_str());
        assert_eq!(folder.snapshot(), before, "{} {}", self.tool, self.params);
    }
}

/// Checks `data` (contract 7).
#[track_caller]
fn check_data(error: &DirectError, operation: &str, filename: Option<&str>) {
    let data = error.data.as_object().unwrap_or_else(|| panic!("no data: {error:?}"));
    let mut keys: Vec<&str> = data.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["details", "filename", "operation", "timestamp"], "{error:?}");
    assert_eq!(data["operation"], operation, "{error:?}");
    assert!(filename.is_none_or(|name| data["filename"] == name), "{error:?}");
    let time = data["timestamp"].as_str().expect("a timestamp");
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).take(19).collect();
    assert!(shape == "0000-00-00T00:00:00" && time.ends_with('Z'), "{time}");
    assert!(data["details"].is_string(), "{error:?}");
}

/// Runs each failure over MCP on both transports, over REST, and over the direct methods.
pub(super) fn check(flags: &[&str], fill: impl Fn(&Folder) + Sync, failures: &[Failure]) {
    on_both_with(flags, &fill, |server, folder| {
        failures.iter().for_each(|failure| failure.over_mcp(server, folder));
    });
    direct_on_both_with(flags, &fill, |server, folder| {
        failures.iter().for_each(|failure| failure.over_direct(server, folder));
    });
}
