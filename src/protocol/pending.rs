//! A call between its request and its answer: what to run, and how to say what came of it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::answer::{Answer, OnMismatch, StreamObserver};
use super::call_log::CallInfo;
use super::escape::{Breaks, escape_str};
use super::failure::{Category, Kind, error_data, for_the_log, kind, resource_refusal, rest_error};
use super::result_frame::{self, Asked, Keep};
use super::rpc::{self, Id, Refusal, code};
use crate::engine::{Control, Error, Excerpt, FileStamp, Result, Workspace};
use crate::tools::{self, Call, Failure, LineBase, OutputKinds, Reply};

/// The interface that a call came by, and with it the form of the answer.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// `tools/call`.
    Tool {
        asked: Asked,
        /// Whether the data goes beside the text.
        structured: bool,
    },
    /// `resources/list` and `resources/read`; the URI asked for in the latter.
    Resource { asked: Asked, uri: Option<String> },
    /// A direct JSON-RPC method.
    Direct { asked: Asked },
    /// A REST path.
    Rest { received: Instant },
}

/// What is said where the answers of batches hold as much as they may.
pub const NO_ROOM: &str = "The server holds as many answers of batches as it can; try again";

/// See the module.
#[derive(Debug)]
pub struct Pending {
    call: Box<dyn Call>,
    /// Shared with an answer that is still on its way.
    about: Arc<About>,
    /// The state of the file that was read, if one was.
    read: OnceLock<FileStamp>,
}

/// What an answer needs to know of its call.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) form: Form,
    /// The tool's name.
    pub(super) operation: &'static str,
    /// The file's name as sent, if one was.
    pub(super) file: Option<String>,
    /// `--timeout`, for its error text.
    pub(super) timeout: u64,
}

impl Pending {
    pub(super) fn new(call: Box<dyn Call>, about: About) -> Pending {
        Pending { call, about: Arc::new(about), read: OnceLock::new() }
    }

    /// The file that the call works on: calls on one file are carried out in the order in which they came.
    pub fn file(&self) -> Option<&str> {
        self.call.file().map(|name| name.as_str())
    }

    /// Whether the call changes its file, and so may have to wait for a lock.
    pub fn writes(&self) -> bool {
        tools::find(self.about.operation).is_some_and(|tool| tool.writes)
    }

    /// Whether a client that goes away takes its request back: in stateless revisions only, because a client of the
    /// others may have lost its connection and want the work done all the same.
    pub fn ends_with_its_client(&self) -> bool {
        match &self.about.form {
            Form::Tool { asked, .. } | Form::Resource { asked, .. } => asked.revision.is_stateless(),
            Form::Direct { .. } | Form::Rest { .. } => false,
        }
    }

    /// The request's id; none in REST.
    pub fn id(&self) -> Option<&Id> {
        self.about.asked().map(|asked| &asked.id)
    }

    /// Carries the call out; may wait for disks and locks.
    pub fn run(&self, workspace: &Workspace, control: &Control) -> Result<Reply> {
        let reply = self.call.run(workspace, self.about.wanted(), control)?;
        if let Some(excerpt) = &reply.excerpt {
            // The first time counts.
            let _ = self.read.set(*excerpt.stamp());
        }
        Ok(reply)
    }

    /// The answer to a call that changes nothing, carried out once more because its first answer could not be kept. If
    /// its file is no longer as it was then, the answer says so.
    pub fn answer_again(&self, workspace: &Workspace, control: &Control) -> Answer {
        let reply = match self.run(workspace, control) {
            Ok(reply) => reply,
            Err(error) => return self.about.failure(&error),
        };
        let same = |excerpt: &Excerpt| self.read.get().is_some_and(|read| read.same_content(excerpt.stamp()));
        match &reply.excerpt {
            Some(excerpt) if !same(excerpt) => self.about.failure(&self.about.changed()),
            _ => self.about.success(reply),
        }
    }

    /// Carries the call out if that takes no waiting.
    pub fn run_at_once(&self, workspace: &Workspace) -> Option<Result<Reply>> {
        self.call.run_at_once(workspace, self.about.wanted())
    }

    /// The answer to what came of the call.
    pub fn answer(&self, result: Result<Reply>) -> Answer {
        match result {
            Ok(reply) if reply.failure.is_some() => self.about.told_failure(reply),
            Ok(reply) => {
                self.about.subject().succeeded();
                self.about.success(reply)
            }
            Err(error) => self.about.failure(&error),
        }
    }

    /// The answer to a call that did not get at its file in time.
    pub fn locked(&self) -> Answer {
        let locked = |name: &str| Error::Locked { name: name.to_owned() };
        self.answer(Err(self.file().map_or(Error::TimedOut, locked)))
    }

    /// The answer to a call that ran into a fault of ours.
    pub fn panicked(&self) -> Answer {
        self.refused("Internal error")
    }

    /// The answer to a call that was not carried out, as there would be no room for its answer.
    pub fn no_room(&self) -> Answer {
        self.refused(NO_ROOM)
    }

    fn refused(&self, why: &str) -> Answer {
        self.about.subject().failed(code::INTERNAL_ERROR, Category::Server, why);
        let id = self.id().cloned().unwrap_or_else(Id::null);
        let refusal = Refusal::new(id, code::INTERNAL_ERROR, why);
        match self.about.form {
            Form::Rest { .. } => Answer::ready(500, rest_error(&refusal)),
            _ => Answer::ready(200, refusal.to_json()),
        }
    }
}

impl About {
    /// The request; none in REST.
    fn asked(&self) -> Option<&Asked> {
        match &self.form {
            Form::Tool { asked, .. } | Form::Resource { asked, .. } | Form::Direct { asked } => Some(asked),
            Form::Rest { .. } => None,
        }
    }

    /// What the call works on: a file, or a resource.
    fn target(&self) -> Option<&str> {
        match &self.form {
            Form::Resource { uri, .. } => uri.as_deref(),
            _ => self.file.as_deref(),
        }
    }

    fn subject(&self) -> CallInfo<'_> {
        let received = match &self.form {
            Form::Tool { asked, .. } | Form::Resource { asked, .. } | Form::Direct { asked } => {
                asked.received
            }
            Form::Rest { received } => *received,
        };
        CallInfo {
            operation: self.operation,
            file: self.target(),
            id: self.asked().map_or("", |asked| asked.id.as_json()),
            took: received.elapsed(),
        }
    }

    fn wanted(&self) -> OutputKinds {
        match self.form {
            Form::Tool { structured, .. } => OutputKinds { text: true, data: structured },
            Form::Resource { .. } | Form::Direct { .. } | Form::Rest { .. } => {
                OutputKinds { text: false, data: true }
            }
        }
    }

    fn base(&self) -> LineBase {
        match self.form {
            Form::Tool { .. } | Form::Resource { .. } => LineBase::Zero,
            Form::Direct { .. } | Form::Rest { .. } => LineBase::One,
        }
    }

    fn success(self: &Arc<About>, reply: Reply) -> Answer {
        match &self.form {
            Form::Tool { asked, structured } => self.tool_result(asked, *structured, reply),
            Form::Resource { asked, .. } => self.resource(asked, reply),
            Form::Direct { asked } => match with_content(rpc::result_head(&asked.id), reply) {
                (head, None) => Answer::ready(200, [head, b"}".to_vec()].concat()),
                (head, Some((excerpt, then))) => {
                    let then = [&then[..], b"}"].concat();
                    self.checked(self.streamed(head, excerpt, Breaks::AsLf, then, OnMismatch::Cut))
                }
            },
            Form::Rest { .. } => match with_content(Vec::new(), reply) {
                (head, None) => Answer::ready(200, head),
                (head, Some((excerpt, then))) => {
                    self.streamed(head, excerpt, Breaks::AsLf, then, OnMismatch::Cut)
                }
            },
        }
    }

    /// An answer that has no place to say that it failed half way, checked before its first byte goes out.
    fn checked(&self, answer: Answer) -> Answer {
        match answer.collect() {
            Some(bytes) => Answer::ready(200, bytes),
            // It has been logged when that came out.
            None => self.say(&self.changed()),
        }
    }

    /// A list's members as they are, or a file's text, breaks and all, inside its contents.
    fn resource(self: &Arc<About>, asked: &Asked, reply: Reply) -> Answer {
        let Some(excerpt) = reply.excerpt else {
            let members = &reply.data[1..reply.data.len() - 1];
            return Answer::ready(200, result_frame::whole(asked, Keep::Private, members));
        };
        let mut head = result_frame::open(asked, Keep::Private);
        head.extend_from_slice(br#""contents":["#);
        head.extend_from_slice(&reply.data.as_bytes()[..reply.data.len() - 1]);
        head.extend_from_slice(br#","text":""#);
        let then = [&br#""}]"#[..], result_frame::CLOSE].concat();
        let answer = self.streamed(head, excerpt, Breaks::Kept, then, OnMismatch::Cut);
        if asked.can_cut { answer } else { self.checked(answer) }
    }

    fn tool_result(self: &Arc<About>, asked: &Asked, structured: bool, reply: Reply) -> Answer {
        let mut head = result_frame::open(asked, Keep::Unsaid);
        head.reserve(reply.text.len() + reply.text.len() / 8 + 64);
        head.extend_from_slice(br#""content":[{"type":"text","text":""#);
        escape_str(&reply.text, &mut head);
        let mut then = br#""}],"#.to_vec();
        // File text is sent once: an excerpt has no second form.
        if structured && reply.excerpt.is_none() {
            then.extend_from_slice(br#""structuredContent":"#);
            then.extend_from_slice(reply.data.as_bytes());
            then.push(b',');
        }
        if let Some(metadata) = &reply.metadata {
            then.extend_from_slice(br#""metadata":"#);
            then.extend_from_slice(metadata.as_bytes());
            then.push(b',');
        }
        then.extend_from_slice(match reply.failure {
            Some(_) => br#""isError":true}}"#,
            None => br#""isError":false}}"#,
        });
        match reply.excerpt {
            None => {
                head.append(&mut then);
                Answer::ready(200, head)
            }
            Some(excerpt) => {
                let mut otherwise = br#""},{"type":"text","text":""#.to_vec();
                escape_str(&self.words(&self.changed()).text(), &mut otherwise);
                otherwise.extend_from_slice(br#""}],"isError":true}}"#);
                self.streamed(head, excerpt, Breaks::AsLf, then, OnMismatch::Say(otherwise))
            }
        }
    }

    fn streamed(
        self: &Arc<About>,
        head: Vec<u8>,
        excerpt: Excerpt,
        breaks: Breaks,
        then: Vec<u8>,
        otherwise: OnMismatch,
    ) -> Answer {
        Answer::streamed(head, excerpt, breaks, then, otherwise, self.clone())
    }

    fn changed(&self) -> Error {
        Error::Changed { name: self.target().unwrap_or_default().into() }
    }

    fn words(&self, error: &Error) -> Failure {
        Failure::of(error, self.base(), self.timeout)
    }

    /// The answer to a call that failed, in the tool's own words where they have a place; it is logged.
    fn told_failure(self: &Arc<About>, reply: Reply) -> Answer {
        match (&self.form, &reply.failure) {
            (Form::Tool { asked, structured }, Some(error)) => {
                self.log(error);
                self.tool_result(asked, *structured, reply)
            }
            (_, Some(error)) => self.failure(error),
            (_, None) => self.success(reply),
        }
    }

    /// The answer to a call that failed, which is logged.
    pub(super) fn failure(&self, error: &Error) -> Answer {
        self.log(error);
        self.say(error)
    }

    fn log(&self, error: &Error) {
        let Kind { code, category, .. } = kind(error);
        let words = self.words(error);
        self.subject().failed(code, category, &for_the_log(error, &words.message));
    }

    /// The answer to a call that failed.
    fn say(&self, error: &Error) -> Answer {
        let words = self.words(error);
        let Kind { code, status, .. } = kind(error);
        match &self.form {
            Form::Tool { asked, .. } => {
                let mut out = result_frame::open(asked, Keep::Unsaid);
                out.extend_from_slice(br#""content":[{"type":"text","text":""#);
                escape_str(&words.text(), &mut out);
                out.extend_from_slice(br#""}],"isError":true}}"#);
                Answer::ready(200, out)
            }
            Form::Resource { asked, uri } => {
                Answer::ready(200, resource_refusal(asked, uri.as_deref(), error, words).to_json())
            }
            Form::Direct { asked } => {
                Answer::ready(200, self.refusal(asked.id.clone(), code, words).to_json())
            }
            Form::Rest { .. } => Answer::ready(status, rest_error(&self.refusal(Id::null(), code, words))),
        }
    }

    fn refusal(&self, id: Id, code: i32, words: Failure) -> Refusal {
        let file = self.file.as_deref();
        let data = error_data(file, self.operation, words.hint.as_deref().unwrap_or(&words.message));
        Refusal { id, code, message: words.message, data: Some(data) }
    }
}

impl StreamObserver for About {
    fn turned_untrue(&self) {
        self.log(&self.changed());
    }
}

/// The data behind `head`; if an excerpt goes into it, `head` ends where it starts, and what follows is apart.
fn with_content(mut head: Vec<u8>, reply: Reply) -> (Vec<u8>, Option<(Excerpt, Vec<u8>)>) {
    let Some(excerpt) = reply.excerpt else {
        head.extend_from_slice(reply.data.as_bytes());
        return (head, None);
    };
    head.extend_from_slice(br#"{"content":""#);
    let then = [br#"","#, &reply.data.as_bytes()[1..]].concat();
    (head, Some((excerpt, then)))
}
