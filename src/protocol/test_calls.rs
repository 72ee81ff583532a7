//! Calls that panic or hang, or do what a test says, for tests.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::value::RawValue;

use super::call_context::{CallContext, Form};
use super::pending_call::PendingCall;
use super::progress::ProgressToken;
use super::result_frame::Asked;
use super::{Id, Revision};
use crate::tools::sets::Codes;
use crate::tools::{Call, Guide, LineBase, OutputKinds, Reply, ToolNames};
use engine::Workspace;
use folder::{Control, FilePath, FolderPaths, NamePolicy, Result};

/// Hangs until its channel is closed, whatever its control says, like a call on a dead disk.
#[derive(Debug)]
struct Hangs {
    file: FilePath,
    until_closed: Mutex<Receiver<()>>,
}

impl Call for Hangs {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.file)
    }

    fn run(&self, _: &Workspace, _: OutputKinds, _: &Control) -> Result<Reply> {
        let _ = self.until_closed.lock().map(|channel| channel.recv());
        Ok(Reply::default())
    }
}

#[derive(Debug)]
struct Panics {
    file: FilePath,
    at_once: bool,
}

impl Call for Panics {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.file)
    }

    fn searched(&self) -> Option<&FilePath> {
        Some(&self.file)
    }

    fn memory(&self) -> usize {
        40
    }

    fn run(&self, _: &Workspace, _: OutputKinds, _: &Control) -> Result<Reply> {
        panic!("in a test")
    }

    fn run_at_once(&self, _: &Workspace, _: OutputKinds) -> Option<Result<Reply>> {
        assert!(!self.at_once, "in a test");
        None
    }
}

/// What a made-up call does.
type Work = dyn Fn(&Control) -> Result<Reply> + Send + Sync;

/// A call with an idempotency key.
struct Keyed {
    key: String,
    work: Arc<Work>,
}

impl std::fmt::Debug for Keyed {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(&self.key)
    }
}

impl Call for Keyed {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn idempotency_key(&self) -> Option<&str> {
        Some(&self.key)
    }

    fn run(&self, _: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        (self.work)(control)
    }

    fn run_at_once(&self, _: &Workspace, _: OutputKinds) -> Option<Result<Reply>> {
        panic!("in a test")
    }
}

fn file() -> FilePath {
    FilePath::parse("f", NamePolicy::Portable, &FolderPaths::default()).expect("a name")
}

fn pending(form: Form, call: Box<dyn Call>) -> PendingCall {
    let (file, clock) = (Some("f".into()), SystemTime::now as fn() -> SystemTime);
    let (operation, writes) = ("panics", false);
    let guide = Guide { base: LineBase::Zero, offered: ToolNames::default(), paths: false };
    PendingCall::new(
        call,
        CallContext {
            form,
            operation,
            file,
            writes,
            caller: None,
            guide,
            timeout: 1,
            codes: Codes::Files,
            clock,
        },
    )
}

fn tool_form(id: &str) -> Form {
    let id = Id::parse(id).expect("an id");
    let asked = Asked { id, revision: Revision::NEWEST_BY_HANDSHAKE, can_cut: false };
    Form::Tool { asked, structured: false }
}

/// A `tools/call` with this id. If `at_once`, it panics even in `run_at_once`.
pub(crate) fn tool(id: &str, at_once: bool) -> PendingCall {
    pending(tool_form(id), Box::new(Panics { file: file(), at_once }))
}

/// A `tools/call` with this id that hangs until the channel is closed.
pub(crate) fn hanging(id: &str, until_closed: Receiver<()>) -> PendingCall {
    pending(tool_form(id), Box::new(Hangs { file: file(), until_closed: Mutex::new(until_closed) }))
}

/// A `POST /tools/{name}` that panics like [`tool`].
pub(crate) fn posted(at_once: bool) -> PendingCall {
    pending(Form::Posted { structured: false }, Box::new(Panics { file: file(), at_once }))
}

/// The same call, whose client asks for its progress with this token.
pub(crate) fn watched(call: PendingCall, token: &str) -> PendingCall {
    let meta = RawValue::from_string(format!(r#"{{"progressToken":{token}}}"#)).expect("JSON");
    call.with_progress_token(ProgressToken::in_meta(&meta))
}

/// A `tools/call` with this id, or a REST call, with an idempotency key and arguments of this fingerprint.
pub(crate) fn keyed(id: Option<&str>, (key, fingerprint): (&str, u64), work: Arc<Work>) -> PendingCall {
    let form = id.map_or(Form::Rest, tool_form);
    pending(form, Box::new(Keyed { key: key.into(), work })).with_fingerprint(Some(fingerprint))
}

/// A REST call that panics like [`tool`].
pub(crate) fn rest(at_once: bool) -> PendingCall {
    pending(Form::Rest, Box::new(Panics { file: file(), at_once }))
}
