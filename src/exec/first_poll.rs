//! Starts a future on the calling thread, and continues it on the thread that wakes it, if that is possible.
//!
//! Knows nothing of calls. Most calls wait for one thing: their work on a thread. So they start on the thread that
//! reads, end on the thread that worked, and never wake the runtime's thread.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use tokio::runtime::Handle;

use super::caught;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What was woken, and what goes on.
type Woken = Vec<(Arc<Started>, Work)>;

thread_local! {
    /// What was woken on this thread and is continued on it; `None` outside of [`continuing`].
    static WOKEN: RefCell<Option<Woken>> = const { RefCell::new(None) };
}

/// Polls `work` once on the calling thread. If it is not done, it is continued on the thread that wakes it if that
/// runs `continuing`, or else by `runtime`. So works take their positions in queues in the order of their start,
/// and their threads start at once.
pub fn start(runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) {
    let _inside = runtime.enter();
    Arc::new(Started { runtime: runtime.clone(), phase: Mutex::new(Phase::Polled) }).poll(Box::pin(work));
}

/// Runs `job`, then continues what it has woken. Not at once, because the waker may hold a lock that the future needs.
/// So nothing that is woken may depend on the rest of the job.
pub(super) fn continuing(runtime: &Handle, job: impl FnOnce()) {
    WOKEN.set(Some(Vec::new()));
    caught(job);
    let woken = WOKEN.take().unwrap_or_default();
    if woken.is_empty() {
        return;
    }
    let _inside = runtime.enter();
    for (started, work) in woken {
        *started.lock() = Phase::Polled;
        caught(|| started.poll(work));
    }
}

/// A future that the runtime does not know yet.
struct Started {
    runtime: Handle,
    phase: Mutex<Phase>,
}

enum Phase {
    Polled,
    Waiting(Work),
    /// Woken since the last poll began.
    Woken,
}

impl Started {
    fn poll(self: &Arc<Started>, mut work: Work) {
        let waker = Waker::from(self.clone());
        if work.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            return;
        }
        let mut phase = self.lock();
        match *phase {
            Phase::Woken => {
                drop(phase);
                if !switches::is_off("first-poll-woken") {
                    self.runtime.spawn(work);
                }
            }
            _ => *phase = Phase::Waiting(work),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Started {
    fn wake(self: Arc<Started>) {
        let before = std::mem::replace(&mut *self.lock(), Phase::Woken);
        let Phase::Waiting(work) = before else { return };
        let runtime = self.runtime.clone();
        let elsewhere = WOKEN.with_borrow_mut(|woken| match woken {
            Some(woken) => {
                woken.push((self, work));
                None
            }
            None => Some(work),
        });
        // Without a lock or a borrow, because the runtime may drop the future at once.
        elsewhere.map(|work| runtime.spawn(work));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use tokio::runtime::Builder;
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn the_first_poll_is_on_the_calling_thread_and_the_rest_on_the_runtime() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (sender, receiver) = oneshot::channel::<()>();
        let (said, heard) = mpsc::channel();
        start(runtime.handle(), async move {
            said.send(thread::current().id()).unwrap();
            receiver.await.unwrap();
            said.send(thread::current().id()).unwrap();
        });
        let here = thread::current().id();
        assert_eq!(heard.try_recv(), Ok(here));
        sender.send(()).unwrap();
        assert_ne!(heard.recv(), Ok(here));
        assert!(heard.recv().is_err(), "the future has ended and is dropped");
    }

    #[test]
    fn a_wake_up_during_the_first_poll_is_not_lost() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (said, heard) = mpsc::channel();
        start(runtime.handle(), async move {
            tokio::task::yield_now().await;
            let mut woken = false;
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut woken, true) {
                    std::task::Poll::Ready(())
                } else {
                    std::task::Poll::Pending
                }
            })
            .await;
            said.send(()).unwrap();
        });
        assert_eq!(heard.recv(), Ok(()));
    }

    #[test]
    fn what_a_job_wakes_is_continued_on_its_thread_after_it_even_if_it_panics() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (first, receiver) = oneshot::channel::<()>();
        let (second, then) = oneshot::channel::<()>();
        let (said, heard) = mpsc::channel();
        start(runtime.handle(), async move {
            receiver.await.unwrap();
            said.send(thread::current().id()).unwrap();
            then.await.unwrap();
            said.send(thread::current().id()).unwrap();
        });
        continuing(runtime.handle(), || {
            first.send(()).unwrap();
            assert!(heard.try_recv().is_err(), "not within the job");
            panic!("on purpose");
        });
        let here = thread::current().id();
        assert_eq!(heard.try_recv(), Ok(here));
        // Outside of a job, the runtime continues it.
        second.send(()).unwrap();
        assert_ne!(heard.recv(), Ok(here));
    }
}
