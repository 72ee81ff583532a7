//! One answer on its way out: bytes that are ready, and excerpts that are escaped only when they are pulled.
//!
//! The end of an answer is decided last, by whether what was sent is what the file held (SPEC 8: an answer that can no
//! longer be completed truthfully never looks complete). Knows nothing of what it says; no I/O.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

use super::escape::{Breaks, Escaper, MIN_BLOCK};
use super::report::Report;
use crate::engine::Excerpt;

/// Bytes of a block of an answer.
pub const BLOCK: usize = 64 * 1024;

/// What follows an excerpt that turned out not to be true.
#[derive(Debug)]
pub enum OnMismatch {
    /// These bytes, which say so.
    Say(Vec<u8>),
    /// Nothing: the stream must be cut.
    Cut,
}

/// Is notified when an answer fails after its first byte was sent.
pub trait StreamObserver: Send + Sync + Debug {
    /// The file changed while it was sent: the bytes that were sent are not what it held.
    fn content_changed(&self);
}

/// An excerpt inside a JSON string, and how the answer goes on behind it.
#[derive(Debug)]
struct Streamed {
    excerpt: Excerpt,
    sent: usize,
    escaper: Escaper,
    then: Vec<u8>,
    otherwise: OnMismatch,
    observer: Arc<dyn StreamObserver>,
}

#[derive(Debug)]
enum Part {
    Ready {
        bytes: Vec<u8>,
        sent: usize,
    },
    Streamed(Box<Streamed>),
    /// The rest of an array: each answer is asked for when those before it have been pulled.
    Array {
        rest: Rest,
        first: bool,
    },
}

/// Answers that are still to be made.
struct Rest(Box<dyn Iterator<Item = Answer> + Send>);

impl std::fmt::Debug for Rest {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("Rest(..)")
    }
}

/// How a pull left the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// There is more.
    More,
    /// That was all.
    Done,
    /// What was sent so far is not true and nothing can say so: break the stream off.
    Cut,
}

/// See the module.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// What the log says of the request, if anything.
    pub report: Option<Box<Report>>,
    parts: VecDeque<Part>,
}

impl Answer {
    /// An answer that is ready.
    pub fn ready(status: u16, bytes: Vec<u8>) -> Answer {
        Answer { status, report: None, parts: VecDeque::from([Part::Ready { bytes, sent: 0 }]) }
    }

    /// The same with a report for the log.
    pub(super) fn reported(self, report: Report) -> Answer {
        Answer { report: Some(Box::new(report)), ..self }
    }

    /// `head`, the excerpt inside a JSON string, and `then`; or `otherwise` if the excerpt cannot be told truthfully,
    /// of which `observer` hears.
    pub fn streamed(
        head: Vec<u8>,
        excerpt: Excerpt,
        breaks: Breaks,
        then: Vec<u8>,
        otherwise: OnMismatch,
        observer: Arc<dyn StreamObserver>,
    ) -> Answer {
        let escaper = Escaper::new(breaks);
        let streamed = Streamed { excerpt, sent: 0, escaper, then, otherwise, observer };
        let parts =
            VecDeque::from([Part::Ready { bytes: head, sent: 0 }, Part::Streamed(Box::new(streamed))]);
        Answer { status: 200, report: None, parts }
    }

    /// Several answers as one JSON array. Each is made when those before it have been pulled, so that however many
    /// there are, one at a time holds memory.
    pub fn array(answers: impl IntoIterator<Item = Answer, IntoIter: Send + 'static>) -> Answer {
        let rest = Rest(Box::new(answers.into_iter()));
        Answer { status: 200, report: None, parts: VecDeque::from([Part::Array { rest, first: true }]) }
    }

    /// Bytes that the answer holds itself, and the number of files that it keeps open.
    pub fn holds(&self) -> (usize, usize) {
        self.parts.iter().fold((0, 0), |(bytes, files), part| match part {
            Part::Ready { bytes: ready, .. } => (bytes + ready.len(), files),
            Part::Streamed(_) => (bytes, files + 1),
            Part::Array { .. } => (bytes, files),
        })
    }

    /// The same without an open file, if it is about `most` bytes or fewer. Nothing if it cannot be told truthfully.
    pub fn settled(self, most: usize) -> Option<Answer> {
        if self.holds().1 == 0 || self.room(usize::MAX) > most {
            return Some(self);
        }
        let status = self.status;
        self.collect().map(|bytes| Answer::ready(status, bytes))
    }

    /// Bytes of a block that has room for what is left, at most `most` and not exactly: text may take more.
    pub fn room(&self, most: usize) -> usize {
        let left = self.parts.iter().map(|part| match part {
            Part::Ready { bytes, sent } => bytes.len() - sent,
            Part::Streamed(streamed) => streamed.room(),
            Part::Array { .. } => BLOCK,
        });
        (left.sum::<usize>() + MIN_BLOCK).min(most)
    }

    /// Puts what comes next at the front of `block`, of at least [`MIN_BLOCK`] bytes; returns how many bytes that are.
    pub fn pull(&mut self, block: &mut [u8]) -> (usize, Pulled) {
        let mut len = 0;
        while len + MIN_BLOCK <= block.len() {
            let out = &mut block[len..];
            match self.parts.front_mut() {
                None => return (len, Pulled::Done),
                Some(Part::Ready { bytes, sent }) => {
                    let next = &bytes[*sent..bytes.len().min(*sent + out.len())];
                    out[..next.len()].copy_from_slice(next);
                    len += next.len();
                    *sent += next.len();
                    if *sent == bytes.len() {
                        self.parts.pop_front();
                    }
                }
                Some(Part::Array { rest, first }) => {
                    let separator = if std::mem::take(first) { b'[' } else { b',' };
                    out[0] = separator;
                    len += 1;
                    match rest.0.next() {
                        Some(answer) => {
                            for part in answer.parts.into_iter().rev() {
                                self.parts.push_front(part);
                            }
                        }
                        None if separator == b'[' => {
                            out[1] = b']';
                            len += 1;
                            self.parts.pop_front();
                        }
                        None => {
                            out[0] = b']';
                            self.parts.pop_front();
                        }
                    }
                }
                Some(Part::Streamed(streamed)) => {
                    let (filled, ending) = streamed.pull(out);
                    len += filled;
                    match ending {
                        None => {}
                        Some(Some(bytes)) => self.parts[0] = Part::Ready { bytes, sent: 0 },
                        Some(None) => return (len, Pulled::Cut),
                    }
                }
            }
        }
        (len, if self.parts.is_empty() { Pulled::Done } else { Pulled::More })
    }

    /// Pulls all of it into one buffer, checked before any of it is sent: nothing if it cannot be told truthfully.
    pub fn collect(mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let start = out.len();
            out.resize(start + self.room(BLOCK), 0);
            let (len, pulled) = self.pull(&mut out[start..]);
            out.truncate(start + len);
            match pulled {
                Pulled::More => {}
                Pulled::Done => return Some(out),
                Pulled::Cut => return None,
            }
        }
    }
}

impl Streamed {
    fn room(&self) -> usize {
        let rest = self.excerpt.bytes().len() - self.sent;
        rest + rest / 8 + self.then.len()
    }

    /// Escapes into `out`; returns how many bytes that made, and when the excerpt is used up what comes next: bytes, or
    /// a cut.
    fn pull(&mut self, out: &mut [u8]) -> (usize, Option<Option<Vec<u8>>>) {
        let rest = &self.excerpt.bytes()[self.sent..];
        let filled = self.escaper.fill(rest, out);
        let (taken, ready) = *filled.as_ref().unwrap_or(&(0, 0));
        self.sent += taken;
        let broken = filled.is_err();
        if !broken && taken < rest.len() {
            return (ready, None);
        }
        let true_to_the_end = !broken && self.escaper.finish().is_ok() && self.excerpt.unchanged();
        if !true_to_the_end {
            self.observer.content_changed();
        }
        let ending = match (true_to_the_end, &mut self.otherwise) {
            (true, _) => Some(std::mem::take(&mut self.then)),
            (false, OnMismatch::Say(bytes)) => Some(std::mem::take(bytes)),
            (false, OnMismatch::Cut) => None,
        };
        (ready, Some(ending))
    }
}
