//! The beginning of a result that leaves before the operation ends (contract 14).
//!
//! The working thread hands it on as far as it is final. Knows neither what it is nor where it goes.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes a part of the text, if there is room for it.
type Sink = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// See the module.
#[derive(Default)]
pub struct EarlyText {
    sink: OnceLock<Sink>,
    sent: AtomicUsize,
}

impl EarlyText {
    /// From now on, `sink` takes what [`EarlyText::send`] hands on. It returns false if it has no room for that now.
    pub fn send_to(&self, sink: impl Fn(&str) -> bool + Send + Sync + 'static) {
        // Keeps the first one.
        let _ = self.sink.set(Box::new(sink));
    }

    /// Hands on what was not handed on yet of `text`: the result up to now, which can only become longer. To be called by one
    /// thread at a time.
    pub fn send(&self, text: &str) {
        let (Some(sink), sent) = (self.sink.get(), self.sent()) else { return };
        let Some(more) = text.get(sent..).filter(|more| !more.is_empty()) else { return };
        // First, because who sees the text may ask how much it was.
        self.sent.store(text.len(), Ordering::Release);
        if !sink(more) {
            self.sent.store(sent, Ordering::Release);
        }
    }

    /// Bytes that were handed on.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Acquire)
    }
}

impl fmt::Debug for EarlyText {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("EarlyText").field("sent", &self.sent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn each_byte_is_handed_on_once_and_again_if_there_was_no_room() {
        let early = EarlyText::default();
        early.send("nobody takes it");
        assert_eq!(early.sent(), 0);
        let taken = Arc::new(Mutex::new(Vec::new()));
        let sink = taken.clone();
        early.send_to(move |text| {
            let mut taken = sink.lock().unwrap();
            let has_room = text != "b";
            has_room.then(|| taken.push(text.to_owned()));
            has_room
        });
        ["a", "a", "ab", "abc", "abcd"].iter().for_each(|text| early.send(text));
        assert_eq!((*taken.lock().unwrap()).join("|"), "a|bc|d");
        assert_eq!(early.sent(), 4);
    }
}
