//! The answers of a batch: they go out as one array, in the order of the requests, when the last request is done.
//!
//! What is kept until then is bounded, for all batches of a server together. A read whose answer finds no room is carried
//! out once more when the array is sent; a change is refused before it is carried out. Runs no requests itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};

use super::Shared;
use super::limits::{Budget, Share};
use crate::engine::Control;
use crate::protocol::{Answer, BLOCK, Pending, Step};

/// Bytes of answers that are kept, in the largest requests.
const KEPT: usize = 8;

/// Files that answers keep open: at most so many, and of the descriptors that the process may have one in so many.
const FILES: u64 = 256;
const SHARE: u64 = 8;

/// What the answers of all batches may hold together.
#[derive(Debug)]
pub(super) struct Room {
    bytes: Budget,
    files: Budget,
}

impl Room {
    /// For a server whose largest request has `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Room {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Room::with(KEPT * max_bytes, (descriptors / SHARE).min(FILES) as usize)
    }

    fn with(bytes: usize, files: usize) -> Room {
        Room { bytes: Budget::new(bytes), files: Budget::new(files) }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Batch {
    shared: Shared,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By the place of the request.
    answers: Vec<Option<Kept>>,
    /// Requests that are not done.
    left: usize,
    held: Held,
}

/// Given back when the array was sent.
#[derive(Debug)]
struct Held {
    bytes: Share,
    files: Share,
}

#[derive(Debug)]
enum Kept {
    Answer(Answer),
    /// To be asked again.
    Call(Arc<Pending>),
}

/// What a batch asks for.
#[derive(Debug)]
pub(super) enum Asked {
    /// To be carried out; its answer has this place.
    Call(usize, Pending),
    /// To be passed on in its turn: a cancellation.
    Other(Step),
}

impl Batch {
    /// A batch, and what is to be done for it in this order. Nothing if there is no room even for what is answered
    /// already.
    pub(super) fn new(shared: &Shared, room: &Room, steps: Vec<Step>) -> Option<(Batch, Vec<Asked>)> {
        let mut held = Held { bytes: room.bytes.share(), files: room.files.share() };
        let (mut answers, mut asked) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Call(pending) => {
                    asked.push(Asked::Call(answers.len(), pending));
                    answers.push(None);
                }
                Step::Answer(answer) => {
                    if !held.grow(&answer) {
                        return None;
                    }
                    answers.push(Some(Kept::Answer(answer)));
                }
                other => asked.push(Asked::Other(other)),
            }
        }
        let left = answers.iter().filter(|answer| answer.is_none()).count();
        let state = Mutex::new(State { answers, left, held });
        Some((Batch { shared: shared.clone(), state }, asked))
    }

    /// Whether a call may be carried out: the answer to a change must be kept, because it cannot be asked again.
    pub(super) fn has_room_for(&self, pending: &Pending) -> bool {
        !pending.writes() || self.lock().held.bytes.grow(1)
    }

    /// Keeps an answer for its place.
    pub(super) fn keep(&self, place: usize, pending: &Arc<Pending>, answer: Answer) {
        // A short one is copied, so that it keeps no file open.
        let answer = answer.settled(BLOCK);
        let mut state = self.lock();
        let kept = answer.filter(|answer| {
            // A change cannot be asked again: whatever it says is kept.
            let room = state.held.grow(answer);
            if !room && pending.writes() {
                state.held.bytes.grow_as_far(answer.holds().0);
            }
            room || pending.writes()
        });
        state.answers[place] = Some(kept.map_or_else(|| Kept::Call(pending.clone()), Kept::Answer));
    }

    /// One request is done, with an answer or without. The whole answer if it was the last; nothing if there is none to
    /// any of them.
    pub(super) fn done(&self) -> Option<Answer> {
        let mut state = self.lock();
        state.left -= 1;
        let last = state.left == 0;
        drop(state);
        if last { self.take() } else { None }
    }

    /// The answers as one. Nothing if there is none.
    pub(super) fn take(&self) -> Option<Answer> {
        let mut state = self.lock();
        let kept: Vec<Kept> = state.answers.drain(..).flatten().collect();
        let held = state.held.take();
        drop(state);
        let shared = self.shared.clone();
        let answers = kept.into_iter().map(move |kept| {
            let _held = &held;
            kept.into_answer(&shared)
        });
        (answers.len() > 0).then(|| Answer::array(answers))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole at every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Makes room for an answer, if there is.
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

    /// All of it; nothing is left here.
    fn take(&mut self) -> Held {
        Held { bytes: self.bytes.take(), files: self.files.take() }
    }
}

impl Kept {
    /// Waits for no other program: whoever sends the answer holds up others meanwhile.
    fn into_answer(self, shared: &Shared) -> Answer {
        match self {
            Kept::Answer(answer) => answer,
            Kept::Call(pending) => {
                let control = Control::new(shared.timeout).without_waiting();
                let again = || pending.answer_again(&shared.workspace, &control);
                let answer = catch_unwind(AssertUnwindSafe(again)).unwrap_or_else(|_| pending.panicked());
                if control.broke_off().is_some() { pending.no_room() } else { answer }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::{Pulled, Session};
    use crate::transport::testing;
    use crate::transport::work::run_to_answer;

    /// A call of a tool.
    fn step(shared: &Shared, id: usize, tool: &str, arguments: Value) -> Step {
        let params = json!({ "name": tool, "arguments": arguments });
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        shared.service.mcp(&mut Session::stdio(), line.to_string().as_bytes())
    }

    /// Carries the calls of a batch out, one after the other.
    fn carry_out(shared: &Shared, batch: &Batch, asked: Vec<Asked>) -> Option<Answer> {
        let mut whole = None;
        for asked in asked {
            let Asked::Call(place, pending) = asked else { continue };
            let pending = Arc::new(pending);
            let answer = match batch.has_room_for(&pending) {
                true => run_to_answer(&pending, &shared.workspace, &Control::new(shared.timeout)).unwrap(),
                false => pending.no_room(),
            };
            batch.keep(place, &pending, answer);
            assert!(whole.is_none());
            whole = batch.done();
        }
        whole
    }

    fn texts(answer: Answer) -> Vec<String> {
        let answers: Vec<Value> = serde_json::from_slice(&answer.collect().unwrap()).unwrap();
        let text =
            |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        answers.iter().map(text).collect()
    }

    fn read(shared: &Shared, id: usize, name: &str) -> Step {
        step(shared, id, "read_file", json!({ "name": name }))
    }

    fn append(shared: &Shared, id: usize, name: &str) -> Step {
        step(shared, id, "edit_file", json!({ "name": name, "append": "more" }))
    }

    #[test]
    fn what_is_kept_is_what_the_file_was_and_is_given_back_when_it_was_sent() {
        let (folder, shared) = testing::shared();
        let large = "a line\n".repeat(50_000);
        std::fs::write(folder.path().join("large"), &large).unwrap();
        std::fs::write(folder.path().join("small"), "a\n").unwrap();
        let room = Room::with(10_000, 2);
        let steps = vec![
            read(&shared, 1, "large"),
            read(&shared, 2, "small"),
            append(&shared, 3, "large"),
            append(&shared, 4, "small"),
        ];
        let (batch, asked) = Batch::new(&shared, &room, steps).unwrap();
        let mut whole = carry_out(&shared, &batch, asked).unwrap();
        assert!(room.files.share().grow(1) && !room.files.share().grow(2), "one file is open");
        assert!(!room.bytes.share().grow(10_000));
        assert_eq!(whole.pull(&mut vec![0; 1 << 20]).1, Pulled::Done);
        drop(whole);
        assert!(room.files.share().grow(2) && room.bytes.share().grow(10_000));

        let steps = vec![read(&shared, 1, "large"), append(&shared, 3, "large"), read(&shared, 4, "large")];
        let (batch, asked) = Batch::new(&shared, &room, steps).unwrap();
        let texts = texts(carry_out(&shared, &batch, asked).unwrap());
        assert!(texts[0].starts_with("File: large (50001 lines)") && texts[0].ends_with("more"));
        assert!(texts[2].starts_with("File: large (50002 lines)"));
    }

    #[test]
    fn a_read_that_finds_no_room_is_asked_again_and_says_so_if_its_file_is_another_by_then() {
        let (folder, shared) = testing::shared();
        let large = "a line\n".repeat(50_000);
        for name in ["as-it-was", "changed"] {
            std::fs::write(folder.path().join(name), &large).unwrap();
        }
        let room = Room::with(10_000, 0);
        let names = ["as-it-was", "changed", "as-it-was"];
        let mut steps: Vec<Step> =
            names.iter().enumerate().map(|(id, name)| read(&shared, id, name)).collect();
        steps.push(append(&shared, 3, "changed"));
        let (batch, asked) = Batch::new(&shared, &room, steps).unwrap();
        let texts = texts(carry_out(&shared, &batch, asked).unwrap());
        let whole = format!("File: as-it-was (50000 lines)\n\n{}", large.trim_end());
        assert_eq!([&texts[0], &texts[2]], [&whole; 2]);
        assert_eq!(texts[1], "Error: File 'changed' was changed by another program; read it again");
        assert!(texts[3].contains("Total lines: 50001"));
    }

    #[test]
    fn a_change_that_finds_no_room_is_not_carried_out_and_answers_at_hand_are_bounded_too() {
        let (folder, shared) = testing::shared();
        std::fs::write(folder.path().join("f"), "a\n").unwrap();
        let steps = |count| (0..count).map(|id| append(&shared, id, "f")).collect::<Vec<_>>();
        let room = Room::with(250, 0);
        let (batch, asked) = Batch::new(&shared, &room, steps(10)).unwrap();
        let texts = texts(carry_out(&shared, &batch, asked).unwrap());
        let done = texts.iter().filter(|text| text.starts_with("File edited")).count();
        assert!((1..10).contains(&done), "{texts:?}");
        assert_eq!(std::fs::read_to_string(folder.path().join("f")).unwrap().lines().count(), 1 + done);

        let ready = || Step::Answer(Answer::ready(200, vec![b'1'; 200]));
        assert!(Batch::new(&shared, &room, vec![ready(), ready()]).is_none());
        assert!(Batch::new(&shared, &room, vec![ready()]).is_some(), "given back");
    }
}
