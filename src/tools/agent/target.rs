//! Files to read as a call names them: a path, which may carry lines as `grep` prints them (`src/a.rs:120-180`), or several.

use crate::tools::agent::span::ReadSpan;
use crate::tools::arguments::{Argument, Line, Value, arguments, is_empty_list, is_object};
use crate::tools::{LineBase, ParseOptions};
use engine::{LineRange, Workspace};
use folder::{Error, FilePath, Result, bare_paths, before_lines};
use serde_json::json;

/// Most readings of one path that ends in lines: `a:12:5` has two.
const MAX_READINGS: usize = 3;

/// Maximum number of files in one call.
const MAX_FILES: usize = 1_000;

/// Files of a call. `LIST`: as a list in the schema, else as one path. Both take both.
#[derive(Debug)]
pub(super) struct Targets<const LIST: bool>(pub(super) Vec<Target>);

/// One file, or what may be several in one string.
#[derive(Debug)]
pub(super) struct Target {
    /// As it was sent.
    pub(super) sent: String,
    path: Result<FilePath>,
    /// What stands before its lines as it is, the longest first.
    before: Vec<Reading>,
    /// The same without what a text has around a path.
    bare: Option<Reading>,
    /// The paths that it holds if it is none.
    parts: Vec<Target>,
    /// Lines that stand beside the path.
    lines: Option<LineRange>,
}

/// A file, and its lines if they can be read.
#[derive(Debug)]
struct Reading {
    path: FilePath,
    lines: Result<LineRange>,
}

/// A file, and its lines.
#[derive(Debug)]
pub(super) struct Meant<'t> {
    pub(super) sent: &'t str,
    pub(super) path: Result<&'t FilePath, &'t Error>,
    pub(super) lines: Option<LineRange>,
    /// Whether `sent` has the lines.
    pub(super) has_lines: bool,
}

arguments! {
    struct Ranged {
        /// File
        path: String,
        lines as "lines" or "view_range" or "line_range" or "range": Option<ReadSpan>,
        start_line: Option<Line>,
        end_line: Option<Line>,
    }
}

impl<const LIST: bool> Argument for Targets<LIST> {
    fn expected() -> String {
        "a path, or a list of paths".into()
    }

    fn schema(out: &mut String) {
        out.push_str(if LIST { r#""type":"array","items":{"type":"string"}"# } else { r#""type":"string""# });
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_list(value)
    }

    fn read(value: &Value) -> Result<Self> {
        let is_array = value.json().starts_with('[') || value.items("", &mut |_, _| Ok(())).is_ok();
        if !is_array {
            let target = Target::read(value)?;
            let parts = if LIST { parts(&target.sent, value.options()) } else { Vec::new() };
            return Ok(Targets(vec![Target { parts, ..target }]));
        }
        let mut targets = Vec::new();
        value.items(&Self::expected(), &mut |_, item| {
            targets.push(Target::read(&item)?);
            Ok(())
        })?;
        if targets.len() > MAX_FILES {
            return Err(
                value.refuse(format!("it has more than {MAX_FILES} files; read them in several calls"))
            );
        }
        Ok(Targets(targets))
    }
}

impl Target {
    fn read(value: &Value) -> Result<Target> {
        if is_object(value.json()) {
            let Ranged { path, lines, start_line, end_line } = Ranged::read(value)?;
            let range = LineRange { start: start_line.map(|line| line.0), end: end_line.map(|line| line.0) };
            let lines = lines.and_then(|lines| lines.0).or((!range.is_whole()).then_some(range));
            return Ok(Target { lines, ..Target::parse(path, value.options()) });
        }
        Ok(Target::parse(value.string()?, value.options()))
    }

    fn parse(sent: String, options: ParseOptions) -> Target {
        let path = options.path(&sent);
        let reading = |path: &str, lines| Some(Reading { path: options.path(path).ok()?, lines });
        let mut before: Vec<Reading> =
            several_ranges(&sent).and_then(|(path, problem)| reading(path, problem)).into_iter().collect();
        let (closed, is_open) = match sent.strip_suffix('-') {
            Some(closed) if before_lines(closed).next().is_some_and(|(_, lines)| is_one(lines)) => {
                (closed, true)
            }
            _ => (&*sent, false),
        };
        let ranges = before_lines(closed).take(MAX_READINGS).enumerate();
        before.extend(ranges.filter_map(|(nth, (path, lines))| {
            let lines = range(lines?, is_open && nth == 0, options.base);
            reading(path, lines)
        }));
        let bare = bare_paths(&sent)
            .into_iter()
            .find_map(|(path, lines)| reading(path, range(lines?, false, options.base)));
        Target { sent, path, before, bare, parts: Vec::new(), lines: None }
    }

    /// The paths that it may mean as one.
    fn own_paths(&self) -> impl Iterator<Item = &FilePath> {
        self.path.iter().chain(self.before.iter().chain(&self.bare).map(|reading| &reading.path))
    }

    /// The paths that it may mean.
    pub(super) fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.own_paths().chain(self.parts.iter().flat_map(Target::own_paths))
    }

    /// The files that it means: that of the very name, else that before its lines, else several, else that without what a text has around it.
    pub(super) fn meant<'t>(&'t self, workspace: &Workspace, files: &mut Vec<Meant<'t>>) {
        let is_there = |path: &FilePath| workspace.info(path).is_ok();
        let own = Meant { sent: &self.sent, path: self.path.as_ref(), lines: self.lines, has_lines: false };
        let before = self.before.iter().find(|reading| is_there(&reading.path));
        let bare = || self.bare.as_ref().filter(|bare| is_there(&bare.path));
        if !switches::is_off("read-own-name") && self.path.as_ref().is_ok_and(is_there) {
            files.push(own);
        } else if let Some(before) = before.filter(|_| !switches::is_off("read-before-lines")) {
            files.push(before.meant(own));
        } else if self.parts.iter().any(|part| part.own_paths().any(is_there)) {
            self.parts.iter().for_each(|part| part.meant(workspace, files));
        } else if let Some(reading) = bare().or(self.before.last()).or(self.bare.as_ref()) {
            files.push(reading.meant(own));
        } else {
            files.push(own);
        }
    }
}

impl Reading {
    fn meant<'t>(&'t self, own: Meant<'t>) -> Meant<'t> {
        match &self.lines {
            Ok(lines) => Meant { path: Ok(&self.path), lines: Some(*lines), has_lines: true, ..own },
            Err(problem) => Meant { path: Err(problem), has_lines: true, ..own },
        }
    }
}

/// The paths in a text, between commas, blanks or line breaks: none if there is only one.
fn parts(text: &str, options: ParseOptions) -> Vec<Target> {
    let parts = text.split([',', '\n', ' ']).filter(|part| !part.is_empty());
    let parts: Vec<Target> = parts.map(|part| Target::parse(part.into(), options)).collect();
    if (2..=MAX_FILES).contains(&parts.len()) { parts } else { Vec::new() }
}

/// The lines that a path carries, as the engine counts them. `is_open`: to the end.
fn range((first, last): (u64, u64), is_open: bool, base: LineBase) -> Result<LineRange> {
    let line = |line: u64| line.checked_sub(base.first()).ok_or(Error::NegativeLine);
    Ok(LineRange { start: Some(line(first)?), end: if is_open { None } else { Some(line(last)?) } })
}

fn is_one(lines: Option<(u64, u64)>) -> bool {
    lines.is_some_and(|(first, last)| first == last)
}

/// What stands before several ranges of lines behind a path, which are one too many, and what to send.
fn several_ranges(sent: &str) -> Option<(&str, Result<LineRange>)> {
    let (before, rest) = sent.split_once(',')?;
    let (path, _) = before_lines(before).next()?;
    let named = |range: &str| format!("{path}:{}", range.trim());
    let rest: Vec<String> = rest.split(',').map(named).collect();
    if rest.iter().any(|one| before_lines(one).next().is_none_or(|(of, _)| of != path)) {
        return None;
    }
    let paths: Vec<String> = [before.to_owned()].into_iter().chain(rest).collect();
    let problem = format!(
        "'{sent}' has several ranges of lines; expected one behind a path: {}",
        json!({ "paths": paths })
    );
    Some((path, Err(Error::InvalidArguments { at: "path".into(), problem })))
}
