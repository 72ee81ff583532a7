//! Decides when the client of a running call is notified of its progress (contract 6.5): half a second after the start,
//! then every quarter of a second, if the call has progressed.
//!
//! The engine counts, the protocol writes the notification, a transport sends it. A call without a token has no
//! watch and costs nothing.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Executor;
use super::task::Task;
use crate::protocol::Answer;

/// A shorter call has no notification.
const FIRST: Duration = Duration::from_millis(500);

/// The shortest time between two notifications of one call.
const EVERY: Duration = Duration::from_millis(250);

/// Sends a notification; may block.
pub type Notify = Arc<dyn Fn(Notification) + Send + Sync>;

/// A notification that is true until its call has an answer.
#[derive(Debug)]
pub struct Notification {
    task: Arc<Task>,
    message: Answer,
}

impl Notification {
    /// The message; `None` if the call has an answer or was cancelled. If the caller checks this and writes the
    /// message under the lock under which answers are written, no notification follows its answer.
    pub fn if_unanswered(self) -> Option<Answer> {
        (switches::is_off("progress-answered") || self.task.control.is_open()).then_some(self.message)
    }
}

/// Watches the progress of one call.
#[derive(Debug)]
pub struct ProgressWatch {
    task: Arc<Task>,
    due: Instant,
    /// What was last reported as done.
    reported: u64,
}

impl ProgressWatch {
    /// A watch that starts now; `None` if the client does not ask for the progress of this call.
    pub fn start(task: &Arc<Task>) -> Option<ProgressWatch> {
        let start = || ProgressWatch { task: task.clone(), due: Instant::now() + FIRST, reported: 0 };
        task.call.wants_progress().then(start)
    }

    /// Waits until a notification may be due. `None` if the call has not progressed. A dropped future loses no
    /// notification.
    pub async fn tick(&mut self) -> Option<Notification> {
        sleep_until(self.due).await;
        // Counted from now: after a delay, two notifications are not sent at once.
        let now = if switches::is_off("progress-pause") { self.due } else { Instant::now() };
        self.due = now + EVERY;
        let progress = self.task.control.progressed();
        if !switches::is_off("progress-grown") && progress.done <= self.reported {
            return None;
        }
        self.reported = progress.done;
        let message = self.task.call.progress_notification(progress)?;
        Some(Notification { task: self.task.clone(), message })
    }
}

impl Executor {
    /// Runs `work`, which runs the call of `task`. Meanwhile `notify` receives notifications, on a thread that
    /// may block. A client that does not read gets fewer notifications.
    pub async fn notifying<W: Future>(
        &self,
        task: &Arc<Task>,
        notify: Option<&Notify>,
        work: W,
    ) -> W::Output {
        let mut work = pin!(work);
        let watch = notify.and_then(|notify| Some((ProgressWatch::start(task)?, notify)));
        let Some((mut watch, notify)) = watch else { return work.await };
        loop {
            let notified = async {
                if let Some(notification) = watch.tick().await {
                    let notify = notify.clone();
                    let _ = self.threads.spawn(move || notify(notification)).await;
                }
            };
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = notified => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::time::advance;

    use super::*;
    use crate::exec::testing::Setup;
    use crate::protocol::test_calls;

    fn paused(test: impl Future<Output = ()>) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(test);
    }

    fn task() -> Arc<Task> {
        let (_close, until_closed) = mpsc::channel();
        let call = test_calls::watched(test_calls::hanging("1", until_closed), "\"t\"");
        Task::new(call, Duration::from_secs(60), std::time::Instant::now())
    }

    async fn text(watch: &mut ProgressWatch) -> Option<String> {
        let message = watch.tick().await?.if_unanswered()?;
        Some(String::from_utf8(message.collect().unwrap()).unwrap())
    }

    fn params(done: u64, total: &str) -> String {
        let params = format!(r#"{{"progressToken":"t","progress":{done}{total}}}"#);
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
    }

    #[test]
    fn the_first_is_due_after_half_a_second_and_each_next_a_quarter_later_if_there_is_progress() {
        paused(async {
            let (task, start) = (task(), Instant::now());
            let mut watch = ProgressWatch::start(&task).unwrap();
            task.control.progress(3, Some(9));
            assert_eq!(text(&mut watch).await, Some(params(3, r#","total":9"#)));
            assert_eq!(start.elapsed(), FIRST);
            assert_eq!(text(&mut watch).await, None, "no progress");
            assert_eq!(start.elapsed(), FIRST + EVERY);
            task.control.progress(2, Some(9));
            assert_eq!(text(&mut watch).await, None, "it began again");
            task.control.progress(4, None);
            assert_eq!(text(&mut watch).await, Some(params(4, "")));
            assert_eq!(start.elapsed(), FIRST + 3 * EVERY);
            // After a delay, the next is due a whole quarter later.
            advance(10 * EVERY).await;
            let late = Instant::now();
            assert_eq!(text(&mut watch).await, None);
            assert_eq!(late.elapsed(), Duration::ZERO);
            assert_eq!(text(&mut watch).await, None);
            assert_eq!(late.elapsed(), EVERY);
        });
    }

    #[test]
    fn an_answered_or_cancelled_call_has_no_notification() {
        let ends: [fn(&Task) -> bool; 2] = [|task| task.control.answer(), |task| task.control.cancel()];
        for end in ends {
            paused(async {
                let task = task();
                let mut watch = ProgressWatch::start(&task).unwrap();
                task.control.progress(1, None);
                let notification = watch.tick().await.unwrap();
                assert!(end(&task));
                assert!(notification.if_unanswered().is_none());
            });
        }
    }

    #[test]
    fn a_call_without_a_token_or_a_listener_is_not_watched() {
        let (_close, until_closed) = mpsc::channel();
        let call = test_calls::hanging("1", until_closed);
        let quiet = Task::new(call, Duration::from_secs(60), std::time::Instant::now());
        assert!(ProgressWatch::start(&quiet).is_none());
        let setup = Setup::new();
        let executor = setup.executor();
        // No runtime with a timer: a watch would panic.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(executor.notifying(&task(), None, async { 7 })), 7);
    }

    #[test]
    fn work_is_watched_until_it_ends() {
        let setup = Setup::new();
        let executor = setup.executor();
        let task = task();
        let (said, heard) = mpsc::channel();
        let said = std::sync::Mutex::new(said);
        let notify: Notify = Arc::new(move |notification| {
            let _ = said.lock().unwrap().send(notification.if_unanswered().is_some());
        });
        let work = async {
            task.control.progress(1, None);
            setup.runtime.spawn_blocking(move || heard.recv()).await.unwrap()
        };
        let notified = setup.runtime.block_on(executor.notifying(&task, Some(&notify), work));
        assert_eq!(notified, Ok(true));
    }
}
