//! The beginning of a result that leaves before the operation ends (contract 14).
//!
//! The working thread hands it on as far as it is final. Knows neither what it is nor where it goes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a part of the text, if there is room for it.
type Sink = Box<dyn Fn(&str) -> bool + Send>;

/// See the module.
#[derive(Default)]
pub struct EarlyText {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Nothing is handed on without it.
    sink: Option<Sink>,
    /// Bytes that were handed on.
    sent: usize,
    /// The last character that is final and was not handed on.
    held: String,
}

impl EarlyText {
    /// From now on, `sink` takes what [`EarlyText::send`] hands on. It returns false if it has no room for that now.
    pub fn send_to(&self, sink: impl Fn(&str) -> bool + Send + 'static) {
        self.state().sink = Some(Box::new(sink));
    }

    /// Hands on what was not handed on yet of `text`, the result up to now, which can only become longer. Its last character
    /// is held for [`EarlyText::nudge`].
    pub fn send(&self, text: &str) {
        let mut state = self.state();
        let Some(more) = text.get(state.sent..) else { return };
        let Some((last, _)) = more.char_indices().next_back() else { return };
        let (more, held) = more.split_at(last);
        if state.hand_on(more) {
            state.held = held.to_owned();
        }
    }

    /// Hands on one character, if one is held: whether a client is still there shows when something is sent to it.
    pub fn nudge(&self) {
        let mut state = self.state();
        let held = std::mem::take(&mut state.held);
        state.hand_on(&held);
    }

    /// Whether something was handed on.
    pub fn has_begun(&self) -> bool {
        self.state().sent > 0
    }

    /// Hands on nothing from now on. Returns the number of bytes that were handed on.
    pub fn close(&self) -> usize {
        let mut state = self.state();
        state.sink = None;
        state.sent
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the text was taken.
    fn hand_on(&mut self, text: &str) -> bool {
        let is_taken = !text.is_empty() && self.sink.as_ref().is_some_and(|sink| sink(text));
        self.sent += if is_taken { text.len() } else { 0 };
        is_taken
    }
}

impl fmt::Debug for EarlyText {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("EarlyText").field("sent", &self.state().sent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn each_byte_is_handed_on_once_and_again_if_there_was_no_room() {
        let early = EarlyText::default();
        early.send("nobody takes it");
        let taken: Arc<Mutex<Vec<String>>> = Arc::default();
        let (sink, has_room) = (taken.clone(), Arc::new(AtomicBool::new(true)));
        let room = has_room.clone();
        early.send_to(move |text| {
            let has_room = room.load(Ordering::Relaxed);
            has_room.then(|| sink.lock().unwrap().push(text.to_owned()));
            has_room
        });
        let text = || taken.lock().unwrap().join("|");
        ["a", "aé", "aéb", "aéb"].iter().for_each(|text| early.send(text));
        assert_eq!(text(), "a|é");
        has_room.store(false, Ordering::Relaxed);
        early.send("aébcd");
        has_room.store(true, Ordering::Relaxed);
        early.send("aébcd");
        assert_eq!(text(), "a|é|bc");
        early.nudge();
        early.nudge();
        early.send("aébcdef");
        assert_eq!(text(), "a|é|bc|d|e");
        assert_eq!(early.close(), "aébcde".len());
        early.send("aébcdefgh");
        early.nudge();
        assert_eq!((early.close(), text().as_str()), ("aébcde".len(), "a|é|bc|d|e"));
    }
}
