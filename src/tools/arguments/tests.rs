//! The description of arguments that have every kind of type: its schema, and how calls are read by it.

use std::sync::{Arc, LazyLock};

use serde_json::json;

use super::{Count, Keyword, Later, Line, List, Request, StartLine, Takes, Text, Value, arguments};
use crate::tools::arguments::Argument;
use crate::tools::{Call, Handles, LineBase, OutputKinds, ParseOptions, Reply, ToolNames, with_first};
use engine::Workspace;
use folder::{Control, Error, FilePath, FolderPaths, NamePolicy, Result};
use journal::Author;

arguments! {
    /// Every kind of argument.
    struct All {
        /// A name
        name: FilePath,
        /// A line,
        /// from {first}
        line: Option<Line>,
        /// Items with "quotes"
        items: Option<List<Item, 1, 2>>,
        /// A word
        sort: Sort = "size",
        /// Lines after
        after as "-A" or "context_after": Option<Count>,
        /// Whether
        flag: bool = false,
    }
}

arguments! {
    struct Item {
        /// Text to find
        old_text: Text,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sort {
    Path,
    Size,
}

impl Keyword for Sort {
    const WORDS: &'static [(&'static str, Sort)] = &[("path", Sort::Path), ("size", Sort::Size)];
}

fn options(base: LineBase, names: NamePolicy, folders: &FolderPaths) -> ParseOptions<'_> {
    let offered = ToolNames::default();
    static AUTHOR: LazyLock<Arc<Author>> = LazyLock::new(Arc::default);
    static HANDLES: LazyLock<Arc<Handles>> = LazyLock::new(Arc::default);
    let (paths, limit, create_if_missing, author, handles) = (false, None.into(), true, &*AUTHOR, &*HANDLES);
    ParseOptions { base, names, paths, folders, limit, create_if_missing, offered, author, handles }
}

pub(crate) fn read<T: Argument>(json: &str, base: LineBase) -> Result<T> {
    T::read(&Value::arguments(json, options(base, NamePolicy::Portable, &FolderPaths::default()))?)
}

fn all(json: &str) -> All {
    read(json, LineBase::Zero).unwrap_or_else(|error| panic!("{json}: {error:?}"))
}

fn problem(json: &str) -> String {
    match read::<All>(json, LineBase::One) {
        Err(Error::InvalidArguments { at, problem }) => format!("{at}: {problem}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn the_schema_says_what_the_parser_takes() {
    let mut schema = String::from("{");
    All::schema(&mut schema);
    let schema = with_first(&(schema + "}"), LineBase::One);
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let item = json!({
        "type": "object", "properties": { "old_text": { "type": "string", "description": "Text to find" } },
        "required": ["old_text"], "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "A name" },
            "line": { "type": "integer", "minimum": 1, "description": "A line, from 1" },
            "items": {
                "type": "array", "minItems": 1, "maxItems": 2, "items": item, "description": "Items with \"quotes\"",
            },
            "sort": { "type": "string", "enum": ["path", "size"], "default": "size", "description": "A word" },
            "-A": { "type": "integer", "minimum": 1, "description": "Lines after" },
            "flag": { "type": "boolean", "default": false, "description": "Whether" },
        },
        "required": ["name"], "additionalProperties": false,
    });
    assert_eq!(schema, expected);
}

#[test]
fn defaults_and_absent_arguments_have_values() {
    let All { name, line, items, sort, after, flag } = all(r#"{"name":"f","line":null,"sort":null}"#);
    assert_eq!((name.as_str(), line, sort, after, flag), ("f", None, Sort::Size, None, false));
    assert!(items.is_none());
}

#[test]
fn a_value_that_says_nothing_counts_as_absent_where_none_is_required() {
    for (line, others) in [
        ("0", r#""items":[],"sort":"","-A":0,"flag":"""#),
        (r#""""#, r#""items":"[]","sort":"","after":"0","flag":"""#),
        ("0.0", r#""items":"","sort":null,"context_after":"","flag":null"#),
    ] {
        let json = format!(r#"{{"name":"f","line":{line},{others}}}"#);
        let All { line, items, sort, after, flag, .. } = read(&json, LineBase::One).unwrap();
        assert_eq!(
            (line, items.is_none(), sort, after, flag),
            (None, true, Sort::Size, None, false),
            "{json}"
        );
    }
    // Where lines count from 0, it is one; a text may be empty; what is required must say something.
    assert_eq!(all(r#"{"name":"f","line":0}"#).line, Some(Line(0)));
    assert_eq!(all(r#"{"name":"f","items":[{"old_text":""}]}"#).items.unwrap()[0].old_text.0, "");
    assert!(problem(r#"{"name":""}"#).contains("InvalidName"));
    // Of two names of one argument, one may say nothing.
    assert_eq!(all(r#"{"name":"f","-A":0,"after":2}"#).after, Some(Count(2)));
    assert_eq!(all(r#"{"name":"f","-A":2,"after":0}"#).after, Some(Count(2)));
}

#[test]
fn every_lenient_form_means_the_same() {
    for json in [
        r#"{"name":"f","line":5,"items":[{"old_text":"a\nb"}],"sort":"path","-A":2,"flag":true}"#,
        r#"{"path":"f","line":5.0,"items":[{"oldText":"a\nb"}],"sort":"path","after":2.0,"flag":"true"}"#,
        r#"{"file_path":"f","line":"5","items":"[{\"old_str\":\"a\\nb\"}]","sort":"path","context_after":"2","flag":true}"#,
        r#"{"name":null,"target_file":"f","line":"5.0","items":["{\"old_string\":\"a\\nb\"}"],"sort":"path","-A":2,"flag":"true"}"#,
        r#" {"name":"g","name":"f","line":5e0,"items":[{"old_text":"a\nb"}],"sort":"path","-A":2,"flag":true} "#,
        r#""{\"filename\":\"f\",\"line\":5,\"items\":\"[{\\\"old_text\\\":\\\"a\\\\nb\\\"}]\",\"sort\":\"path\",\"-A\":2,\"flag\":true}""#,
    ] {
        let All { name, line, items, sort, after, flag } = all(json);
        assert_eq!((name.as_str(), line), ("f", Some(Line(5))), "{json}");
        assert_eq!((sort, after, flag), (Sort::Path, Some(Count(2)), true), "{json}");
        assert_eq!(items.map(|items| items[0].old_text.0.clone()).as_deref(), Some("a\nb"), "{json}");
    }
}

#[test]
fn wrong_values_are_named_by_place_with_what_is_expected() {
    for (json, expected) in [
        ("[]", "arguments: [] is wrong; expected an object"),
        (r#""x""#, r#"arguments: "x" is wrong; expected an object"#),
        ("{}", "name: it is missing; expected a string"),
        (r#"{"name":7}"#, "name: 7 is wrong; expected a string"),
        (r#"{"path":7}"#, "path: 7 is wrong; expected a string"),
        (
            r#"{"name":"\ud800"}"#,
            r#"name: "\ud800" is wrong; expected a string of valid Unicode (no lone surrogate)"#,
        ),
        (r#"{"name":"../x"}"#, "Err(InvalidName { problem: Policy(NoPath) })"),
        (r#"{"name":"f","line":1.5}"#, "line: 1.5 is wrong; expected an integer"),
        (r#"{"name":"f","line":"x"}"#, r#"line: "x" is wrong; expected an integer"#),
        (r#"{"name":"f","line":"-1"}"#, "Err(NegativeLine)"),
        (r#"{"name":"f","items":{}}"#, "items: {} is wrong; expected an array"),
        (r#"{"name":"f","items":[1]}"#, "items[0]: 1 is wrong; expected an object"),
        (
            r#"{"name":"f","items":"[{\"old_text\":\"a\\u0000\"}]"}"#,
            "items[0].old_text: it holds a NUL character; expected text without one",
        ),
        (
            r#"{"name":"f","items":[{"old_text":"a"},{}]}"#,
            "items[1].old_text: it is missing; expected a string",
        ),
        (r#"{"name":"f","sort":"time"}"#, r#"sort: "time" is wrong; expected one of path, size"#),
        (r#"{"name":"f","-A":-1}"#, "-A: -1 is wrong; expected an integer of at least 1"),
        (r#"{"name":"f","flag":"yes"}"#, r#"flag: "yes" is wrong; expected true or false"#),
        (r#"{"name":"f","path":"f"}"#, "path: it names the same argument as name; give one of them"),
    ] {
        assert_eq!(problem(json), expected, "{json}");
    }
    let three = r#"{"name":"f","items":[{"old_text":"a"},{"old_text":"a"},{"old_text":"a"}]}"#;
    assert_eq!(problem(three), "items: it has more than 2 items; expected at most 2 in one call");
    let deep = format!(r#"{{"name":"f","items":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    assert_eq!(problem(&deep), "arguments: nested deeper than 128 levels; expected what the schema says");
}

#[test]
fn unfinished_json_is_a_wrong_value() {
    assert_eq!(problem(r#"{"name":"f""#), r#"arguments: {"name":"f" is wrong; expected an object"#);
    assert!(read::<List<String, 0, 9>>(r#"["a","#, LineBase::Zero).is_err());
    assert_eq!(super::name_as_sent(&"[".repeat(1_000)), None);
    let folders = FolderPaths::default();
    let options = options(LineBase::Zero, NamePolicy::Any, &folders);
    for (json, count) in
        [(r#"{"e":[1],"e":[1,{}]}"#, 2), (r#"{"e":"[1]"}"#, 1), ("{}", 0), ("{\"e\":1", 0), ("1", 0)]
    {
        assert_eq!(Value::arguments(json, options).unwrap().items_of("e"), count, "{json}");
    }
}

#[test]
fn a_type_around_another_has_its_words_and_schema() {
    fn words<T: Argument>() -> (String, String) {
        let mut schema = String::new();
        T::schema(&mut schema);
        (T::expected(), schema)
    }
    assert_eq!(words::<Option<Later<Text>>>(), words::<Text>());
    assert_eq!(words::<Later<Option<FilePath>>>(), words::<String>());
    assert_eq!(words::<Sort>().0, "one of path, size");
    assert_eq!(words::<All>().0, words::<Item>().0);
    let later: Later<Option<Text>> = read("7", LineBase::Zero).unwrap();
    assert!(later.0.is_err());
    assert!(matches!(Later::<Option<Text>>::absent(), Some(Later(Ok(None)))));
    assert!(Later::<Text>::absent().is_none());
}

#[test]
fn an_unknown_property_is_refused_with_the_one_that_was_meant() {
    let only = "unknown property; expected only name, line, items, sort, -A, flag";
    assert_eq!(problem(r#"{"nmae":"x"}"#), format!("nmae: {only}; did you mean name?"));
    assert_eq!(problem(r#"{"name":"f","zzz":1}"#), format!("zzz: {only}"));
    assert_eq!(
        problem(r#"{"name":"f","items":[{"old":"a"}]}"#),
        "items[0].old: unknown property; expected only old_text; did you mean old_text?"
    );
    assert_eq!(super::name_as_sent(r#"{"x":1,"file_path":"a"}"#).as_deref(), Some("a"));
    assert_eq!(super::name_as_sent(r#""{\"name\":\"a\"}""#).as_deref(), Some("a"));
    assert_eq!(super::name_as_sent("[1"), None);
}

#[test]
fn a_wrong_item_of_a_list_is_named_by_its_number() {
    let list = read::<List<String, 0, 9>>(r#"["a",1]"#, LineBase::Zero);
    let Err(Error::InvalidArguments { at, .. }) = list else { panic!("{list:?}") };
    assert_eq!((at.as_str(), StartLine::expected()), ("[1]", Line::expected()));
}

#[derive(Debug)]
struct NoCall;

impl Call for NoCall {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, _: OutputKinds, _: &Control) -> Result<Reply> {
        Ok(Reply::default())
    }
}

impl Request for All {
    fn into_call(self, _: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(NoCall))
    }
}

#[test]
fn what_a_tool_takes_is_parsed_and_described() {
    let takes = Takes::of::<All>();
    assert!(takes.schema().starts_with(r#"{"type":"object""#));
    let folders = FolderPaths::default();
    let (base, names) = (LineBase::Zero, NamePolicy::Portable);
    let options = ParseOptions {
        base,
        names,
        paths: false,
        folders: &folders,
        limit: None.into(),
        create_if_missing: true,
        offered: ToolNames::default(),
        author: &Arc::default(),
        handles: &Arc::default(),
    };
    assert!(takes.parse(r#"{"name":"f"}"#, options).is_ok_and(|call| call.file().is_none()));
    assert!(takes.parse("{}", options).is_err());
}
