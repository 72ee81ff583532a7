//! A folder with one file, for the tests of file_edit: every call is made dry and real, and both must say the same.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio, ToolResult};

/// A folder with one file and a server on it.
pub(crate) struct Bench {
    pub(crate) folder: Folder,
    pub(crate) server: Stdio,
}

pub(crate) const NAME: &str = "test.txt";

impl Bench {
    pub(crate) fn new(content: &str) -> Bench {
        Bench::with(&["--tools=lines,exact"], content)
    }

    pub(crate) fn with(flags: &[&str], content: &str) -> Bench {
        let folder = Folder::new();
        folder.write(NAME, content);
        let server = Stdio::start(&folder, &[&["--sync=none"], flags].concat());
        Bench { folder, server }
    }

    pub(crate) fn call(&self, edits: Value) -> ToolResult {
        self.server.tool("file_edit", json!({ "path": NAME, "edits": edits }))
    }

    /// A dry run, which must leave everything as it is, and the real run, which must say the same.
    #[track_caller]
    pub(crate) fn edit(&self, edits: Value) -> ToolResult {
        let before = self.folder.snapshot();
        let dry = self.server.tool("file_edit", json!({ "path": NAME, "edits": edits, "dry_run": true }));
        assert_eq!(self.folder.snapshot(), before, "a dry run changes nothing");
        let real = self.call(edits);
        assert_eq!(dry.is_error, real.is_error, "{}", dry.text);
        if real.is_error {
            assert_eq!(dry.result, real.result);
            assert_eq!(self.folder.snapshot(), before, "a failure changes nothing");
            assert!(real.result["metadata"]["validation_error"]["type"].is_string(), "{}", real.result);
        } else {
            assert_eq!(dry.result["metadata"]["diff"], real.result["metadata"]["diff"]);
        }
        real
    }

    /// The file after edits that must succeed.
    #[track_caller]
    pub(crate) fn becomes(&self, edits: Value, expected: &str) -> ToolResult {
        let result = self.edit(edits);
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(self.folder.text(NAME), expected);
        result
    }

    /// The error of edits that must fail.
    #[track_caller]
    pub(crate) fn fails(&self, edits: Value, kind: &str) -> ToolResult {
        let result = self.edit(edits);
        assert!(result.is_error, "{}", result.text);
        assert_eq!(result.result["metadata"]["validation_error"]["type"], kind, "{}", result.text);
        result
    }
}

pub(crate) fn one(old_text: &str, new_text: &str) -> Value {
    json!([{ "old_text": old_text, "new_text": new_text }])
}

pub(crate) fn times(old_text: &str, new_text: &str, occurrences: u64) -> Value {
    json!([{ "old_text": old_text, "new_text": new_text, "occurrences": occurrences }])
}

pub(crate) fn error(result: &ToolResult) -> &Value {
    &result.result["metadata"]["validation_error"]
}
