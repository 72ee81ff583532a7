//! Carrying out what a request asks for, in its turn and on threads that may wait.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use hyper::Response;
use tokio::time::timeout_at;

use super::Server;
use super::body::{AnswerBody, Block};
use super::response::{accepted, at_once, begin_with};
use crate::engine::{Control, Late};
use crate::protocol::{Answer, Pending, Step};
use crate::transport::limits::Share;
use crate::transport::work::{late_answer, run_to_answer};

/// Held by all work, also that whose client has gone, so that the end of the server can wait for it, and what its body
/// holds stays counted.
pub(super) type Working = Arc<dyn Send + Sync>;

impl Server {
    /// `share` is that of the body.
    pub(super) async fn carry_out(
        self: &Arc<Self>,
        step: Step,
        share: Share,
    ) -> io::Result<Response<AnswerBody>> {
        match step {
            Step::Answer(answer) => at_once(answer),
            Step::Call(pending) => self.call(pending, share).await,
            Step::Batch(steps) => {
                let working = Arc::new((self.working.clone().read_owned().await, share));
                tokio::spawn(self.clone().batch(steps, working)).await.map_err(io::Error::other)?
            }
            // A cancellation over HTTP names requests of nobody knows whom.
            Step::Silent | Step::Cancel(_) => Ok(accepted()),
        }
    }

    async fn call(self: &Arc<Self>, pending: Pending, share: Share) -> io::Result<Response<AnswerBody>> {
        let workspace = &self.shared.workspace;
        match catch_unwind(AssertUnwindSafe(|| {
            pending.run_at_once(workspace).map(|result| pending.answer(result))
        })) {
            Ok(Some(answer)) => return at_once(answer),
            Ok(None) => {}
            Err(_) => return at_once(pending.panicked()),
        }
        let mut control = Control::new(self.shared.timeout);
        if !pending.writes() {
            control = control.without_waiting();
        }
        let (pending, control) = (Arc::new(pending), Arc::new(control));
        let _hung_up = CancelOnDrop(pending.ends_with_its_client().then(|| control.clone()));
        // From here on the end waits for it, also when its client has gone.
        let working = Arc::new((self.working.clone().read_owned().await, share));
        // A task of its own: a client that hangs up takes only the waiting for the answer with it.
        match tokio::spawn(self.clone().work(pending.clone(), control, working, Block::pull)).await {
            Ok(Some(block)) => begin_with(block, &self.workers),
            _ => at_once(pending.panicked()),
        }
    }

    /// Carries a call out in its turn, and does `then` with its answer, which may wait for the disk. Nothing if it ran
    /// into a fault of ours, or was called off. `working` lasts as long as the work.
    pub(super) async fn work<T: Send + 'static>(
        self: Arc<Self>,
        pending: Arc<Pending>,
        control: Arc<Control>,
        working: Working,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Option<T> {
        let _turn = match pending.file().filter(|_| pending.writes()) {
            None => None,
            Some(file) => match timeout_at(control.lock_deadline().into(), self.turns.turn(file)).await {
                Ok(turn) => Some(turn),
                Err(_) => return Some(then(late_answer(&pending, Late::LockedOut))),
            },
        };
        let done = self.run(&pending, &control, control.deadline(), working.clone(), &then).await;
        let Some(waits_for) = control.broke_off().filter(|_| done.is_none()) else { return done };
        // It has to wait for another program's lease or write: of those that wait for one file's, one takes a place. No file
        // has such a name, and changes of the file do not stand in the same line.
        let waits = format!("{}/", pending.file().unwrap_or_default());
        let turn = timeout_at(control.deadline().into(), self.turns.turn(&waits)).await;
        if turn.is_err() && pending.file().is_some() {
            return Some(then(late_answer(&pending, waits_for)));
        }
        // A listing tells what it knows, if need be without the rest, also when the time is up.
        control.allow_waiting();
        self.run(&pending, &control, control.overdue(), working, &then).await
    }

    /// Carries a call out, if there is a place for it before `until`. Nothing also if it broke off.
    async fn run<T: Send + 'static>(
        &self,
        pending: &Arc<Pending>,
        control: &Arc<Control>,
        until: Instant,
        working: Working,
        then: &(impl Fn(Answer) -> T + Clone + Send + 'static),
    ) -> Option<T> {
        let too_late = |at| then(late_answer(pending, at));
        let Ok(_place) = timeout_at(until.into(), self.in_work.acquire()).await else {
            return Some(too_late(Late::AtWork));
        };
        let work = {
            let (pending, control, then) = (pending.clone(), control.clone(), then.clone());
            let workspace = self.shared.workspace.clone();
            move || {
                // Also when it was answered as late: it has something to clear away.
                let _working = working;
                run_to_answer(&pending, &workspace, &control).map(then)
            }
        };
        let mut work = self.workers.spawn(work);
        let done = match timeout_at(control.overdue().into(), &mut work).await {
            Ok(done) => done,
            Err(_) => match control.expire() {
                Some(at) => return Some(too_late(at)),
                // It is writing already: its answer will come.
                None => work.await,
            },
        };
        done.ok().flatten()
    }
}

/// Calls a request off when its response is no longer waited for, which is how hyper says that the client is gone.
/// Once there is an answer that does nothing.
struct CancelOnDrop(Option<Arc<Control>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hyper::StatusCode;

    use super::super::HttpOptions;
    use super::*;
    use crate::protocol::test_calls;
    use crate::transport::testing;

    #[test]
    fn a_panic_is_an_answer_and_gives_its_place_back() {
        let (_folder, shared) = testing::shared();
        let places = shared.max_in_flight;
        let options = HttpOptions { host: Ipv4Addr::LOCALHOST.into(), port: 0, token: None };
        let server = Arc::new(Server::new(shared, &options));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for at_once in [true, false] {
            let answer = |pending| runtime.block_on(server.call(pending, server.bodies.share())).unwrap();
            assert_eq!(answer(test_calls::tool("1", at_once)).status(), StatusCode::OK);
            assert_eq!(answer(test_calls::rest(at_once)).status(), StatusCode::INTERNAL_SERVER_ERROR);
        }
        assert_eq!(server.in_work.available_permits(), places);
    }
}
