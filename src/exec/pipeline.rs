//! The calls of one connection or of one batch. Calls for one file run in order of arrival; a call can be
//! cancelled by its id.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::file_queues::{FileQueues, Turn};
use super::task::Task;
use crate::protocol::Id;

/// See the module.
#[derive(Debug, Default)]
pub struct Pipeline {
    files: FileQueues,
    tasks: Mutex<Tasks>,
}

/// The calls that can be cancelled.
#[derive(Debug, Default)]
struct Tasks {
    by_id: HashMap<Id, Arc<Task>>,
    /// Those with the id of a later call.
    others: Vec<Arc<Task>>,
    /// The client has gone.
    gone: bool,
}

/// A call that can be cancelled by its id until this is dropped.
#[derive(Debug)]
pub(super) struct Registered {
    pipeline: Arc<Pipeline>,
    task: Arc<Task>,
}

impl Pipeline {
    /// Whether a call for this file is in progress or waits.
    pub fn is_busy(&self, file: Option<&str>) -> bool {
        file.is_some_and(|file| self.files.is_busy(file))
    }

    /// Cancels the call with this id, unless it is too late.
    pub fn cancel(&self, id: &Id) {
        let task = self.lock().by_id.get(id).cloned();
        let cancelled = task.is_some_and(|task| !switches::is_off("cancel-waiting") && task.control.cancel());
        tracing::debug!(id = id.as_json(), cancelled, "cancel");
    }

    /// Cancels the calls that end with their client, and those that come later.
    pub fn cancel_with_client(&self) {
        let tasks: Vec<_> = {
            let mut tasks = self.lock();
            tasks.gone = true;
            tasks.by_id.values().chain(&tasks.others).cloned().collect()
        };
        for task in tasks.iter().filter(|task| task.call.ends_with_its_client()) {
            task.control.cancel();
        }
    }

    /// Waits until the earlier calls for these files have ended. All positions are taken at the first poll, so calls of
    /// one connection cannot wait for each other in a circle.
    pub(super) async fn turns(&self, files: impl Iterator<Item = &str>) -> Vec<Turn> {
        let mut waits: Vec<_> = files.map(|file| (Box::pin(self.files.turn(file)), None)).collect();
        poll_fn(|context| {
            for (wait, turn) in waits.iter_mut().filter(|(_, turn)| turn.is_none()) {
                if let Poll::Ready(had) = wait.as_mut().poll(context) {
                    *turn = Some(had);
                }
            }
            if waits.iter().all(|(_, turn)| turn.is_some()) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        waits.into_iter().filter_map(|(_, turn)| turn).collect()
    }

    pub(super) fn register(self: &Arc<Pipeline>, task: &Arc<Task>) -> Registered {
        if let Some(id) = task.call.id() {
            let mut tasks = self.lock();
            let earlier = tasks.by_id.insert(id.clone(), task.clone());
            if !switches::is_off("batch-same-ids") {
                tasks.others.extend(earlier);
            }
            if tasks.gone && task.call.ends_with_its_client() {
                task.control.cancel();
            }
        }
        Registered { pipeline: self.clone(), task: task.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        // They are valid after every critical section.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let Some(id) = self.task.call.id() else { return };
        let mut tasks = self.pipeline.lock();
        // A later call may have the same id.
        if tasks.by_id.get(id).is_some_and(|known| Arc::ptr_eq(known, &self.task)) {
            tasks.by_id.remove(id);
        } else if let Some(place) = tasks.others.iter().position(|known| Arc::ptr_eq(known, &self.task)) {
            tasks.others.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::protocol::test_calls;

    #[test]
    fn calls_end_with_their_client_though_their_ids_are_the_same_or_it_has_gone_before() {
        let pipeline = Arc::<Pipeline>::default();
        let task = || Task::new(test_calls::tool("1", false), Duration::from_secs(1), Instant::now());
        let tasks = [task(), task(), task(), task()];
        let mut registered: Vec<_> = tasks[..3].iter().map(|task| pipeline.register(task)).collect();
        pipeline.cancel_with_client();
        registered.push(pipeline.register(&tasks[3]));
        assert!(tasks.iter().all(|task| task.control.is_cancelled()));
        drop(registered);
        assert!(pipeline.lock().by_id.is_empty() && pipeline.lock().others.is_empty());
    }
}
