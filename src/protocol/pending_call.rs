//! A parsed call, and the data that its messages need. The executor runs the call; this module writes the
//! answer and the notifications of progress.

use std::sync::Arc;
use std::time::Duration;

use super::answer::{Answer, StreamObserver};
use super::call_context::CallContext;
use super::progress::ProgressToken;
use super::report::Report;
use super::rpc::Id;
use crate::tools::{Call, OutputKinds, Reply};
use folder::{Caller, CannotRun, Error, FilePath, Progress, Result};

/// The error text if the answers of batches hold all the memory that they may hold.
pub const NO_ROOM: &str = "The server holds as many answers of batches as it can; try again";

/// See the module.
#[derive(Debug)]
pub struct PendingCall {
    call: Box<dyn Call>,
    context: CallContext,
    progress_token: Option<ProgressToken>,
    /// Of the arguments, if the call has an idempotency key.
    fingerprint: Option<u64>,
}

impl PendingCall {
    pub(super) fn new(call: Box<dyn Call>, context: CallContext) -> PendingCall {
        PendingCall { call, context, progress_token: None, fingerprint: None }
    }

    /// The same call with the fingerprint of its arguments.
    pub(super) fn with_fingerprint(self, fingerprint: Option<u64>) -> PendingCall {
        PendingCall { fingerprint, ..self }
    }

    /// The call's idempotency key, and a number for its tool and arguments.
    pub fn idempotency_key(&self) -> Option<(&str, u64)> {
        self.fingerprint.and_then(|fingerprint| Some((self.call.idempotency_key()?, fingerprint)))
    }

    /// The same call, whose client asks for its progress if there is a token.
    pub(super) fn with_progress_token(self, progress_token: Option<ProgressToken>) -> PendingCall {
        PendingCall { progress_token, ..self }
    }

    /// Whether the client asks for the progress of this call.
    pub fn wants_progress(&self) -> bool {
        self.progress_token.is_some()
    }

    /// The notification of this progress; `None` if the client does not ask for it.
    pub fn progress_notification(&self, progress: Progress) -> Option<Answer> {
        self.progress_token.as_ref().map(|token| Answer::ready(200, token.notification(progress)))
    }

    /// The call to run.
    pub fn call(&self) -> &dyn Call {
        &*self.call
    }

    /// What the reply must contain.
    pub fn output_kinds(&self) -> OutputKinds {
        self.context.output_kinds()
    }

    /// The tool's name.
    pub fn operation(&self) -> &'static str {
        self.context.operation
    }

    /// The file that the call reads or changes.
    pub fn file(&self) -> Option<&str> {
        self.call.file().map(|name| name.as_str())
    }

    /// More files that the call reads or changes, each once.
    pub fn other_files(&self) -> Vec<&str> {
        let mut others: Vec<&str> = self.call.other_files().into_iter().map(|name| name.as_str()).collect();
        text::order::sort_by(&mut others, Ord::cmp);
        others.dedup();
        others.retain(|other| self.file() != Some(other));
        others
    }

    /// The call's target in the log: the file's name as sent, or a resource's URI.
    pub fn target(&self) -> Option<&str> {
        self.context.target()
    }

    /// Whether the call changes its file and therefore may wait for a lock.
    pub fn writes(&self) -> bool {
        self.context.writes
    }

    /// As whose the changes of the call are recorded, if they are.
    pub fn caller(&self) -> Option<Arc<Caller>> {
        self.context.caller.clone()
    }

    /// Whether the call is cancelled when its HTTP client disconnects. One that writes only in stateless revisions: a client
    /// of another revision may have lost its connection and still need the change.
    pub fn ends_with_its_client(&self) -> bool {
        (!switches::is_off("gone-takes-no-turn") && !self.writes())
            || self.context.asked().is_some_and(|asked| asked.revision.is_stateless())
    }

    /// The only file or folder that the call searches.
    pub fn searched(&self) -> Option<&FilePath> {
        self.call.searched()
    }

    /// How much memory the call may take, in MB, if it searches or analyses files.
    pub fn memory(&self) -> usize {
        self.call.memory()
    }

    /// The time of the command that the call runs, if it runs one.
    pub fn command_timeout(&self) -> Option<Duration> {
        self.call.command_timeout()
    }

    /// The request's id; `None` in REST.
    pub fn id(&self) -> Option<&Id> {
        self.context.asked().map(|asked| &asked.id)
    }

    /// The answer to the call's result. A failure has a report for the log. `observer` is notified if a
    /// streamed answer fails later.
    pub fn answer(&self, result: Result<Reply>, observer: Arc<dyn StreamObserver>) -> Answer {
        match result {
            Ok(reply) => self.context.reply(reply, observer),
            Err(error) => self.failed(&error),
        }
    }

    /// The bytes of the answer before its text, if the answer can begin before the call has ended.
    pub fn early_head(&self) -> Option<Vec<u8>> {
        if self.call.begins_early() { self.context.early_head() } else { None }
    }

    /// The rest of an answer that began early, of whose text `sent` bytes were sent.
    pub fn rest(&self, result: Result<Reply>, sent: usize) -> Answer {
        self.context.rest(result, sent)
    }

    /// The answer to a call that has failed.
    pub fn failed(&self, error: &Error) -> Answer {
        self.context.failure(error)
    }

    /// The answer to a read whose file another program has changed.
    pub fn changed(&self) -> Answer {
        self.context.failure(&self.context.changed())
    }

    /// The error of a call that did not get the lock of its file in time, or of a command that did not get its turn.
    pub fn locked(&self) -> Error {
        if let Some(waited) = self.command_timeout() {
            return CannotRun::NoTurn { waited }.into();
        }
        self.file().map_or(Error::TimedOut, |name| Error::Locked { name: name.to_owned() })
    }

    /// The error of a call whose time was up while it ran.
    pub fn timed_out(&self) -> Error {
        self.command_timeout().map_or(Error::TimedOut, |_| CannotRun::Overdue.into())
    }

    /// The answer to a call that panicked, of which `sent` bytes of the text were sent.
    pub fn panicked(&self, sent: usize) -> Answer {
        match sent {
            0 => self.context.refused("Internal error"),
            _ => self.context.refused_rest("Internal error"),
        }
    }

    /// The answer to a call that did not run because the server has no room for its answer.
    pub fn no_room(&self) -> Answer {
        self.context.refused(NO_ROOM)
    }

    /// The log entry for a streamed answer that failed because the file changed.
    pub fn changed_report(&self) -> Report {
        self.context.report(&self.context.changed())
    }

    /// The end of a streamed answer that failed so.
    pub fn changed_end(&self) -> Vec<u8> {
        self.context.changed_end()
    }
}
