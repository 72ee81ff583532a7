//! `read`: texts of files, or lines of them (contract 19).

use serde_json::{Map, json};

use super::span::ReadSpan;
use super::symbol;
use super::target::{Meant, Target, Targets};
use crate::tools::arguments::{Count, Line, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::near::{Advised, GlobInPath};
use crate::tools::page_call::PageCall;
use crate::tools::text_page::{Reader, TextForm, WantedText};
use crate::tools::texts_call::{TextsCall, TextsForm, WantedFile, wrong_path};
use crate::tools::{AnswerLimit, Call, Guide, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_cursor};
use engine::{LineRange, TextPart, Workspace};
use folder::{Control, Error, FilePath, Result, WalkOptions};
use text::encoding::EncodingChoice;

pub(crate) static TOOL: Tool = Tool {
    name: READER.tool,
    title: "Read Files",
    description: "Text of files, or of lines of them. Example: {\"paths\":[\"src/a.rs:120-180\",\"b.md\"]}",
    instructions: "",
    takes: Takes::of::<ReadArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// What goes on behind a page of a text.
const READER: Reader =
    Reader { tool: "read", key: "read", path: "path", lines: Some("lines"), tells_place: false };

/// How several texts are told.
const FORM: TextsForm = TextsForm {
    tool: READER.tool,
    reader: READER.tool,
    header: |path| format!("==> {path} <==\n"),
    separator: "\n",
    has_objects: false,
};

arguments! {
    struct ReadArguments {
        /// File, or src/a.rs:120-180
        path: Option<Targets<false>>,
        /// -
        paths as "paths" or "files" or "file_paths": Option<Targets<true>>,
        /// "120-180", "120-"
        lines as "lines" or "view_range" or "line_range" or "range": Option<ReadSpan>,
        /// Such as Store::get
        symbol: Option<String>,
        /// The last n lines
        tail: Option<Count>,
        /// -
        line_numbers: Option<bool>,
        /// -
        encoding: Option<EncodingChoice>,
        /// -
        cursor: Option<Cursor>,
        head: Option<Count>,
        start_line: Option<Line>,
        end_line: Option<Line>,
        offset: Option<Line>,
        limit: Option<Count>,
    }
}

/// A parsed call.
#[derive(Debug)]
struct Read {
    targets: Vec<Target>,
    /// All of them stand in `path`.
    is_path: bool,
    /// What is wanted of files whose paths have no lines.
    part: TextPart,
    /// The definition that is wanted of the only file.
    symbol: Option<String>,
    numbered: bool,
    encoding: EncodingChoice,
    cursor: Option<Cursor>,
    /// The arguments beside the paths, as they stand in the call that goes on.
    others: Map<String, serde_json::Value>,
    guide: Guide,
    limit: AnswerLimit,
}

impl Request for ReadArguments {
    fn into_call(mut self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let one = self.path.take().map_or(Vec::new(), |path| path.0);
        let several = self.paths.take().map_or(Vec::new(), |paths| paths.0);
        let is_path = several.is_empty();
        let targets: Vec<Target> = one.into_iter().chain(several).collect();
        let refuse =
            |at: &str, problem: &str| Error::InvalidArguments { at: at.into(), problem: problem.into() };
        if targets.is_empty() {
            return Err(refuse("path", "it is missing; expected the path of a file, or paths"));
        }
        if self.cursor.is_some() && targets.len() > 1 {
            return Err(refuse("cursor", "it belongs to the text of one file; give its path alone"));
        }
        let part = self.part()?;
        let symbol = self.symbol.take().filter(|symbol| !symbol.trim().is_empty() && self.cursor.is_none());
        if symbol.is_some() && (part != TextPart::Whole || targets.len() > 1) {
            return Err(refuse(
                "symbol",
                "it is one definition of one file; give its path alone, without lines or tail",
            ));
        }
        let (numbered, encoding) = (self.line_numbers.unwrap_or(false), self.encoding.unwrap_or_default());
        let others = others(part, numbered, encoding, options);
        let (cursor, guide, limit) = (self.cursor, options.guide(), options.limit);
        Ok(Box::new(Read {
            targets,
            is_path,
            part,
            symbol,
            numbered,
            encoding,
            cursor,
            others,
            guide,
            limit,
        }))
    }
}

impl ReadArguments {
    /// What is wanted of a text.
    fn part(&self) -> Result<TextPart> {
        let start = self.start_line.or(self.offset).map(|line| line.0);
        let end = match (self.end_line, self.limit) {
            (None, Some(limit)) => Some(start.unwrap_or(0).saturating_add(limit.0 - 1)),
            (end, _) => end.map(|line| line.0),
        };
        let range = LineRange { start, end };
        let head = self.head.map(|head| LineRange { start: None, end: Some(head.0 - 1) });
        let ways = [
            ("lines", self.lines.and_then(|lines| lines.0).map(TextPart::Lines)),
            ("tail", self.tail.map(|tail| TextPart::LastLines(tail.0))),
            ("head", head.map(TextPart::Lines)),
            ("start_line, end_line, offset, limit", (!range.is_whole()).then_some(TextPart::Lines(range))),
            ("cursor", self.cursor.as_ref().map(|_| TextPart::Whole)),
        ];
        let given: Vec<_> = ways.iter().filter_map(|(name, part)| Some((*name, (*part)?))).collect();
        match given[..] {
            // Beside another part, it is a value that a model filled in.
            [] if self.lines.is_some() => Err(Error::NegativeLine),
            [] => Ok(TextPart::Whole),
            [(_, part)] => Ok(part),
            _ => {
                let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
                let problem = format!("they exclude each other; expected one of {}", names.join("; "));
                Err(Error::InvalidArguments { at: names.join(" and "), problem })
            }
        }
    }
}

fn others(
    part: TextPart,
    numbered: bool,
    encoding: EncodingChoice,
    options: ParseOptions,
) -> Map<String, serde_json::Value> {
    let mut others = Map::new();
    match part {
        TextPart::Lines(LineRange { start, end }) => {
            let line = |line: u64| line.saturating_add(options.base.first());
            let end = end.map_or(String::new(), |end| line(end).to_string());
            others.insert("lines".into(), json!(format!("{}-{end}", line(start.unwrap_or(0)))));
        }
        TextPart::LastLines(count) => _ = others.insert("tail".into(), json!(count)),
        _ => {}
    }
    if numbered {
        others.insert("line_numbers".into(), json!(true));
    }
    if encoding != EncodingChoice::default() {
        others.insert("encoding".into(), json!(encoding.name()));
    }
    others
}

impl Call for Read {
    fn file(&self) -> Option<&FilePath> {
        self.targets.first().and_then(|target| target.paths().next())
    }

    fn other_files(&self) -> Vec<&FilePath> {
        self.targets.iter().flat_map(Target::paths).skip(1).collect()
    }

    fn memory(&self) -> usize {
        if self.symbol.is_some() { memory::ANALYSIS } else { 0 }
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let mut files = Vec::new();
        self.targets.iter().for_each(|target| target.meant(workspace, &mut files));
        if let [file] = &files[..] {
            let path = file.path.map_err(wrong_path)?;
            self.check_lines(file)?;
            let file = &self.with_symbol(file, path, workspace, control)?;
            let (base, limit, cursor) = (self.guide.base, self.limit, self.cursor.as_ref());
            let call = PageCall { path, wanted: self.wanted(file)?, cursor, base, limit };
            return match call.reply(workspace, wanted, control) {
                Err(error @ Error::NotFound { .. }) => {
                    Err(self.glob_in_path(path, workspace, control)?.unwrap_or(error))
                }
                reply => reply,
            };
        }
        if self.symbol.is_some() {
            let problem = "it is one definition of one file; give its path alone".into();
            return Err(Error::InvalidArguments { at: "symbol".into(), problem });
        }
        let files = files.iter().map(|file| self.wanted_file(file)).collect::<Result<Vec<_>>>()?;
        let (others, guide, limit) = (&self.others, self.guide, self.limit);
        TextsCall { files: &files, form: &FORM, others, guide, limit }.reply(workspace, wanted, control)
    }
}

impl Read {
    /// The file with the lines of the definition that is wanted.
    fn with_symbol<'t>(
        &self,
        file: &Meant<'t>,
        path: &FilePath,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Meant<'t>> {
        let lines = match &self.symbol {
            None => file.lines,
            Some(_) if file.lines.is_some() => {
                let problem = format!("'{}' has lines, too; give the path without them", file.sent);
                return Err(Error::InvalidArguments { at: "symbol".into(), problem });
            }
            Some(symbol) => {
                let span = symbol::in_file(workspace, path, symbol, control)?;
                Some(LineRange { start: Some(span.first), end: Some(span.last) })
            }
        };
        Ok(Meant { lines, ..*file })
    }

    /// The error for a path that does not exist, if it is a glob and files match.
    fn glob_in_path(
        &self,
        path: &FilePath,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<Error>> {
        if !self.guide.offered.has(super::files::TOOL.name) {
            return Ok(None);
        }
        // As `files` walks.
        let options =
            |_: &str| WalkOptions { skip_ignored: true, skip_hidden: true, ..WalkOptions::default() };
        let advised = Advised { options: &options, ..Advised::OF_FILES };
        let found = GlobInPath::find(path, &[""], &advised, workspace, control)?;
        Ok(found.map(|found| {
            let call = json!({ "path": found.folder, "pattern": format!("./{}", found.glob) });
            let example = found.example().map_or(String::new(), |example| format!(", such as {example}"));
            found.error(format!("{} {call}{example}", super::files::TOOL.name))
        }))
    }

    /// Refuses a part of a text beside other lines of it in `path`. Beside `paths`, it is that of the files without lines.
    fn check_lines(&self, file: &Meant) -> Result<()> {
        let is_other = self.part != TextPart::Whole
            && file.lines.is_some_and(|lines| self.part != TextPart::Lines(lines));
        if !self.is_path || !is_other {
            return Ok(());
        }
        let other = if matches!(self.part, TextPart::LastLines(_)) { "tail" } else { "lines" };
        let problem = format!(
            "'{}' has lines, too, and they exclude each other; expected the path without lines, or no {other}",
            file.sent
        );
        Err(Error::InvalidArguments { at: format!("path and {other}"), problem })
    }

    fn wanted(&self, file: &Meant) -> Result<WantedText> {
        if let Some(cursor) = &self.cursor {
            return WantedText::at(&cursor.after, self.encoding, READER).ok_or_else(wrong_cursor);
        }
        let part = file.lines.map_or(self.part, TextPart::Lines);
        let form = match part {
            _ if self.numbered => TextForm::Numbered,
            TextPart::Whole => TextForm::AsIs,
            _ => TextForm::Lines,
        };
        let part = if part == TextPart::Whole && self.numbered {
            TextPart::Lines(LineRange::default())
        } else {
            part
        };
        Ok(WantedText { part, form, encoding: self.encoding, reader: READER })
    }

    fn wanted_file(&self, file: &Meant) -> Result<WantedFile> {
        let first = self.guide.base.first();
        let again = match file.lines {
            Some(LineRange { start, end }) if !file.has_lines => {
                let start = start.unwrap_or(0).saturating_add(first);
                let end = end.map_or(u64::MAX, |end| end.saturating_add(first));
                json!(format!("{}:{start}-{end}", file.sent))
            }
            _ => json!(file.sent),
        };
        let path = file.path.cloned().map_err(wrong_path);
        Ok(WantedFile { sent: file.sent.into(), path, wanted: self.wanted(file)?, again })
    }
}
