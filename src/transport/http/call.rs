//! Carrying out what a request asks for, in its turn and on threads that may wait.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hyper::Response;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::timeout_at;

use super::Server;
use super::body::{AnswerBody, Block};
use super::response::{accepted, at_once, begin_with};
use crate::engine::{Control, Late};
use crate::protocol::{Pending, Step};
use crate::transport::work::{late_answer, run_batch, run_to_answer};

impl Server {
    pub(super) async fn carry_out(self: &Arc<Self>, step: Step) -> io::Result<Response<AnswerBody>> {
        match step {
            Step::Answer(answer) => at_once(answer),
            Step::Call(pending) => self.call(pending).await,
            Step::Batch(steps) => {
                let working = self.working.clone().read_owned().await;
                tokio::spawn(self.clone().batch(steps, working)).await.map_err(io::Error::other)?
            }
            // A cancellation over HTTP names requests of nobody knows whom.
            Step::Silent | Step::Cancel(_) => Ok(accepted()),
        }
    }

    async fn call(self: &Arc<Self>, pending: Pending) -> io::Result<Response<AnswerBody>> {
        let workspace = &self.shared.workspace;
        match catch_unwind(AssertUnwindSafe(|| {
            pending.run_at_once(workspace).map(|result| pending.answer(result))
        })) {
            Ok(Some(answer)) => return at_once(answer),
            Ok(None) => {}
            Err(_) => return at_once(pending.panicked()),
        }
        let (pending, control) = (Arc::new(pending), Arc::new(Control::new(self.shared.timeout)));
        let _hung_up = CancelOnDrop(pending.ends_with_its_client().then(|| control.clone()));
        // From here on the end waits for it, also when its client has gone.
        let working = self.working.clone().read_owned().await;
        // A task of its own: a client that hangs up takes only the waiting for the answer with it.
        match tokio::spawn(self.clone().work(pending.clone(), control, working)).await {
            Ok(Some(response)) => response,
            _ => at_once(pending.panicked()),
        }
    }

    /// Carries a call out in its turn. Nothing if it ran into a fault of ours, or was called off.
    async fn work(
        self: Arc<Self>,
        pending: Arc<Pending>,
        control: Arc<Control>,
        working: OwnedRwLockReadGuard<()>,
    ) -> Option<io::Result<Response<AnswerBody>>> {
        let too_late = |at| at_once(late_answer(&pending, at));
        let _turn = match pending.file().filter(|_| pending.writes()) {
            None => None,
            Some(file) => match timeout_at(control.lock_deadline().into(), self.turns.turn(file)).await {
                Ok(turn) => Some(turn),
                Err(_) => return Some(too_late(Late::LockedOut)),
            },
        };
        let Ok(_place) = timeout_at(control.deadline().into(), self.in_work.acquire()).await else {
            return Some(too_late(Late::AtWork));
        };
        let work = {
            let (pending, control) = (pending.clone(), control.clone());
            let workspace = self.shared.workspace.clone();
            move || {
                // Also when it was answered as late: it has something to clear away.
                let _working = working;
                run_to_answer(&pending, &workspace, &control).map(Block::pull)
            }
        };
        let mut work = self.workers.spawn(work);
        let block = match timeout_at(control.overdue().into(), &mut work).await {
            Ok(block) => block,
            Err(_) => match control.expire() {
                Some(at) => return Some(too_late(at)),
                // It is writing already: its answer will come.
                None => work.await,
            },
        };
        block.ok().flatten().map(|block| begin_with(block, &self.workers))
    }

    /// A batch is carried out in its order, as one piece of work.
    async fn batch(
        self: Arc<Self>,
        steps: Vec<Step>,
        _working: OwnedRwLockReadGuard<()>,
    ) -> io::Result<Response<AnswerBody>> {
        let _place = self.in_work.acquire().await;
        let (workspace, timeout) = (self.shared.workspace.clone(), self.shared.timeout);
        let batch = move || run_batch(steps, workspace, timeout).map(Block::pull);
        let block = self.workers.spawn(batch).await;
        match block.map_err(io::Error::other)? {
            Some(block) => begin_with(block, &self.workers),
            None => Ok(accepted()),
        }
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
    use crate::protocol::panicking;
    use crate::transport::testing;

    #[test]
    fn a_panic_is_an_answer_and_gives_its_place_back() {
        let (_folder, shared) = testing::shared();
        let places = shared.max_in_flight;
        let options = HttpOptions { host: Ipv4Addr::LOCALHOST.into(), port: 0, token: None };
        let server = Arc::new(Server::new(shared, &options));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for at_once in [true, false] {
            let answer = |pending| runtime.block_on(server.call(pending)).unwrap();
            assert_eq!(answer(panicking::tool("1", at_once)).status(), StatusCode::OK);
            assert_eq!(answer(panicking::rest(at_once)).status(), StatusCode::INTERNAL_SERVER_ERROR);
        }
        assert_eq!(server.in_work.available_permits(), places);
    }
}
