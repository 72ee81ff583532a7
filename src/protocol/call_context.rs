//! Writes the answer to a call, in the form of the interface that received the call.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use super::answer::{Answer, OnMismatch, StreamObserver};
use super::encoder::Encoding;
use super::failure::{
    Category, ErrorKind, INTERNAL, error_data, failure_code, for_the_log, kind, problems_data,
    resource_refusal, rest_error, with_problems,
};
use super::report::{LoggedFailure, Report};
use super::result_frame::{self, Asked, CacheScope};
use super::rpc::{self, Id, Refusal, code};
use crate::tools::sets::Codes;
use crate::tools::{ErrorText, Guide, OutputKinds, Reply};
use folder::{Caller, Error};
use text::escape::{Breaks, escape_str};

/// A text of more bytes than this is escaped when it is sent.
const LONG_TEXT: usize = 8 * 1024;

/// The interface that received the call. It decides the form of the answer.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// `tools/call`.
    Tool {
        asked: Asked,
        /// Whether the result also has structured data.
        structured: bool,
    },
    /// `POST /tools/{name}`: a tool result without a message around it.
    Posted {
        /// Whether the result also has structured data.
        structured: bool,
    },
    /// `resources/list`, or `resources/read` with its URI.
    Resource { asked: Asked, uri: Option<String> },
    /// A direct JSON-RPC method.
    Direct { asked: Asked },
    /// A REST path.
    Rest,
}

/// The data of a call that its answer needs.
#[derive(Debug, Clone)]
pub(super) struct CallContext {
    pub(super) form: Form,
    /// The tool's name.
    pub(super) operation: &'static str,
    /// The file's name as sent, if any.
    pub(super) file: Option<String>,
    /// Whether the call changes its file.
    pub(super) writes: bool,
    /// As whose its changes are recorded, if they are.
    pub(super) caller: Option<Arc<Caller>>,
    /// What the text of an error may refer to.
    pub(super) guide: Guide,
    /// `--timeout` in seconds, for its error text.
    pub(super) timeout: u64,
    /// Which codes failures have that are not those of the arguments.
    pub(super) codes: Codes,
    /// The clock for the time in an error of REST or of a direct method.
    pub(super) clock: fn() -> SystemTime,
}

impl CallContext {
    /// The request; `None` where it has no message.
    pub(super) fn asked(&self) -> Option<&Asked> {
        match &self.form {
            Form::Tool { asked, .. } | Form::Resource { asked, .. } | Form::Direct { asked } => Some(asked),
            Form::Posted { .. } | Form::Rest => None,
        }
    }

    /// The target of the call: a file or a resource.
    pub(super) fn target(&self) -> Option<&str> {
        match &self.form {
            Form::Resource { uri, .. } => uri.as_deref(),
            _ => self.file.as_deref(),
        }
    }

    pub(super) fn output_kinds(&self) -> OutputKinds {
        match self.form {
            Form::Tool { structured, .. } | Form::Posted { structured } => {
                OutputKinds { text: true, data: structured }
            }
            Form::Resource { .. } | Form::Direct { .. } | Form::Rest => {
                OutputKinds { text: false, data: true }
            }
        }
    }

    /// The answer to a call that returned a reply: a success, or a failure that the tool describes itself.
    pub(super) fn reply(&self, reply: Reply, observer: Arc<dyn StreamObserver>) -> Answer {
        match (&self.form, &reply.failure) {
            (_, None) => self.success(reply, observer),
            (Form::Tool { .. } | Form::Posted { .. }, Some(error)) => {
                let report = self.report(error);
                self.tool_result(reply, observer).reported(report)
            }
            // The data of a failure has one text, so the explanation is in it.
            (_, Some(error)) if matches!(**error, Error::Unmatched(_)) => {
                let words = ErrorText { hint: Some(reply.text), ..self.words(error) };
                self.error(error, words).reported(self.report(error))
            }
            (_, Some(error)) if matches!(**error, Error::NotFound { .. }) => {
                let hint = reply.text.split_once('\n').map(|(_, hint)| hint.to_owned());
                self.error(error, ErrorText { hint, ..self.words(error) }).reported(self.report(error))
            }
            (_, Some(error)) => self.failure(error),
        }
    }

    fn success(&self, reply: Reply, observer: Arc<dyn StreamObserver>) -> Answer {
        match &self.form {
            Form::Tool { .. } | Form::Posted { .. } => self.tool_result(reply, observer),
            Form::Resource { asked, .. } => self.resource(asked, reply, observer),
            Form::Direct { asked } => {
                let streamed = reply.excerpt.is_some();
                let answer = object(rpc::result_head(&asked.id), reply, b"}", observer);
                if streamed { self.checked(answer) } else { answer }
            }
            Form::Rest => object(Vec::new(), reply, b"", observer),
        }
    }

    /// The whole answer, checked before its first byte is sent, because this form has no field for a later
    /// failure.
    fn checked(&self, answer: Answer) -> Answer {
        if switches::is_off("answer-checked") {
            return answer;
        }
        match answer.collect() {
            Some(bytes) => Answer::ready(200, bytes),
            // The observer has logged it.
            None => self.error(&self.changed(), self.words(&self.changed())),
        }
    }

    /// The members of a list, or a file's text with its own line breaks.
    fn resource(&self, asked: &Asked, reply: Reply, observer: Arc<dyn StreamObserver>) -> Answer {
        let Some(excerpt) = reply.excerpt else {
            return Answer::ready(200, result_frame::whole(asked, CacheScope::Private, reply.data.as_str()));
        };
        let mut head = result_frame::open(asked, CacheScope::Private);
        head.extend_from_slice(br#""contents":[{"#);
        head.extend_from_slice(reply.data.as_str().as_bytes());
        head.extend_from_slice(br#","text":""#);
        let then = [&br#""}]"#[..], result_frame::CLOSE].concat();
        let answer =
            Answer::streamed(head, excerpt, Encoding::Text(Breaks::Kept), then, OnMismatch::Cut, observer);
        if asked.can_cut { answer } else { self.checked(answer) }
    }

    /// The start of a tool result with these members of `_meta`, and the end of its message.
    fn result_frame(&self, meta: &str) -> (Vec<u8>, &'static [u8]) {
        match &self.form {
            Form::Tool { asked, .. } => {
                (result_frame::open_with(asked, CacheScope::Unsaid, meta), result_frame::CLOSE)
            }
            _ if meta.is_empty() => (b"{".to_vec(), b"}"),
            _ => (["{", &result_frame::plain_meta(meta), ","].concat().into_bytes(), b"}"),
        }
    }

    /// The HTTP status of a tool result. A message of MCP has 200 also if the call failed.
    fn result_status(&self, failure: Option<&Error>) -> u16 {
        match (&self.form, failure) {
            (Form::Posted { .. }, Some(error)) => kind(error).status,
            _ => 200,
        }
    }

    fn tool_result(&self, mut reply: Reply, observer: Arc<dyn StreamObserver>) -> Answer {
        let status = self.result_status(reply.failure.as_deref());
        let (mut head, close) = self.result_frame(reply.meta.as_str());
        let is_long = reply.text.len() > LONG_TEXT && reply.excerpt.is_none() && reply.items.is_none();
        let long = if is_long { std::mem::take(&mut reply.text) } else { String::new() };
        head.reserve(reply.text.len() + reply.text.len() / 8 + 64);
        head.extend_from_slice(br#""content":["#);
        let mut then = Vec::new();
        if let Some(media) = &reply.media {
            head.extend_from_slice(media.before.as_bytes());
            then.extend_from_slice(media.after.as_bytes());
        } else if let Some(items) = &reply.items {
            head.extend_from_slice(items.as_bytes());
        } else {
            head.extend_from_slice(br#"{"type":"text","text":""#);
            escape_str(&reply.text, &mut head);
            escape_str(&reply.after, &mut then);
            then.extend_from_slice(br#""}"#);
        }
        end_content(&reply, &mut then);
        self.write_members(&reply, reply.failure.is_some(), &mut then);
        then.extend_from_slice(close);
        match reply.excerpt {
            None if is_long => Answer::text(status, head, long, then),
            None => {
                head.append(&mut then);
                Answer::ready(status, head)
            }
            Some(excerpt) => {
                let encoding = match reply.keeps_breaks {
                    _ if reply.media.is_some() => Encoding::Base64,
                    true => Encoding::Text(Breaks::Kept),
                    false => Encoding::Text(Breaks::AsLf),
                };
                let item_end = reply.media.map_or(Cow::Borrowed(r#""}"#), |media| media.after.into());
                Answer::streamed(head, excerpt, encoding, then, OnMismatch::Say(item_end), observer)
            }
        }
    }

    /// Writes the members of a tool result behind its content.
    pub(super) fn write_members(&self, reply: &Reply, is_error: bool, out: &mut Vec<u8>) {
        // File text is sent once: an excerpt has no structured form.
        if self.output_kinds().data && reply.excerpt.is_none() && !reply.data.as_str().is_empty() {
            reply.data.write_member("structuredContent", out);
        }
        if let Some(error) = &reply.failure {
            self.write_code(error, out);
        }
        if let Some(metadata) = &reply.metadata {
            metadata.write_member("metadata", out);
        }
        let is_error: &[u8] = if is_error { br#""isError":true"# } else { br#""isError":false"# };
        out.extend_from_slice(is_error);
    }

    /// Writes the member `error` beside the content of a posted call, if the tool's set has one (contract 15, 16).
    fn write_code(&self, error: &Error, out: &mut Vec<u8>) {
        if matches!(self.form, Form::Posted { .. }) && self.codes != Codes::Files {
            out.extend_from_slice(br#""error":"#);
            let data = problems_data(error);
            rpc::write_error(self.kind(error).code, &self.words(error).message, data.as_deref(), out);
            out.push(b',');
        }
    }

    /// A tool result that is only the text of a failure.
    fn failed_result(&self, status: u16, text: &str, error: Option<&Error>) -> Answer {
        let (mut out, close) = self.result_frame("");
        out.extend_from_slice(br#""content":[{"type":"text","text":""#);
        escape_str(text, &mut out);
        out.extend_from_slice(br#""}],"#);
        error.into_iter().for_each(|error| self.write_code(error, &mut out));
        out.extend_from_slice(br#""isError":true"#);
        out.extend_from_slice(close);
        Answer::ready(status, out)
    }

    /// The error of a call whose file changed while it was read.
    pub(super) fn changed(&self) -> Error {
        Error::Changed { name: self.target().unwrap_or_default().into() }
    }

    /// What follows an excerpt's item in a tool result if the file has changed: an item that says so, and the end.
    pub(super) fn changed_end(&self) -> Vec<u8> {
        let mut end = br#",{"type":"text","text":""#.to_vec();
        escape_str(&self.words(&self.changed()).text(), &mut end);
        end.extend_from_slice(br#""}],"isError":true"#);
        end.extend_from_slice(self.result_frame("").1);
        end
    }

    pub(super) fn words(&self, error: &Error) -> ErrorText {
        ErrorText::of(error, self.guide, self.timeout)
    }

    /// The answer to a call that failed.
    pub(super) fn failure(&self, error: &Error) -> Answer {
        self.error(error, self.words(error)).reported(self.report(error))
    }

    /// The error's classes, with the code that the tool's set has for it.
    fn kind(&self, error: &Error) -> ErrorKind {
        let kind = kind(error);
        let is_of_tool = matches!(error, Error::OfTool(_));
        let is_of_files = kind.code == code::FILE_SYSTEM && !is_of_tool;
        let code = if is_of_files { failure_code(self.codes) } else { kind.code };
        ErrorKind { code, ..kind }
    }

    /// The log entry for `error`.
    pub(super) fn report(&self, error: &Error) -> Report {
        let ErrorKind { code, category, name, .. } = self.kind(error);
        let words = self.words(error);
        self.failed(code, category, name, &for_the_log(error, &words.message))
    }

    fn failed(&self, code: i32, category: Category, kind: &'static str, message: &str) -> Report {
        let id = self.asked().map_or("", |asked| asked.id.as_json()).to_owned();
        let failure = LoggedFailure { id, code, category, kind, message: message.into() };
        Report::Failed { operation: self.operation, target: self.target().map(str::to_owned), failure }
    }

    fn error(&self, error: &Error, words: ErrorText) -> Answer {
        let ErrorKind { code, status, .. } = self.kind(error);
        match &self.form {
            Form::Tool { .. } | Form::Posted { .. } => {
                self.failed_result(self.result_status(Some(error)), &words.text(), Some(error))
            }
            Form::Resource { asked, uri } => {
                Answer::ready(200, resource_refusal(asked, uri.as_deref(), error, words).to_json())
            }
            Form::Direct { asked } => {
                Answer::ready(200, self.refusal(asked.id.clone(), code, error, words).to_json())
            }
            Form::Rest => Answer::ready(status, rest_error(&self.refusal(Id::null(), code, error, words))),
        }
    }

    fn refusal(&self, id: Id, code: i32, error: &Error, words: ErrorText) -> Refusal {
        let details = words.hint.as_deref().unwrap_or(&words.message);
        let data = error_data(self.file.as_deref(), self.operation, details, (self.clock)());
        let data = with_problems(data, error);
        Refusal { id, code, message: words.message, data: Some(data) }
    }

    /// The answer to a call that the server could not run, for the reason `why`.
    pub(super) fn refused(&self, why: &str) -> Answer {
        let id = self.asked().map_or_else(Id::null, |asked| asked.id.clone());
        let refusal = Refusal::new(id, code::INTERNAL_ERROR, why);
        let answer = match self.form {
            Form::Rest => Answer::ready(500, rest_error(&refusal)),
            Form::Posted { .. } => self.failed_result(500, &format!("Error: {why}"), None),
            _ => Answer::ready(200, refusal.to_json()),
        };
        answer.reported(self.failed(code::INTERNAL_ERROR, Category::Server, INTERNAL, why))
    }
}

/// Writes what stands behind the last item of a tool result's content: the note, and the end.
pub(super) fn end_content(reply: &Reply, out: &mut Vec<u8>) {
    if let Some(note) = &reply.note {
        out.extend_from_slice(br#",{"type":"text","text":""#);
        escape_str(note, out);
        out.extend_from_slice(br#""}"#);
    }
    out.extend_from_slice(b"],");
}

/// `head`, the reply's data as a JSON object, and `tail`. An excerpt becomes the object's first member, `content`, and has
/// others behind it.
fn object(mut head: Vec<u8>, reply: Reply, tail: &[u8], observer: Arc<dyn StreamObserver>) -> Answer {
    let data = reply.data.as_str().as_bytes();
    let Some(excerpt) = reply.excerpt else {
        return Answer::ready(200, [&head, &b"{"[..], data, b"}", tail].concat());
    };
    head.extend_from_slice(br#"{"content":""#);
    let then = [br#"","#, data, b"}", tail].concat();
    let breaks = if reply.keeps_breaks { Breaks::Kept } else { Breaks::AsLf };
    Answer::streamed(head, excerpt, Encoding::Text(breaks), then, OnMismatch::Cut, observer)
}
