//! Calls with an idempotency key: a call that is sent twice within ten minutes runs once (contract 6.1).
//!
//! The first call with a key runs. Another with the same key and the same arguments waits for its end and gets the same
//! reply. A call that failed and changed nothing leaves no trace, so that it can be sent again. Lasts as long as
//! the process. Knows no tools and no protocol; keys of all clients are one set.
//!
//! The bytes of replies are bounded: the oldest are forgotten. That a call was carried out is never forgotten within the ten
//! minutes; where its reply is, the answer to the same call says so. So the keys are bounded by refusing new ones.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::kept_reply::KeptReply;
use super::run::time_is_up;
use super::task::Task;
use super::{Ended, Executor};
use crate::protocol::Answer;
use folder::{Error, Late};

/// How long a reply is kept after the end of its call.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// Limit of keys, of running calls and of those that were carried out together. They take about 4 MB.
const KEYS: usize = 16_384;

/// Limit of the kept replies, in bytes.
const BYTES: usize = 4 << 20;

/// Longest key, in bytes.
const KEY: usize = 128;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct RepeatedCalls(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_key: HashMap<Arc<str>, Entry>,
    /// The keys of calls that were carried out, oldest first.
    done: VecDeque<Arc<str>>,
    /// How many of those, from the oldest, have no text any more.
    without_text: usize,
    /// The bytes of kept replies.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    fingerprint: u64,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The channel closes when the call ends.
    Running(watch::Receiver<()>),
    Done(Instant, Arc<KeptReply>),
}

/// What a call with a key is to do.
#[derive(Debug)]
pub(super) enum Claim<'c> {
    /// Run.
    First(FirstCall<'c>),
    /// Reply this: the reply of the first call, or why the key is refused.
    Known(Arc<KeptReply>),
}

/// The first call with a key, while it runs. If it is dropped without a reply, the next call with the key runs.
#[derive(Debug)]
pub(super) struct FirstCall<'c> {
    calls: &'c RepeatedCalls,
    key: Arc<str>,
    kept: Option<Arc<KeptReply>>,
    /// Wakes the calls that wait, after the entry has changed.
    _ended: watch::Sender<()>,
}

impl RepeatedCalls {
    /// Waits until no other call with this key runs.
    pub(super) async fn claim(&self, key: &str, fingerprint: u64) -> Claim<'_> {
        if key.is_empty() || key.len() > KEY {
            return refused(format!("it has {} bytes; expected 1 to {KEY}", key.len()));
        }
        loop {
            let mut running = match self.look(key, fingerprint) {
                Ok(claim) => return claim,
                Err(running) => running,
            };
            if switches::is_off("repeated-waits") {
                return refused(String::new());
            }
            // Nothing is ever sent: an error means that the call has ended.
            let _ = running.changed().await;
        }
    }

    /// A claim, or the running call to wait for.
    fn look(&self, key: &str, fingerprint: u64) -> Result<Claim<'_>, watch::Receiver<()>> {
        let mut state = self.lock();
        state.forget_old();
        match state.by_key.get(key) {
            Some(entry) if !switches::is_off("repeated-arguments") && entry.fingerprint != fingerprint => {
                let problem = "this key was used within ten minutes for a call with other arguments";
                return Ok(refused(format!("{problem}; send another key for another call")));
            }
            // Its key is free again. The place in `done` goes with that of the call that runs now.
            Some(Entry { phase: Phase::Done(_, reply), .. })
                if !switches::is_off("key-taken-back") && reply.is_void() => {}
            Some(Entry { phase: Phase::Done(_, reply), .. }) => return Ok(Claim::Known(reply.clone())),
            Some(Entry { phase: Phase::Running(running), .. }) => return Err(running.clone()),
            None => {}
        }
        if !switches::is_off("repeated-keys") && state.by_key.len() >= KEYS {
            let problem = "keys of the last ten minutes are known, and no more can be";
            return Ok(refused(format!(
                "{KEYS} {problem}; nothing was changed; send the call without a key, or later"
            )));
        }
        let (key, (ended, running)) = (Arc::<str>::from(key), watch::channel(()));
        state.by_key.insert(key.clone(), Entry { fingerprint, phase: Phase::Running(running) });
        Ok(Claim::First(FirstCall { calls: self, key, kept: None, _ended: ended }))
    }

    /// Frees replies that are too old.
    pub(super) fn forget_old(&self) {
        self.lock().forget_old();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is valid after every critical section.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused<'c>(problem: String) -> Claim<'c> {
    Claim::Known(Arc::new(KeptReply::Failed(Error::InvalidArguments {
        at: "idempotency_key".into(),
        problem,
    })))
}

impl State {
    fn forget_old(&mut self) {
        let is_old = |entry: &Entry| match entry.phase {
            Phase::Done(since, _) => !switches::is_off("repeated-ten-minutes") && since.elapsed() > KEPT_FOR,
            Phase::Running(_) => false,
        };
        while self.done.front().is_some_and(|key| self.by_key.get(key).is_none_or(is_old)) {
            let Some(key) = self.done.pop_front() else { return };
            if let Some(Entry { phase: Phase::Done(_, reply), .. }) = self.by_key.remove(&key) {
                self.bytes -= reply.bytes();
            }
            self.without_text = self.without_text.saturating_sub(1);
        }
        if self.by_key.is_empty() {
            *self = State::default();
        }
    }

    fn keep(&mut self, key: &Arc<str>, reply: Arc<KeptReply>) {
        let Some(entry) = self.by_key.get_mut(key) else { return };
        // One that takes all the memory alone leaves the others theirs.
        let reply = match reply.without_text() {
            Some(shorter) if reply.bytes() > BYTES => Arc::new(shorter),
            _ => reply,
        };
        self.bytes += reply.bytes();
        entry.phase = Phase::Done(Instant::now(), reply);
        self.done.push_back(key.clone());
        while !switches::is_off("repeated-bytes")
            && self.bytes > BYTES
            && let Some(key) = self.done.get(self.without_text)
        {
            if let Some(Entry { phase: Phase::Done(_, reply), .. }) = self.by_key.get_mut(key)
                && let Some(shorter) = reply.without_text()
            {
                self.bytes -= reply.bytes();
                *reply = Arc::new(shorter);
            }
            self.without_text += 1;
        }
    }
}

impl FirstCall<'_> {
    /// Keeps the reply.
    pub(super) fn keep(mut self, reply: Arc<KeptReply>) {
        self.kept = Some(reply);
    }
}

impl Drop for FirstCall<'_> {
    fn drop(&mut self) {
        let mut state = self.calls.lock();
        match self.kept.take() {
            Some(reply) => state.keep(&self.key, reply),
            None => _ = state.by_key.remove(&self.key),
        }
    }
}

impl Executor {
    /// Runs a call with a key, or answers it with the reply of the first call with this key.
    pub(super) async fn run_with_key<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        (key, fingerprint): (&str, u64),
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let deadline = task.control.deadline();
        match timeout_at(deadline.into(), self.repeated.claim(key, fingerprint)).await {
            Err(_) => time_is_up(task, Late::AtWork),
            Ok(Claim::First(first)) => {
                let ended = self.run_once(task, then).await;
                if let Some(reply) = task.kept() {
                    first.keep(reply);
                }
                ended
            }
            Ok(Claim::Known(reply)) => {
                task.reply_with(reply);
                self.attempt(task, deadline, &then).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
