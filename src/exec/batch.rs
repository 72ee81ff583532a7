//! Runs the calls of a batch and sends their answers as one array, in the order of the requests, after the
//! last call has ended.
//!
//! The memory of kept answers is limited for all batches together. Without room for its answer, a read runs
//! again when the array is sent, and a change is refused before it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::groups::groups;
use super::pipeline::{Pipeline, Registered};
use super::progress::Notify;
use super::task::{Received, Task};
use super::{Admitted, Ended, Executor};
use crate::protocol::{Answer, BLOCK, Step};
use sys::process::open_file_limit;
use text::budget::{Budget, Share};

/// Limit of kept answers, in requests of the largest size.
const KEPT: usize = 8;

/// Limits of files that answers keep open: `FILES`, and one in `SHARE` of the process's descriptors.
const FILES: u64 = 256;
const SHARE: u64 = 8;

/// Calls of all batches together. A call that waits takes a few KB.
const CALLS: usize = 16_384;

/// The limits of the answers and calls of all batches together.
#[derive(Debug)]
pub(super) struct Room {
    bytes: Budget,
    files: Budget,
    calls: Budget,
}

impl Room {
    /// The limits of a server whose largest request has `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Room {
        Room::with(KEPT * max_bytes, (open_file_limit() / SHARE).min(FILES) as usize)
    }

    fn with(bytes: usize, files: usize) -> Room {
        Room { bytes: Budget::new(bytes), files: Budget::new(files), calls: Budget::new(CALLS) }
    }
}

/// Why a batch has no array of answers.
#[derive(Debug)]
pub enum BatchError {
    /// There is no room for its calls, or for the answers that are ready.
    NoRoom,
    /// A panic while the array was written.
    Panicked,
}

/// See the module.
struct Batch {
    executor: Arc<Executor>,
    notify: Option<Notify>,
    state: Mutex<BatchState>,
}

#[derive(Debug)]
struct BatchState {
    /// In the order of the requests.
    answers: Vec<Option<KeptAnswer>>,
    held: Held,
    /// The call that ended last. It stays in progress until `run_batch` counts the whole batch.
    last: Option<Admitted>,
}

/// A batch's part of the room; returned after the array was sent.
#[derive(Debug)]
struct Held {
    bytes: Share,
    files: Share,
    calls: Share,
}

#[derive(Debug)]
enum KeptAnswer {
    Answer(Answer),
    /// A read to run again.
    Task(Arc<Task>),
}

/// A call of a batch, and the position of its answer.
type Member = (usize, Admitted, Registered);

impl Executor {
    /// Runs the calls of a batch: calls for one file in order, others concurrently, but at most `at_once`.
    /// `then` receives the array of answers on a thread that may block; it is not called if no request has an
    /// answer. The calls take their positions in `pipeline` when the future is first polled. `notify` receives
    /// notifications of their progress.
    pub async fn run_batch<T: Send + 'static>(
        self: Arc<Self>,
        steps: Vec<Step>,
        received: impl Into<Received>,
        pipeline: Arc<Pipeline>,
        at_once: usize,
        notify: Option<Notify>,
        then: impl FnOnce(Answer) -> T + Send + 'static,
    ) -> Result<Option<T>, BatchError> {
        let received = received.into();
        let (batch, members) =
            Batch::new(&self, notify, steps, received, &pipeline).ok_or(BatchError::NoRoom)?;
        let batch = Arc::new(batch);
        let permits = Arc::new(Semaphore::new(at_once));
        let mut running = JoinSet::new();
        for members in groups(members, files_of) {
            let (batch, pipeline, permits) = (batch.clone(), pipeline.clone(), permits.clone());
            let mut group = Box::pin(async move { batch.run_group(&pipeline, &permits, members).await });
            // Its calls take their positions in this order, and their threads start at once.
            if group.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                running.spawn_on(group, self.threads.runtime());
            }
        }
        while running.join_next().await.is_some() {}
        let _in_progress = self.in_progress.enter();
        batch.lock().last = None;
        let _permit = self.permits.take(received.client, 1).await;
        let sent = self.threads.spawn(move || batch.take().map(then)).await;
        sent.map_err(|_| BatchError::Panicked)
    }
}

/// The files of a call, each once.
fn files_of((_, call, _): &Member) -> Vec<String> {
    let call = &call.task.call;
    call.file().into_iter().chain(call.other_files()).map(str::to_owned).collect()
}

impl Batch {
    /// A batch and its calls. Also carries out the batch's cancellations. `None` if there is no room for the
    /// answers that are ready.
    fn new(
        executor: &Arc<Executor>,
        notify: Option<Notify>,
        steps: Vec<Step>,
        received: Received,
        pipeline: &Arc<Pipeline>,
    ) -> Option<(Batch, Vec<Member>)> {
        let room = &executor.room;
        let mut held =
            Held { bytes: room.bytes.share(), files: room.files.share(), calls: room.calls.share() };
        let (mut answers, mut members) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Call(call) => {
                    if !held.calls.grow(1) {
                        return None;
                    }
                    let task = executor.task(call, received);
                    let registered = pipeline.register(&task);
                    members.push((answers.len(), executor.admit(task), registered));
                    answers.push(None);
                }
                Step::Answer(answer) => {
                    if !held.grow(&answer) {
                        return None;
                    }
                    answers.push(Some(KeptAnswer::Answer(answer)));
                }
                Step::Cancel(id) => pipeline.cancel(&id),
                Step::Silent | Step::Ignored(_) | Step::Batch(_) => {}
            }
        }
        let state = Mutex::new(BatchState { answers, held, last: None });
        Some((Batch { executor: executor.clone(), notify, state }, members))
    }

    /// Runs the calls for one file, one after the other.
    async fn run_group(self: &Arc<Batch>, pipeline: &Pipeline, permits: &Semaphore, members: Vec<Member>) {
        let mut files: Vec<String> = members.iter().flat_map(files_of).collect();
        text::order::sort_by(&mut files, Ord::cmp);
        files.dedup();
        let turns = pipeline.turns(files.iter().map(String::as_str)).await;
        for (place, call, _registered) in members {
            let _permit = permits.acquire().await;
            let task = &call.task;
            turns.iter().for_each(|turn| turn.start(&task.control));
            self.run_member(place, task).await;
            turns.iter().for_each(|turn| turn.end(&task.control));
            self.lock().last = Some(call);
        }
    }

    async fn run_member(self: &Arc<Batch>, place: usize, task: &Arc<Task>) {
        if !self.has_room_for(task) {
            return if task.control.answer() {
                self.keep(place, task, task.no_room())
            };
        }
        let keep = {
            let (batch, task) = (self.clone(), task.clone());
            move |answer| batch.keep(place, &task, answer)
        };
        let running = self.executor.run(task, keep);
        if let Ended::Late(answer) = self.executor.notifying(task, self.notify.as_ref(), running).await {
            self.keep(place, task, answer);
        }
    }

    /// Whether the call may run. A change needs room, because it cannot run again for its answer.
    fn has_room_for(&self, task: &Task) -> bool {
        !task.call.writes() || self.lock().held.bytes.grow(1)
    }

    /// Keeps an answer at its position.
    fn keep(&self, place: usize, task: &Arc<Task>, answer: Answer) {
        // A short answer is copied, so that it keeps no file open.
        let answer = answer.settled(BLOCK);
        let mut state = self.lock();
        let kept = answer.filter(|answer| {
            let room = state.held.grow(answer);
            // A change cannot run again, so its answer is kept in any case.
            if !room && task.call.writes() {
                state.held.bytes.grow_as_far(answer.holds().0);
            }
            room || task.call.writes()
        });
        state.answers[place] = Some(kept.map_or_else(|| KeptAnswer::Task(task.clone()), KeptAnswer::Answer));
    }

    /// The answers as one array; `None` if there are none.
    fn take(&self) -> Option<Answer> {
        let mut state = self.lock();
        let kept: Vec<KeptAnswer> = state.answers.drain(..).flatten().collect();
        let held = state.held.take();
        drop(state);
        let executor = self.executor.clone();
        let answers = kept.into_iter().map(move |kept| {
            let _held = &held;
            match kept {
                KeptAnswer::Answer(answer) => answer,
                KeptAnswer::Task(task) => task.run_again(&executor.workspace, executor.limits.timeout),
            }
        });
        (answers.len() > 0).then(|| Answer::array(answers))
    }

    fn lock(&self) -> MutexGuard<'_, BatchState> {
        // The state is valid after every step of a critical section.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Takes room for an answer. Returns false if there is too little.
    fn grow(&mut self, answer: &Answer) -> bool {
        let (bytes, files) = answer.holds();
        if !self.files.grow(files) {
            return false;
        }
        let room = self.bytes.grow(bytes);
        if !room {
            self.files.shrink(files);
        }
        room
    }

    /// Moves all of it into the returned value.
    fn take(&mut self) -> Held {
        Held { bytes: self.bytes.take(), files: self.files.take(), calls: self.calls.take() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::{Value, json};

    use super::*;
    use crate::exec::testing::Setup;
    use crate::protocol::{Pulled, Session};

    /// A call of a tool.
    fn step(setup: &Setup, id: usize, tool: &str, arguments: Value) -> Step {
        let params = json!({ "name": tool, "arguments": arguments });
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        setup.service.mcp(&mut Session::stdio(), line.to_string().as_bytes())
    }

    /// An executor with this room for answers.
    fn executor_with(setup: &Setup, room: Room) -> Arc<Executor> {
        let mut executor = setup.executor();
        Arc::get_mut(&mut executor).unwrap().room = room;
        executor
    }

    fn run(setup: &Setup, executor: &Arc<Executor>, steps: Vec<Step>) -> Result<Option<Answer>, BatchError> {
        let batch =
            executor.clone().run_batch(steps, Instant::now(), Arc::default(), 4, None, |answer| answer);
        setup.runtime.block_on(batch)
    }

    fn texts(answer: Answer) -> Vec<String> {
        let answers: Vec<Value> = serde_json::from_slice(&answer.collect().unwrap()).unwrap();
        let text =
            |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        answers.iter().map(text).collect()
    }

    fn read(setup: &Setup, id: usize, name: &str) -> Step {
        step(setup, id, "read_file", json!({ "name": name }))
    }

    fn append(setup: &Setup, id: usize, name: &str) -> Step {
        step(setup, id, "edit_file", json!({ "name": name, "append": "more" }))
    }

    #[test]
    fn what_is_kept_is_what_the_file_was_and_is_given_back_when_it_was_sent() {
        let setup = Setup::new();
        let large = "a line\n".repeat(50_000);
        std::fs::write(setup.folder.path().join("large"), &large).unwrap();
        std::fs::write(setup.folder.path().join("small"), "a\n").unwrap();
        let executor = executor_with(&setup, Room::with(10_000, 2));
        let room = &executor.room;
        let steps = vec![
            read(&setup, 1, "large"),
            read(&setup, 2, "small"),
            append(&setup, 3, "large"),
            append(&setup, 4, "small"),
        ];
        let mut whole = run(&setup, &executor, steps).unwrap().unwrap();
        assert!(room.files.share().grow(1) && !room.files.share().grow(2), "one file is open");
        assert!(!room.bytes.share().grow(10_000));
        assert_eq!(whole.pull(&mut vec![0; 1 << 20]).1, Pulled::Done);
        drop(whole);
        assert!(room.files.share().grow(2) && room.bytes.share().grow(10_000));

        let steps = vec![read(&setup, 1, "large"), append(&setup, 3, "large"), read(&setup, 4, "large")];
        let texts = texts(run(&setup, &executor, steps).unwrap().unwrap());
        assert!(texts[0].starts_with("File: large (50001 lines)") && texts[0].ends_with("more"));
        assert!(texts[2].starts_with("File: large (50002 lines)"));
    }

    #[test]
    fn a_read_that_finds_no_room_is_asked_again_and_says_so_if_its_file_is_another_by_then() {
        let setup = Setup::new();
        let large = "a line\n".repeat(50_000);
        for name in ["as-it-was", "changed"] {
            std::fs::write(setup.folder.path().join(name), &large).unwrap();
        }
        let executor = executor_with(&setup, Room::with(10_000, 0));
        let names = ["as-it-was", "changed", "as-it-was"];
        let mut steps: Vec<Step> =
            names.iter().enumerate().map(|(id, name)| read(&setup, id, name)).collect();
        steps.push(append(&setup, 3, "changed"));
        let texts = texts(run(&setup, &executor, steps).unwrap().unwrap());
        let whole = format!("File: as-it-was (50000 lines)\n\n{}", large.trim_end());
        assert_eq!([&texts[0], &texts[2]], [&whole; 2]);
        assert_eq!(texts[1], "Error: File 'changed' was changed by another program; read it again");
        assert!(texts[3].contains("Total lines: 50001"));
    }

    #[test]
    fn a_change_that_finds_no_room_is_not_carried_out_and_answers_at_hand_are_bounded_too() {
        let setup = Setup::new();
        std::fs::write(setup.folder.path().join("f"), "a\n").unwrap();
        let steps = |count| (0..count).map(|id| append(&setup, id, "f")).collect::<Vec<_>>();
        let executor = executor_with(&setup, Room::with(250, 0));
        let texts = texts(run(&setup, &executor, steps(10)).unwrap().unwrap());
        let done = texts.iter().filter(|text| text.starts_with("File edited")).count();
        assert!((1..10).contains(&done), "{texts:?}");
        assert_eq!(std::fs::read_to_string(setup.folder.path().join("f")).unwrap().lines().count(), 1 + done);

        let ready = || Step::Answer(Answer::ready(200, vec![b'1'; 200]));
        assert!(run(&setup, &executor, vec![ready(), ready()]).is_err());
        assert!(run(&setup, &executor, vec![ready()]).is_ok(), "given back");
    }
}
